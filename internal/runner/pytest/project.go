package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/touchstone-gate/touchstone/gate"
)

// project is what a repository's pytest configuration says about which files
// are tests.
type project struct {
	dir       string   // where the configuration lies
	files     []string // python_files
	testpaths []string // relative to dir
	norecurse []string
	options   []string // addopts
}

// The defaults that pytest documents.
var (
	defaultFiles     = []string{"test_*.py", "*_test.py"}
	defaultNorecurse = []string{"*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}"}
)

// configNames are the files that may configure pytest, in its own order of
// precedence. The values are the section that counts.
var configNames = []struct{ name, section string }{
	{"pytest.toml", "pytest"}, {".pytest.toml", "pytest"},
	{"pytest.ini", "pytest"}, {".pytest.ini", "pytest"},
	{"pyproject.toml", "tool.pytest"},
	{"tox.ini", "pytest"}, {"setup.cfg", "tool:pytest"},
}

func isConfigName(base string) bool {
	return slices.ContainsFunc(configNames, func(c struct{ name, section string }) bool { return c.name == base })
}

// configured tells whether a directory's files configure pytest, and where.
func configured(tree gate.Tree, dir string) (where string, ok bool) {
	_, where, ok = readSettings(tree, dir)
	return where, ok
}

// readProject reads the configuration that pytest would find from a directory:
// the nearest one upwards.
func readProject(tree gate.Tree, from string) project {
	p := project{dir: from, files: defaultFiles, norecurse: defaultNorecurse}
	for dir := from; ; dir = path.Dir(dir) {
		if found, _, ok := readSettings(tree, dir); ok {
			p.dir = dir
			p.take(found)
			return p
		}
		if dir == "." {
			return p
		}
	}
}

func (p *project) take(found map[string][]string) {
	if files := found["python_files"]; len(files) > 0 {
		p.files = files
	}
	if dirs := found["norecursedirs"]; len(dirs) > 0 {
		p.norecurse = dirs
	}
	p.testpaths, p.options = found["testpaths"], found["addopts"]
}

// readSettings returns the settings of the first file of a directory that
// configures pytest, each split into words. A file that cannot be parsed
// configures nothing: pytest itself will say so.
func readSettings(tree gate.Tree, dir string) (found map[string][]string, where string, ok bool) {
	for _, c := range configNames {
		file := path.Join(dir, c.name)
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		if strings.HasSuffix(c.name, ".toml") {
			found, ok = tomlSettings(content, c.section)
		} else {
			found, ok = iniSection(string(content), c.section)
			ok = ok || strings.HasSuffix(c.name, "pytest.ini") // counts even when empty
		}
		if ok {
			return found, strings.TrimSpace(file + " [" + c.section + "]"), true
		}
	}
	return nil, "", false
}

// tomlSettings reads [tool.pytest.ini_options], [tool.pytest] or [pytest].
func tomlSettings(content []byte, section string) (map[string][]string, bool) {
	var all map[string]any
	if toml.Unmarshal(content, &all) != nil {
		return nil, false
	}
	for part := range strings.SplitSeq(section, ".") {
		inner, ok := all[part].(map[string]any)
		if !ok {
			return nil, false
		}
		all = inner
	}
	if inner, ok := all["ini_options"].(map[string]any); ok {
		all = inner
	}
	found := make(map[string][]string)
	for key, value := range all {
		switch value := value.(type) {
		case string:
			found[key] = words(value)
		case []any:
			for _, one := range value {
				if text, ok := one.(string); ok {
					found[key] = append(found[key], text)
				}
			}
		}
	}
	return found, true
}

// iniSection reads one section in the dialect that pytest reads: "key = value"
// or "key: value", continued on indented lines.
func iniSection(content, section string) (found map[string][]string, ok bool) {
	inside, key := false, ""
	found = make(map[string][]string)
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case line[0] == '[':
			inside, key = text == "["+section+"]", ""
			ok = ok || inside
		case !inside:
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				found[key] = append(found[key], words(text)...)
			}
		default:
			if i := strings.IndexAny(text, "=:"); i > 0 {
				key = strings.TrimSpace(text[:i])
				found[key] = words(text[i+1:])
			}
		}
	}
	return found, ok
}

// words splits a value as pytest does, at blanks; quotes around a word go.
func words(value string) []string {
	fields := strings.Fields(value)
	for i, field := range fields {
		fields[i] = strings.Trim(field, `"'`)
	}
	return fields
}
