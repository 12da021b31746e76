package cargo

import (
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// stream is what one run of a test program printed, read as it comes.
type stream struct {
	known map[string]bool // names that the program listed

	results map[string]*result
	logged  map[string]result // what the harness wrote of each test into a file of its own; nil without one
	order   []string
	open    string // a test whose outcome has not been printed
	twice   string // a test of which two outcomes were printed
	belied  string // one of which two outcomes were logged
	half    string // an outcome's words whose test has not been named
	section *result
	failing bool // after "failures:"
	sums    []summary
}

// result is the outcome that was printed of one test, and what it had said.
type result struct {
	name, outcome, words string // outcome: ok, FAILED, ignored
	said                 strings.Builder
	shown                bool // its words have begun
}

// summary is a line "test result:".
type summary struct {
	ok                      bool
	passed, failed, ignored int
}

var (
	resultLine  = lazyregexp.New(`^test (.+) \.\.\. (ok|FAILED|ignored)(?:, (.*?))?(?: <[\d.]+s>)?$`)
	openLine    = lazyregexp.New(`^test (.+?) \.\.\. `)
	outcomeOnly = lazyregexp.New(`(ok|FAILED|ignored)(?:, (.*?))?(?: <[\d.]+s>)?$`)
	sectionLine = lazyregexp.New(`^---- (.+) (?:stdout|stderr) ----$`)
	resultSum   = lazyregexp.New(`^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; \d+ filtered out`)
	qualifier   = lazyregexp.New(` - (?:should panic|compile fail|compile)$`)
)

// maxSaid bounds what is kept of one test's words.
const maxSaid = 64 << 10

func newStream(names []string) *stream {
	s := &stream{known: make(map[string]bool), results: make(map[string]*result)}
	for _, name := range names {
		s.known[name] = true
	}
	return s
}

// named finds the listed test that a line names.
func (s *stream) named(text string) (string, bool) {
	if s.known[text] {
		return text, true
	}
	text = qualifier.ReplaceAllString(text, "")
	return text, s.known[text]
}

func (s *stream) take(line []byte) {
	text := string(line)
	if m := resultSum.FindStringSubmatch(text); m != nil {
		s.sums = append(s.sums, summary{m[1] == "ok", number(m[2]), number(m[3]), number(m[4])})
	}
	if m := sectionLine.FindStringSubmatch(text); m != nil && s.failing {
		if name, ok := s.named(m[1]); ok && s.results[name] != nil && !s.results[name].shown {
			s.section = s.results[name]
			s.section.shown = true
			return
		}
	}
	switch {
	case s.section != nil && text == "failures:": // the names of those that failed
		s.section = nil
	case s.section != nil:
		if s.section.said.Len() < maxSaid {
			s.section.said.WriteString(text + "\n")
		}
	case text == "failures:":
		s.failing = true
	case !s.failing:
		s.outcome(text)
	}
	if strings.HasPrefix(text, "running ") && s.section == nil {
		s.failing = false // documentation tests run in several programs
	}
}

// outcome reads a line that may tell how a test came out.
func (s *stream) outcome(text string) {
	if m := resultLine.FindStringSubmatch(text); m != nil {
		if name, ok := s.named(m[1]); ok {
			s.record(name, m[2], m[3])
			return
		}
	}
	if m := openLine.FindStringSubmatch(text); m != nil {
		if name, ok := s.named(m[1]); ok && s.results[name] == nil {
			s.open = name
			return
		}
	}
	if m := outcomeOnly.FindStringSubmatch(text); m != nil && s.open != "" && len(text) == len(m[0]) {
		s.record(s.open, m[1], m[2])
	}
}

func (s *stream) record(name, outcome, words string) {
	s.open = ""
	if known := s.results[name]; known != nil {
		if known.outcome != outcome {
			s.twice = name
		}
		return
	}
	s.results[name] = &result{name: name, outcome: outcome, words: words}
	s.order = append(s.order, name)
}

// logLine is a line of the harness's own file.
var logLine = lazyregexp.New(`(?s)^(ok|failed|ignored)(?: \([^()]*\))?(?:: (.*?))? (\S+)$`)

// log takes a line of the file into which the harness writes outcomes, where no
// test's own words are.
func (s *stream) log(line string) {
	if s.logged == nil {
		s.logged = make(map[string]result)
	}
	m := logLine.FindStringSubmatch(line)
	if m == nil || !s.known[m[3]] { // the words of an outcome may take several lines
		if s.half = s.half + line + "\n"; len(s.half) > maxSaid {
			s.half = ""
		}
		if m = logLine.FindStringSubmatch(strings.TrimSuffix(s.half, "\n")); m == nil || !s.known[m[3]] {
			return
		}
	}
	s.half = ""
	outcome := m[1]
	if outcome == "failed" {
		outcome = "FAILED"
	}
	if before, twice := s.logged[m[3]]; twice && before.outcome != outcome {
		s.belied = m[3]
	}
	s.logged[m[3]] = result{name: m[3], outcome: outcome, words: m[2]}
}

// settle lets the harness's file decide, where there is one: the text holds
// whatever tests print.
func (s *stream) settle() {
	if s.logged == nil {
		return
	}
	s.twice = s.belied
	for name := range s.results {
		if _, told := s.logged[name]; !told {
			delete(s.results, name)
		}
	}
	for name, told := range s.logged {
		if r := s.results[name]; r != nil {
			r.outcome, r.words = told.outcome, told.words
		} else {
			s.results[name] = &result{name: name, outcome: told.outcome, words: told.words}
		}
	}
}

// ended tells whether the program came to its end.
func (s *stream) ended() bool { return len(s.sums) > 0 }

// counted is how many tests came out how.
func (s *stream) counted() map[string]int {
	count := make(map[string]int)
	for _, r := range s.results {
		count[r.outcome]++
	}
	return count
}

// fits tells whether the outcomes are those of the sums, or of the last of them.
func (s *stream) fits() bool {
	count := s.counted()
	same := func(list []summary) bool {
		var all summary
		for _, sum := range list {
			all.passed, all.failed, all.ignored = all.passed+sum.passed, all.failed+sum.failed, all.ignored+sum.ignored
		}
		return all.passed == count["ok"] && all.failed == count["FAILED"] && all.ignored == count["ignored"]
	}
	return same(s.sums) || same(s.sums[len(s.sums)-1:])
}

// contradiction says how the outcomes, the sums and the exit status belie one
// another; "" when they agree.
func (s *stream) contradiction(code int) string {
	if s.twice != "" {
		return s.twice + " was reported with two outcomes"
	}
	failed := s.counted()["FAILED"]
	last := s.sums[len(s.sums)-1]
	switch {
	case !s.fits():
		return "the tests' outcomes and the sum of them differ"
	case last.ok != (last.failed == 0):
		return "the sum of the outcomes belies itself"
	case code == 0 && failed > 0:
		return "cargo exited with 0 although tests failed"
	case code != 0 && failed == 0:
		return "every test passed and cargo exited with " + strconv.Itoa(code)
	}
	return ""
}

func number(text string) int { n, _ := strconv.Atoi(text); return n } //nolint:errcheck // digits by the pattern

var listLine = lazyregexp.New(`^(.+): test$`)
