package gotest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// absorb takes in what one invocation said and returns what is to be run next:
// packages to build again without what did not compile, and tests that a
// culprit kept from running.
func (s *session) absorb(st *stream, exit gate.Exit, j job) []job {
	rebuild := job{names: j.names, skip: j.skip}
	var rest []job
	agreed := s.channelsAgree(st, exit, j)
	for _, p := range j.packages {
		run := st.packages[p.importPath]
		switch {
		case !agreed:
			s.fail(p, gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: fmt.Sprintf("go test exited with %d, which its events contradict", exit.Code)})
		case run == nil:
			s.fail(p, silent(st, exit, s.timeout))
		case unbuilt(run):
			if s.isolate(p, st, run) {
				rebuild.packages = append(rebuild.packages, p)
			}
		default:
			rest = append(rest, s.take(p, run, exit))
		}
	}
	return append(rest, rebuild)
}

// channelsAgree holds the exit status against the events.
func (s *session) channelsAgree(st *stream, exit gate.Exit, j job) bool {
	failed, complete := false, true
	for _, p := range j.packages {
		run := st.packages[p.importPath]
		complete = complete && run != nil && run.action != ""
		failed = failed || run != nil && run.action == "fail"
	}
	if exit.Code == 0 {
		return !failed
	}
	return !complete || failed || exit.Code < 0
}

// silent is the observation of a package of which no event came.
func silent(st *stream, exit gate.Exit, limit time.Duration) gate.Observation {
	words := st.words()
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: clean("go test said nothing about it: " + words)}
	switch {
	case exit.TimedOut:
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: fmt.Sprintf("did not end within %s", limit+grace), Duration: limit}
	case exit.Limit != "":
		return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: "ended at the limit on " + exit.Limit}
	case strings.Contains(words, "GOPROXY=off"), strings.Contains(words, "missing go.sum entry"), strings.Contains(words, "no required module provides"):
		o.Reason = gate.Import
		o.Message = clean(words + " (run go mod download first)")
	case strings.Contains(words, "go: "):
		o.Reason = gate.Setup
	}
	return o
}

func unbuilt(run *packageRun) bool {
	out := run.out.String()
	return run.failedBuild != "" || len(run.tests) == 0 && (strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"))
}

// isolate takes out what did not compile and tells whether to build again.
func (s *session) isolate(p *testPackage, st *stream, run *packageRun) bool {
	text := s.compilerWords(p, st, run)
	errors := compileErrors(text, s.Dir)
	for i := range errors {
		errors[i].file = s.left.original(errors[i].file)
	}
	if len(errors) > 0 && s.left.blank(s.state.Tree(), errors) {
		return true
	}
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: clean(text)}
	for i, e := range errors {
		if i == 0 {
			o.Message, o.Place = clean(e.message), gate.Place{File: e.file, Line: e.line}
		}
		source, _ := s.state.Tree().ReadFile(e.file)
		o.Missing = append(o.Missing, missing(e, lineOf(source, e.line))...)
	}
	if strings.Contains(text, "GOPROXY=off") || strings.Contains(text, "missing go.sum entry") {
		o.Reason, o.Message = gate.Import, clean(text+" (run go mod download first)")
	}
	s.fail(p, o)
	return false
}

// compilerWords collects what the build of a test package printed.
func (s *session) compilerWords(p *testPackage, st *stream, run *packageRun) string {
	var words strings.Builder
	for name, out := range st.builds {
		bare, _, _ := strings.Cut(name, " ")
		if name == run.failedBuild || bare == p.importPath || bare == p.importPath+"_test" || strings.Contains(name, "["+p.importPath+".test]") {
			words.WriteString(out.String())
		}
	}
	if words.Len() > 0 {
		return words.String()
	}
	for _, section := range strings.Split("\n"+st.words(), "\n# ") {
		header, body, _ := strings.Cut(section, "\n")
		bare, _, _ := strings.Cut(header, " ")
		if bare == p.importPath || bare == p.importPath+"_test" || strings.Contains(header, "["+p.importPath+".test]") {
			words.WriteString(body + "\n")
		}
	}
	if words.Len() > 0 {
		return words.String()
	}
	return run.out.String() + st.words()
}

