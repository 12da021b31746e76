package gotest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Units lists the package directories whose tests the paths may touch: those of
// changed test files, those nearest above a changed fixture, those that embed
// it or depend on a package that does, and those whose tests name it.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	m := newMap(r, tree)
	if all {
		return m.withTests, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if !inside(r.Dir, file) && r.Dir != "." {
			continue
		}
		for _, dir := range m.touchedBy(file) {
			chosen[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.withTests), func(dir string) bool { return !chosen[dir] }), nil
}

// packageMap is what the units are found with: the tree's package directories
// and, when asked, their imports.
type packageMap struct {
	runner    *Runner
	tree      gate.Tree
	mods      map[string]string
	files     map[string][]string // Go files by directory
	withTests []string            // directories with test files, sorted
	imports   map[string][]string // by directory, of all files; nil until needed
}

func newMap(r *Runner, tree gate.Tree) *packageMap {
	m := &packageMap{runner: r, tree: tree, mods: modules(tree), files: make(map[string][]string)}
	mine := make(map[string]bool)
	for _, file := range tree.Paths() {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		dir := path.Dir(file)
		if _, known := mine[dir]; !known {
			mine[dir] = r.owns(tree, m.mods, dir)
		}
		if !mine[dir] {
			continue
		}
		m.files[dir] = append(m.files[dir], file)
		if strings.HasSuffix(file, "_test.go") && !hiddenFile(file) && !slices.Contains(m.withTests, dir) {
			m.withTests = append(m.withTests, dir)
		}
	}
	slices.Sort(m.withTests)
	return m
}

func hiddenFile(file string) bool {
	base := path.Base(file)
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}

// touchedBy lists the directories whose tests one path may touch.
func (m *packageMap) touchedBy(file string) []string {
	dir := path.Dir(file)
	if strings.HasSuffix(file, "_test.go") && !ignored(dir) {
		return []string{dir}
	}
	dirs := m.mentioning(file)
	if near := m.nearest(dir); near != "" {
		dirs = append(dirs, near)
	}
	for _, embedder := range m.embedders(file) {
		dirs = append(dirs, m.dependents(embedder)...)
	}
	if strings.HasSuffix(file, ".go") && !ignored(dir) {
		dirs = append(dirs, m.dependents(dir)...)
	}
	return dirs
}

// nearest is the closest directory at or above dir that has tests.
func (m *packageMap) nearest(dir string) string {
	for {
		if slices.Contains(m.withTests, dir) {
			return dir
		}
		if dir == "." {
			return ""
		}
		dir = path.Dir(dir)
	}
}

var embedDirective = regexp.MustCompile(`(?m)^//go:embed\s+(.+)$`)

// embedders lists the package directories whose go:embed patterns take the file.
func (m *packageMap) embedders(file string) []string {
	var found []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, source := range m.files[dir] {
			content, err := m.tree.ReadFile(source)
			if err == nil && embeds(string(content), dir, file) {
				found = append(found, dir)
				break
			}
		}
		if dir == "." {
			return found
		}
	}
}

func embeds(source, dir, file string) bool {
	relative := strings.TrimPrefix(file, dir+"/")
	if dir == "." {
		relative = file
	}
	for _, match := range embedDirective.FindAllStringSubmatch(source, -1) {
		for _, pattern := range strings.Fields(match[1]) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			for part := relative; part != "." && part != "/"; part = path.Dir(part) {
				if ok, err := path.Match(pattern, part); ok && err == nil || pattern == "." {
					return true
				}
			}
		}
	}
	return false
}

// dependents lists the directories with tests that import the package in dir,
// directly or through others of the tree.
func (m *packageMap) dependents(dir string) []string {
	if m.imports == nil {
		m.readImports()
	}
	reached := map[string]bool{dir: true}
	for queue := []string{dir}; len(queue) > 0; queue = queue[1:] {
		target := importPath(m.mods, queue[0])
		for from, imports := range m.imports {
			if !reached[from] && slices.Contains(imports, target) {
				reached[from] = true
				queue = append(queue, from)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.withTests), func(d string) bool { return !reached[d] })
}

func (m *packageMap) readImports() {
	m.imports = make(map[string][]string)
	for dir, files := range m.files {
		for _, file := range files {
			content, err := m.tree.ReadFile(file)
			if err != nil {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.ImportsOnly)
			if err != nil {
				continue
			}
			for _, spec := range parsed.Imports {
				if name, err := strconv.Unquote(spec.Path.Value); err == nil {
					m.imports[dir] = append(m.imports[dir], name)
				}
			}
		}
	}
}

// mentioning lists the directories whose test files name the file, or the
// directory it is in, in a string.
func (m *packageMap) mentioning(file string) []string {
	base, parent := path.Base(file), path.Base(path.Dir(file))
	var found []string
	for _, dir := range m.withTests {
		for _, source := range m.files[dir] {
			if !strings.HasSuffix(source, "_test.go") {
				continue
			}
			content, err := m.tree.ReadFile(source)
			if err == nil && (strings.Contains(string(content), base) || parent != "." && parent != "testdata" && strings.Contains(string(content), "/"+parent)) && stringsName(content, base, parent) {
				found = append(found, dir)
				break
			}
		}
	}
	return found
}

// stringsName tells whether a string of the source names the base name, or the
// directory as part of a path.
func stringsName(source []byte, base, parent string) bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text := strings.Trim(lit.Value, "\"`")
			found = found || path.Base(text) == base || slices.Contains(strings.Split(text, "/"), parent) && strings.Contains(text, "/")
		}
		_, isImport := n.(*ast.ImportSpec)
		return !found && !isImport
	})
	return found
}
