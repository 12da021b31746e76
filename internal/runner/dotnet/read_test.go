package dotnet

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const project = `
-- app.sln --
-- src/App.csproj --
<Project Sdk="Microsoft.NET.Sdk"></Project>
-- src/Calc.cs --
namespace App;
public static class Calc { public static int Twice(int n) => 2 * n; }
-- tests/App.Tests.csproj --
<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="Microsoft.NET.Test.Sdk" Version="17.8.0" /></ItemGroup></Project>
-- tests/obj/project.assets.json --
{}
-- tests/CalcTests.cs --
using System;
using Xunit;

namespace App.Tests;

#if DEBUG
// [Fact] public void Comment() {}
#endif
public class CalcTests : IDisposable
{
    [Fact]
    public void Passes() => Assert.Equal(4, Calc.Twice(2));

    [Fact]
    public void Asserts()
    { Assert.Equal(3, Calc.Twice(1)); }

    [Fact]
    public async Task Throws()
    {
        Calc.Div(1, 0);
    }

    [Fact(Skip = "for } now")]
    public void Skipped() { }

    [Theory]
    [InlineData(1, "a (b)")]
    [InlineData(2, "c")]
    public void Each(int n, string text)
    {
        var s = @"verbatim "" { ";
        Assert.True(n < 2, $"{text} {{");
    }

    [Fact(DisplayName = "Custom Name")]
    public void Named() { }

    [Fact(Timeout = 100)]
    public async Task Slow()
    {
        await Task.Delay(1000);
    }

    [Fact]
    public void Gone()
    {
        Calc.Thrice(1);
    }

    public void Dispose() { }

    public class Inner
    {
        [Fact] public void Nested() { }
    }

    int[] numbers = { 1, 2 };
}
-- tests/NUnitTests.cs --
namespace App.Tests
{
    public class NUnitTests : BaseTests
    {
        [Test]
        public void FailTest()
        {

            Assert.That(false, Is.True);
        }

        [Test, Ignore("Ignore test")] public void SkipTest() { }
        [Test]
        public void Throws()
        {
            Calc.Get();
        }

        [TestCase(false), TestCase(true)]
        public void Each(bool expected)
        { Assert.That(true, Is.EqualTo(expected)); }
    }
    public class SetUpTests { [Test] public void Never() { } }
}
-- tests/BaseTests.cs --
namespace App.Tests
{
    public abstract class BaseTests
    {
        [Test] public void Inherited() { }
        protected void Helper() { }
    }
}
-- tests/FixtureTests.cs --
namespace App.Tests;
public class FixtureTests
{
    [Fact]
    public void Failing_Test()
    {


        Assert.Null(fixture);
    }
    [Fact] public void Passing_Test() { }
}
`

