package rts

import (
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
	})
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
	if kept, _ := Within(Rank(same), time.Second); kept[0].All {
		t.Error("a unit of which a row is left out is to run whole")
	}
}
