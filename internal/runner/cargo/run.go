package cargo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Brakes on one call.
const (
	maxBuilds   = 25     // without what did not compile
	maxReruns   = 20     // of one target without what killed it
	maxTimeouts = 3      // of one target
	maxAlone    = 30     // tests of one target that are asked one by one
	maxNames    = 60_000 // bytes of names on a command line; beyond it a target runs whole
)

// session is one call of Run or List.
type session struct {
	*Runner
	state  gate.State
	batch  gate.Batch
	list   bool
	left   *leftOut
	result gate.Result
}

// timeLimit says which limit a command has.
type timeLimit uint8

const (
	forRun timeLimit = iota
	forBuild
)

func (l timeLimit) duration(s *session) time.Duration {
	limit := s.Timeout
	if s.batch.Timeout > 0 {
		limit = s.batch.Timeout
	}
	if l == forBuild {
		limit += buildTime
	}
	return limit
}

// List builds the units and names their tests.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.call(ctx, &session{Runner: r, state: state, batch: gate.Batch{Units: units}, list: true})
}

// Run runs the tests of the units, or the rows that the batch names. A test that
// kills its program or never ends is observed as such, and the rest is run again
// without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	return r.call(ctx, &session{Runner: r, state: state, batch: batch})
}

func (r *Runner) call(ctx context.Context, s *session) (gate.Result, error) {
	var unlock func()
	s.left, unlock = r.leftOf(s.state)
	defer unlock()
	var books []*book
	for _, c := range r.wanted(s.state.Tree(), s.batch.Units) {
		if b := s.open(c); b != nil {
			books = append(books, b)
		}
	}
	if len(books) == 0 {
		return s.result, nil
	}
	if err := s.prepare(ctx, books); err != nil {
		return gate.Result{}, err
	}
	for _, b := range books {
		if err := s.answer(ctx, b); err != nil {
			return gate.Result{}, err
		}
	}
	return s.result, s.takeLoaded(ctx, books)
}

// leftOf is what was taken out on a state so far. Calls for one state wait for
// one another, as they would for cargo's own lock.
func (r *Runner) leftOf(state gate.State) (*leftOut, func()) {
	r.mu.Lock()
	l := r.left[state.Name()]
	if l == nil {
		l = newLeftOut()
		r.left[state.Name()] = l
	}
	r.mu.Unlock()
	l.mu.Lock()
	if !l.holds(state.Tree()) {
		l.sources, l.names = make(map[string]*blanked), make(map[string][]namedPiece)
	}
	return l, l.mu.Unlock
}

// book is one target in one call.
type book struct {
	*crate
	asked  []string // names or, of documentation tests, what their ids have for one; nil: all
	built  *built
	listed bool     // its list came to its end
	all    []string // tests as the program lists them
	names  []string // those that are the unit's
	ids    map[string]string
	failed bool
	alone  int
}

// open begins a target's book; nil when none of its rows is asked for.
func (s *session) open(c *crate) *book {
	b := &book{crate: c, ids: make(map[string]string)}
	if len(s.batch.Rows) == 0 {
		return b
	}
	b.asked = []string{}
	for _, id := range s.batch.Rows {
		if name, ok := strings.CutPrefix(id, c.prefix+"::"); ok {
			b.asked = append(b.asked, name)
		} else if id == c.prefix {
			b.asked = append(b.asked, "")
		}
	}
	if len(b.asked) == 0 {
		return nil
	}
	return b
}

func (b *book) wants(name string) bool { return b.asked == nil || slices.Contains(b.asked, name) }

// prepare builds the targets and lists their tests, again and again without the
// test code that does not compile.
func (s *session) prepare(ctx context.Context, books []*book) error {
	open := books
	for round := 1; len(open) > 0; round++ {
		if err := s.build(ctx, open); err != nil {
			return err
		}
		var again []*book
		for _, b := range open {
			switch {
			case b.built.code == 0 && b.built.ended:
			case round < maxBuilds && b.doc == "" && len(b.built.errors) > 0 && s.left.takeOut(b.crate, b.built.errors):
				again = append(again, b)
			default:
				s.fail(b, b.unbuilt())
			}
		}
		open = again
	}
	return nil
}

