package javascript

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// specifier finds what a source asks other modules by: import, export from,
// require, dynamic imports, and the mocks of the frameworks.
var specifier = lazyregexp.New(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\b(?:jest|vi|vitest|td|mock)\.\w+\s*(?:<[^>(]*>)?\(\s*|\b(?:proxyquire|rewire|esmock|quibble)(?:\.\w+)?\s*\(\s*)["']([^"'\n]+)["']`)

// typeImport is an import or export of types alone.
var typeImport = lazyregexp.New(`(?m)^\s*(?:import|export)\s+type\b[^"'\n]*(?:\n[^"'\n]*)*?\bfrom\s*["'][^"'\n]*["']`)

// imports tells whether a source asks for a file of the tree, as far as its text
// says so.
func (s *suite) imports(importer, file string) bool {
	names, known := s.named[importer]
	if !known {
		names = imported(s.source(importer), path.Dir(importer))
		s.named[importer] = names
	}
	stem := moduleStem(file)
	return slices.ContainsFunc(names, func(name string) bool {
		if aliased, ok := strings.CutPrefix(name, "*/"); ok {
			return stem == aliased || strings.HasSuffix(stem, "/"+aliased) || strings.HasSuffix(file, "/"+aliased)
		}
		return name == file || name == stem || name == strings.TrimSuffix(file, path.Ext(file)) || moduleStem(name) == stem && path.Ext(name) != ""
	})
}

// moduleStem is a module's path as it may be asked for: without extension, a
// directory for its index.
func moduleStem(file string) string {
	if isScript(file) || path.Ext(file) == ".json" {
		file = strings.TrimSuffix(file, path.Ext(file))
	}
	if stem, ok := strings.CutSuffix(file, "/index"); ok {
		return stem
	}
	return file
}

// imported lists what a source asks for: relative names resolved, aliased ones
// (@/x, ~/x, #x) with a leading */.
func imported(source, dir string) []string {
	var found []string
	for _, m := range specifier.FindAllStringSubmatch(source, -1) {
		name, _, _ := strings.Cut(m[1], "?")
		switch {
		case strings.HasPrefix(name, "."):
			found = append(found, path.Join(dir, name))
		case strings.HasPrefix(name, "@/"), strings.HasPrefix(name, "~/"):
			found = append(found, "*/"+name[2:])
		case strings.HasPrefix(name, "#"):
			found = append(found, "*/"+strings.TrimPrefix(name[1:], "/"))
		case strings.Contains(name, "/") && !strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "node:"):
			found = append(found, "*/"+name) // baseUrl and workspaces
		}
	}
	return found
}
