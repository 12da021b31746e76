package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	importLine = lazyregexp.New(`(?m)^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))`)
	dotted     = lazyregexp.New(`["']([A-Za-z_]\w*(?:\.\w+)+)["']`)
	plugins    = lazyregexp.New(`(?m)^pytest_plugins\b[^\n]*(?:\n[ \t\])][^\n]*)*`)
	bareName   = lazyregexp.New(`["'](\w+)["']`)
)

// imports tells whether a Python file imports a module of the tree, as far as
// its text says so. Absolute names match from any directory on: the tests'
// directories may be on the path.
func (s *suite) imports(importer, module string) bool {
	target := strings.TrimSuffix(module, ".py")
	target = strings.TrimSuffix(target, "/__init__")
	names, known := s.named[importer]
	if !known {
		names = imported(s.source(importer), path.Dir(importer))
		s.named[importer] = names
	}
	return slices.ContainsFunc(names, func(name string) bool {
		if rooted, ok := strings.CutPrefix(name, "/"); ok {
			return rooted == target
		}
		return name == target || strings.HasSuffix(target, "/"+name)
	})
}

// imported lists what a source imports as slash-separated names, those of
// relative imports resolved and with a leading slash. An imported name may be a
// module or something in one, so both are listed.
func imported(source, dir string) []string {
	var found []string
	for _, m := range importLine.FindAllStringSubmatch(source, -1) {
		if m[1] == "" {
			for name := range strings.SplitSeq(m[3], ",") {
				found = append(found, slashed(firstWord(name)))
			}
			continue
		}
		from := resolve(m[1], dir)
		found = append(found, from)
		for name := range strings.SplitSeq(strings.Trim(m[2], "() \t\r"), ",") {
			if word := firstWord(name); word != "" {
				found = append(found, strings.TrimSuffix(from, "/")+"/"+word)
			}
		}
	}
	for _, m := range dotted.FindAllStringSubmatch(source, -1) {
		found = append(found, slashed(m[1]))
	}
	for _, m := range bareName.FindAllStringSubmatch(plugins.FindString(source), -1) {
		found = append(found, m[1])
	}
	return found
}

func slashed(name string) string { return strings.ReplaceAll(name, ".", "/") }

func firstWord(text string) string {
	if fields := strings.Fields(text); len(fields) > 0 && fields[0] != "#" {
		return fields[0]
	}
	return ""
}

// resolve makes a path of the module in "from X import".
func resolve(name, dir string) string {
	rest := strings.TrimLeft(name, ".")
	if rest == name {
		return slashed(name)
	}
	for range len(name) - len(rest) - 1 {
		dir = path.Dir(dir)
	}
	return "/" + strings.TrimPrefix(path.Join(dir, slashed(rest)), "./")
}
