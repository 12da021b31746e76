package gotest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Config is one way to run the tests of one module or workspace.
type Config struct {
	Name    string            // in reports; "" is "gotest"
	Dir     string            // repository-relative directory of the module or workspace; "" is the root
	Command []string          // default: go test; may carry flags such as -race or -tags=x
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one test binary; default 10 minutes
}

// Runner implements gate.Runner.
type Runner struct {
	Config

	mu   sync.Mutex
	left map[gate.StateName]*leftOut // what was isolated on a state, for the next run there
}

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = "gotest"
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if len(c.Command) == 0 {
		c.Command = []string{"go", "test"}
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	return &Runner{Config: c, left: make(map[gate.StateName]*leftOut)}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is gotest.
func (r *Runner) Framework() string { return "gotest" }

// MissingToolError says that a program the tests need is not there.
type MissingToolError struct {
	Tool  string
	Words string // what the state said
}

func (e *MissingToolError) Error() string {
	return fmt.Sprintf("%s does not run (%s): install it and have it in PATH, or name it in runners: command: of .github/touchstone.yml", e.Tool, e.Words)
}

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

// Detect finds the workspaces and modules of a tree. A module that a workspace
// uses belongs to the workspace.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	covered := make(map[string]bool)
	for _, file := range tree.Paths() {
		if path.Base(file) != "go.work" || ignored(path.Dir(file)) {
			continue
		}
		dir := path.Dir(file)
		found = append(found, Candidate{dir, "go.work"})
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		for _, used := range workspaceModules(string(content)) {
			covered[path.Join(dir, used)] = true
		}
	}
	for _, file := range tree.Paths() {
		if dir := path.Dir(file); path.Base(file) == "go.mod" && !ignored(dir) && !covered[dir] {
			found = append(found, Candidate{dir, "go.mod"})
		}
	}
	return found
}

// workspaceModules reads the use directives of a go.work file.
func workspaceModules(content string) []string {
	var dirs []string
	inBlock := false
	for line := range strings.SplitSeq(content, "\n") {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "use" && len(fields) > 1 && fields[1] == "(":
			inBlock = true
		case fields[0] == ")":
			inBlock = false
		case fields[0] == "use" && len(fields) > 1:
			dirs = append(dirs, strings.Trim(fields[1], `"`))
		case inBlock:
			dirs = append(dirs, strings.Trim(fields[0], `"`))
		}
	}
	return dirs
}

// ignored holds for directories whose Go files the go command does not take for
// packages of the module.
func ignored(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && (strings.HasPrefix(part, "_") || strings.HasPrefix(part, "."))
	})
}

// modules are the modules of a tree: directory to module path.
func modules(tree gate.Tree) map[string]string {
	found := make(map[string]string)
	for _, file := range tree.Paths() {
		if path.Base(file) != "go.mod" {
			continue
		}
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(string(content), "\n") {
			line, _, _ = strings.Cut(line, "//")
			if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "module" {
				found[path.Dir(file)] = strings.Trim(fields[1], `"`)
				break
			}
		}
	}
	return found
}

// home returns the directory of the module that a package directory is in, and
// whether there is one.
func home(mods map[string]string, dir string) (module string, ok bool) {
	for {
		if _, ok := mods[dir]; ok {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// importPath names the package in a directory.
func importPath(mods map[string]string, dir string) string {
	module, ok := home(mods, dir)
	switch {
	case !ok:
		return dir
	case module == dir:
		return mods[module]
	case module == ".":
		return mods[module] + "/" + dir
	}
	return mods[module] + strings.TrimPrefix(dir, module)
}

// owns tells whether a package directory belongs to this runner: its module is
// below Dir, and no nested module that stands alone lies between.
func (r *Runner) owns(tree gate.Tree, mods map[string]string, dir string) bool {
	if !inside(r.Dir, dir) || ignored(dir) {
		return false
	}
	module, ok := home(mods, dir)
	if !ok {
		return true
	}
	if module == r.Dir {
		return true
	}
	content, err := tree.ReadFile(path.Join(r.Dir, "go.work"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(workspaceModules(string(content)), func(used string) bool { return path.Join(r.Dir, used) == module })
}

func inside(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