// TestFind finds the projects, their rows and what a changed path touches.
func TestFind(t *testing.T) {
	state := plainstate.New(t, project)
	if found := Detect(state.Tree()); len(found) != 1 || found[0] != (Candidate{".", "tests/App.Tests.csproj"}) {
		t.Errorf("found %+v", found)
	}
	r := New(Config{})
	for file, want := range map[string]string{
		"tests/CalcTests.cs": "tests/CalcTests.cs", "tests/BaseTests.cs": "tests/NUnitTests.cs", "tests/App.Tests.csproj": "tests/CalcTests.cs tests/FixtureTests.cs tests/NUnitTests.cs", "tests/gone.cs": "", "src/Calc.cs": "",
	} {
		units, err := r.Units(context.Background(), state.Tree(), []string{file}, false)
		if got := strings.Join(units, " "); err != nil || got != want {
			t.Errorf("%s touches %q, want %q (%v)", file, got, want, err)
		}
	}
	result, err := r.List(context.Background(), state, []string{"tests/CalcTests.cs", "tests/NUnitTests.cs"})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, o := range result.Rows {
		rows = append(rows, fmt.Sprintf("%s %d-%d", strings.TrimPrefix(o.Row.ID, "App.Tests."), o.Row.Line, o.Row.End))
	}
	want := []string{
		"CalcTests.Passes 11-12", "CalcTests.Asserts 14-16", "CalcTests.Throws 18-22", "CalcTests.Skipped 24-25", "CalcTests.Each 27-34", "CalcTests.Named 36-37", "CalcTests.Slow 39-43", "CalcTests.Gone 45-49",
		"CalcTests+Inner.Nested 55-55", "NUnitTests.FailTest 5-10", "NUnitTests.SkipTest 12-12", "NUnitTests.Throws 13-17", "NUnitTests.Each 19-21", "NUnitTests.Inherited 5-5", "SetUpTests.Never 23-23",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

// read enters a recorded report as what a command said of some units.
func read(t *testing.T, name string, code int, units ...string) *session {
	t.Helper()
	state := plainstate.New(t, project)
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h := &heard{code: code}
	if h.report, h.broken = readTrx(file); h.broken != nil {
		t.Fatal(h.broken)
	}
	r := New(Config{})
	s := &session{Runner: r, state: state, projects: newProjects(state.Tree(), "."), left: r.left.Of(state), root: "/r", answered: make(map[string]bool)}
	s.absorb(units, h)
	if !h.died() {
		s.settle(units, h)
	}
	return s
}

// TestReports reads what xUnit and NUnit report.
func TestReports(t *testing.T) {
	plainstate.Compare(t, read(t, "xunit.trx", 1, "tests/CalcTests.cs").result, `
App.Tests.CalcTests.Passes: passed
App.Tests.CalcTests.Asserts: failed assertion
App.Tests.CalcTests.Throws: failed exception
App.Tests.CalcTests.Skipped: skipped
App.Tests.CalcTests.Each: failed assertion
App.Tests.CalcTests.Each(n: 1, text: "a (b)"): passed
App.Tests.CalcTests.Each(n: 2, text: "c"): failed assertion
App.Tests.CalcTests.Named: passed
App.Tests.CalcTests.Slow: timed_out timeout
App.Tests.CalcTests.Gone: failed exception Thrice
App.Tests.CalcTests+Inner.Nested: passed
`)
	plainstate.Compare(t, read(t, "nunit.trx", 1, "tests/NUnitTests.cs").result, `
App.Tests.NUnitTests.FailTest: failed assertion
App.Tests.NUnitTests.SkipTest: skipped
App.Tests.NUnitTests.Throws: failed exception
App.Tests.NUnitTests.Each: failed assertion
App.Tests.NUnitTests.Each(False): failed assertion
App.Tests.NUnitTests.Each(True): passed
App.Tests.NUnitTests.Inherited: not_run deselected
App.Tests.SetUpTests.Never: errored setup
`)
	plainstate.Compare(t, read(t, "xunit3.trx", 2, "tests/FixtureTests.cs").result, `
App.Tests.FixtureTests.Failing_Test: failed assertion
App.Tests.FixtureTests.Passing_Test: errored setup
`)
	for _, o := range read(t, "xunit.trx", 1, "tests/CalcTests.cs").result.Rows {
		if place := o.Observations[0].Place; o.Row.Name == "Throws" && place != (gate.Place{File: "src/Calc.cs", Line: 9}) {
			t.Errorf("%s stands at %+v", o.Row.ID, place)
		}
	}
}

// TestContradictions: an exit status that the report does not bear out, no report,
// one that breaks off and a host that died are never green.
func TestContradictions(t *testing.T) {
	for _, o := range read(t, "xunit.trx", 0, "tests/CalcTests.cs").result.Rows {
		if o.Observations[0].Reason != gate.Inconsistent {
			t.Errorf("exit 0 over failures: %s is %v", o.Row.ID, o.Observations[0])
		}
	}
	if s := read(t, "xunit.trx", 1, "tests/FixtureTests.cs"); len(s.result.Rows) != 0 || len(s.result.Units) != 1 || s.result.Units[0].Observation.Reason != gate.NoReport {
		t.Errorf("a unit of which the report is silent: %+v", s.result)
	}
	whole, err := os.ReadFile("testdata/xunit.trx")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readTrx(strings.NewReader(string(whole[:len(whole)-200]))); err == nil || !strings.Contains(err.Error(), "breaks off") {
		t.Errorf("half a report: %v", err)
	}
	if report, err := readTrx(strings.NewReader(string(whole) + "\n" + string(whole) + "\n")); err != nil || report.Runs != 2 || len(report.Results) != 20 {
		t.Errorf("two reports: %d runs, %d results, %v", report.Runs, len(report.Results), err)
	}
	report, err := os.Open("testdata/aborted.trx")
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	h := &heard{code: 1}
	if h.report, err = readTrx(report); err != nil || !h.died() {
		t.Errorf("a host that crashed: %+v, %v", h, err)
	}
	for outcome, want := range map[string]gate.Outcome{"": gate.Errored, "Unknown": gate.Errored, "Aborted": gate.Crashed, "Timeout": gate.TimedOut, "NotRunnable": gate.Errored, "Inconclusive": gate.Skipped} {
		if got := (trxResult{Outcome: outcome}).observation("", gate.Row{}).Outcome; got != want {
			t.Errorf("outcome %q is %v, want %v", outcome, got, want)
		}
	}
}

// TestErrors reads what C#'s compiler says.
func TestErrors(t *testing.T) {
	source := braces.Parse("T.cs", []byte("class T {\n  void X() { new Calc().Go(1); }\n}\n"), braces.CSharp)
	for line, want := range map[string]string{
		"/r/tests/T.cs(2,24): error CS1061: 'Calc' does not contain a definition for 'Thrice' and no accessible extension method 'Thrice' accepting a first argument of type 'Calc' could be found (are you missing a using directive or an assembly reference?) [/r/tests/App.Tests.csproj]": "tests/T.cs:2 Thrice of Calc",
		"/r/tests/T.cs(2,24): error CS0117: 'Calc<int>' does not contain a definition for 'Limit' [/r/tests/App.Tests.csproj::TargetFramework=net8.0]":                                                                                                                                        "tests/T.cs:2 Limit of Calc",
		"/r/tests/T.cs(2,24): error CS0246: The type or namespace name 'Fresh' could not be found (are you missing a using directive or an assembly reference?) [/r/tests/App.Tests.csproj]":                                                                                                  "tests/T.cs:2 Fresh",
		"/r/tests/T.cs(2,24): error CS0234: The type or namespace name 'Later' does not exist in the namespace 'App' (are you missing an assembly reference?) [/r/tests/App.Tests.csproj]":                                                                                                    "tests/T.cs:2 Later",
		"/r/tests/T.cs(2,24): error CS0103: The name 'helper' does not exist in the current context [/r/tests/App.Tests.csproj]":                                                                                                                                                              "tests/T.cs:2 helper",
		"/r/tests/T.cs(2,24): error CS1501: No overload for method 'Go' takes 1 arguments [/r/tests/App.Tests.csproj]":                                                                                                                                                                        "tests/T.cs:2 Go!",
		"/r/tests/T.cs(2,24): error CS7036: There is no argument given that corresponds to the required parameter 'b' of 'Calc.Add(int, int)' [/r/tests/App.Tests.csproj]":                                                                                                                    "tests/T.cs:2 Add!",
		"/r/tests/T.cs(2,24): error CS1739: The best overload for 'Go' does not have a parameter named 'times' [/r/tests/App.Tests.csproj]":                                                                                                                                                   "tests/T.cs:2 Go!",
		"/r/tests/T.cs(2,24): error CS1729: 'Calc' does not contain a constructor that takes 2 arguments [/r/tests/App.Tests.csproj]":                                                                                                                                                         "tests/T.cs:2 Calc!",
		"/r/tests/T.cs(2,24): error CS1503: Argument 1: cannot convert from 'int' to 'string' [/r/tests/App.Tests.csproj]":                                                                                                                                                                    "tests/T.cs:2 X!, Calc!, Go!",
		"/r/tests/T.cs(2,24): error CS1002: ; expected [/r/tests/App.Tests.csproj]":                                                                                                                                                                                                           "tests/T.cs:2 ",
		"/usr/share/dotnet/sdk/8.0.1/Sdks/x.targets(266,5): error NETSDK1004: Assets file '/r/tests/obj/project.assets.json' not found. Run a NuGet package restore to generate this file. [/r/tests/App.Tests.csproj]":                                                                       ":0 ",
	} {
		e, ok := readError(line, "/r")
		var names []string
		for _, m := range e.missing(source) {
			name := m.Name
			if m.Signature {
				name += "!"
			}
			if m.Owner != "" {
				name += " of " + m.Owner
			}
			names = append(names, name)
		}
		if got := fmt.Sprintf("%s:%d %s", e.file, e.line, strings.Join(names, ", ")); !ok || got != want {
			t.Errorf("%s\ngot %q, want %q", line, got, want)
		}
	}
	if o := failure([]compileError{{code: "NETSDK1004", text: "Assets file not found"}}, nil); o.Reason != gate.Import || !strings.Contains(o.Message, "dotnet, restore") {
		t.Errorf("%+v", o)
	}
}
