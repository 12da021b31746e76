// Package config reads .github/touchstone.yml into types that cannot be wrong:
// every value is checked while it is decoded, so that later use cannot fail,
// and every error names the file, the line and the column.
//
// It is not the place for defaults of single features beyond the contract's,
// and it reads bytes, never files: the bytes come from the base commit.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Path is where a repository keeps its configuration.
const Path = ".github/touchstone.yml"

// Config is a whole configuration. Default gives the values of an absent file.
type Config struct {
	Source    string    `yaml:"-"` // the name of the file it was read from, for errors
	Version   Version   `yaml:"version"`
	AppliesTo AppliesTo `yaml:"applies_to"`
	Mode      Mode      `yaml:"mode"`
	Runners   []Runner  `yaml:"runners"` // empty: found from the repository's files
	Split     Split     `yaml:"split"`
	Sandbox   Sandbox   `yaml:"sandbox"`
	Policy    Policy    `yaml:"policy"`
	Repeat    Count     `yaml:"repeat"`
	Select    Select    `yaml:"select"`
	GitHub    GitHub    `yaml:"github"`
	Audit     Audit     `yaml:"audit"`
}

// Runner is one test framework to run, in one directory, in one way.
type Runner struct {
	Name      string            `yaml:"name"`
	Framework Framework         `yaml:"framework"`
	Dir       Dir               `yaml:"dir"`
	Command   []string          `yaml:"command"`
	Setup     [][]string        `yaml:"setup"`
	Env       map[string]string `yaml:"env"`
	Timeout   Duration          `yaml:"timeout"`
	Report    string            `yaml:"report"`
}

// Split holds globs that are asked before the built-in rules.
type Split struct {
	Test       []string `yaml:"test"`
	Production []string `yaml:"production"`
	Neutral    []string `yaml:"neutral"`
}

// Sandbox says how states are made and what a run may use.
type Sandbox struct {
	Kind    SandboxKind `yaml:"kind"`
	Image   string      `yaml:"image"`   // docker: "" for one built from base's own Dockerfile
	Runtime string      `yaml:"runtime"` // docker: of the engine's, as runsc; "" for its default
	Network Network     `yaml:"network"`
	Memory  Bytes       `yaml:"memory"`
	Pids    Count       `yaml:"pids"`
	Disk    Bytes       `yaml:"disk"`
	Env     []string    `yaml:"env"` // names of variables let through besides the built-in list
}

// Policy is what the gate asks of a change.
type Policy struct {
	Require         Requirement `yaml:"require"`
	VacuousTests    Level       `yaml:"vacuous_tests"`
	Flips           Level       `yaml:"flips"`
	LostTests       Level       `yaml:"lost_tests"`
	LoosenedTests   Level       `yaml:"loosened_tests"`
	Infrastructure  Trust       `yaml:"changed_infrastructure"`
	ExemptKinds     []Kind      `yaml:"exempt_kinds"`
	RegressionKinds []Kind      `yaml:"regression_kinds"`
}

// Select steers regression test selection.
type Select struct {
	Strategy     Strategy `yaml:"strategy"`
	Always       []string `yaml:"always"`
	AllIfChanged []string `yaml:"all_if_changed"`
}

// GitHub says what is published, and how loudly.
type GitHub struct {
	CheckName   CheckName `yaml:"check_name"`
	Comment     Comment   `yaml:"comment"`
	Annotations Count     `yaml:"annotations"`
}

// Audit says how often the whole suite runs.
type Audit struct {
	Rate          Rate            `yaml:"rate"`
	FullWhenUnder Duration        `yaml:"full_when_under"`
	Group         string          `yaml:"group"`
	Agents        map[string]Rate `yaml:"agents"` // in place of rate, by agent
	Paths         map[string]Rate `yaml:"paths"`  // at least this, for changes that touch a glob
}

