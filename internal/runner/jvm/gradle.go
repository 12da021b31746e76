package jvm

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// gradle is what belongs to Gradle alone.
type gradle struct{}

func (gradle) framework() string { return Gradle }

func (gradle) program() string { return "gradle" }

func (gradle) isBuildFile(base string) bool {
	return slices.Contains([]string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}, base)
}

var (
	includes   = lazyregexp.New(`(?m)^\s*include\b\s*\(?((?:\s*['"][^'"]+['"]\s*,?)+)`)
	quoted     = lazyregexp.New(`['"]([^'"]+)['"]`)
	projectSet = lazyregexp.New(`(?m)\bproject\s*\(\s*['"]([^'"]+)['"]\s*\)\s*\.\s*(name|projectDir)\s*=\s*([^\n]+)`)
)

// modules are the directories of the projects that settings.gradle includes.
func (gradle) modules(tree gate.Tree, file string) []string {
	var dirs []string
	for _, p := range included(tree, path.Dir(file)) {
		if !slices.Contains(dirs, p.dir) {
			dirs = append(dirs, p.dir)
		}
	}
	return dirs
}

// include is a project that settings.gradle includes.
type include struct{ path, dir string } // ":a:b"

// included are those of a build: "a:b" lies in a/b, unless the settings say
// otherwise. A project that they rename has its new name in its path and in those
// of the projects in it.
func included(tree gate.Tree, root string) []include {
	var found []include
	for _, base := range []string{"settings.gradle", "settings.gradle.kts"} {
		text, err := tree.ReadFile(path.Join(root, base))
		if err != nil {
			continue
		}
		names, dirs := make(map[string]string), make(map[string]string)
		for _, m := range projectSet.FindAllStringSubmatch(string(text), -1) {
			if value := quoted.FindAllStringSubmatch(m[3], -1); len(value) > 0 {
				map[string]map[string]string{"name": names, "projectDir": dirs}[m[2]][":"+strings.Trim(m[1], ":")] = value[len(value)-1][1]
			}
		}
		for _, m := range includes.FindAllStringSubmatch(string(text), -1) {
			for _, name := range quoted.FindAllStringSubmatch(m[1], -1) {
				found = append(found, asIncluded(root, strings.Split(strings.Trim(name[1], ":"), ":"), names, dirs))
			}
		}
	}
	return found
}

func asIncluded(root string, parts []string, names, dirs map[string]string) include {
	p := include{dir: root}
	declared := ""
	for _, part := range parts {
		declared += ":" + part
		name := part
		if own := names[declared]; own != "" {
			name = own
		}
		p.path += ":" + name
		if p.dir = path.Join(p.dir, part); dirs[declared] != "" {
			p.dir = path.Join(root, dirs[declared])
		}
	}
	return p
}

func (gradle) output(module string) string { return path.Join(module, "build") }

func (gradle) reports() []string { return []string{"build/test-results/*/TEST-*.xml"} }

func (gradle) byName() bool { return false }

//go:embed init.gradle
var initScript string

func (gradle) files() map[string]string { return map[string]string{"init.gradle": initScript} }

// redirect: compilers write to standard error.
func (gradle) redirect() string { return " 2>&1" }

// kotlinInside keeps Kotlin's compiler in Gradle's own process: a daemon of it would
// outlive the run and hold its output open.
var kotlinInside = []string{"-Dkotlin.compiler.execution.strategy=in-process", "-Pkotlin.compiler.execution.strategy=in-process"}

// argv is the command for a selection: of each module the task of the source set,
// with its classes or methods.
func (gradle) argv(s *session, asked []ask) []string {
	argv := s.Command
	if _, err := s.state.Tree().ReadFile(path.Join(s.Dir, "gradlew")); err == nil && s.ownProgram {
		argv = []string{"sh", "./gradlew"}
	}
	argv = slices.Concat(argv, []string{"-I", "{aux}/init.gradle", "--offline", "--no-daemon", "--no-build-cache", "--console=plain", "--continue"}, kotlinInside)
	var order []string
	patterns := make(map[string][]string)
	for _, a := range asked {
		task := s.project.task(a.unit)
		if patterns[task] == nil {
			order = append(order, task)
		}
		patterns[task] = append(patterns[task], filters(a)...)
	}
	for _, task := range order {
		argv = append(argv, task)
		for _, pattern := range patterns[task] {
			argv = append(argv, "--tests", pattern)
		}
	}
	return argv
}

