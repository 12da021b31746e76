package cargo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// answer runs one target, and again without what killed it, until every test
// that is wanted has an answer.
func (s *session) answer(ctx context.Context, b *book) error {
	left := s.addLeft(b)
	if b.failed && !(b.built.ended && b.built.code == 0) {
		return nil
	}
	if !b.harness {
		return s.whole(ctx, b)
	}
	if !b.listed || len(b.names) == 0 && b.built.words.Len() > 0 && firstError(b.built.words.String()) != "" {
		s.fail(b, gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message("it did not list its tests: " + own(b.built.words.String(), 3))})
		return nil
	}
	var wanted []string
	for _, name := range b.names {
		if b.wants(b.ids[name]) {
			wanted = append(wanted, name)
		}
	}
	if s.list {
		for _, name := range wanted {
			s.add(b, name)
		}
		return nil
	}
	if len(b.asked) > 0 && len(wanted) == 0 && !left {
		s.fail(b, gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "none of the rows asked for is in it"})
	}
	if len(wanted) == 0 {
		return nil
	}
	return s.rounds(ctx, b, wanted)
}

// addLeft answers for the tests that were taken out, and tells whether there
// were any.
func (s *session) addLeft(b *book) bool {
	if b.doc != "" {
		return false
	}
	before := len(s.result.Rows)
	rows, partly := s.left.leftRows(b.crate)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		switch {
		case !b.wants(name) || b.failed:
		case s.list:
			s.add(b, name)
		default:
			s.add(b, name, rows[name])
		}
	}
	if partly != nil {
		s.fail(b, *partly)
	}
	return len(s.result.Rows) > before || partly != nil
}

// attempt is one run of a target's program.
type attempt struct {
	names  []string // nil: all
	single bool     // one test after the other, so that the one that runs is known
	*stream
	exit gate.Exit
	code int
	said string
}

// died tells whether the program ended before its end. A sum that a test printed
// is no end: tests are then left without an outcome.
func (a *attempt) died() bool {
	return !a.ended() || a.exit.TimedOut || a.exit.Limit != "" || a.logged != nil && !a.fits() &&
		slices.ContainsFunc(a.names, func(name string) bool { return a.results[name] == nil })
}

// rounds runs what is wanted until nothing is left.
func (s *session) rounds(ctx context.Context, b *book, wanted []string) error {
	timeouts, single := 0, false
	for round := 0; len(wanted) > 0; round++ {
		a := &attempt{names: wanted, single: single}
		if err := s.run(ctx, b, a); err != nil {
			return err
		}
		before := len(wanted)
		if !a.died() {
			if why := a.contradiction(a.code); why != "" {
				s.fail(b, gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(why)})
				return nil
			}
		}
		wanted = s.take(b, a, wanted)
		if a.exit.TimedOut {
			timeouts++
		}
		culprit := a.died() && a.single && slices.Contains(wanted, a.open)
		if !culprit && a.died() && len(wanted) == 1 {
			a.open, culprit = wanted[0], true
		}
		if culprit {
			s.add(b, a.open, a.death())
			wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == a.open })
		}
		if len(wanted) == 0 {
			return nil
		}
		stuck := a.single && len(wanted) == before
		if round >= maxReruns || timeouts >= maxTimeouts || stuck && (a.died() || b.alone > 0) {
			return s.oneByOne(ctx, b, a, wanted, timeouts)
		}
		single = single || a.died() || len(wanted) == before || !a.died()
		if !a.died() {
			b.alone++
		}
	}
	return nil
}

// take records the outcomes of one run and returns what has none.
func (s *session) take(b *book, a *attempt, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
		r := a.results[name]
		if r == nil || a.died() && r.outcome == "FAILED" && r.said.Len() == 0 {
			// what failed before the program died is run again for its words
			if r == nil || !a.single {
				return false
			}
		}
		s.add(b, name, b.outcomeOf(r))
		return true
	})
}

