package dotnet

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// player stands for the SDK: it says what the SDK says of sources that do not
// compile, and else leaves the recorded report. What was built before must be gone.
const player = `
-- tests/bin/Debug/stale.dll --
-- tests/obj/Debug/stale.cache --
-- play.sh --
[ "$1" = test ] && [ "$2" = tests/App.Tests.csproj ] || exit 64
[ ! -e tests/bin ] && [ ! -e tests/obj/Debug/stale.cache ] && [ -e tests/obj/project.assets.json ] || exit 65
while [ $# -gt 0 ]; do case "$1" in --results-directory) out=$2;; --filter) echo "filter $2";; esac; shift; done
line=$(grep -n 'Calc.Thrice' tests/CalcTests.cs | cut -d: -f1)
if [ -n "$line" ]; then
	echo "  Determining projects to restore..."
	echo "$PWD/tests/CalcTests.cs($line,14): error CS0117: 'Calc' does not contain a definition for 'Thrice' [$PWD/tests/App.Tests.csproj]"
	echo "Build FAILED."
	echo "$PWD/tests/CalcTests.cs($line,14): error CS0117: 'Calc' does not contain a definition for 'Thrice' [$PWD/tests/App.Tests.csproj]"
	exit 1
fi
sed '/testName="App.Tests.CalcTests.Gone"/,/<\/UnitTestResult>/d' report.trx >"$out/touchstone_net8.0_20240101.trx"
[ -n "$TRX_CUT" ] && : >"$out/touchstone_net8.0_20240101.trx"
exit 1
-- report.trx --
`

// TestPlayed puts a project to a program that plays what the SDK printed: test code
// that does not compile is taken out alone, and single rows are asked for.
func TestPlayed(t *testing.T) {
	report, err := os.ReadFile("testdata/xunit.trx")
	if err != nil {
		t.Fatal(err)
	}
	state := plainstate.New(t, project+player+strings.TrimPrefix(string(report), "\ufeff")+"\n")
	r := New(Config{Command: []string{"sh", "play.sh", "test"}})
	ask := func(rows ...string) gate.Result {
		t.Helper()
		result, err := r.Run(context.Background(), state, gate.Batch{Units: []string{"tests/CalcTests.cs"}, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := ask()
	plainstate.Compare(t, result, `
App.Tests.CalcTests.Passes: passed
App.Tests.CalcTests.Asserts: failed assertion
App.Tests.CalcTests.Throws: failed exception
App.Tests.CalcTests.Skipped: skipped
App.Tests.CalcTests.Each: failed assertion
App.Tests.CalcTests.Each(n: 1, text: "a (b)"): passed
App.Tests.CalcTests.Each(n: 2, text: "c"): failed assertion
App.Tests.CalcTests.Named: passed
App.Tests.CalcTests.Slow: timed_out timeout
App.Tests.CalcTests.Gone: errored compile Thrice
App.Tests.CalcTests+Inner.Nested: passed
`)
	if len(result.Commands) != 2 || !slices.Contains(result.Commands[1], "FullyQualifiedName~App.Tests.CalcTests.|FullyQualifiedName~App.Tests.CalcTests+Inner.") {
		t.Errorf("commands %q", result.Commands)
	}
	result = ask(`App.Tests.CalcTests.Each(n: 1, text: "a (b)")`, "App.Tests.CalcTests.Passes")
	plainstate.Compare(t, result, `
App.Tests.CalcTests.Passes: passed
App.Tests.CalcTests.Each(n: 1, text: "a (b)"): passed
`)
	if want := `FullyQualifiedName=App.Tests.CalcTests.Passes|FullyQualifiedName=App.Tests.CalcTests.Each|FullyQualifiedName~App.Tests.CalcTests.Each\(`; len(result.Commands) != 1 || !slices.Contains(result.Commands[0], want) {
		t.Errorf("commands %q", result.Commands)
	}

	r = New(Config{Command: []string{"sh", "play.sh", "test"}, Env: map[string]string{"TRX_CUT": "1"}})
	if result := ask(); len(result.Units) != 1 || result.Units[0].Observation.Reason != gate.NoReport {
		t.Errorf("without a report: %+v", result)
	}
	r = New(Config{Command: []string{"no-such-dotnet"}})
	if _, err := r.Run(context.Background(), state, gate.Batch{Units: []string{"tests/CalcTests.cs"}}); err == nil || !strings.Contains(err.Error(), "install the .NET SDK") {
		t.Errorf("without the SDK: %v", err)
	}
}
