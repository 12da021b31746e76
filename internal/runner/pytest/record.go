package pytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/touchstone-gate/touchstone/gate"
)

// record is one line of the observer.
type record struct {
	Kind string `json:"kind"` // start, row, collected, collect_error, begin, report, loaded, finish

	ID, File, Name  string
	Line, End       int
	Digest, Context string
	Node            string
	When, Outcome   string
	Seconds         float64
	Xfail           *string
	Skip, Longrepr  string
	Facts           facts
	Row             *record
	Status          int
	Subject         string
	SHA256          string
	InTree          bool `json:"in_tree"`
	Pytest, Python  string
}

// facts are what the observer read off an exception.
type facts struct {
	ID             string
	Type           string
	Raised         bool // the phase ended by an exception, whatever the report says
	Assertion      bool
	Import         bool
	Syntax         bool
	Fixture        bool
	Message        string
	File           string
	Line           int
	FromProduction bool `json:"from_production"`
	Missing        []struct {
		Name           string
		Owner          string
		FromProduction bool `json:"from_production"`
		Signature      bool
	}
}

// maxRecord bounds one line of the observer; a longer one is damaged.
const maxRecord = 1 << 20

// session is one run of pytest as the observer told it.
type session struct {
	runner string
	rows   map[string]gate.Row
	order  []string
	begun  []string          // node ids that began, in order
	idOf   map[string]string // by node id
	phases map[string][]phase
	errors []collectError
	early  *facts // why the first conftest.py could not be loaded
	loaded []gate.Loaded
	status int  // as pytest reported it
	ended  bool // a finish record came
	began  bool // a start record came
	bad    int  // lines that are no records
	seen   func(id string, o gate.Outcome)
}

type collectError struct {
	file  string
	facts facts
}

// phase is one report of one attempt: setup, call or teardown.
type phase struct{ record }

func newSession(runner string, seen func(string, gate.Outcome)) *session {
	return &session{runner: runner, rows: make(map[string]gate.Row), idOf: make(map[string]string), phases: make(map[string][]phase), seen: seen}
}

// read takes in the observer's lines to the end of the stream.
func (s *session) read(from io.Reader) error {
	lines := bufio.NewReaderSize(from, 1<<16)
	var line []byte
	for {
		piece, more, err := lines.ReadLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(line) <= maxRecord {
			line = append(line, piece...)
		}
		if !more {
			s.take(line)
			line = line[:0]
		}
	}
}

func (s *session) take(line []byte) {
	var r record
	if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil {
		s.bad++
		return
	}
	switch r.Kind {
	case "start":
		s.began = true
	case "row":
		s.know(r)
	case "collect_error":
		s.errors = append(s.errors, collectError{r.File, r.Facts})
	case "conftest_error":
		s.early = &r.Facts
	case "begin":
		s.begun = append(s.begun, r.Node)
	case "report":
		s.report(r)
	case "loaded":
		s.loaded = append(s.loaded, gate.Loaded{Subject: r.Subject, File: r.File, SHA256: r.SHA256, InTree: r.InTree})
	case "finish":
		s.ended, s.status = true, r.Status
	case "collected":
	default:
		s.bad++
	}
}

func (s *session) know(r record) {
	if _, known := s.rows[r.ID]; !known {
		s.order = append(s.order, r.ID)
	}
	s.rows[r.ID] = gate.Row{
		ID: r.ID, Runner: s.runner, Name: r.Name, Unit: r.File, File: r.File, Line: r.Line, End: r.End, Digest: r.Digest, Context: r.Context,
	}
}

func (s *session) report(r record) {
	s.idOf[r.Node] = r.ID
	if r.Row != nil {
		if _, known := s.rows[r.ID]; !known {
			s.know(*r.Row)
		}
	}
	r.Row = nil
	s.phases[r.ID] = append(s.phases[r.ID], phase{r})
	if s.seen != nil && r.When == "teardown" {
		attempts := s.observations(r.ID)
		s.seen(r.ID, attempts[len(attempts)-1].Outcome)
	}
}

// observations are a row's attempts, each made of its phases; several when a
// plugin ran the row again.
func (s *session) observations(id string) []gate.Observation {
	var attempts []gate.Observation
	var current []phase
	for _, p := range s.phases[id] {
		if p.When == "setup" && len(current) > 0 {
			attempts = append(attempts, attempt(current))
			current = nil
		}
		current = append(current, p)
	}
	if len(current) > 0 {
		attempts = append(attempts, attempt(current))
	}
	return attempts
}

