package cargo

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// crate is the sources of a target, found by following its module declarations.
type crate struct {
	*target
	tree    gate.Tree
	modules []*module
	byFile  map[string]*module // the first module of each file
}

// module is one module: a file, or a block in one.
type module struct {
	*source
	path  string // "a::b", "" for the root
	items []*item
	test  bool // only test builds hold it
}

func (t *target) crate(tree gate.Tree) *crate {
	c := &crate{target: t, tree: tree, byFile: make(map[string]*module)}
	c.load(t.file, "", path.Dir(t.file), t.all)
	return c
}

// load reads a file as a module; its own modules are looked for below dir.
func (c *crate) load(file, name, dir string, test bool) {
	if c.byFile[file] != nil {
		return
	}
	text, err := c.tree.ReadFile(file)
	if err != nil {
		return
	}
	s := parse(file, text)
	m := &module{source: s, path: name, items: s.items, test: test || wholeTest.Match(s.text)}
	c.byFile[file] = m
	c.walk(m, dir, path.Dir(file))
}

// walk takes a module and the modules that it declares. near is where paths that
// attributes give start.
func (c *crate) walk(m *module, dir, near string) {
	c.modules = append(c.modules, m)
	for _, it := range m.items {
		if it.kind != modItem {
			continue
		}
		name, test := joined(m.path, it.name), m.test || it.testOnly()
		given := pathAttribute.FindStringSubmatch(it.attributes)
		switch {
		case it.open > 0 && given != nil:
			c.walk(&module{m.source, name, it.inside, test}, path.Join(near, given[1]), path.Join(near, given[1]))
		case it.open > 0:
			c.walk(&module{m.source, name, it.inside, test}, path.Join(dir, it.name), path.Join(dir, it.name))
		case given != nil:
			file := path.Join(near, given[1])
			c.load(file, name, path.Dir(file), test)
		default:
			if file := path.Join(dir, it.name+".rs"); c.has(file) {
				c.load(file, name, path.Join(dir, it.name), test)
			} else {
				c.load(path.Join(dir, it.name, "mod.rs"), name, path.Join(dir, it.name), test)
			}
		}
	}
}

func (c *crate) has(file string) bool {
	_, found := slices.BinarySearch(c.tree.Paths(), file)
	return found
}

func joined(module, name string) string {
	if module == "" {
		return name
	}
	return module + "::" + name
}

// function is where a test stands.
type function struct {
	*module
	*item
}

// find looks for the function of a test: by its full name, else by one that its
// name begins with (cases of one function), else by a word that a macro of its
// module was given.
func (c *crate) find(name string) (function, bool) {
	for at := name; at != ""; at = above(at) {
		for _, m := range c.modules {
			for _, it := range m.functions() {
				if joined(m.path, it.name) == at {
					return function{m, it}, true
				}
			}
		}
	}
	for _, m := range c.modules {
		rest, inside := strings.CutPrefix(name, m.path+"::")
		if m.path == "" {
			rest, inside = name, true
		}
		if !inside {
			continue
		}
		for part := range strings.SplitSeq(rest, "::") {
			if it := m.entry(part); it != nil {
				return function{m, it}, true
			}
		}
	}
	return function{}, false
}

// functions are a module's functions, those that a macro was given included.
func (m *module) functions() []*item {
	var found []*item
	for _, it := range m.items {
		switch it.kind {
		case fnItem:
			found = append(found, it)
		case macroItem:
			found = append(found, it.inside...)
		}
	}
	return found
}

// entry is the piece of a macro's arguments that begins with a name.
func (m *module) entry(name string) *item {
	for _, it := range m.items {
		if it.kind != macroItem {
			continue
		}
		for i := it.open; i < it.end; i++ {
			if !wordByte(m.masked[i]) {
				continue
			}
			end := i
			for end < it.end && wordByte(m.masked[end]) {
				end++
			}
			if string(m.masked[i:end]) == name {
				return &item{kind: fnItem, name: name, from: i, head: i, to: m.entryEnd(end, it.end)}
			}
			i = end
		}
	}
	return nil
}

func (m *module) entryEnd(i, to int) int {
	for i < to {
		switch m.masked[i] {
		case ',', ';':
			return i
		case '(', '[':
			i = braces.Closing(m.masked, i)
		case '{':
			return min(braces.Closing(m.masked, i), to)
		default:
			i++
		}
	}
	return to
}

func above(name string) string {
	i := strings.LastIndex(name, "::")
	if i < 0 {
		return ""
	}
	return name[:i]
}

// row describes a test by its name in its target.
func (c *crate) row(name string) gate.Row {
	row := gate.Row{ID: c.id(name), Name: name[strings.LastIndex(name, "::")+1:], Unit: c.unit, File: c.file}
	if name == "" {
		row.Name, row.Line, row.Digest = c.name, 1, c.digest()
		return row
	}
	if f, ok := c.find(name); ok {
		row.File, row.Line, row.End = f.file, f.lineAt(f.head), f.lineAt(f.to-1)
		row.Digest = digest(f.text[f.from:f.to])
	}
	return row
}

// digest identifies all of a target's sources.
func (c *crate) digest() string {
	var all []byte
	for _, m := range c.modules {
		if c.byFile[m.file] == m {
			all = append(append(all, m.text...), 0)
		}
	}
	return digest(all)
}

// id is a test's name with its target's before it; of a target without the
// harness, the target's alone.
func (t *target) id(name string) string {
	if name == "" {
		return t.prefix
	}
	return t.prefix + "::" + name
}
