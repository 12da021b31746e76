package patchsplit

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// packageJSON is what package.json says of tests.
type packageJSON struct {
	Scripts map[string]string `json:"scripts"`
	Jest    jestConfig        `json:"jest"`
	Mocha   mochaConfig       `json:"mocha"`
	Ava     struct {
		Files wordsOrOne `json:"files"`
	} `json:"ava"`
}

type jestConfig struct {
	TestMatch          wordsOrOne `json:"testMatch"`
	TestRegex          wordsOrOne `json:"testRegex"`
	SetupFiles         wordsOrOne `json:"setupFiles"`
	SetupFilesAfterEnv wordsOrOne `json:"setupFilesAfterEnv"`
}

type mochaConfig struct {
	Spec    wordsOrOne `json:"spec"`
	Require wordsOrOne `json:"require"`
	File    wordsOrOne `json:"file"`
}

// wordsOrOne is a list of strings, or one; anything else is none.
type wordsOrOne []string

// UnmarshalJSON never fails: what is no list of words says nothing.
func (w *wordsOrOne) UnmarshalJSON(data []byte) error {
	var list []string
	var one string
	if json.Unmarshal(data, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(data, &list) != nil {
		list = nil
	}
	*w = list
	return nil
}

func readPackageJSON(_ string, data []byte) *collection {
	var doc packageJSON
	if json.Unmarshal(data, &doc) != nil {
		return nil
	}
	k := doc.Jest.collection()
	if len(doc.Mocha.Spec) > 0 {
		k.add("mocha", doc.Mocha.Spec, doc.Mocha.Require, doc.Mocha.File)
	}
	if len(doc.Ava.Files) > 0 {
		k.add("ava", doc.Ava.Files)
	}
	for name, script := range doc.Scripts {
		if name == "test" || strings.HasPrefix(name, "test:") || strings.HasPrefix(name, "test-") {
			k.script(script)
		}
	}
	return k.orNone()
}

func (j jestConfig) collection() *collection {
	k := new(collection)
	for _, pattern := range j.TestRegex {
		if re, err := regexp.Compile(pattern); err == nil && pattern != "" {
			k.framework, k.regexps = "jest", append(k.regexps, re)
		}
	}
	if len(j.TestMatch)+len(j.SetupFiles)+len(j.SetupFilesAfterEnv) > 0 {
		k.add("jest", j.TestMatch, j.SetupFiles, j.SetupFilesAfterEnv)
	}
	return k
}

// add takes patterns and the files that are loaded before the tests.
func (k *collection) add(framework string, patterns []string, loaded ...[]string) {
	k.framework = framework
	for _, pattern := range patterns {
		pattern = strings.TrimPrefix(pattern, "<rootDir>/")
		if excluded, ok := strings.CutPrefix(pattern, "!"); ok {
			k.excluded = append(k.excluded, excluded)
		} else {
			k.patterns = append(k.patterns, pattern)
		}
	}
	for _, list := range loaded {
		for _, file := range list {
			file = strings.TrimPrefix(strings.TrimPrefix(file, "<rootDir>/"), "./")
			if strings.Contains(file, "/") || strings.Contains(file, ".") {
				k.loaded = append(k.loaded, file)
			}
		}
	}
}

// orNone is nil for a collection of nothing.
func (k *collection) orNone() *collection {
	if len(k.patterns)+len(k.regexps)+len(k.loaded) == 0 {
		return nil
	}
	return k
}

var testPrograms = map[string]string{"mocha": "mocha", "ava": "ava", "tap": "tap", "tape": "tape", "jasmine": "jasmine", "uvu": "uvu", "node": "node --test", "tsx": "node --test", "borp": "node --test", "brittle": "brittle"}

// script takes the files that a test command of package.json names as its
// arguments: mocha 'lib/**/*.check.js'.
func (k *collection) script(script string) {
	for command := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == '&' || r == '|' || r == ';' }) {
		words := strings.Fields(command)
		framework := ""
		for i, word := range words {
			word = strings.Trim(word, `"'`)
			switch {
			case framework == "" && testPrograms[baseOf(word)] != "" && (testPrograms[baseOf(word)] != "node --test" || strings.Contains(command, "--test")):
				framework = testPrograms[baseOf(word)]
			case framework == "" || strings.HasPrefix(word, "-") || strings.HasPrefix(words[i-1], "-") && !strings.Contains(words[i-1], "=") && words[i-1] != "--test":
			case strings.ContainsAny(word, "*/") && !strings.HasPrefix(word, "/") && !strings.Contains(word, "node_modules") && isScript(word):
				k.add(framework, []string{word})
			}
		}
	}
}

