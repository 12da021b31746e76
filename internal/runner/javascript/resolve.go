package javascript

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// resolver finds the files that a module name may mean in one tree. Frameworks
// and bundlers differ in what comes first: all that could be meant is taken.
type resolver struct {
	tree     gate.Tree
	files    map[string]bool
	stems    map[string][]string // a path without extension and index -> files
	tails    map[string][]string // last part of a stem -> stems
	mocks    map[string][]string // what a file of __mocks__ stands in for, by stem or by name
	packages map[string]*modulePackage
	byDir    map[string]*modulePackage
	aliases  []pathAlias
	declared map[string]bool     // packages that some package.json asks for
	given    map[string][]string // what packages give, as exported found it: name and path
}

func newResolver(tree gate.Tree) *resolver {
	r := &resolver{tree: tree, files: make(map[string]bool), stems: make(map[string][]string), tails: make(map[string][]string), mocks: make(map[string][]string),
		packages: make(map[string]*modulePackage), byDir: make(map[string]*modulePackage), declared: make(map[string]bool), given: make(map[string][]string)}
	for _, file := range tree.Paths() {
		if strings.HasPrefix(file, "node_modules/") || strings.Contains(file, "/node_modules/") {
			continue
		}
		r.files[file] = true
		if isCode(file) || path.Ext(file) == ".json" {
			r.addStem(file)
		}
		switch name := path.Base(file); {
		case name == "package.json":
			r.addPackage(path.Dir(file))
		case path.Ext(name) == ".json" && (strings.HasPrefix(name, "tsconfig") || strings.HasPrefix(name, "jsconfig")):
			r.addAliases(file)
		}
	}
	return r
}

func (r *resolver) addStem(file string) {
	stem := stemOf(file)
	r.stems[stem] = append(r.stems[stem], file)
	r.tails[path.Base(stem)] = append(r.tails[path.Base(stem)], stem)
	if dir, name, ok := strings.Cut("/"+file, "/__mocks__/"); ok {
		name = stemOf(name)
		beside := strings.TrimPrefix(path.Join(dir, name), "/")
		r.mocks[beside] = append(r.mocks[beside], file)
		r.mocks["package "+name] = append(r.mocks["package "+name], file)
	}
}

// stemOf is moduleStem for declarations and components too.
func stemOf(file string) string {
	for _, ext := range []string{".d.ts", ".d.mts", ".d.cts", ".vue", ".svelte"} {
		if stem, ok := strings.CutSuffix(file, ext); ok {
			return moduleStem(stem)
		}
	}
	return moduleStem(file)
}

// find lists the files that a name may mean for its importer. external is set
// for what lies outside of the tree: installed packages and Node's own.
func (r *resolver) find(importer, name string) (files []string, external bool) {
	name, _, _ = strings.Cut(name, "?")
	name = strings.TrimPrefix(name, "file:")
	dir := path.Dir(importer)
	switch {
	case name == "" || strings.Contains(name, "://") || strings.HasPrefix(name, "data:"):
		return nil, true
	case strings.HasPrefix(name, "./"), strings.HasPrefix(name, "../"), name == ".", name == "..":
		files = r.at(path.Join(dir, name))
		return files, len(files) == 0 && leaves(path.Join(dir, name))
	case strings.HasPrefix(name, "/"): // from the root, as vite has it
		files = append(r.at(name[1:]), r.tail(name[1:])...)
		return files, false
	}
	files = r.mocksOf("package " + stemOf(name))
	if strings.HasPrefix(name, "#") {
		files = append(files, r.ownImports(dir, name)...)
	}
	files = append(files, r.aliased(name)...)
	first := packageName(name)
	if p := r.packages[first]; p != nil {
		files = append(files, r.exported(p, strings.TrimPrefix(strings.TrimPrefix(name, first), "/"))...)
	}
	external = isBuiltin(name) || r.declared[first]
	if len(files) == 0 && !external {
		files = r.tail(name)
		if _, rest, ok := strings.Cut(name, "/"); ok && len(files) == 0 {
			files = r.tail(rest) // the first part stands for a directory
		}
	}
	return files, external
}

// leaves tells whether a path lies where no source of the tree is.
func leaves(name string) bool {
	return strings.HasPrefix(name, "..") || strings.Contains(name, "node_modules")
}

// at are the files of one place, with what stands in for them.
func (r *resolver) at(place string) []string {
	var found []string
	if r.files[place] {
		found = append(found, place)
	}
	stem := stemOf(place)
	for _, s := range []string{place, stem} {
		found = append(found, r.stems[s]...)
		found = append(found, r.mocksOf(s)...)
	}
	if p := r.byDir[place]; p != nil {
		found = append(found, r.exported(p, "")...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (r *resolver) mocksOf(stem string) []string { return r.mocks[stem] }

// tail are the files whose path ends as a name does: an alias of a kind that is
// not known may lead there.
func (r *resolver) tail(name string) []string {
	stem := strings.TrimLeft(stemOf(name), "@~#$/")
	var found []string
	for _, candidate := range r.tails[path.Base(stem)] {
		if candidate == stem || strings.HasSuffix(candidate, "/"+stem) {
			found = append(found, r.at(candidate)...)
		}
	}
	if len(found) == 0 && path.Ext(name) != "" && !isCode(name) {
		for file := range r.files {
			if strings.HasSuffix(file, "/"+stem) {
				found = append(found, file)
			}
		}
	}
	return found
}

// glob are the files that a name with computed parts may mean.
func (r *resolver) glob(importer, pattern string) []string {
	full := path.Join(path.Dir(importer), pattern)
	if strings.HasPrefix(pattern, "/") {
		full = strings.TrimPrefix(pattern, "/")
	}
	prefix, rest, _ := strings.Cut(full, "*")
	var found []string
	for _, file := range r.tree.Paths() {
		if strings.HasPrefix(file, prefix) && file != importer && r.files[file] && (strings.HasPrefix(rest, "*") || globMatches(full, file)) {
			found = append(found, file)
		}
	}
	return found
}

// packageName is the part of a bare name that names the package.
func packageName(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

var builtins = strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https
	inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib bun`)

func isBuiltin(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ":") && !strings.HasPrefix(first, "virtual:") || slices.Contains(builtins, first)
}
