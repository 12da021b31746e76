package gotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Breaks lists those of the changed files whose package, or one that imports it,
// no longer compiles on head although it does on base. A change of one
// function's body is then no longer that function's alone. Packages outside of
// the tree are taken for ones that hold every name.
func (r *Runner) Breaks(base, head gate.Tree, files []string) []string {
	before, after := r.newChecker(base), r.newChecker(head)
	dirs := make(map[string]bool) // directory -> it, or an importer, breaks
	var broken []string
	for _, file := range files {
		dir := path.Dir(file)
		if !strings.HasSuffix(file, ".go") || len(after.sources[dir]) == 0 {
			continue
		}
		if _, known := dirs[dir]; !known {
			dirs[dir] = r.breaks(before, after, dir)
		}
		if dirs[dir] {
			broken = append(broken, file)
		}
	}
	return broken
}

func (r *Runner) breaks(before, after *checker, dir string) bool {
	if after.graph == nil {
		after.graph = after.readImports()
	}
	name := after.importPath(dir)
	for _, at := range slices.Concat([]string{dir}, after.graph.users[name], after.graph.testers[name]) {
		was := before.problems(at)
		for _, problem := range after.problems(at) {
			if !slices.Contains(was, problem) {
				return true
			}
		}
	}
	return false
}

// checker type-checks packages of one tree.
type checker struct {
	*packageMap
	r      *Runner
	files  *token.FileSet
	known  map[string]*types.Package // by import path, without tests
	found  map[string][]string       // problems by directory
	active map[string]bool
}

func (r *Runner) newChecker(tree gate.Tree) *checker {
	return &checker{
		packageMap: newPackageMap(newLayout(tree, r.Dir)), r: r, files: token.NewFileSet(),
		known: make(map[string]*types.Package), found: make(map[string][]string), active: make(map[string]bool),
	}
}

// problems are what the type checker says of a package with its tests, without
// positions.
func (c *checker) problems(dir string) []string {
	if said, known := c.found[dir]; known {
		return said
	}
	var plain, inner, outer []*ast.File
	var said []string
	for _, file := range c.sources[dir] {
		source := c.read(file)
		if !c.r.settings.builds(file, source) {
			continue
		}
		parsed, err := parser.ParseFile(c.files, file, source, parser.SkipObjectResolution)
		switch {
		case err != nil:
			said = append(said, "syntax: "+file)
		case !isTest(file):
			plain = append(plain, parsed)
		case strings.HasSuffix(parsed.Name.Name, "_test"):
			outer = append(outer, parsed)
		default:
			inner = append(inner, parsed)
		}
	}
	_, problems := c.check(c.importPath(dir), append(slices.Clone(plain), inner...), false)
	said = append(said, problems...)
	_, problems = c.check(c.importPath(dir)+"_test", outer, false)
	c.found[dir] = append(said, problems...)
	return c.found[dir]
}

func (c *checker) check(name string, files []*ast.File, headersOnly bool) (*types.Package, []string) {
	if len(files) == 0 {
		return nil, nil
	}
	outside := make(map[string]bool)
	for _, file := range files {
		for _, spec := range file.Imports {
			if importPath := strings.Trim(spec.Path.Value, "\"`"); len(c.directories(importPath)) == 0 {
				outside[path.Base(importPath)] = true
				if spec.Name != nil {
					outside[spec.Name.Name] = true
				}
			}
		}
	}
	var said []string
	config := types.Config{Importer: c, FakeImportC: true, IgnoreFuncBodies: headersOnly, Error: func(err error) {
		message := err.Error()
		if problem, ok := err.(types.Error); ok {
			message = problem.Msg
		}
		if rest, ok := strings.CutPrefix(message, "undefined: "); ok {
			if owner, _, qualified := strings.Cut(rest, "."); qualified && outside[owner] {
				return
			}
		}
		said = append(said, message)
	}}
	checked, _ := config.Check(name, c.files, files, nil) // its errors came one by one
	return checked, said
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	if known := c.known[name]; known != nil {
		return known, nil
	}
	dirs := c.directories(name)
	if len(dirs) == 0 || c.active[name] {
		fake := types.NewPackage(name, path.Base(name))
		fake.MarkComplete()
		c.known[name] = fake
		return fake, nil
	}
	c.active[name] = true
	defer delete(c.active, name)
	var files []*ast.File
	for _, file := range c.sources[dirs[0]] {
		source := c.read(file)
		if isTest(file) || !c.r.settings.builds(file, source) {
			continue
		}
		if parsed, err := parser.ParseFile(c.files, file, source, parser.SkipObjectResolution); err == nil {
			files = append(files, parsed)
		}
	}
	checked, _ := c.check(name, files, true)
	if checked == nil {
		return nil, fmt.Errorf("no Go files of %s are in the build", name)
	}
	c.known[name] = checked
	return checked, nil
}