// oneByOne asks for each of the last tests alone, as long as that may help.
func (s *session) oneByOne(ctx context.Context, b *book, last *attempt, wanted []string, timeouts int) error {
	if len(wanted) > maxAlone || timeouts >= maxTimeouts {
		o := last.death()
		o.Message = gate.Message("not reached in runs that others brought down, the last: " + o.Message)
		s.fail(b, o)
		return nil
	}
	for _, name := range wanted {
		a := &attempt{names: []string{name}, single: true}
		if err := s.run(ctx, b, a); err != nil {
			return err
		}
		switch r := a.results[name]; {
		case a.died():
			s.add(b, name, a.death())
		case r != nil && a.contradiction(a.code) == "":
			s.add(b, name, b.outcomeOf(r))
		case r == nil && a.sums[len(a.sums)-1].passed == 1 && a.code == 0:
			s.add(b, name, gate.Observation{Outcome: gate.Passed}) // it printed into its own line
		default:
			s.add(b, name, gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "its outcome could not be read"})
		}
	}
	return nil
}

// death is the observation of the test that ran when its program ended.
func (a *attempt) death() gate.Observation {
	o := how(a.exit, a.said)
	if o.Reason == gate.NoReport {
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
		o.Message = gate.Message(fmt.Sprintf("its program ended in the middle of it: %s", nonEmpty(own(a.said, 3), fmt.Sprintf("exit status %d", a.code))))
	}
	return o
}

// run runs a target's program once.
func (s *session) run(ctx context.Context, b *book, a *attempt) error {
	script, files := s.script()
	var options []string
	size := len(strings.Join(a.names, " "))
	switch {
	case b.doc != "": // rustdoc takes arguments apart at spaces, which its names hold
		options = append(options, strings.TrimPrefix(b.doc, b.dir+"/"))
	case len(a.names) == len(b.names) || size > maxNames:
	case len(a.names) > 0:
		options = append(options, "--exact")
		options = append(options, a.names...)
	}
	if a.single {
		options = append(options, "--test-threads=1")
	}
	words := s.cargo(b.crate, "test", append(append([]string{"--"}, options...), s.testArgs...)...)
	fmt.Fprintf(script, runOne, quote(b.dir), shell(words), map[bool]string{true: ` --logfile "$log"`}[b.doc == ""]) // documentation tests are several programs
	a.stream, a.code = newStream(b.all), -1
	var err error
	a.exit, a.said, err = s.start(ctx, script.String(), files, forRun, func(line []byte) {
		switch kind, rest, _ := strings.Cut(string(line), " "); kind {
		case "E":
			a.code = number(rest)
		case "O":
			a.log(rest)
		}
	}, a.take)
	a.settle()
	s.result.Commands = append(s.result.Commands, s.shown(b, words))
	return err
}

// whole runs a target without the harness: one row, by its exit status.
func (s *session) whole(ctx context.Context, b *book) error {
	if s.list {
		s.add(b, "")
		return nil
	}
	script, files := s.script()
	words := s.cargo(b.crate, "test")
	if len(s.testArgs) > 0 {
		words = slices.Concat(words, []string{"--"}, s.testArgs)
	}
	fmt.Fprintf(script, "(cd \"$root/\"%s && %s) 9>&-\necho \"E $?\" >&9\n", quote(b.dir), shell(words))
	code := -1
	var out gate.Tail
	exit, said, err := s.start(ctx, script.String(), files, forRun, func(line []byte) {
		if rest, ok := strings.CutPrefix(string(line), "E "); ok {
			code = number(rest)
		}
	}, func(line []byte) { out.Write(append(line, '\n')) })
	if err != nil {
		return err
	}
	s.result.Commands = append(s.result.Commands, s.shown(b, words))
	o := gate.Observation{Outcome: gate.Passed, Duration: exit.Wall}
	switch {
	case exit.TimedOut || exit.Limit != "" || code < 0:
		o = how(exit, said)
	case code != 0 && killed.MatchString(said):
		o = gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: gate.Message(own(said, 3))}
	case code != 0:
		o = b.failure(said)
		if o.Message == "" {
			o.Message = gate.Message(nonEmpty(own(out.String(), 3), fmt.Sprintf("exit status %d", code)))
		}
	}
	s.add(b, "", o)
	return nil
}

var (
	killed  = lazyregexp.New(`\(signal: \d+`)
	docLine = lazyregexp.New(` \(line \d+\)`)
)