func (s *session) build(ctx context.Context, books []*book) error {
	script, files := s.script()
	for i, b := range books {
		b.built, b.listed, b.names, b.all = &built{unit: b.unit}, false, nil, nil
		build, list := s.cargo(b.crate, "test", "--no-run", "--message-format=json"), s.cargo(b.crate, "test", "--", "--list", "--format", "terse")
		if b.doc != "" {
			build = slices.Concat(s.tool, []string{"build"}, s.options, []string{"--lib", "--message-format=json"})
			list = s.cargo(b.crate, "test", "--", "--list")
		}
		fmt.Fprintf(script, buildOne, i, quote(b.dir), shell(build))
		if b.harness {
			fmt.Fprintf(script, listOne, quote(b.dir), shell(list))
		}
	}
	var at *book
	exit, said, err := s.start(ctx, script.String(), files, forBuild, func(line []byte) {
		text := string(line)
		kind, rest, _ := strings.Cut(text, " ")
		switch {
		case kind == "U" && number(rest) < len(books):
			at = books[number(rest)]
		case at == nil:
		case kind == "B":
			at.built.code, at.built.ended = number(rest), true
		case kind == "W":
			at.built.words.WriteString(rest + "\n")
		case kind == "L":
			at.lists(rest)
		case kind == "D":
			at.listed = true
		default:
			at.built.take(line)
		}
	}, func([]byte) {})
	if err != nil {
		return err
	}
	for _, b := range books {
		if missing := b.built.code == 127 && len(b.built.errors) == 0; missing {
			return &MissingToolError{Tool: s.tool[0], Words: gate.Message(b.built.words.String())}
		}
		if m := noToolchain.FindStringSubmatch(b.built.words.String()); m != nil && len(b.built.errors) == 0 {
			return &MissingToolchainError{Toolchain: m[1]}
		}
		if !b.built.ended {
			b.built.cut = how(exit, said)
		}
	}
	return nil
}

// lists takes a line of a program's list.
func (b *book) lists(line string) {
	m := listLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	name := m[1]
	id := name
	b.all = append(b.all, name)
	if b.doc != "" {
		file, subject, _ := strings.Cut(name, " - ")
		if file != b.doc && file != strings.TrimPrefix(b.doc, b.dir+"/") {
			return
		}
		id = strings.TrimSuffix(docLine.ReplaceAllString(file+" - "+subject, ""), " - ")
	}
	for n, plain := 2, id; slices.ContainsFunc(b.names, func(known string) bool { return b.ids[known] == id }); n++ {
		id = fmt.Sprintf("%s#%d", plain, n)
	}
	b.names, b.ids[name] = append(b.names, name), id
}

// unbuilt is the observation of a target that could not be built.
func (b *book) unbuilt() gate.Observation {
	switch words := b.built.words.String(); {
	case !b.built.ended:
		return b.built.cut
	case len(b.built.errors) > 0:
		return b.observation(b.built.errors)
	case strings.Contains(words, "no matching package") || strings.Contains(words, "--offline") || strings.Contains(words, "failed to download") || strings.Contains(words, "failed to load source"):
		return gate.Observation{Outcome: gate.Errored, Reason: gate.Import, Message: gate.Message(nonEmpty(firstError(words), words) + " (run cargo fetch first)")}
	default:
		return gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(nonEmpty(firstError(words), words))}
	}
}

// how is the observation of what did not come to its end.
func how(exit gate.Exit, said string) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Duration: exit.Wall, Message: gate.Message(fmt.Sprintf("cargo ended with exit status %d %s: %s", exit.Code, exit.Signal, own(said, 3)))}
	switch {
	case exit.TimedOut:
		o.Outcome, o.Reason, o.Message = gate.TimedOut, gate.Timeout, "did not end within "+exit.Wall.Round(time.Second).String()
	case exit.Limit != "":
		o.Outcome, o.Reason, o.Message = gate.Crashed, gate.Crash, "ended at the limit on "+exit.Limit
	}
	return o
}

// fail records why a target gave no rows or not all of them; the first word
// counts.
func (s *session) fail(b *book, o gate.Observation) {
	if !b.failed {
		b.failed = true
		s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: b.unit, Observation: o})
	}
}

func (s *session) add(b *book, name string, o ...gate.Observation) {
	row := b.describe(name)
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: o})
	if len(o) > 0 && s.batch.Seen != nil {
		s.batch.Seen(row.ID, o[0].Outcome)
	}
}
