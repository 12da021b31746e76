package cargo

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// takeLoaded says which of the changed sources the targets that gave an answer
// are built of: those that module declarations lead to, from the target's own
// root and from the libraries of its package and of the packages that it depends
// on by path. A compiled program has no other way to come by a source, but for
// macros that include one.
func (s *session) takeLoaded(ctx context.Context, books []*book) error {
	if s.list || len(s.batch.Subjects) == 0 {
		return nil
	}
	parts := make(map[string]bool)
	for _, b := range books {
		if b.failed || b.built == nil || b.built.code != 0 {
			continue
		}
		for file := range b.byFile {
			parts[file] = true
		}
		s.libraries(b.dir, parts, make(map[string]bool))
	}
	var subjects []string
	for _, subject := range s.batch.Subjects {
		if parts[subject] {
			subjects = append(subjects, subject)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	digests, err := s.state.Digest(ctx, subjects)
	if err != nil {
		return fmt.Errorf("reading the sources that were built: %w", err)
	}
	for _, subject := range subjects {
		s.result.Loaded = append(s.result.Loaded, gate.Loaded{Subject: subject, File: subject, SHA256: digests[subject], InTree: true})
	}
	return nil
}

var dependencyPath = lazyregexp.New(`\bpath\s*=\s*"([^"]+)"`)

// libraries adds the sources of a package's library, and of those that its
// manifest names by path.
func (s *session) libraries(dir string, parts, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	tree := s.state.Tree()
	for _, t := range s.targets(tree) {
		if t.dir == dir && t.choose[0] == "--lib" {
			for file := range t.crate(tree).byFile {
				parts[file] = true
			}
		}
	}
	text, err := tree.ReadFile(path.Join(dir, "Cargo.toml"))
	if err != nil {
		return
	}
	for _, m := range dependencyPath.FindAllSubmatch(text, -1) {
		if other := path.Join(dir, string(m[1])); !slices.Contains([]string{"..", "/"}, other) {
			s.libraries(other, parts, seen)
		}
	}
}