// attempt reads one attempt's phases. The first that is not a pass decides.
func attempt(phases []phase) gate.Observation {
	o := gate.Observation{}
	for _, p := range phases {
		o.Duration += time.Duration(p.Seconds * float64(time.Second))
		if o.Outcome != gate.NotRun && o.Outcome != gate.Passed {
			continue
		}
		switch {
		case p.contradicts():
			o.Outcome, o.Reason, o.Message = gate.Errored, gate.Inconsistent, "its report says "+p.Outcome+", which what happened contradicts: a hook rewrote it"
		case p.Outcome == "passed":
			if p.When == "call" {
				o.Outcome = gate.Passed
				if p.Xfail != nil {
					o.Message = "xpass"
				}
			}
		case p.Outcome == "skipped":
			o.Outcome, o.Message = gate.Skipped, clean(p.Skip)
			if p.Xfail != nil {
				o.Message = clean("xfail: " + *p.Xfail)
			}
		default: // failed, error, rerun
			o = red(p, o.Duration)
		}
	}
	if o.Outcome == gate.NotRun {
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.NoReport, "its call left no report"
	}
	return o
}

// contradicts holds for a report whose outcome does not follow from whether the
// phase raised: pytest itself reports a failure without an exception only for an
// unexpected pass that is strict.
func (p phase) contradicts() bool {
	switch p.Outcome {
	case "passed":
		return p.Facts.Raised && p.Xfail == nil
	case "failed":
		return !p.Facts.Raised && !strings.HasPrefix(p.Longrepr, "[XPASS(strict)]") && !strings.HasPrefix(p.Longrepr, "Unexpected success")
	}
	return false
}

// red reads a phase that failed.
func red(p phase, took time.Duration) gate.Observation {
	f := p.Facts
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Duration: took, Message: clean(f.Message), Place: gate.Place{File: f.File, Line: f.Line}, Missing: names(f)}
	switch {
	case p.When == "teardown":
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.Setup, clean("in tear-down: "+f.Message)
	case p.When == "setup" && f.Import:
		o.Outcome, o.Reason = gate.Errored, gate.Import
	case p.When == "setup":
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case f.Type == "": // xpass that is strict, or a plugin's own failure
		o.Reason, o.Message = gate.Assertion, clean(p.Longrepr)
	case f.Assertion:
		o.Reason = gate.Assertion
	case f.Import && !f.FromProduction:
		o.Outcome, o.Reason = gate.Errored, gate.Import
	}
	return o
}

func names(f facts) []gate.Missing {
	var found []gate.Missing
	for _, m := range f.Missing {
		found = append(found, gate.Missing{Name: m.Name, Owner: m.Owner, FromProduction: m.FromProduction, Signature: m.Signature})
	}
	return found
}

// failure is the observation of a file that could not be collected.
func (e collectError) failure() gate.UnitFailure {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: clean(e.facts.Message), Place: gate.Place{File: e.facts.File, Line: e.facts.Line}, Missing: names(e.facts)}
	switch {
	case e.facts.Syntax:
		o.Reason = gate.Compile
	case e.facts.Import, e.facts.Type == "AttributeError", e.facts.Type == "NameError":
		o.Reason = gate.Import
	}
	return gate.UnitFailure{Unit: e.file, Observation: o}
}

// running are the rows that began and did not end, in order.
func (s *session) running() []string {
	var ids []string
	for _, node := range s.begun {
		id, known := s.idOf[node]
		if !known {
			id = s.byNode(node)
		}
		phases := s.phases[id]
		if id != "" && (len(phases) == 0 || phases[len(phases)-1].When != "teardown") {
			ids = append(ids, id)
		}
	}
	return ids
}

// byNode finds the row of a node id that no report has named yet: its id ends
// alike.
func (s *session) byNode(node string) string {
	_, rest, _ := strings.Cut(node, "::")
	for _, id := range s.order {
		if id == node || strings.HasSuffix(id, "/"+node) || strings.HasSuffix(node, id) || strings.HasSuffix(id, "::"+rest) && strings.HasSuffix(strings.SplitN(id, "::", 2)[0], strings.SplitN(node, "::", 2)[0]) {
			return id
		}
	}
	return ""
}

// maxMessage bounds a message, in bytes.
const maxMessage = 300

// clean makes text of tests fit for a message: one line, no control characters,
// valid UTF-8, bounded.
func clean(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

func (s *session) String() string {
	return fmt.Sprintf("%d rows, %d with reports, ended %v with %d", len(s.order), len(s.phases), s.ended, s.status)
}
