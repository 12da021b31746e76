package patchsplit

import (
	"maps"
	"slices"
	"strings"
)

// Names are what production files newly declare: what a test can need that base
// does not have.
type Names struct {
	// Added maps each new name to its owners: module, package, type or function,
	// as an error message would name it; "" when the owner is not known.
	Added map[string][]string
	// Changed holds the functions whose parameter list changed, by their bare
	// name and, for methods, as Type.method.
	Changed map[string]bool

	added, removed map[declaration]bool
}

// declaration is one name in one place. Scope keeps apart what has equal owners
// in different files or directories.
type declaration struct {
	name, owner, scope string
}

// declarations is what one version of a file declares.
type declarations struct {
	names      map[declaration]bool
	signatures map[string]string // function or Type.method -> parameter list
}

func newDeclarations() *declarations {
	return &declarations{names: make(map[declaration]bool), signatures: make(map[string]string)}
}

func (d *declarations) add(scope, owner, name string) {
	if name != "" && name != "_" {
		d.names[declaration{name, owner, scope}] = true
	}
}

// DeclaredNames reads what a production file declares in its new content and
// did not in its old one; nil is a file that does not exist. Go is parsed, Python is scanned
// for definitions; of other languages the new identifiers are taken.
func DeclaredNames(path string, old, new []byte) Names {
	before, after := declare(path, old), declare(path, new)
	n := Names{added: make(map[declaration]bool), removed: make(map[declaration]bool), Changed: make(map[string]bool)}
	for d := range after.names {
		if !before.names[d] {
			n.added[d] = true
		}
	}
	for d := range before.names {
		if !after.names[d] {
			n.removed[d] = true
		}
	}
	for function, signature := range after.signatures {
		if was, known := before.signatures[function]; known && was != signature {
			n.Changed[function] = true
			n.Changed[function[strings.LastIndexByte(function, '.')+1:]] = true
		}
	}
	n.settle()
	return n
}

func declare(path string, source []byte) *declarations {
	d := newDeclarations()
	if source == nil {
		return d
	}
	switch extOf(path) {
	case ".go":
		d.readGo(path, source)
	case ".py", ".pyi":
		d.readPython(path, source)
	case ".rs":
		d.readRust(source)
		d.readOthers(path, source)
	case ".rb", ".rake":
		d.readRuby(source)
		d.readOthers(path, source)
	case ".java", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp":
		d.readJava(source, nil)
		d.readOthers(path, source)
	case ".kt":
		d.readJava(source, javaFun)
		d.readOthers(path, source)
	case ".php":
		d.readJava(source, phpFun)
		d.readOthers(path, source)
	default:
		d.readOthers(path, source)
	}
	return d
}

// readOthers takes what any language shows.
func (d *declarations) readOthers(path string, source []byte) {
	d.readIdentifiers(source)
	d.add("", "", fileModule(path)) // a new file is asked for by its name
}

// fileModule is what a source file is imported as: its name without the ending,
// or its directory's for an index.
func fileModule(path string) string {
	base := baseOf(path)
	stem := base[:len(base)-len(extOf(path))]
	if dir := strings.TrimSuffix(path, "/"+base); stem == "index" && dir != path {
		return baseOf(dir)
	}
	return stem
}

// Merge adds what another file declares. A name that one file lost and another
// of the same owner gained was moved, and is not new. The order of merging does
// not matter.
func (n *Names) Merge(other Names) {
	if n.added == nil {
		n.added, n.removed, n.Changed = make(map[declaration]bool), make(map[declaration]bool), make(map[string]bool)
	}
	maps.Copy(n.added, other.added)
	maps.Copy(n.removed, other.removed)
	maps.Copy(n.Changed, other.Changed)
	n.settle()
}

func (n *Names) settle() {
	n.Added = make(map[string][]string)
	for d := range n.added {
		if !n.removed[d] && !slices.Contains(n.Added[d.name], d.owner) {
			n.Added[d.name] = append(n.Added[d.name], d.owner)
		}
	}
	for _, owners := range n.Added {
		slices.Sort(owners)
	}
}

// readIdentifiers takes every identifier, without owners.
func (d *declarations) readIdentifiers(source []byte) {
	start := -1
	for i := 0; i <= len(source); i++ {
		if i < len(source) && (isNameByte(source[i]) || source[i] == '$') {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && (source[start] < '0' || source[start] > '9') {
			d.add("", "", string(source[start:i]))
		}
		start = -1
	}
}
