package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// contractExample is the configuration that the documentation shows.
const contractExample = `
version: 1
applies_to: label:agent
mode: advisory
runners:
  - name: unit
    framework: pytest
    dir: sub/dir
    command: [python, -m, pytest]
    setup: [[pip, install, -e, .]]
    env: {TZ: UTC}
    timeout: 10m
    report: "build/reports/**/*.xml"
split:
  test: ["tests/**", "**/*_test.go"]
sandbox: {kind: overlay, image: "python:3.12", runtime: runsc, network: none, memory: 2GiB, pids: 64, disk: 512MiB, env: [DISPLAY]}
policy:
  require: positive
  vacuous_tests: fail
  flips: warn
  lost_tests: ignore
  loosened_tests: fail
  exempt_kinds: [docs]
  regression_kinds: [refactor]
repeat: 3
select: {strategy: auto, always: ["tests/smoke/**"], all_if_changed: ["pyproject.toml"]}
github: {check_name: touchstone, comment: failures, annotations: 30}
audit: {rate: 0.2, full_when_under: 60s, group: issue}
`

func TestParseReadsEveryKey(t *testing.T) {
	c, err := Parse(Path, []byte(contractExample))
	if err != nil {
		t.Fatal(err)
	}
	r := c.Runners[0]
	if r.Name != "unit" || r.Framework != "pytest" || r.Dir != "sub/dir" || time.Duration(r.Timeout) != 10*time.Minute || r.Env["TZ"] != "UTC" || len(r.Setup[0]) != 4 {
		t.Errorf("runner: %+v", r)
	}
	if c.Sandbox.Image != "python:3.12" || c.Sandbox.Runtime != "runsc" || c.Sandbox.Memory != 2<<30 || c.Sandbox.Disk != 512<<20 || c.Sandbox.Pids != 64 || len(c.Sandbox.Env) != 1 {
		t.Errorf("sandbox: %+v", c.Sandbox)
	}
	p := c.Gate()
	if p.Require != gate.RequirePositive || p.VacuousTests != gate.LevelFail || p.Flips != gate.LevelWarn || p.LostTests != gate.LevelIgnore || p.LoosenedTests != gate.LevelFail || p.Repeat != 3 || len(p.RegressionKinds) != 1 {
		t.Errorf("policy: %+v", p)
	}
}

func TestAbsentFileIsTheDefault(t *testing.T) {
	for _, empty := range []string{"", "# nothing\n", "version: 1\n", `{"version": 1}`} {
		c, err := Parse(Path, []byte(empty))
		if err != nil {
			t.Errorf("%q: %v", empty, err)
		}
		if got, want := c.Gate(), gate.DefaultPolicy(); got.Require != want.Require || got.Repeat != want.Repeat || got.Flips != want.Flips {
			t.Errorf("%q: %+v, want %+v", empty, got, want)
		}
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"runners:\n  - name: x\n   framework: pytest\n", `touchstone.yml:3:4: not valid YAML, look at the indentation`},
		{"version: 2\n", `touchstone.yml:1:10: version "2" is not known`},
		{"version: 1\nmodus: enforce\n", `touchstone.yml:2:1: unknown field "modus"`},
		{"policy:\n  require: discrimnating\n", `touchstone.yml:2:12: "discrimnating" is not a requirement`},
		{"policy:\n  flips: block\n", `touchstone.yml:2:10: "block" is not a level`},
		{"policy:\n  required: none\n", `touchstone.yml:2:3: unknown field "required"`},
		{"runners:\n  - framework: nose\n", `touchstone.yml:2:16: "nose" is not one of pytest`},
		{"runners:\n  - name: x\n", `runners[0] has no framework`},
		{"runners: [{framework: pytest}, {framework: pytest}]\n", `two runners are named "pytest"`},
		{"runners:\n  - framework: pytest\n    dir: ../other\n", `touchstone.yml:3:10: directory "../other" is not inside`},
		{"sandbox: {memory: 4GB}\n", `touchstone.yml:1:19: "4GB" is not a size`},
		{"sandbox: {memory: [1]}\n", `a single value is wanted here`},
		{"repeat: 0\n", `touchstone.yml:1:9: "0" is not a whole number`},
		{"audit: {rate: 1.5}\n", `touchstone.yml:1:15: "1.5" is not a probability`},
		{"audit: {full_when_under: 60}\n", `"60" is not a duration`},
		{"version: 1\n---\nversion: 1\n", `more than one YAML document`},
		{"version: 1\nversion: 1\n", `touchstone.yml:2:1:`},
		{"policy:\nrepeat: 2\n", `touchstone.yml:1:8: a value is missing here`},
		{"repeat: [\n", `touchstone.yml:`},
		{"github: {comment: sometimes}\n", `touchstone.yml:1:19: "sometimes" is not off, failures or always`},
		{"github: {check_name: \"a --> b\"}\n", `touchstone.yml:1:22: "a --> b" is not the name of a check`},
		{"github: {check_name: \" a\"}\n", `is not the name of a check`},
		{"github: {annotations: 0}\n", `"0" is not a whole number`},
		{"applies_to: agent\n", `touchstone.yml:1:13: "agent" is not all, agents or label:<name>`},
		{"applies_to: \"label:\"\n", `is not all, agents or label:<name>`},
		{"mode: strict\n", `"strict" is not one of enforce, advisory`},
	} {
		_, err := Parse("touchstone.yml", []byte(c.text))
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}
