package patchsplit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// pytestConfig is what base's pytest configuration says about collection.
type pytestConfig struct {
	dir       string // pytest's rootdir, repository-relative
	file      string // where it stands, "" for pytest's own defaults
	files     []pyGlob
	testpaths []pyGlob
	doctests  []pyGlob // --doctest-glob
	modules   bool     // --doctest-modules: examples in modules are tests
}

func newPytestConfig(dir, file string, files, testpaths, addopts []string) *pytestConfig {
	if len(files) == 0 {
		files = []string{"test_*.py", "*_test.py"}
	}
	doctests := []string{"test*.txt"}
	for i, option := range addopts {
		if pattern, ok := strings.CutPrefix(option, "--doctest-glob="); ok {
			doctests = append(doctests, strings.Trim(pattern, `"'`))
		} else if option == "--doctest-glob" && i+1 < len(addopts) {
			doctests = append(doctests, strings.Trim(addopts[i+1], `"'`))
		}
	}
	modules := slices.ContainsFunc(addopts, func(option string) bool {
		return strings.HasPrefix(option, "--doctest-modules") || option == "--doctest-plus"
	})
	for i, entry := range testpaths {
		testpaths[i] = strings.Trim(strings.TrimPrefix(entry, "./"), "/")
	}
	return &pytestConfig{dir: dir, file: file, files: pyGlobs(files), testpaths: pyGlobs(testpaths), doctests: pyGlobs(doctests), modules: modules}
}

var pytestDefaults = newPytestConfig("", "", nil, nil, nil)

// pytestFor finds the configuration that governs a path: the nearest one above
// it, else pytest's defaults for the whole repository. Read from base only.
func (c *Classifier) pytestFor(path string) *pytestConfig {
	if len(c.base.paths) == 0 {
		return pytestDefaults
	}
	return c.pytestIn(dirOf(path))
}

func (c *Classifier) pytestIn(dir string) *pytestConfig {
	if p, known := c.pytest[dir]; known {
		return p
	}
	p := readPytest(c.base, dir)
	switch {
	case p != nil:
	case dir == "":
		p = pytestDefaults
	default:
		p = c.pytestIn(dirOf(dir))
	}
	c.pytest[dir] = p
	return p
}

// readPytest reads a directory's pytest configuration in pytest's own order of
// precedence, nil when there is none.
func readPytest(tree *view, dir string) *pytestConfig {
	for _, source := range []struct{ file, section string }{
		{"pytest.ini", "pytest"}, {".pytest.ini", "pytest"}, {"pyproject.toml", ""},
		{"tox.ini", "pytest"}, {"setup.cfg", "tool:pytest"},
	} {
		file := joinDir(dir, source.file)
		if !tree.has(file) {
			continue
		}
		if source.section == "" {
			if p := readPyproject(tree.content(file), dir, file); p != nil {
				return p
			}
			continue
		}
		if values, ok := iniSection(tree.content(file), source.section); ok || strings.HasSuffix(file, "pytest.ini") {
			return newPytestConfig(dir, file, strings.Fields(values["python_files"]),
				strings.Fields(values["testpaths"]), strings.Fields(values["addopts"]))
		}
	}
	return nil
}

// options is pytest's table in pyproject.toml; each value is a list or one
// string of words.
type options struct {
	Files     any      `toml:"python_files"`
	Testpaths any      `toml:"testpaths"`
	Addopts   any      `toml:"addopts"`
	Ini       *options `toml:"ini_options"`
}

func readPyproject(data []byte, dir, file string) *pytestConfig {
	var doc struct {
		Tool struct {
			Pytest *options `toml:"pytest"`
		} `toml:"tool"`
	}
	if _, err := toml.Decode(string(data), &doc); err != nil || doc.Tool.Pytest == nil {
		return nil
	}
	table := doc.Tool.Pytest
	if table.Ini != nil {
		table = table.Ini
	}
	return newPytestConfig(dir, file, wordList(table.Files), wordList(table.Testpaths), wordList(table.Addopts))
}