// take turns a test binary's events into observations and returns the rest: what
// a culprit kept from running, to be run without it.
func (s *session) take(p *testPackage, run *packageRun, exit gate.Exit) job {
	guilty := culprits(run, exit)
	for _, name := range run.order {
		if !s.wants(p, name) {
			continue
		}
		if o, ok := s.observe(p, run, name, guilty); ok {
			s.see(p, name, o)
		}
	}
	if len(guilty) == 0 {
		return job{}
	}
	var rest []string
	for _, row := range p.rows {
		if _, known := s.seen[p.importPath][row.Name]; !known && s.wants(p, row.Name) && !s.isLeftOut(row.Name) {
			rest = append(rest, row.Name)
		}
	}
	var skip []string
	for _, name := range slices.Sorted(maps.Keys(guilty)) {
		if top := topOf(name); top != name {
			rest, skip = append(rest, top), append(skip, name)
		}
	}
	if len(rest) == 0 {
		return job{}
	}
	return job{packages: []*testPackage{p}, names: rest, skip: skip}
}

func (s *session) isLeftOut(name string) bool {
	_, out := s.left.rows[name]
	return out
}

// culprits are the tests that brought their binary down: those that panicked,
// those that the time limit found running, else those that were running at the
// end and have no running part.
func culprits(run *packageRun, exit gate.Exit) map[string]gate.Observation {
	guilty := make(map[string]gate.Observation)
	if run.action == "pass" || run.action == "skip" {
		return guilty
	}
	words := run.out.String()
	for _, name := range run.order {
		words += run.tests[name].output()
	}
	if limit := timedOut.FindStringSubmatch(words); limit != nil {
		duration, _ := time.ParseDuration(limit[1])
		for _, name := range running.FindAllStringSubmatch(words, -1) {
			if run.tests[name[1]] != nil {
				guilty[name[1]] = gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "still running after " + limit[1], Duration: duration}
			}
		}
		return leaves(guilty)
	}
	for _, name := range run.order {
		if t := run.tests[name]; t.action == "fail" && panicked.MatchString(t.output()) {
			guilty[name] = failure(t.output(), "")
		}
	}
	if len(guilty) > 0 {
		return leaves(guilty)
	}
	o := died(words, exit)
	for _, name := range run.order {
		if t := run.tests[name]; t.action == "" && !t.paused {
			guilty[name] = o
		}
	}
	return leaves(guilty)
}

// died is the observation of a test under which the process ended.
func died(words string, exit gate.Exit) gate.Observation {
	o := gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: "the test binary ended before the test did"}
	switch found := panicked.FindStringSubmatch(words); {
	case exit.Limit != "":
		o.Message = "ended at the limit on " + exit.Limit
	case exit.TimedOut:
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "ended at the time limit", Duration: exit.Wall}
	case found != nil:
		o.Message = clean("fatal error: " + found[1])
	}
	return o
}

// leaves drops the tests of which a part is guilty too.
func leaves(guilty map[string]gate.Observation) map[string]gate.Observation {
	for name := range guilty {
		for other := range guilty {
			if strings.HasPrefix(other, name+"/") {
				delete(guilty, name)
				break
			}
		}
	}
	return guilty
}

// observe is what a run says of one test; false when it says nothing.
func (s *session) observe(p *testPackage, run *packageRun, name string, guilty map[string]gate.Observation) (gate.Observation, bool) {
	t := run.tests[name]
	if o, ok := guilty[name]; ok {
		if o.Outcome == gate.Failed {
			o = failure(t.output(), p.dir)
		}
		if o.Duration == 0 {
			o.Duration = t.elapsed
		}
		return o, true
	}
	switch t.action {
	case "pass":
		return gate.Observation{Outcome: gate.Passed, Duration: t.elapsed}, true
	case "skip":
		return gate.Observation{Outcome: gate.Skipped, Duration: t.elapsed, Message: failure(t.output(), p.dir).Message}, true
	case "fail":
		return s.failed(p, run, name)
	}
	for part, o := range guilty { // its part brought the binary down
		if strings.HasPrefix(part, name+"/") {
			o.Message = clean("its part " + part + ": " + o.Message)
			return o, true
		}
	}
	return gate.Observation{}, false
}

