package pytest

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// session is one run of pytest as the observer told it.
type session struct {
	runner      string
	seen        func(string, gate.Outcome)
	began       bool // the observer was loaded
	collectOnly bool
	interpreter string

	order      []string // row ids as collected
	rows       map[string]gate.Row
	nodes      map[string][]string // pytest's id -> row ids
	deselected map[string]bool
	start      float64  // Unix time
	begun      []string // row ids that began, in order
	beginOf    map[string]float64
	crashed    []string // row ids whose worker died
	phases     map[string][]phase

	collecting string // the unit that was collected last
	unitErrors []unitError
	conftests  []unitError // Unit is the conftest.py
	loaded     []gate.Loaded
	forged     []string // units whose canary passed
	singing    int      // canaries that failed as they must
	replaced   []string // what the tree put in place of pytest's own

	interrupted string // why the run was broken off
	internal    string // pytest's or a plugin's own failure
	traced      tracing
	ended       bool // a finish record came
	status      int  // as pytest reported it
}

// unitError is a file that could not be collected, or was left out.
type unitError struct {
	unit        string
	observation gate.Observation
}

func newSession(runner string, seen func(string, gate.Outcome)) *session {
	return &session{
		runner: runner, seen: seen,
		rows: make(map[string]gate.Row), nodes: make(map[string][]string),
		beginOf: make(map[string]float64), deselected: make(map[string]bool), phases: make(map[string][]phase),
	}
}

func (s *session) take(r record) {
	switch r.Kind {
	case "start":
		s.began, s.interpreter, s.start = true, r.Interpreter, r.At
	case "session":
		s.collectOnly = r.CollectOnly
	case "conftest_error":
		s.conftests = append(s.conftests, unitError{r.File, notCollected(r.Facts)})
	case "collecting":
		s.collecting = r.Unit
	case "collect_error":
		s.unitErrors = append(s.unitErrors, unitError{r.Unit, notCollected(r.Facts)})
	case "collect_skip":
		s.unitErrors = append(s.unitErrors, unitError{r.Unit, leftOut(r)})
	case "row":
		s.know(r.Row)
	case "deselected":
		for _, id := range r.IDs {
			s.deselected[id] = true
		}
	case "begin":
		s.begin(r)
	case "report":
		s.report(r)
	case "canary":
		s.canary(r)
	case "replaced":
		s.replaced = append(s.replaced, strings.TrimSuffix(r.Message+" by "+r.File, " by "))
	case "crash":
		s.crashed = append(s.crashed, s.byNode(r.Node)...)
	case "interrupted":
		s.interrupted = r.Message
	case "internal_error":
		s.internal = r.Message
	case "loaded":
		s.loaded = append(s.loaded, gate.Loaded{Subject: r.Subject, File: r.File, SHA256: r.SHA256, InTree: r.InTree})
	case "trace", "trace_node", "trace_edge", "trace_use", "trace_shared":
		s.traced.take(r)
	case "finish":
		s.ended, s.status = true, r.Status
	}
}

func (s *session) know(r rowRecord) {
	if _, known := s.rows[r.ID]; known {
		return
	}
	s.order = append(s.order, r.ID)
	s.nodes[r.Node] = append(s.nodes[r.Node], r.ID)
	s.rows[r.ID] = gate.Row{
		ID: r.ID, Runner: s.runner, Name: r.Name, Unit: r.Unit, File: r.File, Line: r.Line, End: r.End, Digest: r.Digest, Context: r.Context,
	}
}

// byNode finds rows by pytest's own id, which is all that a worker's controller
// knows. Rows of one name share it: they are all meant.
func (s *session) byNode(node string) []string { return s.nodes[node] }

func (s *session) begin(r record) {
	ids := []string{r.ID}
	if r.ID == "" {
		ids = s.byNode(r.Node)
	}
	for _, id := range ids {
		s.begun = append(s.begun, id)
		s.beginOf[id] = r.At
	}
}

func (s *session) report(r record) {
	if r.ID == "" {
		return // a plugin's own report, of no row
	}
	unit, _, _ := strings.Cut(r.ID, "::")
	s.know(rowRecord{ID: r.ID, Node: r.Node, Unit: unit, File: unit, Name: r.ID}) // when nothing better did
	s.phases[r.ID] = append(s.phases[r.ID], r.phase())
	if s.seen != nil && r.When == "teardown" && r.Outcome != "rerun" {
		s.seen(r.ID, s.last(r.ID).Outcome)
	}
}

// canary takes what became of a test that must fail. One that was skipped or
// never came to run tells nothing.
func (s *session) canary(r record) {
	switch {
	case r.When == "call" && r.Outcome == "passed":
		s.forged = append(s.forged, r.Unit)
	case r.Outcome == "failed":
		s.singing++
	}
}

// running are the rows that began and did not end, in order: those that a death
// of the process is put down to.
func (s *session) running() []string {
	var ids []string
	for _, id := range slices.Concat(s.begun, s.crashed) {
		phases := s.phases[id]
		over := len(phases) > 0 && phases[len(phases)-1].when == "teardown"
		if _, known := s.rows[id]; known && !over && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// leave drops the rows of files of which nothing was asked.
func (s *session) leave(company []string) {
	s.order = slices.DeleteFunc(s.order, func(id string) bool { return slices.Contains(company, s.rows[id].Unit) })
}
