package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/runner/cargo"
	"github.com/touchstone-gate/touchstone/internal/runner/ctest"
	"github.com/touchstone-gate/touchstone/internal/runner/gotest"
	"github.com/touchstone-gate/touchstone/internal/runner/javascript"
	"github.com/touchstone-gate/touchstone/internal/runner/jvm"
	"github.com/touchstone-gate/touchstone/internal/runner/phpunit"
	"github.com/touchstone-gate/touchstone/internal/runner/pytest"
	"github.com/touchstone-gate/touchstone/internal/runner/ruby"
	"github.com/touchstone-gate/touchstone/internal/runner/template"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// runners are the test frameworks of a change's repository.
type runners struct {
	list    []gate.Runner
	env     []map[string]string
	visible []string // programs that states must see wherever they lie
	doubts  []string
}

// findRunners takes the configured runners, else what the files of base (and of
// head, for what it adds) ask for.
func findRunners(c *change, settings config.Config, parts []patchsplit.FilePart) (*runners, error) {
	found := &runners{}
	for _, r := range settings.Runners {
		if err := found.configured(r); err != nil {
			return nil, err
		}
	}
	if len(settings.Runners) == 0 {
		found.detect(c.base)
		if len(found.list) == 0 {
			found.detect(c.head)
		}
	}
	if len(found.list) == 0 && slices.ContainsFunc(parts, func(p patchsplit.FilePart) bool { return p.Part == patchsplit.Test }) {
		found.doubts = append(found.doubts, "no test runner was found for the changed tests (looked for go.mod, go.work, for pytest's configuration and test files, for package.json, for Cargo.toml, for pom.xml, for spec and test files of Ruby, for CMakeLists.txt and for phpunit.xml): name one in runners: of "+config.Path)
	}
	return found, nil
}

func (f *runners) configured(r config.Runner) error {
	if len(r.Command) > 0 && filepath.IsAbs(r.Command[0]) {
		f.visible = append(f.visible, r.Command[0])
	}
	f.env = append(f.env, r.Env)
	switch r.Framework {
	case "gotest":
		f.list = append(f.list, gotest.New(gotest.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case "pytest":
		f.list = append(f.list, pytest.New(pytest.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: withPythonPath(r.Env), Timeout: time.Duration(r.Timeout)}))
	case javascript.Jest, javascript.Vitest, javascript.Mocha, javascript.Node, javascript.Ava:
		f.list = append(f.list, javascript.New(javascript.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case cargo.Framework:
		f.list = append(f.list, cargo.New(cargo.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case ctest.Framework:
		f.list = append(f.list, ctest.New(ctest.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case phpunit.Framework:
		f.list = append(f.list, phpunit.New(phpunit.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case jvm.Maven:
		f.list = append(f.list, jvm.New(jvm.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case ruby.RSpec, ruby.Minitest:
		f.list = append(f.list, ruby.New(ruby.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case template.JUnit, template.TAP:
		if r.Framework == template.JUnit && len(r.Command) == 0 {
			return fmt.Errorf("%s: the runner %q has no command: give the one that writes the JUnit report, with {files} in place of the test files", config.Path, r.Name)
		}
		f.list = append(f.list, template.New(template.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Report: r.Report, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	default:
		return fmt.Errorf("%s: the runner %q wants the framework %s, which this version cannot run (it runs gotest, pytest, %s, cargo, maven, rspec, minitest, ctest, phpunit, junit and tap)", config.Path, r.Name, r.Framework, strings.Join(javascript.Frameworks(), ", "))
	}
	return nil
}

func (f *runners) detect(tree gate.Tree) {
	for _, candidate := range gotest.Detect(tree) {
		f.list = append(f.list, gotest.New(gotest.Config{Name: nameOf("gotest", candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range pytest.Detect(tree) {
		f.list = append(f.list, pytest.New(pytest.Config{Name: nameOf("pytest", candidate.Dir), Dir: candidate.Dir, Env: withPythonPath(nil)}))
	}
	for _, candidate := range cargo.Detect(tree) {
		f.list = append(f.list, cargo.New(cargo.Config{Name: nameOf(cargo.Framework, candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range jvm.Detect(tree) {
		f.list = append(f.list, jvm.New(jvm.Config{Name: nameOf(jvm.Maven, candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range ctest.Detect(tree) {
		f.list = append(f.list, ctest.New(ctest.Config{Name: nameOf(ctest.Framework, candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range phpunit.Detect(tree) {
		f.list = append(f.list, phpunit.New(phpunit.Config{Name: nameOf(phpunit.Framework, candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range ruby.Detect(tree) {
		f.list = append(f.list, ruby.New(ruby.Config{Framework: candidate.Framework, Name: nameOf(candidate.Framework, candidate.Dir), Dir: candidate.Dir}))
	}
	for _, candidate := range javascript.Detect(tree) {
		f.list = append(f.list, javascript.New(javascript.Config{Framework: candidate.Framework, Name: nameOf(candidate.Framework, candidate.Dir), Dir: candidate.Dir}))
	}
}

// withPythonPath keeps the user's own PYTHONPATH, which the runner would
// otherwise replace by its plugin's.
func withPythonPath(env map[string]string) map[string]string {
	own := os.Getenv("PYTHONPATH")
	if _, set := env["PYTHONPATH"]; set || own == "" {
		return env
	}
	env = maps.Clone(env)
	if env == nil {
		env = make(map[string]string)
	}
	env["PYTHONPATH"] = own
	return env
}

// nameOf tells the runners of several directories apart.
func nameOf(framework, dir string) string {
	if dir == "." {
		return framework
	}
	return framework + ":" + dir
}

// boxOptions says what the states may see and use.
func boxOptions(root string, settings config.Config, found *runners) sandbox.Options {
	visible := slices.Clone(found.visible)
	for _, env := range found.env {
		for value := range maps.Values(env) {
			for part := range strings.SplitSeq(value, ":") {
				if filepath.IsAbs(part) {
					visible = append(visible, part)
				}
			}
		}
	}
	return sandbox.Options{
		Kind: string(settings.Sandbox.Kind), Root: root, Visible: visible, Network: settings.Sandbox.Network == "open",
		Memory: int64(settings.Sandbox.Memory), Disk: int64(settings.Sandbox.Disk), Pids: int(settings.Sandbox.Pids),
	}
}
