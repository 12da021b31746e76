package dotnet

import (
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	thrown     = lazyregexp.New("^(?:Test method \\S+ threw exception:\\s*)?(?:(SetUp|TearDown|OneTimeSetUp|OneTimeTearDown) : )?((?:[\\w`+]+\\.)*[\\w`+]*(?:Exception|Error)) ?: ")
	asserting  = lazyregexp.New(`^(?:Xunit\.|NUnit\.Framework\.|Microsoft\.VisualStudio\.TestTools\.UnitTesting\.(?:Assert|Internal)|Shouldly\.|FluentAssertions\.|AwesomeAssertions\.|TUnit\.|Moq\.|NSubstitute\.Exceptions\.\w*Received|FakeItEasy\.Expectation)`)
	setUp      = lazyregexp.New(`^(?:OneTimeSetUp|SetUp|TearDown|OneTimeTearDown)\b ?:|^(?:Class |Assembly )?Initialization method |^The following constructor parameters did not have matching fixture data|^Class fixture type |^Collection fixture type |^Unable to (?:create|get) (?:an )?instance of|^\[Test (?:Class|Collection|Assembly)`)
	outOfTime  = lazyregexp.New(`^Test (?:'[^']*' )?(?:exceeded (?:Timeout value|execution timeout)|execution timed out)|exceeded execution timeout period|timed out after \d+ ?m`)
	frame      = lazyregexp.New(`(?m)^\s*(?:at|bei|à|en|в|在) (.+?)\(.*\) .{1,4} (\S.*\.(?:cs|fs|vb)):\S+ (\d+)\s*$`)
	noMethod   = lazyregexp.New(`^System\.Missing(?:Method|Field|Member)Exception ?: (?:Method|Field) (?:'[\w.<>+\[\],\x60 ]*?[.+](\w+)(?:\([^']*\))?'|not found: '[^']*?(\w+)(?:\([^']*\))?\.?')`)
	noType     = lazyregexp.New(`^System\.(?:TypeLoad|MissingManifestResource)Exception ?: .*?type '(?:[\w.+]*[.+])?(\w+)'`)
	noAssembly = lazyregexp.New(`^System\.IO\.(?:FileNotFound|FileLoad)Exception ?: Could not load file or assembly '([\w.]+)`)
)

// observation is what a result came to. root is the directory of the tree, as the
// stack names it.
func (r trxResult) observation(root string, row gate.Row) gate.Observation {
	o := gate.Observation{Duration: r.Took, Message: gate.Message(r.Message)}
	switch r.Outcome {
	case "Passed", "Completed", "Warning", "PassedButRunAborted":
		o.Outcome = gate.Passed
	case "NotExecuted", "Inconclusive", "Pending":
		o.Outcome = gate.Skipped
	case "Timeout":
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case "Aborted", "Disconnected", "InProgress":
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
	case "Failed", "Error":
		r.explain(&o, root, row)
	case "NotRunnable":
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	default:
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.NoReport, gate.Message("the report gives it the outcome "+strconv.Quote(r.Outcome)+", which nobody knows")
	}
	return o
}

// explain says why a test is red: by its own assertion, by an exception, before it
// began.
func (r trxResult) explain(o *gate.Observation, root string, row gate.Row) {
	o.Outcome, o.Reason = gate.Failed, gate.Assertion
	m := thrown.FindStringSubmatch(r.Message)
	words := r.Message
	if m != nil {
		words = r.Message[strings.Index(r.Message, m[2]):]
		if !asserting.MatchString(m[2]) {
			o.Reason = gate.Exception
		}
	}
	inTest, production := r.locate(o, root, row)
	switch {
	case outOfTime.MatchString(r.Message):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case m != nil && m[1] != "" || setUp.MatchString(r.Message):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case o.Reason == gate.Exception && !inTest && !production && o.Place.File != "": // a constructor, a fixture
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	}
	for _, pattern := range []*lazyregexp.Regexp{noMethod, noType, noAssembly} {
		if m := pattern.FindStringSubmatch(words); m != nil {
			name := m[1]
			if len(m) > 2 && name == "" {
				name = m[2]
			}
			o.Missing = append(o.Missing, gate.Missing{Name: name[strings.LastIndexByte(name, '.')+1:], FromProduction: production})
		}
	}
}

// locate adds the first place of the stack that lies in the tree. inTest: a frame
// is the test's; production: the first one lies in another file than the test.
func (r trxResult) locate(o *gate.Observation, root string, row gate.Row) (inTest, production bool) {
	for _, m := range frame.FindAllStringSubmatch(r.Stack, -1) {
		file, ok := strings.CutPrefix(strings.ReplaceAll(m[2], `\`, "/"), root+"/")
		if !ok || root == "" {
			continue
		}
		line, _ := strconv.Atoi(m[3])
		if o.Place.File == "" {
			o.Place = gate.Place{File: file, Line: line}
			production = file != row.File && !isTestPath(file)
		}
		inTest = inTest || file == row.File && row.Line <= line && line <= row.End
	}
	return inTest, production
}

// isTestPath holds for files below a directory that is named as one of tests.
func isTestPath(file string) bool {
	return testPath.MatchString(file)
}

var testPath = lazyregexp.New(`(?i)(?:^|/)[^/]*tests?(?:[./][^/]*)*/[^/]+$`)
