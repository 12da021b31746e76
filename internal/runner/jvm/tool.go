package jvm

import (
	"path"

	"github.com/touchstone-gate/touchstone/gate"
)

// tool is what belongs to one build tool alone: its words, its directories, its
// output.
type tool interface {
	framework() string
	program() string

	isBuildFile(base string) bool
	// modules are the directories that a build file lists.
	modules(tree gate.Tree, file string) []string
	// output is a module's directory of what was built.
	output(module string) string
	// reports are shell patterns of the reports of a module, below it.
	reports() []string
	// byName tells whether only classes of certain names are run.
	byName() bool

	argv(s *session, asked []ask) []string
	// building is the command that builds modules and runs nothing; nil where
	// builds are not kept.
	building(s *session, modules []string) []string
	files() map[string]string // that the command needs beside it
	redirect() string         // added to the command: which of its streams is read
	take(h *heard, line string)
}

func toolOf(framework string) tool {
	if framework == Gradle {
		return gradle{}
	}
	return maven{}
}

// buildFile is a directory's build file, "" for none.
func buildFile(t tool, tree gate.Tree, dir string) string {
	for _, base := range []string{"pom.xml", "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"} {
		if !t.isBuildFile(base) {
			continue
		}
		if _, err := tree.ReadFile(path.Join(dir, base)); err == nil {
			return path.Join(dir, base)
		}
	}
	return ""
}
