package ruby

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

func conformance(t *testing.T, name string) *plainstate.State {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return plainstate.New(t, string(text))
}

// wanted are the lines of a conformance repository's comment.
func wanted(t *testing.T, name string) string {
	text, err := os.ReadFile("testdata/conformance/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "\n-- ")
	return comment
}

func all(t *testing.T, r *Runner, state gate.State) gate.Result {
	t.Helper()
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Run(context.Background(), state, gate.Batch{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestConformance runs one small repository for each framework, in which every
// situation has one right answer.
func TestConformance(t *testing.T) {
	for framework, tool := range map[string][]string{
		RSpec: {"rspec", "--version"}, Minitest: {"ruby", "-e", `require "minitest"`},
	} {
		t.Run(framework, func(t *testing.T) {
			plainstate.Need(t, tool...)
			state := conformance(t, framework)
			r := New(Config{Framework: framework, Timeout: 60 * time.Second})
			result := all(t, r, state)
			plainstate.Compare(t, result, wanted(t, framework))
			if t.Failed() {
				return
			}
			listed, err := r.List(context.Background(), state, []string{result.Rows[0].Row.Unit})
			if err != nil {
				t.Fatal(err)
			}
			ran := make(map[string]gate.Row)
			for _, o := range result.Rows {
				ran[o.Row.ID] = o.Row
			}
			for _, o := range listed.Rows {
				if o.Row != ran[o.Row.ID] || len(o.Observations) > 0 {
					t.Errorf("listed as %+v, ran as %+v", o.Row, ran[o.Row.ID])
				}
			}
			if len(listed.Rows) == 0 {
				t.Error("nothing was listed")
			}
			one, err := r.Run(context.Background(), state, gate.Batch{Units: []string{result.Rows[0].Row.Unit}, Rows: []string{result.Rows[0].Row.ID}})
			if err != nil || len(one.Rows) != 1 || one.Rows[0].Row != result.Rows[0].Row {
				t.Errorf("one row: %v, %v", plainstate.Lines(one), err)
			}
		})
	}
}

// TestHang ends a row that never ends, and runs the others.
func TestHang(t *testing.T) {
	plainstate.Need(t, "rspec", "--version")
	state := plainstate.New(t, "-- spec/a_spec.rb --\nRSpec.describe(\"a\") do\n  it(\"hangs\") { sleep }\n  it(\"stands\") {}\nend\n")
	r := New(Config{Timeout: 6 * time.Second})
	plainstate.Compare(t, all(t, r, state), "spec/a_spec.rb > a > hangs: timed_out timeout\nspec/a_spec.rb > a > stands: passed\n")
}

// TestUnits finds directories and what a changed path touches.
func TestUnits(t *testing.T) {
	state := plainstate.New(t, `
-- gem/spec/a_spec.rb --
require "spec_helper"
RSpec.describe(A) { }
-- gem/spec/b_spec.rb --
require "support/b_help"
describe B do
end
-- gem/spec/spec_helper.rb --
-- gem/spec/support/b_help.rb --
-- test/test_helper.rb --
require "minitest/autorun"
-- test/c_test.rb --
require "test_helper"
class CTest < Minitest::Test
end
-- test/data/c.yml --
-- vendor/x/spec/x_spec.rb --
describe X do
end
`)
	found := Detect(state.Tree())
	if len(found) != 2 || found[0] != (Candidate{RSpec, "gem", "gem/spec/a_spec.rb"}) || found[1] != (Candidate{Minitest, ".", "test/c_test.rb"}) {
		t.Errorf("found %+v", found)
	}
	for file, want := range map[string]string{
		"gem/spec/a_spec.rb": "gem/spec/a_spec.rb", "gem/spec/support/b_help.rb": "gem/spec/b_spec.rb", "gem/spec/spec_helper.rb": "gem/spec/a_spec.rb gem/spec/b_spec.rb",
		"gem/spec/gone_spec.rb": "", "test/data/c.yml": "test/c_test.rb",
	} {
		r := New(Config{Framework: RSpec, Dir: "gem"})
		if strings.HasPrefix(file, "test/") {
			r = New(Config{Framework: Minitest})
		}
		units, err := r.Units(context.Background(), state.Tree(), []string{file}, false)
		if got := strings.Join(units, " "); err != nil || got != want {
			t.Errorf("%s touches %q, want %q (%v)", file, got, want, err)
		}
	}
}
