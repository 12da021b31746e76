package gate

import (
	"fmt"
	"maps"
	"slices"
)

// reading is the matrix as read: every row with its origin and role, what the
// verdict is decided from, and what a person should know.
type reading struct {
	rows     []readRow
	facts    Facts
	flips    []Flip
	lost     []Lost
	goldens  []Golden
	findings []Finding
	summary  Summary
}

type readRow struct {
	key    Key
	row    Row
	origin Origin
	read   Reading
	// bridged is set when the role was read off base behind head's names.
	bridged bool
}

// read asks every row of the matrix what it proves. It runs nothing.
func read(r *replay) reading {
	out := reading{flips: r.flips(), facts: Facts{
		Production: len(r.production) > 0,
		Tests:      len(r.tests) > 0,
		Kind:       r.in.Change.Kind,
		Inert:      r.in.Inert,
		Roles:      make(map[Role]int),
		Doubts:     slices.Clone(r.doubts),
	}}
	for _, key := range r.m.Keys() {
		if key.ID != selfCheckID {
			out.add(r, key)
		}
	}
	out.unloaded(r)
	out.countFlips(r)
	out.lose(r)
	out.weaken(r)
	out.judgeForgery(r)
	out.listen(r)
	out.evidenceOfRegression(r)
	out.summarise()
	out.goldens = readGoldens(r)
	out.findings = find(r, out)
	return out
}

func (out *reading) add(r *replay, key Key) {
	row := readRow{key: key, row: r.m.Row(key), origin: OriginOf(r.m, key)}
	if IsEvidence(r.m, key) {
		row.read, row.bridged = askedAgain(r, key, RoleOf(r.m, key, r.in.Introduced))
		out.count(r, row)
	}
	out.rows = append(out.rows, row)
}

func (out *reading) count(r *replay, row readRow) {
	f := &out.facts
	if row.bridged && row.read.Role.proves() {
		f.Bridged++
	}
	if row.bridged && !row.read.Role.proves() && row.read.Role != NotComparable {
		f.BehindBridge++
	} else {
		f.Roles[row.read.Role]++
	}
	if row.read.Role == NotComparable && row.read.Reason == MissingSymbol && notices(r.m, row.key) {
		f.Noticing++
	}
	switch {
	case row.read.Role == NotComparable && row.read.Reason == MissingSymbol:
		f.MissingSymbol++
	case row.read.Role == NoRole:
		f.SkippedOnHead++
	case row.read.Role != DiagnosticNegative:
	case unseen(row.read.Reason):
		f.UnseenOnHead++
	case anyOf(r.m.Cell(row.key, Base), red):
		f.LongRed++
	default:
		f.FailingOnHead++
	}
	switch row.origin {
	case Added:
		out.summary.Added++
	case Modified:
		out.summary.Modified++
	case Affected:
		out.summary.Affected++
	}
}

// unloaded turns what head could not tell about untouched rows into doubts: a
// unit that loads nowhere, or a row whose run left no record, may hide a flip.
func (out *reading) unloaded(r *replay) {
	var silent []string
	whose := " that this change does not touch"
	for _, row := range out.rows {
		head, base := r.m.Cell(row.key, Head), r.m.Cell(row.key, Base)
		if row.origin == Existing && !settled(head, base) && !flipped(r.m, row.key) {
			silent = append(silent, describe(row, head))
			if slices.Contains(r.touchedU[row.key.Runner][Head], row.row.Unit) {
				whose = "" // its unit is the change's
			}
		}
	}
	if len(silent) > 0 {
		out.facts.Doubts = append(out.facts.Doubts, fmt.Sprintf("%s%s could not be compared between base and head: %s", checks(len(silent)), whose, silent[0]))
	}
}

// settled tells whether an untouched row needs no further question: head passed
// or skipped it, base was red too, or the suite leaves it out on both sides.
// (Red beside green is a flip's matter.)
func settled(head, base []Observation) bool {
	return anyOf(head, green) || anyOf(head, blank) || anyOf(base, red) || allLeftOut(head) && allLeftOut(base)
}

// allLeftOut holds for a cell in which the framework was told, every time, not
// to run the row.
func allLeftOut(cell []Observation) bool {
	return len(cell) > 0 && !slices.ContainsFunc(cell, func(o Observation) bool { return o.Outcome != NotRun || o.Reason != Deselected })
}