func wordList(value any) []string {
	switch value := value.(type) {
	case string:
		return strings.Fields(value)
	case []any:
		var list []string
		for _, item := range value {
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
		return list
	}
	return nil
}

// collects returns the python_files pattern that names a file.
func (p *pytestConfig) collects(path string) (pattern string, ok bool) {
	rel, inside := relTo(p.dir, path)
	if !inside || extOf(path) != ".py" && extOf(path) != ".txt" {
		return "", false
	}
	return matching(p.files, rel)
}

// runsAsDoctest returns the doctest glob that names a text file.
func (p *pytestConfig) runsAsDoctest(path string) (pattern string, ok bool) {
	rel, inside := relTo(p.dir, path)
	if !inside || !p.reaches(path) {
		return "", false
	}
	return matching(p.doctests, rel)
}

// reaches holds when a plain run of pytest looks at a path.
func (p *pytestConfig) reaches(path string) bool {
	rel, inside := relTo(p.dir, path)
	if !inside {
		return false
	}
	for name := range strings.SplitSeq(dirOf(rel), "/") {
		if strings.HasPrefix(name, ".") || slices.Contains([]string{"build", "dist", "node_modules", "venv", "CVS"}, name) {
			return false
		}
	}
	return len(p.testpaths) == 0 || p.testpath(path) != ""
}

// testpath returns the entry of testpaths that a path lies under.
func (p *pytestConfig) testpath(path string) string {
	rel, inside := relTo(p.dir, path)
	if !inside {
		return ""
	}
	for _, entry := range p.testpaths {
		for dir := rel; dir != ""; dir = dirOf(dir) {
			if entry.pattern == "." || entry.matches(dir) && strings.Count(entry.pattern, "/") == strings.Count(dir, "/") {
				return entry.pattern
			}
		}
	}
	return ""
}

// pyGlob matches as pytest does: a pattern without a slash against the last
// component, another against the end of the path, * crossing slashes.
type pyGlob struct {
	pattern    string
	re         *regexp.Regexp // nil for a plain pattern with one *, as nearly all are
	head, tail string         // of a plain one
}

// pyGlobs leaves out patterns that match nothing, as fnmatch takes them.
func pyGlobs(patterns []string) []pyGlob {
	var globs []pyGlob
	for _, pattern := range patterns {
		head, tail, one := strings.Cut(pattern, "*")
		if one && !strings.ContainsAny(head+tail, "*?[/") {
			globs = append(globs, pyGlob{pattern, nil, head, tail})
		} else if re, err := regexp.Compile(fnmatchRegexp(pattern)); err == nil {
			globs = append(globs, pyGlob{pattern, re, "", ""})
		}
	}
	return globs
}

func (g pyGlob) matches(path string) bool {
	if !strings.Contains(g.pattern, "/") {
		path = baseOf(path)
	}
	if g.re == nil {
		return len(path) >= len(g.head)+len(g.tail) && strings.HasPrefix(path, g.head) && strings.HasSuffix(path, g.tail)
	}
	return g.re.MatchString(path)
}

func matching(globs []pyGlob, path string) (pattern string, ok bool) {
	for _, g := range globs {
		if g.matches(path) {
			return g.pattern, true
		}
	}
	return "", false
}

func fnmatchRegexp(pattern string) string {
	var re strings.Builder
	re.WriteString(`^(?:.*/)?`)
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			re.WriteString(`.*`)
		case '?':
			re.WriteString(`.`)
		case '[':
			end := strings.IndexByte(pattern[i:], ']')
			if end < 2 {
				re.WriteString(`\[`)
				continue
			}
			re.WriteString(strings.Replace(pattern[i:i+end+1], "[!", "[^", 1))
			i += end
		default:
			re.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return re.String() + `$`
}