// building: what Gradle builds is not kept.
func (gradle) building(*session, []string) []string { return nil }

// filters are a class, or methods of it, in the words of Gradle's --tests.
func filters(a ask) []string {
	if a.methods == nil {
		return []string{a.class, a.class + "$*"}
	}
	var words []string
	for _, m := range a.methods {
		word := m.class + "." + m.name
		if m.parts {
			word += "*"
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

var sourceSet = lazyregexp.New(`(?:^|/)src/(\w+)/(?:java|kotlin|groovy)/`)

// task is the test task of a source: that of its source set's name in its
// project.
func (p *project) task(unit string) string {
	module := p.moduleOf(unit)
	name := "test"
	if m := sourceSet.FindStringSubmatch(treepath.Relative(module, unit)); m != nil {
		name = m[1]
	}
	if module == p.dir {
		return ":" + name
	}
	for _, project := range included(p.tree, p.dir) {
		if project.dir == module {
			return project.path + ":" + name
		}
	}
	return ":" + strings.ReplaceAll(treepath.Relative(p.dir, module), "/", ":") + ":" + name
}

var (
	taskName  = lazyregexp.New(`^:[\w.-]+(?::[\w.-]+)*`)
	javacAt   = lazyregexp.New(`^(/\S.*\.java):(\d+): error: (.*)$`)
	kotlincAt = lazyregexp.New(`^(?:(?:> Task )?:[\w.:-]+?)?e: (?:file://)?(/.*?\.kts?)(?::(\d+):(\d+)|: \((\d+), (\d+)\):) (.*)$`)
	executor  = lazyregexp.New(`Process 'Gradle Test Executor \d+' finished with non-zero exit value`)
	caretAt   = lazyregexp.New(`^\s*\^$`)
)

// take reads a line of what Gradle prints.
func (gradle) take(h *heard, line string) {
	h.compiling = true                                     // what looks like a compiler's error is one
	if m := kotlincAt.FindStringSubmatch(line); m != nil { // perhaps behind a task's name, of which its "e" could be a part
		h.error(m[1], m[2]+m[4], m[3]+m[5], m[6])
		return
	}
	if m := taskName.FindString(line); len(m) < len(line) {
		line = line[len(m):] // old Gradles do not end the line of a task before it speaks
	}
	trimmed := strings.TrimSpace(line)
	if class, ok := strings.CutPrefix(line, "touchstone-class "); ok {
		h.begin(class)
		return
	}
	if class, ok := strings.CutPrefix(line, "touchstone-ended "); ok {
		h.end(class)
		return
	}
	if test, ok := strings.CutPrefix(line, "touchstone-test "); ok {
		h.tests = append(h.tests, test)
		return
	}
	if test, ok := strings.CutPrefix(line, "touchstone-over "); ok {
		if i := slices.Index(h.tests, test); i >= 0 {
			h.tests = slices.Delete(h.tests, i, i+1)
		}
		return
	}
	if named, ok := strings.CutPrefix(line, "touchstone-named "); ok {
		h.learnName(strings.Split(named, "\t"))
		return
	}
	if m := javacAt.FindStringSubmatch(line); m != nil {
		h.error(m[1], m[2], "0", m[3])
		return
	}
	switch {
	case strings.HasPrefix(trimmed, "BUILD "):
		h.verdict = map[bool]string{true: "SUCCESS", false: "FAILURE"}[strings.HasPrefix(trimmed, "BUILD SUCCESSFUL")]
	case executor.MatchString(line):
		h.died = true
	case strings.HasPrefix(trimmed, "* What went wrong:"), strings.HasPrefix(trimmed, "> "):
		h.open = false
		h.say(strings.TrimPrefix(strings.TrimPrefix(trimmed, "* What went wrong:"), "> "))
	case caretAt.MatchString(line):
		h.caret(strings.IndexByte(line, '^') + 1)
	case strings.HasPrefix(trimmed, "symbol:"), strings.HasPrefix(trimmed, "location:"), strings.HasPrefix(trimmed, "required:"), strings.HasPrefix(trimmed, "found:"), strings.HasPrefix(trimmed, "reason:"):
		h.detail(trimmed)
	}
}

// caret takes the column of the last error from the mark below its line.
func (h *heard) caret(col int) {
	if n := len(h.errors); h.open && n > 0 && h.errors[n-1].col == 0 {
		h.errors[n-1].col = col
	}
}
