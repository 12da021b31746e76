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
	"github.com/touchstone-gate/touchstone/internal/runner/dotnet"
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
	list     []gate.Runner
	dirs     []string // where each one runs
	why      []string // what each one was chosen by
	env      []map[string]string
	added    []string // files that the change brings
	programs []string // that commands start by their paths
	doubts   []string
}

// findRunners takes the configured runners, else what the files of base (and of
// head, for what it adds) ask for.
func findRunners(c *change, settings config.Config, parts []patchsplit.FilePart) (*runners, error) {
	found := &runners{added: addedPaths(parts)}
	for _, r := range settings.Runners {
		if err := found.configured(r, settings.Source); err != nil {
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
		found.doubts = append(found.doubts, fmt.Sprintf("no test runner was found for the changed tests (%s): name one in runners: of %s", lookedFor, config.Path))
	}
	return found, nil
}

const lookedFor = "looked for go.mod, go.work, for pytest's configuration, manage.py and Python's test files, for package.json, Cargo.toml, pom.xml, build.gradle, CMakeLists.txt, phpunit.xml and *.csproj, and for Ruby's spec and test files"

// absent says so where the repository has no tests that can be run at all, and
// none of them changed either.
func (f *runners) absent() []string {
	if len(f.list) > 0 || len(f.doubts) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("no test runner was found in this repository (%s): no test of it can be asked; name a runner in runners: of %s", lookedFor, config.Path)}
}

// addedPaths are the files that base does not have under their name.
func addedPaths(parts []patchsplit.FilePart) []string {
	var added []string
	for _, part := range parts {
		if part.Status == patchsplit.Added || part.Status == patchsplit.Renamed || part.Status == patchsplit.Copied {
			added = append(added, part.Path)
		}
	}
	return added
}

func (f *runners) configured(r config.Runner, source string) error {
	for _, command := range append(slices.Clone(r.Setup), r.Command) {
		if len(command) > 0 && filepath.IsAbs(command[0]) {
			f.programs = append(f.programs, command[0])
		}
	}
	f.env = append(f.env, r.Env)
	add := func(made gate.Runner) { f.add(made, string(r.Dir), "runners: of "+source) }
	switch r.Framework {
	case "gotest":
		add(gotest.New(gotest.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case pytest.Pytest, pytest.Unittest, pytest.Django:
		add(pytest.New(pytest.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: withPythonPath(r.Env), Timeout: time.Duration(r.Timeout), Added: f.added}))
	case javascript.Jest, javascript.Vitest, javascript.Mocha, javascript.Node, javascript.Ava:
		add(javascript.New(javascript.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case cargo.Framework:
		add(cargo.New(cargo.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case ctest.Framework:
		add(ctest.New(ctest.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case dotnet.Framework:
		add(dotnet.New(dotnet.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case phpunit.Framework:
		add(phpunit.New(phpunit.Config{Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case jvm.Maven, jvm.Gradle:
		add(jvm.New(jvm.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case ruby.RSpec, ruby.Minitest:
		add(ruby.New(ruby.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	case template.JUnit, template.TAP:
		if r.Framework == template.JUnit && len(r.Command) == 0 {
			return fmt.Errorf("%s: the runner %q has no command: give the one that writes the JUnit report, with {files} in place of the test files", source, r.Name)
		}
		add(template.New(template.Config{Framework: string(r.Framework), Name: r.Name, Dir: string(r.Dir), Command: r.Command, Report: r.Report, Env: r.Env, Timeout: time.Duration(r.Timeout)}))
	default:
		return fmt.Errorf("%s: the runner %q wants the framework %s, which this version cannot run (it runs gotest, pytest, unittest, django, %s, cargo, maven, gradle, rspec, minitest, ctest, dotnet, phpunit, junit and tap)", source, r.Name, r.Framework, strings.Join(javascript.Frameworks(), ", "))
	}
	return nil
}

// add takes a runner in, with what it was chosen by.
func (f *runners) add(r gate.Runner, dir, why string) {
	if dir == "" {
		dir = "."
	}
	f.list, f.dirs, f.why = append(f.list, r), append(f.dirs, dir), append(f.why, why)
}

func (f *runners) detect(tree gate.Tree) {
	for _, c := range gotest.Detect(tree) {
		f.add(gotest.New(gotest.Config{Name: nameOf("gotest", c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range pytest.Detect(tree) {
		f.add(pytest.New(pytest.Config{Framework: c.Framework, Name: nameOf(c.Framework, c.Dir), Dir: c.Dir, Env: withPythonPath(nil), Added: f.added}), c.Dir, c.Why)
	}
	for _, c := range cargo.Detect(tree) {
		f.add(cargo.New(cargo.Config{Name: nameOf(cargo.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range jvm.Detect(tree) {
		f.add(jvm.New(jvm.Config{Framework: c.Framework, Name: nameOf(c.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range ctest.Detect(tree) {
		f.add(ctest.New(ctest.Config{Name: nameOf(ctest.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range dotnet.Detect(tree) {
		f.add(dotnet.New(dotnet.Config{Name: nameOf(dotnet.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range phpunit.Detect(tree) {
		f.add(phpunit.New(phpunit.Config{Name: nameOf(phpunit.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range ruby.Detect(tree) {
		f.add(ruby.New(ruby.Config{Framework: c.Framework, Name: nameOf(c.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
	}
	for _, c := range javascript.Detect(tree) {
		f.add(javascript.New(javascript.Config{Framework: c.Framework, Name: nameOf(c.Framework, c.Dir), Dir: c.Dir}), c.Dir, c.Why)
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
	var visible []string
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
		Kind: string(settings.Sandbox.Kind), Root: root, Visible: visible, Programs: found.programs, Network: settings.Sandbox.Network == "open",
		Memory: int64(settings.Sandbox.Memory), Disk: int64(settings.Sandbox.Disk), Pids: int(settings.Sandbox.Pids), EnvAllow: settings.Sandbox.Env,
	}
}
