package javascript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// session is one run of a framework as its observer told it.
type session struct {
	seen func(string, gate.Outcome)

	began, ended bool
	atOnce       bool // the framework says that tests begin before the first of them does
	focused      bool
	root         string
	exited       *record // how the framework's own process ended
	stepFailed   *record
	stepLines    []string

	rows     []*heardRow
	byKey    map[string]*heardRow
	count    map[string]int // results of one name so far
	cases    map[string][]record
	errors   []record        // file_error
	done     map[string]bool // units that came to their end
	exits    map[string]record
	finished map[string]bool // files whose own observer came to its end (node:test)
	perFile  bool            // each file is a process of its own
	uncaught map[string][]failure
	died     map[string]bool // units whose worker died
	loading  string
	started  []string // units that began, in order
	loaded   []gate.Loaded
	built    string            // a file that no tree holds and a test process loaded
	unseen   bool              // this Node does not tell which ES modules it loads
	replaced []string          // what the tree put in place of the framework's own
	traces   []record          // what units did
	marks    map[string]string // stand-ins that were used, by the ID of the use
	tainted  string            // one that was used unseen, on whose account nothing here counts
}

// heardRow is a row as the observer knows it.
type heardRow struct {
	unit, project string
	path          []string
	number        int
	line          int
	suite         bool
	begun         bool
	over          bool // a result came that is not to be run again
	results       []record
	expected      bool
}

func newSession(seen func(string, gate.Outcome)) *session {
	return &session{
		seen: seen, byKey: make(map[string]*heardRow), count: make(map[string]int), cases: make(map[string][]record),
		done: make(map[string]bool), exits: make(map[string]record), finished: make(map[string]bool), died: make(map[string]bool), uncaught: make(map[string][]failure), marks: make(map[string]string),
	}
}

func (s *session) take(r record) {
	switch r.Kind {
	case "start":
		s.began, s.root = true, r.Root
	case "step_line":
		s.stepLines = append(s.stepLines, r.Message)
	case "step_failed":
		s.stepFailed = &r
	case "file":
		s.loading = r.Unit
		if r.Unit != "" && !slices.Contains(s.started, r.Unit) {
			s.started = append(s.started, r.Unit)
		}
	case "file_error":
		if r.Died {
			s.died[r.Unit] = true
		}
		s.errors = append(s.errors, r)
	case "file_end":
		s.done[r.Unit] = true
		delete(s.cases, r.Unit)
		s.exits[r.Unit] = r
	case "collected":
		s.focused = r.Focused
	case "row":
		s.row(r)
	case "begin":
		s.row(r).begun = true
	case "case":
		s.cases[r.Unit] = append(s.cases[r.Unit], r)
		s.tell(r)
	case "result":
		s.result(r)
	case "uncaught":
		s.uncaught[r.Unit] = append(s.uncaught[r.Unit], r.Errors...)
	case "loaded":
		s.loaded = append(s.loaded, gate.Loaded{Subject: r.Subject, File: r.File, SHA256: r.SHA256, InTree: r.InTree})
	case "built":
		s.built = r.File
	case "unseen":
		s.unseen = true
	case "replaced":
		s.replaced = append(s.replaced, r.Message)
	case "reached":
		s.marks[r.ID] = r.Message
	case "traced", "trace_open", "trace_opens", "trace_lists", "trace_file", "trace_spans":
		s.traces = append(s.traces, r)
	case "exit":
		s.exited = &r
	case "finish":
		if r.Unit == "" {
			s.ended = true
		} else {
			s.finished[r.Unit] = true
		}
	}
}

func nameOf(r record) string {
	return r.Unit + "\x00" + r.Project + "\x00" + strings.Join(r.Path, "\x00")
}

// row finds the row that a record speaks of, or makes it.
func (s *session) row(r record) *heardRow {
	name := nameOf(r)
	number := r.Number
	if number == 0 {
		number = s.count[name] + 1
	}
	key := name + "\x00" + strconv.Itoa(number)
	row := s.byKey[key]
	if row == nil {
		row = &heardRow{unit: r.Unit, project: r.Project, path: r.Path, number: number}
		s.byKey[key] = row
		s.rows = append(s.rows, row)
	}
	row.suite = row.suite || r.Suite
	row.expected = row.expected || r.Expected
	if r.Line > 0 {
		row.line = r.Line
	}
	return row
}

func (s *session) result(r record) {
	if r.Filtered {
		return
	}
	row := s.row(r)
	row.results = append(row.results, r)
	if !r.Again {
		row.over = true
		if r.Number == 0 {
			s.count[nameOf(r)]++
		}
		if len(s.cases[r.Unit]) == 0 {
			s.tell(r)
		}
	}
}

func (s *session) tell(r record) {
	if s.seen == nil || r.Suite {
		return
	}
	outcome := map[string]gate.Outcome{"passed": gate.Passed, "failed": gate.Failed}[r.Outcome]
	if outcome == gate.NotRun {
		outcome = gate.Skipped
	}
	s.seen(plainID(r.Unit, r.Path), outcome)
}

// settle takes what is known of units that did not come to their end: the cases
// that did.
func (s *session) settle() {
	for _, unit := range sorted(s.cases) {
		for _, r := range s.cases[unit] {
			r.Kind = "result"
			if row := s.row(r); !row.over {
				s.result(r)
			}
		}
	}
}

const between = " > "

func plainID(unit string, path []string) string {
	return strings.Join(append([]string{unit}, path...), between)
}

// ids names the rows; later ones of one name, in the order of projects and of
// declaration, get #2, #3.
func (s *session) ids() map[*heardRow]string {
	byName := make(map[string][]*heardRow)
	for _, row := range s.rows {
		id := plainID(row.unit, row.path)
		byName[id] = append(byName[id], row)
	}
	ids := make(map[*heardRow]string, len(s.rows))
	for id, same := range byName {
		slices.SortStableFunc(same, func(a, b *heardRow) int {
			if c := strings.Compare(a.project, b.project); c != 0 {
				return c
			}
			return a.number - b.number
		})
		for i, row := range same {
			ids[row] = id
			if i > 0 {
				ids[row] = id + "#" + strconv.Itoa(i+1)
			}
		}
	}
	return ids
}
