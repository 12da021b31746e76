package rts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestRankPutsTheLikelyAndCheapFirst(t *testing.T) {
	row := func(id string, seconds float64, steps, rare int, reasons ...string) Selected {
		return Selected{Row: Row{ID: id, Unit: "u" + id, File: "tests/test_" + id + ".py", Seconds: seconds}, Reasons: reasons, Steps: steps, executes: rare, All: true}
	}
	ranked := Rank([]Selected{
		row("far", 1, 9, 0, "imports:m.py"), row("near", 1, 1, 0, "imports:m.py"), row("common", 1, -1, 500, "coverage:m.py#f"),
		row("rare", 1, -1, 1, "coverage:m.py#f"), row("slow", 60, -1, 1, "coverage:m.py#f"), row("own", 1, -1, 0, "changed:tests/test_own.py"),
	}, History{})
	order := ""
	for _, r := range ranked {
		order += r.ID + " "
	}
	if order != "own rare common near slow far " {
		t.Errorf("order %q", order)
	}
	kept, left := Within(ranked, 3500*time.Millisecond)
	if len(kept) != 3 || len(left) != 3 || kept[2].ID != "common" {
		t.Errorf("kept %d, left %d", len(kept), len(left))
	}
	if kept, left := Within(ranked[4:5], time.Second); len(kept) != 1 || len(left) != 0 {
		t.Errorf("nothing is kept of a suite of one slow row")
	}
	same := []Selected{row("x", 1, 0, 0, "new"), row("y", 1, 0, 0, "new")}
	same[1].Unit = same[0].Unit
	if kept, _ := Within(Rank(same, History{}), time.Second); kept[0].All {
		t.Error("a unit of which a row is left out is to run whole")
	}
}

// TestHistoryReorders ranks rows with equal ties to the change by what failed
// before.
func TestHistoryReorders(t *testing.T) {
	var rows []Selected
	for _, id := range []string{"never", "dir", "long ago", "lately", "with the file", "part"} {
		row := Row{ID: "t/" + id + ".py::test", Unit: "t/" + id + ".py", File: "t/" + id + ".py", Seconds: 1}
		if id == "dir" {
			row.File = "other/x.py"
		}
		rows = append(rows, Selected{Row: row, Reasons: []string{"loaded:m.py"}, Steps: -1})
	}
	past := []Past{
		{Failed: []PastFailure{{"t/part.py::test/one", "t"}}},
		{Failed: []PastFailure{{"t/lately.py::test", "t"}}, Files: []string{"n.py"}},
		{Failed: []PastFailure{{"gone", "other"}}, Files: []string{"m.py"}},
		{Failed: []PastFailure{{"t/with the file.py::test", "u"}}, Files: []string{"m.py", "n.py"}},
	}
	for range 30 {
		past = append(past, Past{})
	}
	past = append(past, Past{Failed: []PastFailure{{"t/long ago.py::test", "t"}}})
	order := ""
	for _, row := range Rank(rows, History{Changed: []string{"m.py"}, Past: past}) {
		order += row.ID[2:len(row.ID)-9] + ", "
	}
	if order != "with the file, part, lately, long ago, dir, never, " {
		t.Errorf("order %q", order)
	}
	if first := Rank(rows, History{})[0].ID; first != rows[0].ID {
		t.Errorf("without a history %q is the first", first)
	}
}

// TestRankKeepsTheSet is the law that an order, whatever it is made from, never
// adds a row, drops one or changes its reasons.
func TestRankKeepsTheSet(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	name := func(n int) string { return fmt.Sprint("n", random.IntN(n)) }
	reasons := []string{"coverage:m.py#f", "loaded:m.py", "imports:m.py", "new", "names:f", "all"}
	for range 500 {
		var rows []Selected
		for i := range random.IntN(30) {
			rows = append(rows, Selected{Row: Row{ID: fmt.Sprint("r", i), Unit: name(5), File: name(9), Seconds: random.Float64(), Whole: random.IntN(4) == 0}, Reasons: []string{reasons[random.IntN(len(reasons))]}, Steps: random.IntN(5) - 1})
		}
		h := History{Changed: []string{name(9)}}
		for range random.IntN(20) {
			h.Past = append(h.Past, Past{Failed: []PastFailure{{fmt.Sprint("r", random.IntN(30)), name(9)}}, Files: []string{name(9)}})
		}
		key := func(r Selected) string { return fmt.Sprint(r.ID, r.Unit, r.Reasons, r.Whole) }
		var before, after []string
		for _, r := range rows {
			before = append(before, key(r))
		}
		for _, r := range Rank(rows, h) {
			after = append(after, key(r))
		}
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			t.Fatalf("%q became %q", before, after)
		}
		kept, left := Within(Rank(rows, h), time.Hour)
		if len(kept) != len(rows) || len(left) != 0 {
			t.Fatalf("a budget that is enough for all left %d out", len(left))
		}
	}
}