// listen makes doubts of test files that do not run here, when nothing else
// proves the change: they may.
func (out *reading) listen(r *replay) {
	if len(r.production) > 0 && out.facts.Roles[Discriminating]+out.facts.MissingSymbol == 0 {
		out.facts.Doubts = append(out.facts.Doubts, r.silent()...)
	}
}

// silent are the test files of the change that no runner has rows of, with the
// reason.
func (r *replay) silent() []string {
	heard := make(map[string]bool)
	for _, key := range r.m.Keys() {
		heard[r.m.Row(key).File] = true
	}
	var list []string
	for _, path := range slices.Sorted(maps.Keys(r.unheard)) {
		if !heard[path] {
			list = append(list, path+": "+r.unheard[path])
		}
	}
	return list
}

func describe(row readRow, cell []Observation) string {
	o := first(cell)
	switch {
	case o.Reason == Import:
		return fmt.Sprintf("%s: %s (if that is a dependency, install it where the tests run)", row.row.ID, o.Message)
	case o.Message != "":
		return fmt.Sprintf("%s: %s", row.row.ID, o.Message)
	}
	return row.row.ID
}

// countFlips counts what was confirmed. A flip that could not be asked again is
// a doubt: it may be a breakage.
func (out *reading) countFlips(r *replay) {
	for _, flip := range out.flips {
		switch {
		case flip.Kind != Sometimes:
			out.facts.Flips++
		case !flip.passed:
			out.facts.Doubts = append(out.facts.Doubts, fmt.Sprintf("%s passes on base and was red on head, and running it again there gave no answer", flip.ID))
		default:
			out.facts.Sometimes++
		}
	}
}

func allBlank(cell []Observation) bool {
	return len(cell) > 0 && agree(cell) && colour(cell[0]) == blank
}

// evidenceOfRegression counts the rows that stood on base, loaded the changed
// code from the right place, and pass on both sides. Where tests load less than
// half of the changed lines, they are no evidence for the rest.
func (out *reading) evidenceOfRegression(r *replay) {
	if files, most := r.unreached(); most && r.in.Change.Kind != "dependency" {
		if slices.Contains(r.in.Policy.RegressionKinds, r.in.Change.Kind) {
			out.facts.Unreached = len(files)
		}
		return
	}
	for _, row := range out.rows {
		if row.origin != Existing && row.origin != Modified {
			continue
		}
		reaches := len(r.loaded[row.key.Runner][Head]) > 0 || r.in.Change.Kind == "dependency" // a manifest is loaded by nobody
		if !reaches || !allGreen(r.m.Cell(row.key, Head)) {
			continue
		}
		if base := r.m.Cell(row.key, Base); allGreen(base) || len(base) == 0 && allGreen(r.m.Cell(row.key, BaseTests)) {
			out.facts.RegressionEvidence++
		}
	}
}

// unreached lists the changed sources that no test loaded on head, and tells
// whether at least half of the changed lines of code are in them.
func (r *replay) unreached() (files []string, most bool) {
	loaded := make(map[string]bool)
	for _, byState := range r.loaded {
		for _, l := range byState[Head] {
			loaded[l.Subject] = true
		}
	}
	in, all := 0, 0
	for _, file := range slices.Sorted(maps.Keys(r.in.Code)) {
		all += r.in.Code[file]
		if !loaded[file] {
			files, in = append(files, file), in+r.in.Code[file]
		}
	}
	return files, in > 0 && 2*in >= all
}

func (out *reading) summarise() {
	s, f := &out.summary, out.facts
	s.Discriminating = f.proving()
	s.RegressionOnly = f.Roles[RegressionOnly] + f.Roles[Misleading] + f.BehindBridge
	s.NotComparable = f.Roles[NotComparable]
	s.MissingSymbol = f.MissingSymbol
	s.Flaky = f.Roles[Flaky]
	s.DiagnosticNegative = f.Roles[DiagnosticNegative]
	s.EvidenceInadequate = f.Inadequate()
	s.NoEvidence = f.NoEvidence()
	s.Flips = len(out.flips)
	s.Lost = len(out.lost)
}
