package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func write(t *testing.T, format string, r *gate.Report, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, r, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReadIsTheInverseOfWrite(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			first := write(t, "json", g.build(), Options{})
			r, err := Read(strings.NewReader(first))
			if err != nil {
				t.Fatal(err)
			}
			if second := write(t, "json", r, Options{}); second != first {
				t.Error("written, read and written again, it is another report")
			}
			if g.name != "hostile" && !reflect.DeepEqual(r, complete(g.build())) { // invalid UTF-8 has no place in JSON
				t.Errorf("read another report than was written")
			}
		})
	}
}

func TestJSONHasNoNullLists(t *testing.T) {
	r := &gate.Report{Schema: gate.SchemaVersion, Checks: []gate.Check{{Cells: map[gate.StateName][]gate.Cell{gate.Head: nil}}, {}}, Commands: []gate.RanCommand{{}}, Split: []gate.SplitEntry{{}}}
	text := write(t, "json", r, Options{})
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "null") && !strings.Contains(line, `"gold"`) && !strings.Contains(line, `"old_path"`) {
			t.Errorf("null in place of a list: %s", line)
		}
	}
	if !strings.HasSuffix(text, "}\n") {
		t.Errorf("no newline at the end: %q", text[len(text)-5:])
	}
}

func TestJSONKeepsItsText(t *testing.T) {
	const message = "a<b>&c ##[error]x ##vso[y] \u202e\u0085\x7f\U000e0041 end"
	text := write(t, "json", &gate.Report{Schema: gate.SchemaVersion, Notes: []string{message}}, Options{})
	if !strings.Contains(text, "a<b>&c") {
		t.Error("HTML is escaped")
	}
	var back gate.Report
	if err := json.Unmarshal([]byte(text), &back); err != nil || back.Notes[0] != message {
		t.Errorf("got %q, want %q (%v)", back.Notes, message, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "EOF"},
		{"no JSON", "<html>", "byte 0"},
		{"cut off", `{"schema": 1, "checks": [`, "EOF"},
		{"no schema", `{}`, "its schema is 0"},
		{"a later schema", `{"schema": 2}`, "its schema is 2"},
		{"another type", `{"schema": 1, "checks": {}}`, "checks"},
		{"an unknown outcome", `{"schema": 1, "checks": [{"cells": {"head": [{"outcome": "fine"}]}}]}`, "fine"},
		{"an unknown conclusion", `{"schema": 1, "verdict": {"conclusion": "great"}}`, "great"},
		{"more after it", `{"schema": 1} {"schema": 1}`, "more after it"},
		{"rubbish after it", `{"schema": 1} x`, "more after it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read(strings.NewReader(c.text))
			if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want an error with %q", r, err, c.want)
			}
		})
	}
}

func TestReadAllowsUnknownFields(t *testing.T) {
	r, err := Read(strings.NewReader(`{"schema": 1, "later": [1], "verdict": {"conclusion": "fail", "more": 1}}` + "\n"))
	if err != nil || r.Verdict.Conclusion != gate.Fail {
		t.Errorf("got %v, %v", r, err)
	}
}

// A report that does not say its conclusion did not pass.
func TestReadWithoutVerdictIsUndecided(t *testing.T) {
	r, err := Read(strings.NewReader(`{"schema": 1}`))
	if err != nil || r.Verdict.Conclusion != gate.Undecided {
		t.Errorf("got %v, %v", r, err)
	}
}