// isScript holds for patterns that name scripts, or directories by their whole
// name.
func isScript(pattern string) bool {
	ext := extOf(strings.TrimRight(pattern, "})"))
	return ext != "" || strings.HasSuffix(pattern, "*") || strings.HasSuffix(pattern, "/")
}

func readMocharc(file string, data []byte) *collection {
	var doc mochaConfig
	switch extOf(file) {
	case ".js", ".cjs", ".mjs":
		return readScriptConfig(file, data)
	case ".yml", ".yaml":
		doc = mochaConfig{yamlList(data, "spec"), yamlList(data, "require"), yamlList(data, "file")}
	default:
		if json.Unmarshal(stripComments(data), &doc) != nil {
			return nil
		}
	}
	k := new(collection)
	k.add("mocha", doc.Spec, doc.Require, doc.File)
	return k.orNone()
}

// yamlList reads one key at the left margin of a YAML file: a word, a list in
// brackets or one of dashes. It is no YAML reader; mocha's files need no more.
func yamlList(data []byte, key string) []string {
	var list []string
	inside := false
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(strings.TrimRight(line, " \r\n"), " #")
		value, found := strings.CutPrefix(line, key+":")
		item, dash := strings.CutPrefix(strings.TrimSpace(line), "-")
		switch {
		case found:
			inside = true
			for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ,[]", r) }) {
				list = append(list, strings.Trim(word, `"'`))
			}
		case inside && dash:
			list = append(list, strings.Trim(strings.TrimSpace(item), `"'`))
		case line != "" && line[0] != ' ':
			inside = false
		}
	}
	return list
}

// stripComments leaves out what a script or a JSON file with comments says to
// its readers only.
func stripComments(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); {
		if end := scriptSyntax.comment(data, i); end > i {
			i = end
			continue
		}
		end := max(scriptSyntax.literal(data, i), i+1)
		out = append(out, data[i:end]...)
		i = end
	}
	return out
}

var (
	scriptLists  = lazyregexp.New(`\b(testMatch|testRegex|spec|files|include|exclude|setupFiles|setupFilesAfterEnv|testDir|specPattern|require)\b["']?\s*:\s*(\[[^\]]*\]|/(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\n\\\[])+/|["'` + "`" + `][^"'` + "`" + `\n]*["'` + "`" + `])`)
	scriptString = lazyregexp.New("[\"'`]([^\"'`\n]+)[\"'`]")
	testBlock    = lazyregexp.New(`\btest["']?\s*:\s*\{`)
)

// readScriptConfig reads the lists of strings in a configuration that is a
// script, without running it. What is computed says nothing.
func readScriptConfig(file string, data []byte) *collection {
	framework, _, _ := strings.Cut(strings.TrimPrefix(baseOf(file), "."), ".")
	framework = strings.TrimSuffix(framework, "rc")
	source := stripComments(data)
	if framework == "vite" || framework == "vitest" { // its own settings stand in test: {}
		framework = "vitest"
		match := testBlock.FindIndex(source)
		if match == nil {
			return nil
		}
		source = source[match[1]-1 : closing(source, match[1]-1)]
		if at := regexp.MustCompile(`\b(coverage|benchmark|typecheck|server|deps)["']?\s*:\s*\{`).FindIndex(source); at != nil {
			source = append(source[:at[0]:at[0]], source[closing(source, at[1]-1):]...)
		}
	}
	k := new(collection)
	for _, match := range scriptLists.FindAllSubmatch(source, -1) {
		var list []string
		for _, text := range scriptString.FindAllSubmatch(match[2], -1) {
			list = append(list, strings.ReplaceAll(string(text[1]), `\\`, `\`))
		}
		k.setting(framework, string(match[1]), list, string(match[2]))
	}
	return k.orNone()
}

// setting takes one setting by its name and its framework.
func (k *collection) setting(framework, name string, list []string, text string) {
	switch framework + " " + name {
	case "jest testMatch", "mocha spec", "ava files", "vitest include", "cypress specPattern", "playwright testDir":
		k.add(framework, list)
	case "vitest exclude":
		k.excluded = append(k.excluded, list...)
	case "jest testRegex":
		if len(list) == 0 {
			list = []string{strings.ReplaceAll(strings.Trim(text, "/"), `\/`, "/")}
		}
		k.regexps = append(k.regexps, jestConfig{TestRegex: list}.collection().regexps...)
		k.framework = framework
	case "jest setupFiles", "jest setupFilesAfterEnv", "vitest setupFiles", "mocha require":
		k.add(framework, nil, list)
	}
}
