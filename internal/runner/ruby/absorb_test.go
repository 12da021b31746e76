package ruby

import (
	"slices"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// A process whose exit status its rows do not bear out is asked once more with its
// tests one after the other; if that is no clearer its own rows say nothing, and
// those of other processes stand.
func TestContradictionConcernsOneProcess(t *testing.T) {
	s := &session{Runner: New(Config{Framework: Minitest}), state: plainstate.New(t, "-- test/a_test.rb --\n"), batch: gate.Batch{Units: []string{"test/a_test.rb"}}}
	s.prepare()
	s.add(gate.Row{ID: "earlier", Unit: "test/a_test.rb"}, gate.Observation{Outcome: gate.Passed})
	said := func() *heard {
		return &heard{
			rows: []gate.Row{{ID: "late", Unit: "test/a_test.rb"}}, begun: []string{"late"},
			ended: map[string]record{"late": {Kind: "end", ID: "late", Outcome: "passed"}}, closed: true, exit: gate.Exit{Code: 1},
		}
	}
	units, rows := s.absorb([]string{"test/a_test.rb"}, said())
	if len(units) != 1 || !slices.Equal(rows, []string{"late"}) || !s.serial {
		t.Fatalf("asked again: %q %q, serial %v", units, rows, s.serial)
	}
	if units, rows = s.absorb(units, said()); len(units)+len(rows) > 0 {
		t.Fatalf("asked a third time: %q %q", units, rows)
	}
	for i, want := range []gate.Outcome{gate.Passed, gate.Errored} {
		if got := s.result.Rows[i].Observations[0].Outcome; got != want {
			t.Errorf("%s: %s, want %s", s.result.Rows[i].Row.ID, got, want)
		}
	}
}

// Of tests that ran side by side when their process died, each is asked alone;
// those that had not begun go on side by side.
func TestSuspectsAreAskedAlone(t *testing.T) {
	s := &session{Runner: New(Config{Framework: Minitest}), state: plainstate.New(t, "-- test/a_test.rb --\n"), batch: gate.Batch{Units: []string{"test/a_test.rb"}}}
	s.prepare()
	h := &heard{begun: []string{"kills", "stands"}, exit: gate.Exit{Code: -1, Signal: "killed"}}
	for _, id := range []string{"kills", "stands", "later"} {
		h.rows = append(h.rows, gate.Row{ID: id, Unit: "test/a_test.rb"})
	}
	if units, rows := s.absorb(s.batch.Units, h); len(units) != 1 || !slices.Equal(rows, []string{"later"}) || s.serial {
		t.Fatalf("asked again: %q %q, serial %v", units, rows, s.serial)
	}
	if units, rows := s.oneByOne(); len(units) != 1 || !slices.Equal(rows, []string{"kills", "stands"}) || !s.serial {
		t.Fatalf("asked alone: %q %q, serial %v", units, rows, s.serial)
	}
}
