package report

import (
	"encoding/xml"
	"fmt"

	"github.com/touchstone-gate/touchstone/gate"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Seconds  string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	File    string     `xml:"file,attr,omitempty"`
	Failure *junitNote `xml:"failure"`
	Error   *junitNote `xml:"error"`
	Skipped *junitNote `xml:"skipped"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
}

// renderJUnit writes the verdict, each of the change's own checks and each flip
// as test cases: what discriminates passes, what is wrong fails, what proves
// nothing is skipped with the reason.
func renderJUnit(r *gate.Report) ([]byte, error) {
	suite := junitSuite{Name: "touchstone", Seconds: fmt.Sprintf("%.3f", r.Seconds.Total)}
	suite.add("touchstone", "verdict", "", verdictState(r), Title(r))
	for _, c := range ownChecks(r) {
		k := kindOf(c)
		words := k.short + ": " + k.one + after(": ", explanation(c))
		suite.add("touchstone.own."+c.Runner, c.ID, c.File, checkState(c), words)
	}
	for _, flip := range r.Flips {
		suite.add("touchstone.flip", flip.ID, "", "failure", "passes on base, fails on head "+flipWords[flip.Kind]+after(": ", flip.Message))
	}
	for _, l := range r.Lost {
		suite.add("touchstone.lost", l.ID, "", "skipped", "ran on base; on head "+spaced(l.How)+after("; ", onHeadWords[l.OnHead]))
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

func (s *junitSuite) add(class, name, file, state, words string) {
	note := &junitNote{Sanitize(words, 2000)}
	c := junitCase{Class: Sanitize(class, 200), Name: Sanitize(name, 0), File: Sanitize(file, 0)}
	s.Tests++
	switch state {
	case "failure":
		s.Failures++
		c.Failure = note
	case "error":
		s.Errors++
		c.Error = note
	case "skipped":
		s.Skipped++
		c.Skipped = note
	}
	s.Cases = append(s.Cases, c)
}

func verdictState(r *gate.Report) string {
	switch {
	case r.Verdict.Conclusion == gate.Pass || r.Verdict.Conclusion == gate.NotApplicable:
		return ""
	case r.Advisory:
		return "skipped"
	case r.Verdict.Conclusion == gate.Fail:
		return "failure"
	}
	return "error"
}

func checkState(c gate.Check) string {
	switch c.Role {
	case gate.DiagnosticNegative:
		return "failure"
	case gate.Discriminating:
		return ""
	}
	return "skipped"
}