// Default is the configuration of a repository that has none.
func Default() Config {
	p := gate.DefaultPolicy()
	return Config{
		Source:    Path,
		Version:   1,
		AppliesTo: "all",
		Mode:      "enforce",
		Sandbox:   Sandbox{Kind: "auto", Network: "none", Memory: 4 << 30, Pids: 512, Disk: 4 << 30},
		Policy: Policy{
			Require: Requirement(p.Require), VacuousTests: Level(p.VacuousTests), Flips: Level(p.Flips), LostTests: Level(p.LostTests), LoosenedTests: Level(p.LoosenedTests),
			Infrastructure: "ask", ExemptKinds: []Kind{"docs"}, RegressionKinds: []Kind{"refactor", "dependency", "revert"},
		},
		Repeat: Count(p.Repeat),
		Select: Select{Strategy: "auto"},
		GitHub: GitHub{CheckName: "touchstone", Comment: "failures", Annotations: 30},
		Audit:  Audit{Rate: 0.2, FullWhenUnder: Duration(60 * time.Second), Group: "issue"},
	}
}

// Error is a configuration that cannot be used, with where and why.
type Error struct {
	File    string
	Line    int // from 1; 0 when the error is about the whole file
	Column  int
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Parse reads a configuration. name is the file's name in errors. Unknown keys
// are errors. Keys that are absent keep their default.
func Parse(name string, content []byte) (Config, error) {
	c := Default()
	c.Source = name
	if blank, err := nulls(name, content); blank || err != nil {
		return c, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict(), yaml.DisallowUnknownField())
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, position(name, err)
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return Config{}, &Error{File: name, Message: "holds more than one YAML document: keep one"}
	}
	return c, c.complete(name)
}

// nulls tells whether the file says nothing at all, and refuses a key without a
// value: decoding one would silently replace defaults by zeroes.
func nulls(name string, content []byte) (blank bool, err error) {
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		at := position(name, err)
		at.Message = "not valid YAML, look at the indentation and the punctuation here: " + at.Message
		return false, at
	}
	blank = true
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		blank = false
		for _, node := range ast.Filter(ast.NullType, doc.Body) {
			at := node.GetToken().Position
			return false, &Error{File: name, Line: at.Line, Column: at.Column, Message: "a value is missing here: give one, or remove the key"}
		}
	}
	return blank, nil
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// complete checks what no single value can: names that must differ, keys that
// need each other.
func (c *Config) complete(name string) error {
	for i, variable := range c.Sandbox.Env {
		if !variableName.MatchString(variable) {
			return &Error{File: name, Message: fmt.Sprintf("sandbox.env[%d]: %q is no name of an environment variable: list names, without values", i, variable)}
		}
	}
	seen := make(map[string]bool)
	for i := range c.Runners {
		r := &c.Runners[i]
		if r.Framework == "" {
			return &Error{File: name, Message: fmt.Sprintf("runners[%d] has no framework: name one of %s", i, list(frameworks))}
		}
		if r.Name == "" {
			r.Name = string(r.Framework)
		}
		if seen[r.Name] {
			return &Error{File: name, Message: fmt.Sprintf("two runners are named %q: give each a name of its own", r.Name)}
		}
		seen[r.Name] = true
	}
	return nil
}

// Gate is the part of the configuration that decides.
func (c *Config) Gate() gate.Policy {
	return gate.Policy{
		Require:         gate.Requirement(c.Policy.Require),
		VacuousTests:    gate.Level(c.Policy.VacuousTests),
		Flips:           gate.Level(c.Policy.Flips),
		LostTests:       gate.Level(c.Policy.LostTests),
		LoosenedTests:   gate.Level(c.Policy.LoosenedTests),
		ExemptKinds:     words(c.Policy.ExemptKinds),
		RegressionKinds: words(c.Policy.RegressionKinds),
		Repeat:          int(c.Repeat),

		AcceptInfrastructure: c.Policy.Infrastructure == "accept",
	}
}

func words(kinds []Kind) []string {
	out := make([]string, len(kinds))
	for i, kind := range kinds {
		out[i] = string(kind)
	}
	return out
}

func position(name string, err error) *Error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return &Error{File: name, Message: err.Error()}
	}
	p := at.GetToken().Position
	return &Error{File: name, Line: p.Line, Column: p.Column, Message: at.GetMessage()}
}
