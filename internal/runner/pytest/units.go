package pytest

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Units lists the test files whose rows the paths may touch: changed test
// files, those below a changed conftest.py, those that import a changed helper,
// and those that name a changed data file or the directory it is in.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	s := r.suite(tree)
	if all {
		return s.files, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if within(r.Dir, path.Dir(file)) {
			for _, unit := range s.touchedBy(file) {
				chosen[unit] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s.files), func(file string) bool { return !chosen[file] }), nil
}

// suite is the test files of a tree with their sources on demand.
type suite struct {
	tree     gate.Tree
	patterns []string
	files    []string
	sources  map[string]string
}

func (r *Runner) suite(tree gate.Tree) *suite {
	s := &suite{tree: tree, patterns: r.patterns(tree), sources: make(map[string]string)}
	for _, file := range tree.Paths() {
		if within(r.Dir, path.Dir(file)) && strings.HasSuffix(file, ".py") && !ignored(path.Dir(file)) && matches(s.patterns, path.Base(file)) {
			s.files = append(s.files, file)
		}
	}
	return s
}

func (s *suite) source(file string) string {
	if text, known := s.sources[file]; known {
		return text
	}
	content, _ := s.tree.ReadFile(file) // what cannot be read names nothing
	s.sources[file] = string(content)
	return s.sources[file]
}

func (s *suite) below(dir string) []string {
	return s.filter(func(file string) bool { return within(dir, path.Dir(file)) })
}

func (s *suite) filter(keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.files), func(file string) bool { return !keep(file) })
}

func (s *suite) touchedBy(file string) []string {
	dir, base := path.Dir(file), path.Base(file)
	switch {
	case slices.Contains(s.files, file):
		return []string{file}
	case base == "conftest.py":
		return s.below(dir)
	case strings.HasSuffix(base, ".py"):
		return s.importers(file)
	}
	return s.readers(file)
}

// importers are the test files that import a helper module, directly or by
// another helper of the same directory tree. A package's __init__.py belongs to
// all files below it.
func (s *suite) importers(file string) []string {
	dir, module := path.Dir(file), strings.TrimSuffix(path.Base(file), ".py")
	if module == "__init__" {
		return s.below(dir)
	}
	names := []string{module}
	for grew := true; grew; {
		grew = false
		for _, other := range s.tree.Paths() {
			helper := strings.TrimSuffix(path.Base(other), ".py")
			if path.Dir(other) != dir || !strings.HasSuffix(other, ".py") || slices.Contains(s.files, other) || slices.Contains(names, helper) || helper == "__init__" {
				continue
			}
			if importsAny(s.source(other), names) {
				if helper == "conftest" {
					return s.below(dir)
				}
				names, grew = append(names, helper), true
			}
		}
	}
	return s.filter(func(test string) bool { return importsAny(s.source(test), names) })
}

func importsAny(source string, modules []string) bool {
	for _, module := range modules {
		name := regexp.QuoteMeta(module)
		pattern := regexp.MustCompile(`(?m)^\s*(?:from\s+[\w.]*\b` + name + `\b[\w.]*\s+import\b|import\s+.*\b` + name + `\b|from\s+[\w.]+\s+import\s+(?:\([^)]*|.*)\b` + name + `\b)`)
		if pattern.MatchString(source) {
			return true
		}
	}
	return false
}

// readers are the test files that name a data file or the directories it is in.
// When none does, the files beside the nearest tests may read it.
func (s *suite) readers(file string) []string {
	dir, base := path.Dir(file), path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	named := s.filter(func(test string) bool {
		text := s.source(test)
		if strings.Contains(text, base) || len(stem) > 3 && (strings.Contains(text, `"`+stem+`"`) || strings.Contains(text, `'`+stem+`'`)) {
			return true
		}
		parent := path.Base(dir)
		return parent != "." && !within(dir, path.Dir(test)) && (strings.Contains(text, `"`+parent+`"`) || strings.Contains(text, `'`+parent+`'`) || strings.Contains(text, "/"+parent) || strings.Contains(text, parent+"/"))
	})
	if len(named) > 0 {
		return named
	}
	for ; ; dir = path.Dir(dir) {
		if near := s.filter(func(test string) bool { return path.Dir(test) == dir }); len(near) > 0 {
			return near
		}
		if dir == "." {
			return nil
		}
	}
}
