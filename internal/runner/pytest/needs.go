package pytest

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// unittestPattern is unittest's own for the names of test files.
const unittestPattern = "test*.py"

// needs is what base's files say about how its Python tests are run.
type needs struct {
	pytest   bool   // a dependency, a command or a test names it
	unittest string // the file whose command runs unittest
	pattern  string // that such a command names

	atHome, own bool // pytest, unittest is named outside of the forge's workflows
}

var (
	namesPytest  = lazyregexp.New(`\bpy\.?test\b|\bpytest[_-]`)
	runsUnittest = lazyregexp.New(`-m[ "',]+unittest\b|\bunit2\b|\bsetup\.py test\b`)
	discovers    = lazyregexp.New(`unittest[^\n]*?(?:-p|--pattern)[ =]+["']?([^"'\s]+)`)
	plainTest    = lazyregexp.New(`(?m)^(?:async )?def test|^(?:import|from) pytest\b`)
	testCase     = lazyregexp.New(`(?m)^\s*class\s+\w+\([^)]*Test\w*|\bunittest\b`)
)

// readNeeds reads the files of the root and of the forge's workflows that hold
// dependencies and commands.
func readNeeds(tree gate.Tree) needs {
	var n needs
	for _, file := range tree.Paths() {
		if !tells(file) {
			continue
		}
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		forge := strings.HasPrefix(file, ".") && strings.Contains(file, "/")
		if namesPytest.Match(content) {
			n.pytest, n.atHome = true, n.atHome || !forge
		}
		if (n.unittest == "" || !n.own && !forge) && runsUnittest.Match(content) {
			n.unittest, n.own = file, !forge
		}
		if m := discovers.FindSubmatch(content); m != nil && n.pattern == "" {
			n.pattern = string(m[1])
		}
	}
	if n.pattern == "" {
		n.pattern = unittestPattern
	}
	n.pytest = n.pytest && !(n.own && !n.atHome) // a workflow may run other projects' tests too
	return n
}

var tellers = []string{
	"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "setup.py", "setup.cfg", "pyproject.toml", "hatch.toml", "Pipfile",
	"requirements*.txt", "requirements*.in", "*-requirements.txt", "environment*.yml", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", "azure-pipelines.yml", "runtests.*", "run_tests.*",
}

// tells holds for a file of dependencies or commands.
func tells(file string) bool {
	dir, base := path.Dir(file), path.Base(file)
	switch {
	case dir == ".github/workflows", dir == ".circleci":
		return true
	case dir == "requirements" && strings.HasSuffix(base, ".txt"):
		return true
	case dir != "." && !strings.HasPrefix(base, "requirements"):
		return false
	}
	return slices.ContainsFunc(tellers, func(pattern string) bool { ok, _ := path.Match(pattern, base); return ok })
}

// lonely holds for a test file that no candidate's directory covers. A name
// alone is not enough: repositories in other languages have scripts of such
// names.
func (n needs) lonely(tree gate.Tree, file string, found []Candidate) bool {
	if !matchesAny(defaultFiles, file) && !matchesAny([]string{n.pattern}, file) || !strings.HasSuffix(file, ".py") || foreign(path.Dir(file)) {
		return false
	}
	if slices.ContainsFunc(found, func(c Candidate) bool { return treepath.Within(c.Dir, path.Dir(file)) }) {
		return false
	}
	content, err := tree.ReadFile(file)
	return err == nil && bytes.Contains(content, []byte("def test"))
}

// prefersUnittest says why the files that no configuration covers are unittest's,
// "" where they are pytest's: something names it, or a test is none of unittest's.
func (n needs) prefersUnittest(tree gate.Tree, found []Candidate) string {
	if n.pytest {
		return ""
	}
	for _, file := range tree.Paths() {
		if !n.lonely(tree, file, found) {
			continue
		}
		content, err := tree.ReadFile(file)
		if err != nil || plainTest.Match(content) || !testCase.Match(content) {
			return ""
		}
	}
	if n.unittest != "" {
		return ", which " + n.unittest + " runs by unittest"
	}
	return ": a test case of unittest, and nothing names pytest"
}

// unittestFiles are the patterns of the names of unittest's test files: that of
// the configured command, else of a command of the repository's.
func unittestFiles(tree gate.Tree, command []string) []string {
	if m := discovers.FindStringSubmatch(strings.Join(command, " ")); m != nil {
		return []string{m[1]}
	}
	return []string{readNeeds(tree).pattern}
}

// djangoProjects are the directories with a manage.py of Django's above test
// cases that no candidate covers.
func djangoProjects(tree gate.Tree, found []Candidate) []Candidate {
	var projects []Candidate
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if path.Base(file) != "manage.py" || foreign(dir) || slices.ContainsFunc(found, func(c Candidate) bool { return treepath.Within(c.Dir, dir) }) {
			continue
		}
		if content, err := tree.ReadFile(file); err != nil || !bytes.Contains(content, []byte("DJANGO_SETTINGS_MODULE")) {
			continue
		}
		if slices.ContainsFunc(tree.Paths(), func(test string) bool {
			return treepath.Within(dir, path.Dir(test)) && matchesAny([]string{unittestPattern}, test) && strings.HasSuffix(test, ".py") && !foreign(treepath.Relative(dir, path.Dir(test)))
		}) {
			projects = append(projects, Candidate{Django, dir, file})
		}
	}
	return outermost(projects)
}
