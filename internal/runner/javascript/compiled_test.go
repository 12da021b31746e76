package javascript

import (
	"slices"
	"strings"
	"testing"
)

// TestCompiledFirst holds which sources stand for what a script runs, and what of
// them the framework is given.
func TestCompiledFirst(t *testing.T) {
	const src, both = `{"compilerOptions": {"outDir": "./dist",},}`, `{"compilerOptions": {"outDir": "dist"}, "include": ["src", "test/**/*"]}`
	for _, c := range []struct {
		name, framework, manifest string
		files                     map[string]string
		tests                     string // source:what is run
	}{
		{"the compiler's own root", Node, `"build": "tsc", "test": "npm run build && node --test dist/test/*.js"`,
			map[string]string{"tsconfig.json": src, "src/a.ts": "", "src/test/a.test.mts": "", "src/test/b.ts": ""},
			"src/test/a.test.mts:dist/test/a.test.mjs src/test/b.ts:dist/test/b.js"},
		{"sources and tests side by side", Mocha, `"pretest": "tsc", "test": "mocha 'dist/test/**/*.js'"`,
			map[string]string{"tsconfig.json": both, "src/a.ts": "", "test/x/a.tsx": "", "examples/a.ts": ""},
			"test/x/a.tsx:dist/test/x/a.js"},
		{"a root that is named", Mocha, `"test": "tsc -p . && mocha ./out/spec --recursive"`,
			map[string]string{"tsconfig.json": `{"compilerOptions": {"outDir": "out", "rootDir": "./lib"}}`, "lib/spec/deep/a.ts": "", "other/b.ts": ""},
			"lib/spec/deep/a.ts:out/spec/deep/a.js"},
		{"a copy of what is compiled, and configuration at the root", Node, `"build": "./build.sh", "pretest": "npm run build", "test": "node --test dist-node/test/*.js"`,
			map[string]string{"tsconfig.json": `{"compilerOptions": {"outDir": "dist"}, "exclude": ["examples"]}`, "src/test/a.test.ts": "", "src/a.ts": "", "site.conf.js": "", "examples/a.ts": ""},
			"src/test/a.test.ts:dist-node/test/a.test.js"},
		{"no tsconfig", Mocha, `"test": "babel src -d lib && mocha lib/**/*.test.js"`,
			map[string]string{"src/a.test.js": "", "src/a.js": ""},
			"src/a.test.js:lib/a.test.js"},
		{"patterns of ava", Ava, `"test": "tsc && ava dist/test/*.js"`,
			map[string]string{"tsconfig.json": src, "src/test/a.ts": "", "src/a.ts": ""},
			"src/test/a.ts:dist/test/a.js"},
		{"nothing is built", Mocha, `"test": "mocha 'dist/test/*.js'"`, map[string]string{"tsconfig.json": src, "src/test/a.ts": ""}, ""},
		{"the tree holds what is run", Mocha, `"test": "tsc && mocha 'test/*.js'"`, map[string]string{"tsconfig.json": src, "src/test/a.ts": "", "test/b.js": ""}, "test/b.js:./test/b.js"},
	} {
		for _, dir := range []string{".", "packages/x"} {
			tree := fakeTree{}
			place := strings.TrimPrefix(dir+"/", "./")
			tree[place+"package.json"] = `{"scripts": {` + c.manifest + `}}`
			for name, content := range c.files {
				tree[place+name] = content
			}
			s := New(Config{Framework: c.framework, Dir: dir}).suite(tree)
			var got []string
			for i, given := range s.given(s.files) {
				got = append(got, strings.TrimPrefix(s.files[i], place)+":"+given)
			}
			want := strings.Fields(strings.ReplaceAll(c.tests, "./test", "test"))
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "./test", "test")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in %s: got %q, want %q", c.name, dir, got, want)
			}
		}
	}
}
