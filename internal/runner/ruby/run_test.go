package ruby

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestConformance runs one small repository for each framework, in which every
// situation has one right answer.
func TestConformance(t *testing.T) {
	for _, framework := range []string{RSpec, Minitest} {
		t.Run(framework, func(t *testing.T) {
			conformance.Run(t, "testdata/conformance/"+framework+".txtar", conformance.Subject{
				New: func(dir string, timeout time.Duration) gate.Runner {
					return New(Config{Framework: framework, Dir: dir, Timeout: timeout})
				},
			})
		})
	}
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

// TestDetectTestUnit: that a test of a test-unit suite mentions minitest makes it
// none of minitest's.
func TestDetectTestUnit(t *testing.T) {
	const file = `
-- test/helper.rb --
require "%s"
-- test/test_loader.rb --
require_relative "helper"
class LoaderTest < Test::Unit::TestCase
  def test_loads_minitest = assert_match(/minitest/, loaded)
end
`
	for name, want := range map[string]int{"test/unit": 0, "minitest/autorun": 1} {
		if found := Detect(plainstate.New(t, strings.Replace(file, "%s", name, 1)).Tree()); len(found) != want {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// TestSetUpThatDoesNotLoad: rspec loads what .rspec requires before anything of
// ours, and goes on to a good end without a single example.
func TestSetUpThatDoesNotLoad(t *testing.T) {
	plainstate.Need(t, "rspec", "--version")
	state := plainstate.New(t, `
-- .rspec --
--require spec_helper
-- spec/spec_helper.rb --
require "no_such_gem"
-- spec/a_spec.rb --
require "spec_helper"
RSpec.describe "a" do
  it("is") { expect(1).to eq 1 }
end
`)
	runner := New(Config{Framework: RSpec, Dir: "."})
	for name, ask := range map[string]func() (gate.Result, error){
		"run": func() (gate.Result, error) {
			return runner.Run(t.Context(), state, gate.Batch{Units: []string{"spec/a_spec.rb"}})
		},
		"list": func() (gate.Result, error) { return runner.List(t.Context(), state, []string{"spec/a_spec.rb"}) },
	} {
		said, err := ask()
		if err != nil || len(said.Rows) != 0 || len(said.Units) != 1 || said.Units[0].Observation.Outcome != gate.Errored || !strings.Contains(said.Units[0].Observation.Message, "no_such_gem") {
			t.Errorf("%s: %+v, %v", name, said, err)
		}
	}
}
