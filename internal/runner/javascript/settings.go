package javascript

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// settings are what a repository says about which files are its tests, and how
// they are run.
type settings struct {
	script
	framework string
	compiled  compilation
	include   []string // globs, relative to the runner's directory
	exclude   []string
	matches   []*regexp.Regexp // jest's testRegex and patterns to ignore are regular expressions
	ignores   []*regexp.Regexp
	config    string // the text of the configuration, to find what it names
}

const scriptFile = `?(c|m)[jt]s?(x)`

// What the frameworks document as their defaults.
var (
	jestFiles   = []string{"**/__tests__/**/*." + scriptFile, "**/?(*.)+(spec|test)." + scriptFile}
	vitestFiles = []string{"**/*.{test,spec}." + scriptFile}
	nodeFiles   = []string{"**/*.test.?(c|m)js", "**/*-test.?(c|m)js", "**/*_test.?(c|m)js", "**/test-*.?(c|m)js", "**/test.?(c|m)js", "**/test/**/*.?(c|m)js"}
	avaFiles    = []string{"test.?(c|m)[jt]s", "{src,source}/test.?(c|m)[jt]s", "**/__tests__/**/*.?(c|m)[jt]s", "**/*.{spec,test}.?(c|m)[jt]s", "**/{test,tests}/**/*.?(c|m)[jt]s", "**/test-*.?(c|m)[jt]s"}
	avaNot      = []string{"**/__tests__/**/{__helper__,__fixtures__}/**", "**/test/**/{helper,helpers,fixture,fixtures}/**", "**/tests/**/{helper,helpers,fixture,fixtures}/**", "**/_*", "**/_*/**"}
	configNames = map[string][]string{
		Jest:   {"jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "jest.config.json", "jest.config.cts", "jest.config.mts"},
		Vitest: {"vitest.config.ts", "vitest.config.js", "vitest.config.mts", "vitest.config.mjs", "vitest.config.cts", "vitest.config.cjs", "vite.config.ts", "vite.config.js", "vite.config.mts", "vite.config.mjs", "vitest.workspace.ts", "vitest.workspace.js", "vitest.workspace.json"},
		Mocha:  {".mocharc.js", ".mocharc.cjs", ".mocharc.yaml", ".mocharc.yml", ".mocharc.jsonc", ".mocharc.json", ".mocharc.mjs", "test/mocha.opts"},
		Node:   {".borp.yaml", ".borp.yml"},
		Ava:    {"ava.config.js", "ava.config.mjs", "ava.config.cjs"},
	}
)

// readSettings reads what the tree says about one framework in a directory.
func readSettings(tree gate.Tree, framework, dir string) settings {
	m, _ := readManifest(tree, dir)
	s := settings{config: m.config(framework), framework: framework}
	s.script, _ = runScript(m, framework)
	for _, name := range configNames[framework] {
		if content, err := tree.ReadFile(path.Join(dir, name)); err == nil {
			s.config += "\n" + string(content)
		}
	}
	s.compiled = readCompiled(tree, dir, m, &s)
	for i, target := range s.targets {
		s.targets[i] = s.compiled.source(dir, target)
	}
	switch framework {
	case Jest:
		s.readJest()
	case Vitest:
		s.readVitest()
	case Mocha:
		s.readMocha(tree, dir)
	case Node:
		s.readNode(tree, dir)
	case Ava:
		s.readAva(dir)
	}
	return s
}

func (s *settings) readJest() {
	s.include = rooted(configStrings(s.config, "testMatch"))
	s.matches = expressions(configStrings(s.config, "testRegex"))
	if len(s.include) == 0 && len(s.matches) == 0 {
		s.include = jestFiles
	}
	s.ignores = expressions(configStrings(s.config, "testPathIgnorePatterns"))
}

func (s *settings) readVitest() {
	s.include = slices.DeleteFunc(rooted(configStrings(s.config, "include")), func(glob string) bool {
		return !strings.Contains(glob, "test") && !strings.Contains(glob, "spec")
	})
	if len(s.include) == 0 {
		s.include = vitestFiles
	}
}

func (s *settings) readMocha(tree gate.Tree, dir string) {
	recursive := strings.Contains(s.config, "recursive")
	if m, ok := readManifest(tree, dir); ok && !recursive {
		recursive = strings.Contains(strings.Join(values(m.Scripts), "\n"), "--recursive")
	}
	specs := append(configStrings(s.config, "spec"), s.targets...)
	if len(specs) == 0 {
		specs = []string{"test"}
	}
	for _, spec := range rooted(specs) {
		s.include = append(s.include, asFiles(tree, dir, s.compiled.source(dir, spec), recursive)...)
	}
	s.exclude = rooted(append(configStrings(s.config, "ignore"), configStrings(s.config, "exclude")...))
}

func (s *settings) readNode(tree gate.Tree, dir string) {
	if s.borp {
		s.readBorp()
		return
	}
	for _, target := range s.targets {
		s.include = append(s.include, asFiles(tree, dir, strings.TrimPrefix(target, "./"), true)...)
	}
	if len(s.include) > 0 {
		return
	}
	s.include = nodeFiles
	if strings.Contains(strings.Join(s.node, " "), "ts") { // tsx, ts-node, --experimental-strip-types
		for _, glob := range nodeFiles {
			s.include = append(s.include, strings.TrimSuffix(glob, "js")+"ts")
		}
	}
}

func (s *settings) readBorp() {
	s.include = rooted(append(slices.Clone(s.targets), configStrings(s.config, "files")...))
	if s.exclude = negated(&s.include); len(s.include) == 0 {
		s.include = []string{"**/*.test." + scriptFile}
	}
}

// negated takes the globs that begin with ! out of a list.
func negated(globs *[]string) (not []string) {
	*globs = slices.DeleteFunc(*globs, func(glob string) bool {
		rest, is := strings.CutPrefix(glob, "!")
		if is {
			not = append(not, rest)
		}
		return is
	})
	return not
}

func (s *settings) readAva(dir string) {
	s.include = rooted(append(configStrings(s.config, "files"), s.targets...))
	for i, glob := range s.include {
		s.include[i] = s.compiled.source(dir, glob)
	}
	s.exclude = append(negated(&s.include), avaNot...)
	if len(s.include) == 0 {
		s.include = avaFiles
	}
}

// asFiles turns a target into globs of files: a directory stands for what it
// holds.
func asFiles(tree gate.Tree, dir, target string, recursive bool) []string {
	target = strings.TrimSuffix(strings.TrimPrefix(target, "./"), "/")
	if target == "." || target == "" {
		return []string{"**/*." + scriptFile}
	}
	holds := holdsBelow(tree, path.Join(dir, target))
	switch {
	case holds && recursive:
		return []string{target + "/**/*." + scriptFile}
	case holds:
		return []string{target + "/*." + scriptFile}
	}
	return []string{target}
}

// rooted takes <rootDir> and ./ off globs: ours are relative to the directory.
func rooted(globs []string) []string {
	out := make([]string, 0, len(globs))
	for _, glob := range globs {
		glob = strings.TrimPrefix(strings.TrimPrefix(glob, "<rootDir>"), "/")
		out = append(out, strings.TrimPrefix(glob, "./"))
	}
	return out
}

func expressions(texts []string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, text := range texts {
		text = strings.ReplaceAll(text, "<rootDir>", "")
		if re, err := regexp.Compile(text); err == nil && text != "" { // Go's dialect lacks look-around: such a pattern says nothing
			out = append(out, re)
		}
	}
	return out
}

// configStrings returns the strings that a configuration gives for a key,
// whether it is JSON, YAML or a program's object literal.
func configStrings(config, key string) []string {
	var found []string
	at := regexp.MustCompile(`(?m)(?:^|[\s,{"'-])` + regexp.QuoteMeta(key) + `["']?\s*[:=]\s*`)
	for _, match := range at.FindAllStringIndex(config, -1) {
		found = append(found, stringsFrom(config[match[1]:])...)
	}
	return found
}

var yamlItem = lazyregexp.New(`^\s*-\s*["']?([^"'\n#]+?)["']?\s*(?:#.*)?(?:\n|$)`)

// stringsFrom reads a string, a list of strings, or a bare word of YAML.
func stringsFrom(text string) []string {
	if strings.HasPrefix(text, "[") {
		return listed(text[1:])
	}
	if item := literal(text); item != "" {
		return []string{item}
	}
	var found []string
	for m := yamlItem.FindStringSubmatch(text); m != nil; m = yamlItem.FindStringSubmatch(text) {
		found = append(found, m[1])
		text = text[len(m[0]):]
	}
	if line, _, _ := strings.Cut(text, "\n"); len(found) == 0 && line != "" && !strings.ContainsAny(line, "{}()[],;") {
		return []string{strings.TrimSpace(line)}
	}
	return found
}

func listed(text string) []string {
	var found []string
	for i := 0; i < len(text) && text[i] != ']'; i++ {
		if strings.IndexByte("\"'`/", text[i]) < 0 {
			continue
		}
		if strings.HasPrefix(text[i:], "//") {
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				break
			}
			i += end
			continue
		}
		item := literal(text[i:])
		found = append(found, unescape(item))
		i += len(item) + 1
	}
	return found
}

// literal reads a quoted string or a regular expression at the beginning.
func literal(text string) string {
	if text == "" || strings.IndexByte("\"'`/", text[0]) < 0 {
		return ""
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return text[1:i]
		}
	}
	return ""
}

func unescape(text string) string { return strings.ReplaceAll(text, `\\`, `\`) }

func values(m map[string]string) []string {
	var out []string
	for _, key := range sorted(m) {
		out = append(out, m[key])
	}
	return out
}
