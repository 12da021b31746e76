package ruby

import (
	"context"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const (
	rspecTest    = "-- spec/a_spec.rb --\nrequire_relative \"spec_helper\"\nRSpec.describe(\"a\") do\n  it(\"holds\") { expect(1).to eq 1 }\n  context(\"inside\") { it(\"holds too\") {} }\nend\n-- spec/spec_helper.rb --\n"
	minitestTest = "-- test/a_test.rb --\nrequire_relative \"test_helper\"\nclass ATest < Minitest::Test\n  def test_holds\n    assert_equal 1, 1\n  end\nend\n-- test/test_helper.rb --\nrequire \"minitest\"\n"
)

// TestCanary: what makes failing tests report success is told, what only looks like
// it is not, and a change that could do nothing of the kind costs no run.
func TestCanary(t *testing.T) {
	for _, c := range []struct {
		name, framework, helper string
		forged, quiet           bool
	}{
		{name: "an around hook takes the exception back", framework: RSpec, forged: true, helper: "RSpec.configure { |c| c.around { |e| e.run; e.example.instance_variable_set(:@exception, nil) } }"},
		{name: "the example no longer hears of exceptions", framework: RSpec, forged: true, helper: "class RSpec::Core::Example\n  def set_exception(*) end\nend"},
		{name: "expectations hold whatever they are asked", framework: RSpec, forged: true, helper: "RSpec::Expectations::PositiveExpectationHandler.define_singleton_method(:handle_matcher) { |*| true }"},
		{name: "the process ends with success", framework: RSpec, forged: true, helper: "at_exit { exit!(0) }"},
		{name: "a hook takes back what fails in an example of a name", framework: RSpec, forged: true, helper: "RSpec.configure { |c| c.around { |e| e.run; e.example.instance_variable_set(:@exception, nil) if e.description == \"holds\" } }"},
		{name: "a hook takes back what fails where metadata ask for it", framework: RSpec, forged: true, helper: "RSpec.configure { |c| c.define_derived_metadata { |m| m[:late] = true if m[:description] == \"holds too\" }; c.around(:each, :late) { |e| e.run; e.example.instance_variable_set(:@exception, nil) } }"},
		{name: "an around hook with a time limit", framework: RSpec, helper: "require \"timeout\"\nRSpec.configure { |c| c.around { |e| Timeout.timeout(20) { e.run } } }"},
		{name: "metadata, a hook and a matcher", framework: RSpec, helper: "RSpec.configure { |c| c.before { @x = 1 }; c.after(:suite) { at_exit {} } }\nRSpec::Matchers.define(:be_odd_too) { match(&:odd?) }"},
		{name: "a failure that is collected", framework: RSpec, helper: "RSpec.configure { |c| c.define_derived_metadata { |m| m[:aggregate_failures] = true } }"},
		{name: "a plain helper", framework: RSpec, quiet: true, helper: "def answer\n  42\nend"},
		{name: "assertions hold whatever they are asked", framework: Minitest, forged: true, helper: "module Minitest::Assertions\n  def assert(*) true end\nend"},
		{name: "tests have no failures", framework: Minitest, forged: true, helper: "class Minitest::Runnable\n  def failures\n    []\n  end\nend"},
		{name: "what tests raise is swallowed", framework: Minitest, forged: true, helper: "class Minitest::Test\n  def capture_exceptions\n    yield\n  rescue Exception\n  end\nend\nMinitest::Test.prepend(Module.new)"},
		{name: "one test has no failures", framework: Minitest, forged: true, helper: "class Minitest::Runnable\n  def failures\n    name == \"test_holds\" ? [] : @failures\n  end\nend"},
		{name: "the process ends with success", framework: Minitest, forged: true, helper: "Minitest.after_run { Process.exit!(0) }"},
		{name: "a set-up module", framework: Minitest, helper: "module Clean\n  def before_setup\n    super\n    @x = 1\n  end\nend\nMinitest::Test.include(Clean)"},
	} {
		t.Run(c.framework+", "+c.name, func(t *testing.T) {
			files, unit, helper := rspecTest, "spec/a_spec.rb", "spec/spec_helper.rb"
			plainstate.Need(t, "rspec", "--version")
			if c.framework == Minitest {
				files, unit, helper = minitestTest, "test/a_test.rb", "test/test_helper.rb"
			}
			state := plainstate.New(t, files+c.helper+"\n")
			r := New(Config{Framework: c.framework, Timeout: 60 * time.Second})
			result, err := r.Canary(context.Background(), state, gate.Batch{Units: []string{unit}}, []string{helper})
			if err != nil {
				t.Fatal(err)
			}
			if forged := len(result.Forged) > 0; forged != c.forged {
				t.Errorf("forged is %v", result.Forged)
			}
			if ran := len(result.Commands) > 0; ran == c.quiet {
				t.Errorf("ran is %v", ran)
			}
			if len(result.Rows) > 0 {
				t.Errorf("rows of a canary run: %v", result.Rows)
			}
		})
	}
}
