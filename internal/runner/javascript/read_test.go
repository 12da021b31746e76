package javascript

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		tree fakeTree
		want string
	}{
		"nothing":         {fakeTree{"package.json": `{"scripts":{"test":"echo no"}}`, "test/a.js": ""}, ""},
		"mocha":           {fakeTree{"package.json": `{"scripts":{"test":"mocha --bail test/"}}`, "test/a.js": ""}, "mocha ."},
		"no test files":   {fakeTree{"package.json": `{"scripts":{"test":"jest"}}`, "a.js": ""}, ""},
		"through scripts": {fakeTree{"package.json": `{"scripts":{"test":"npm run lint && npm run unit","lint":"eslint .","unit":"c8 vitest run"}}`, "a.spec.ts": ""}, "vitest ."},
		"node":            {fakeTree{"package.json": `{"scripts":{"test":"node --import tsx --test test/*.ts"}}`, "test/a.ts": ""}, "node ."},
		"by dependency":   {fakeTree{"package.json": `{"scripts":{"test":"ts-scripts test"},"devDependencies":{"vitest":"4"}}`, "src/a.spec.ts": ""}, "vitest ."},
		"by config":       {fakeTree{"package.json": `{"jest":{"testEnvironment":"node"}}`, "a.test.js": ""}, "jest ."},
		"workspaces":      {fakeTree{"package.json": `{"workspaces":["packages/*"]}`, "packages/a/package.json": `{"scripts":{"test":"ava"}}`, "packages/a/test.js": "", "packages/b/package.json": `{"scripts":{"test":"jest"}}`, "packages/b/b.test.js": "", "packages/b/node_modules/x/package.json": `{"scripts":{"test":"jest"}}`}, "ava packages/a, jest packages/b"},
		"damaged":         {fakeTree{"package.json": `{"scripts":`, "a.test.js": ""}, ""},
	} {
		var got []string
		for _, candidate := range Detect(c.tree) {
			got = append(got, candidate.Framework+" "+candidate.Dir)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRunScript(t *testing.T) {
	for name, c := range map[string]struct {
		framework, scripts, want string
	}{
		"plain":           {Mocha, `{"test":"mocha --reporter spec --bail --check-leaks test/"}`, "options --check-leaks; targets test/"},
		"wrapped":         {Mocha, `{"test":"cross-env TS=1 nyc --reporter=text mocha -r ts-node/register --timeout 5000 'test/**/*.ts'"}`, "env TS=1; options -r ts-node/register --timeout 5000; targets test/**/*.ts"},
		"ts-mocha":        {Mocha, `{"test":"nyc ts-mocha --paths -p tsconfig.test.json 'test/**/*.ts' --timeout 90"}`, "env TS_CONFIG_PATHS=true TS_NODE_PROJECT=tsconfig.test.json; options --require ts-mocha --timeout 90; targets test/**/*.ts"},
		"build first":     {Mocha, `{"pretest":"npm run build","build":"tsc -p .","test":"eslint . && mocha dist"}`, "targets dist; steps npm run build"},
		"inline":          {Ava, `{"test":"tsc && prettier --check . && ava"}`, "steps tsc"},
		"only checks":     {Jest, `{"test":"tsc --noEmit && jest --coverage --config j.js"}`, "options --config j.js"},
		"node flags":      {Jest, `{"test":"node --experimental-vm-modules node_modules/jest/bin/jest.js --runInBand"}`, "node --experimental-vm-modules; options --runInBand"},
		"node test":       {Node, `{"test":"node --import tsx --test --test-reporter=spec --test-timeout=900 test/a.ts"}`, "node --import tsx --test-timeout=900; targets test/a.ts"},
		"nested":          {Vitest, `{"test":"run-s unit","unit":"vitest run --coverage"}`, ""},
		"own starter":     {Mocha, `{"test":"node bin/ssl.js mocha test/unit/*.js --timeout 30000 --exit"}`, "options --timeout 30000; targets test/unit/*.js"},
		"escapes":         {Jest, `{"test":"jest --coverage --coverageThreshold=\"{ \\\"global\\\": { \\\"lines\\\": 100} }\" --globals \"{\\\"a\\\":\\\"x && y\\\"}\""}`, `options --globals {"a":"x && y"}`},
		"several":         {Node, `{"test":"npm run build && npm run specs && npm run unit && node test/umd-test.js","build":"tsc","specs":"node --test --test-reporter=spec test/specs.js","unit":"node --test test/unit/*.test.js"}`, "targets test/specs.js test/unit/*.test.js test/umd-test.js; steps npm run build"},
		"otherwise":       {Mocha, `{"test":"mocha a && mocha -r ts-node/register b"}`, "targets a"},
		"pre checks":      {Mocha, `{"pretest":"npm run build && npm run lint","build":"run-p build:*","build:a":"babel src","lint":"eslint .","test":"mocha"}`, "steps npm run build"},
		"borp":            {Node, `{"test":"npm run lint && npm run unit","unit":"c8 borp --reporter=@x/y --coverage --concurrency 1 'a/*.js' -p 'b/*.js'"}`, "targets a/*.js b/*.js"},
		"piped":           {Mocha, `{"test":"mocha --exit test > out.txt 2>&1 || cat out.txt"}`, "targets test"},
		"another":         {Jest, `{"test":"mocha"}`, "none"},
		"again elsewhere": {Jest, `{"test":"cross-env TZ=Pacific/Auckland npm run test-tz && TZ=Europe/London npm run test-tz && jest --coverage","test-tz":"date && jest test/timezone.test --coverage=false"}`, ""},
		"environment":     {Jest, `{"test":"cross-env A=1 npm run unit","unit":"npm run build && B=2 jest","build":"cross-env C=3 rollup -c"}`, "env A=1 B=2; steps npm run build"},
		"other suites":    {Mocha, `{"test":"cross-env K=1 karma start && mocha a && mocha b"}`, "targets a b"},
		"a wide loop":     {Jest, `{"test":"npm run a && npm run a && npm run a && npm run a","a":"npm run test && npm run test && npm run test"}`, "none"},
		"a loop":          {Jest, `{"test":"npm run test"}`, "none"},
	} {
		m, _ := readManifest(fakeTree{"package.json": `{"scripts":` + c.scripts + `}`}, ".")
		s, found := runScript(m, c.framework)
		var got []string
		for _, part := range []struct {
			name  string
			words []string
		}{{"env", pairsOf(s.env)}, {"node", s.node}, {"options", s.options}, {"targets", s.targets}, {"steps", s.steps}} {
			if len(part.words) > 0 {
				got = append(got, part.name+" "+strings.Join(part.words, " "))
			}
		}
		if !found {
			got = []string{"none"}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", name, strings.Join(got, "; "), c.want)
		}
	}
}

func pairsOf(env map[string]string) []string {
	var out []string
	for _, name := range sorted(env) {
		out = append(out, name+"="+env[name])
	}
	return out
}

func TestBuilding(t *testing.T) {
	const scripts = `"scripts":{"build":"node build.js","test":"mocha"}`
	for name, c := range map[string]struct {
		tree fakeTree
		want string
	}{
		"imported":      {fakeTree{"package.json": "{" + scripts + "}", ".gitignore": "node_modules\n/dist/\n", "test/a.js": "require('../dist/x.js')"}, "npm run build"},
		"a directory":   {fakeTree{"package.json": "{" + scripts + "}", ".gitignore": "dist", "test/a.js": "import { add } from '../dist'"}, "npm run build"},
		"by a helper":   {fakeTree{"package.json": "{" + scripts + `,"files":["lib"]}`, "test/a.js": "require('./helper')", "test/helper.js": "require('../lib/esm/x.js')"}, "npm run build"},
		"the package":   {fakeTree{"package.json": "{" + scripts + `,"main":"./out/index.js"}`, "test/a.js": "require('..')", "src/index.js": ""}, "npm run build"},
		"by its name":   {fakeTree{"package.json": "{" + scripts + `,"name":"@me/it","exports":{".":{"types":"./out/i.d.ts","import":"./out/i.js"}}}`, "test/a.mjs": "import it from '@me/it'", ".mocharc.json": `{"spec":"test/*.mjs"}`}, "npm run build"},
		"sources":       {fakeTree{"package.json": "{" + scripts + `,"main":"./out/index.js"}`, ".gitignore": "out", "test/a.js": "require('../src')", "src/index.js": ""}, ""},
		"its own entry": {fakeTree{"package.json": "{" + scripts + "}", "test/a.js": "require('..')", "index.js": ""}, ""},
		"a missing one": {fakeTree{"package.json": "{" + scripts + "}", ".gitignore": "dist", "test/a.js": "require('./nowhere/x')"}, ""},
		"types alone":   {fakeTree{"package.json": "{" + scripts + "}", ".gitignore": "dist", "test/a.ts": "import type { T } from '../dist/x'", ".mocharc.json": `{"spec":"test/*.ts"}`}, ""},
		"no script":     {fakeTree{"package.json": `{"scripts":{"test":"mocha"}}`, ".gitignore": "dist", "test/a.js": "require('../dist/x')"}, ""},
		"built already": {fakeTree{"package.json": `{"scripts":{"build":"node build.js","test":"tsc && mocha"}}`, ".gitignore": "dist", "test/a.js": "require('../dist/x')"}, "tsc"},
		"outside":       {fakeTree{"package.json": "{" + scripts + "}", ".gitignore": "dist", "test/a.js": "require('../../dist/x')"}, ""},
	} {
		if got := strings.Join(New(Config{Framework: Mocha}).suite(c.tree).before(), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestBorp(t *testing.T) {
	files := fakeTree{"package.json": `{"scripts":{"test":"npm run unit","unit":"borp"}}`, "test/a.test.js": "", "test/deep/b.test.mjs": "", "test/helper.js": "", "src/c.test.js": "", "src/d.js": ""}
	for name, c := range map[string]struct{ config, want string }{
		"default":    {"", "src/c.test.js test/a.test.js test/deep/b.test.mjs"},
		"configured": {"files:\n  - 'test/**/*.test.js'\n  - 'test/**/*.test.mjs'\n", "test/a.test.js test/deep/b.test.mjs"},
		"negated":    {"files:\n  - '**/*.test.js'\n  - '!src/**'\n", "test/a.test.js"},
	} {
		tree := maps.Clone(files)
		if c.config != "" {
			tree[".borp.yaml"] = c.config
		}
		found := Detect(tree)
		if len(found) != 1 || found[0].Framework != Node {
			t.Fatalf("%s: detected %v", name, found)
		}
		units, err := New(Config{Framework: Node}).Units(t.Context(), tree, nil, true)
		if got := strings.Join(units, " "); err != nil || got != c.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	tree := fakeTree{
		"package.json": `{"scripts":{"test":"jest"},"jest":{"setupFiles":["<rootDir>/test/setup.js"]}}`, "test/setup.js": "",
		"test/a.test.js": "const h = require('./helpers/h'); read('./data/x.json')", "test/b.test.js": "import { z } from '../src/z.js'", "test/c.test.ts": "import x from './a.test'",
		"test/helpers/h.js": "require('./deep')", "test/helpers/deep.js": "", "test/data/x.json": "", "test/__snapshots__/b.test.js.snap": "", "src/z.js": "", "test/fixtures/pm": "", "test/lonely.md": "",
	}
	r := New(Config{Framework: Jest})
	for paths, want := range map[string]string{
		"test/a.test.js":                    "test/a.test.js test/c.test.ts",
		"test/helpers/deep.js":              "test/a.test.js test/c.test.ts",
		"test/data/x.json":                  "test/a.test.js",
		"test/__snapshots__/b.test.js.snap": "test/b.test.js",
		"test/setup.js":                     "test/a.test.js test/b.test.js test/c.test.ts",
		"test/gone.test.js":                 "",
	} {
		got, err := r.Units(context.Background(), tree, strings.Fields(paths), false)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %v, want %q", paths, got, err, want)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"**/?(*.)+(spec|test)." + scriptFile, "a/b.test.ts", true}, {"**/?(*.)+(spec|test)." + scriptFile, "test.js", true}, {"**/?(*.)+(spec|test)." + scriptFile, "a/btest.js", false},
		{"test/**/*.js", "test/a.js", true}, {"test/**/*.js", "test/a/b/c.js", true}, {"test/*.js", "test/a/b.js", false}, {"./test/*.{js,mjs}", "test/a.mjs", true},
		{"**/*.test.?(c|m)js", "x.test.cjs", true}, {"**/*.test.?(c|m)js", "x.test.ts", false}, {"[", "[", true}, {"a[0-9].js", "a1.js", true}, {"**", "a/b", true},
	} {
		if got := globMatches(c.pattern, c.file); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.file, got)
		}
	}
}

const outlined = `import { it } from 'x'; // it('not this', () => {})
const re = /it\('nor this'\)/, div = 4 / 2;
describe('outer', () => {
  beforeEach(() => { start(); });
  it('plain', () => { expect(` + "`${it('x')}`" + `).toBe(1); });
  it.each([[1, 2], [3, 4]])('adds %i and %i', (a, b) => {});
  it(` + "`has ${n} holes`" + `, () => {});
  describe(Foo.name, () => { test('deep \'q\' \u00e9', async () => {}); });
});
describe('outer', function () { it.skip("again", function () {}); });
test.each<{ a: number }>` + "`a|b`" + `('table $a', ({ a }) => {});
test('jsx', () => { render(<p>Don't stop</p>); });
test('last', () => {});
`

func TestOutline(t *testing.T) {
	o := outlineOf(outlined)
	for path, want := range map[string]int{
		"outer": 3, "outer/plain": 5, "outer/adds 1 and 2": 6, "outer/has 3 holes": 7, "outer/Foo/deep 'q' é": 8, "outer/again": 10, "table 5": 11, "jsx": 12, "last": 13,
		"not this": 0, "nor this": 0,
	} {
		got := 0
		if s := o.find(strings.Split(path, "/"), 0); s != nil {
			got = s.line
		}
		if got != want {
			t.Errorf("%s: line %d, want %d", path, got, want)
		}
	}
	if !o.inHook(4) || o.inHook(5) {
		t.Error("the hook is on line 4")
	}
	changed := outlineOf(strings.Replace(outlined, "Don't stop", "Do", 1))
	if o.digest(o.find([]string{"last"}, 0)) != changed.digest(changed.find([]string{"last"}, 0)) {
		t.Error("a change in one test changes another's digest")
	}
	if o.digest(o.find([]string{"jsx"}, 0)) == changed.digest(changed.find([]string{"jsx"}, 0)) {
		t.Error("a change in a test leaves its digest")
	}
	if o.context() != changed.context() {
		t.Error("a change in a test changes what is around the tests")
	}
}

// TestOutlineOfFlatSuites finds tests below suites that have no function.
func TestOutlineOfFlatSuites(t *testing.T) {
	o := outlineOf("suite('one');\ntest('a', function () {});\ntest('b', () => {});\nsuite('two');\ntest('a', () => {});\nsuite('own', () => {});\ntest('c', () => {});\n")
	for path, want := range map[string]int{"one/a": 2, "one/b": 3, "two/a": 5, "two/b": 0, "own/c": 0, "c": 7} {
		got := 0
		if s := o.find(strings.Split(path, "/"), 0); s != nil {
			got = s.line
		}
		if got != want {
			t.Errorf("%s: line %d, want %d", path, got, want)
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add(outlined)
	f.Fuzz(func(t *testing.T, source string) {
		o := outlineOf(source)
		o.context()
		for _, s := range o.roots {
			if s.from < 0 || s.to > len(source) || s.from >= s.to || s.line < 1 || s.end < s.line {
				t.Errorf("span %+v of %d bytes", s, len(source))
			}
		}
	})
}

func TestMissingNames(t *testing.T) {
	r := reader{suite: New(Config{Framework: Jest}).suite(fakeTree{"a.test.js": "line one\n  assert(lib.table.size);\nclass A extends lib.Base {}\nconst { x } = lib.opts;\n"}), root: "/w"}
	for message, want := range map[string]string{
		"lib.fresh is not a function":                                                      "fresh lib",
		"(0 , _lib.fresh) is not a function":                                               "fresh _lib",
		"(0,lib_1.fresh) is not a function":                                                "fresh lib_1",
		"__vi_import_0__.fresh is not a function":                                          "fresh __vi_import_0__",
		"program.option(...).conflicts is not a function":                                  "conflicts program.option",
		"lib.Fresh is not a constructor":                                                   "Fresh lib",
		"fresh is not a function or its return value is not iterable":                      "fresh ",
		"undefined is not a function":                                                      "",
		"The requested module './lib.js' does not provide an export named 'fresh'":         "fresh ",
		"Cannot find module './lib/fresh.js' from 'a.test.js'":                             "fresh ",
		`Failed to resolve import "./fresh" from "a.test.js". Does the file exist?`:        "fresh ",
		"a.test.ts:3:5 - error TS2305: Module '\"./lib\"' has no exported member 'fresh'.": "fresh ",
		"error TS2339: Property 'fresh' does not exist on type 'Lib'.":                     "fresh ",
		"Cannot destructure property 'x' of 'lib.opts' as it is undefined.":                "opts lib",
		"Expected: function to throw, received: nothing":                                   "",
		"Got unwanted exception.\nActual message: \"lib.fresh is not a function\"":         "fresh lib",
	} {
		got := ""
		for _, m := range r.missing(failure{Name: "TypeError", Message: message}, false) {
			got += m.Name + " " + m.Owner
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
	for stack, want := range map[string]string{"at x (/w/a.test.js:2:20)": "table", "at x (file:///w/a.test.js:2:20)": "table", "at x (/w/node_modules/a.js:2:20)": "", "at x (/elsewhere/a.js:1:1)": ""} {
		got := ""
		for _, m := range r.missing(failure{Name: "TypeError", Message: "Cannot read properties of undefined (reading 'size')", Stack: stack}, false) {
			got += m.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", stack, got, want)
		}
	}
	if m := r.missing(failure{Name: "TypeError", Message: "Cannot read properties of null (reading 'size')", Stack: "at x (/w/a.test.js:2:20)"}, false); len(m) > 0 {
		t.Errorf("null is a value, not a missing name: %v", m)
	}
}

// TestRepeatedNames numbers rows of one name by project and order, and keeps a
// retry with its row.
func TestRepeatedNames(t *testing.T) {
	s := newSession(nil)
	for _, r := range []record{
		{Kind: "result", Unit: "a.js", Project: "web", Path: []string{"x"}, Outcome: "failed", Again: true},
		{Kind: "result", Unit: "a.js", Project: "web", Path: []string{"x"}, Outcome: "passed"},
		{Kind: "result", Unit: "a.js", Project: "api", Path: []string{"x"}, Outcome: "passed"},
		{Kind: "result", Unit: "a.js", Project: "api", Path: []string{"x"}, Outcome: "passed"},
	} {
		s.take(r)
	}
	ids := s.ids()
	var got []string
	for _, row := range s.rows {
		got = append(got, row.project+" "+ids[row])
	}
	if want := []string{"web a.js > x#3", "api a.js > x", "api a.js > x#2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s.rows[0].results) != 2 {
		t.Errorf("the retried row has %d results, want 2", len(s.rows[0].results))
	}
}

// TestContradiction refuses a green exit over a red row.
func TestContradiction(t *testing.T) {
	h := heard{session: newSession(nil)}
	h.take(record{Kind: "result", Unit: "a.js", Path: []string{"x"}, Outcome: "failed"})
	h.take(record{Kind: "exit", Code: 0})
	if h.contradiction("a.js") == "" || h.contradiction("b.js") != "" {
		t.Error("exit 0 over a failed row must be a contradiction, for its own unit only")
	}
	h.take(record{Kind: "exit", Code: 1})
	if why := h.contradiction("a.js"); why != "" {
		t.Errorf("exit 1 over a failed row: %s", why)
	}
}