// failed reads a fail event. The parent's and the package's own verdict outrank
// it: a leaf that fails inside a test that passes is an inner run meant to fail.
func (s *session) failed(p *testPackage, run *packageRun, name string) (gate.Observation, bool) {
	for above := parentOf(name); above != ""; above = parentOf(above) {
		if t := run.tests[above]; t != nil && t.action == "pass" {
			return gate.Observation{}, false
		}
	}
	if run.action == "pass" {
		if parentOf(name) != "" {
			return gate.Observation{}, false
		}
		return gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: "the test failed and its package passed"}, true
	}
	t := run.tests[name]
	o := failure(t.output(), p.dir)
	o.Duration = t.elapsed
	if o.Message == "" {
		for _, other := range run.order {
			if strings.HasPrefix(other, name+"/") && run.tests[other].action == "fail" {
				o.Message = clean("its part " + strings.TrimPrefix(other, name+"/") + " fails")
				break
			}
		}
	}
	return o, true
}

// see keeps the first answer of a test: what a later run without the culprit
// says of its parent does not count.
func (s *session) see(p *testPackage, name string, o gate.Observation) {
	if _, known := s.seen[p.importPath][name]; !known {
		s.seen[p.importPath][name] = o
		s.order = append(s.order, seenTest{p, name})
	}
}

func (s *session) fail(p *testPackage, o gate.Observation) {
	s.answered[p.importPath] = true
	s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: p.dir, Observation: o})
}

// giveUp ends a run that would not end.
func (s *session) giveUp(j job) {
	for _, p := range j.packages {
		s.fail(p, gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: fmt.Sprintf("%d runs did not get an answer from every test", maxRounds)})
	}
}

// finish writes the result: rows in the order they ran, then those that were
// left out, then those that should have run and did not.
func (s *session) finish() gate.Result {
	used := make(map[string]int)
	for _, seen := range s.order {
		row := s.rowOf(seen.p, seen.name)
		if used[row.ID]++; used[row.ID] > 1 {
			row.ID = fmt.Sprintf("%s#%d", row.ID, used[row.ID])
		}
		s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: []gate.Observation{s.seen[seen.p.importPath][seen.name]}})
	}
	for _, p := range s.packages {
		for _, row := range p.rows {
			if _, known := s.seen[p.importPath][row.Name]; known || !s.wants(p, row.Name) {
				continue
			}
			observed := gate.Observed{Row: row}
			if o, out := s.left.rows[row.Name]; out && s.left.sources[row.File] != nil {
				observed.Observations = []gate.Observation{o}
			} else if !s.answered[p.importPath] {
				observed.Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.NoReport, Message: "the package ended and the test never ran"}}
			}
			s.result.Rows = append(s.result.Rows, observed)
		}
	}
	return s.result
}

// rowOf describes a test or a part of one.
func (s *session) rowOf(p *testPackage, name string) gate.Row {
	row, ok := p.row(topOf(name))
	if !ok {
		row = gate.Row{Runner: s.Config.Name, Unit: p.dir}
	}
	row.ID, row.Name = steady(p.importPath+"."+name), path.Base(name)
	if topOf(name) == name {
		row.Name = name
		return row
	}
	parent := parentOf(name)
	for parentOf(parent) != "" { // a part's own name may hold slashes
		if _, known := s.seen[p.importPath][parent]; known {
			break
		}
		parent = parentOf(parent)
	}
	row.Parent = steady(p.importPath + "." + parent)
	return row
}
