package braces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// LeftOut is a state's test code that does not compile, blanked in its sources.
//
// Invariants: what remains keeps its place; what was taken out stays out.
type LeftOut struct {
	sources map[string]*rewritten
	names   map[string]gate.Observation // what each name that was taken out stands for
}

type rewritten struct {
	original, text []byte
	pieces         []piece
}

type piece struct {
	from, to int
	why      gate.Observation
}

// NewLeftOut is one with nothing taken out.
func NewLeftOut() *LeftOut {
	return &LeftOut{sources: make(map[string]*rewritten), names: make(map[string]gate.Observation)}
}

// Renew forgets everything where the sources are no longer those that were
// rewritten.
func (l *LeftOut) Renew(tree gate.Tree) {
	for file, r := range l.sources {
		if content, err := tree.ReadFile(file); err != nil || !bytes.Equal(content, r.original) {
			*l = *NewLeftOut()
			return
		}
	}
}

// Erase blanks a piece of a source and remembers for which names it stands;
// false when that changes nothing.
func (l *LeftOut) Erase(s *Source, from, to int, why gate.Observation, names ...string) bool {
	for _, name := range names {
		if _, known := l.names[name]; !known && name != "" {
			l.names[name] = why
		}
	}
	r := l.sources[s.File]
	if r == nil {
		r = &rewritten{original: s.Text, text: slices.Clone(s.Text)}
		l.sources[s.File] = r
	}
	if len(bytes.TrimSpace(r.text[from:to])) == 0 {
		return false
	}
	Spaces(r.text[from:to])
	r.pieces = append(r.pieces, piece{from, to, why})
	return true
}

// Cause is why a name was taken out.
func (l *LeftOut) Cause(name string) (gate.Observation, bool) {
	o, known := l.names[name]
	return o, known
}

// Own are the errors about no name that was itself taken out; inherited is why
// such a name was, for those that are.
func Own[E any](l *LeftOut, errors []E, missing func(E) []gate.Missing) (own []E, inherited gate.Observation) {
	for _, e := range errors {
		known := false
		for _, m := range missing(e) {
			if o, ok := l.names[m.Name]; ok && !known {
				inherited, known = o, true
			}
		}
		if !known {
			own = append(own, e)
		}
	}
	return own, inherited
}

// Why is the observation of a member that was taken out.
func (l *LeftOut) Why(file string, m *Member) (gate.Observation, bool) {
	if r := l.sources[file]; r != nil {
		for _, p := range r.pieces {
			if p.from <= m.Head && m.Head < p.to {
				return p.why, true
			}
		}
	}
	return gate.Observation{}, false
}

// Whole is why a source was taken out, for one of which anything was.
func (l *LeftOut) Whole(file string) (gate.Observation, bool) {
	if r := l.sources[file]; r != nil && len(r.pieces) > 0 {
		return r.pieces[0].why, true
	}
	return gate.Observation{}, false
}

// Text is a source as it is now: rewritten, or as the tree has it.
func (l *LeftOut) Text(tree gate.Tree, file string) ([]byte, error) {
	if r := l.sources[file]; r != nil {
		return r.text, nil
	}
	return tree.ReadFile(file)
}

// Files are the sources of which something was taken out, sorted.
func (l *LeftOut) Files() []string { return slices.Sorted(maps.Keys(l.sources)) }

// Digest identifies what is left of them; the same for nothing taken out.
func (l *LeftOut) Digest() string {
	sum := sha256.New()
	for _, file := range l.Files() {
		fmt.Fprintf(sum, "%s %d\n%s", file, len(l.sources[file].text), l.sources[file].text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Put adds the rewritten sources to the files of a command, and returns the shell
// lines that put them into the tree, whose root is $root.
func (l *LeftOut) Put(files map[string]string) string {
	var script strings.Builder
	for i, file := range l.Files() {
		name := fmt.Sprintf("left%d%s", i, path.Ext(file))
		files[name] = string(l.sources[file].text)
		fmt.Fprintf(&script, "cat \"{aux}\"/%s >\"$root\"/%s || exit 1\n", name, quote(file))
	}
	return script.String()
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
