package jsimports

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, file, source string
		names, globs       string
		computed, unread   bool
	}{
		{"modules", "a.js", "import a from './a'\nimport './b.css'\nexport * from './c'\nexport { d } from 'd'\nawait import('./e')\n", "./a ./b.css ./c ./e d", "", false, false},
		{"CommonJS", "a.js", "const { a } = require('./a'), b = require(`./b`)\nrequire.resolve('./c')\nif (x) try { require('d') } catch {}\n", "./a ./b ./c d", "", false, false},
		{"types", "a.ts", "import type { A } from './a'\nexport type { B } from './b'\nimport { C } from './c'\nlet d: import('./d').D\nimport e = require('./e')\n", "./a ./b ./c ./d ./e", "", false, false},
		{"mocks", "a.test.ts", "jest.mock('./a', () => ({}))\nvi.mock(import('./b'))\nvi.importActual<typeof import('./c')>('./c')\njest.requireActual('d')\nproxyquire('./e', {})\n", "./a ./b ./c ./e d", "", false, false},
		{"template", "a.js", "import(`./lang/${name}.js`)\nrequire('./views/' + name + '.js')\n", "./views/", "./lang/** ./views/**", false, false},
		{"globs", "a.ts", "import.meta.glob('./pages/*.ts')\nimport.meta.glob<A>(['./a/**/*.ts', '!./a/x.ts'], { eager: true })\nrequire.context('./all', true)\n", "./all", "./a/**/*.ts ./all/** ./pages/*.ts", false, false},
		{"computed", "a.js", "require(name)\n", "", "", true, false},
		{"computed from the start", "a.js", "import(`${dir}/x.js`)\n", "", "", true, false},
		{"markup", "a.js", "import x from './x'\nexport default () => <p>{x}</p>\n", "./x", "", false, false},
		{"decorators", "a.ts", "import { D } from './d'\n@D() class A { constructor(@D() private a: string) {} }\n", "./d", "", false, false},
		{"not JavaScript", "a.js", "import a from './a'\nclass {{{\n", "./a", "", false, true},
		{"URL", "a.mjs", "new URL('./data.bin', import.meta.url)\n", "./data.bin", "", false, false},
	} {
		asks := Read(map[string][]byte{c.file: []byte(c.source), "other.js": []byte("import 'other'\n")})[c.file]
		if got := strings.Join(asks.Names, " "); got != c.names {
			t.Errorf("%s: names %q, want %q", c.name, got, c.names)
		}
		if got := strings.Join(asks.Globs, " "); got != c.globs || asks.Computed != c.computed || asks.Unread != c.unread {
			t.Errorf("%s: globs %q, computed %v, unread %v", c.name, got, asks.Computed, asks.Unread)
		}
	}
}

// TestReadManyAtOnce crosses the limit of one batch: every file is answered for.
func TestReadManyAtOnce(t *testing.T) {
	sources := make(map[string][]byte)
	for i := range batch + 10 {
		sources["d/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26)+".js"] = []byte("import './one'\n")
	}
	for file, asks := range Read(sources) {
		if !slices.Equal(asks.Names, []string{"./one"}) || asks.Unread {
			t.Fatalf("%s: %+v", file, asks)
		}
	}
}

// TestTypesFindsWhatOneExpressionWould compares with the expression that looks
// for its keywords by itself.
func TestTypesFindsWhatOneExpressionWould(t *testing.T) {
	whole := regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.\w+)?\s*\(\s*|\b(?:jest|vi|vitest|td|mock)\.\w+\s*(?:<[^>(]*>)?\(\s*(?:import\s*\(\s*)?|\b(?:proxyquire|rewire|esmock|quibble)(?:\.\w+)?\s*\(\s*|\bnew\s+URL\s*\(\s*|\btoMatchFileSnapshot\s*\(\s*|\breference\s+path\s*=\s*)["'\x60]([^"'\x60\n$]+)["'\x60]`)
	parts := []string{"from", "import", "require", ".resolve", "jest", "vi", "vitest", ".mock", "mock", "proxyquire", "esmock", "new", "URL", "toMatchFileSnapshot", "reference path=", "(", " ", "\n", "'./a'", `"b"`, "`c`", "'", "$", "_", "x", "é", "<A>", "'from \"d\"'", ";"}
	random, found := rand.New(rand.NewPCG(7, 7)), 0
	for range 20000 {
		var text strings.Builder
		for range 1 + random.IntN(14) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		var want []string
		for _, m := range whole.FindAllStringSubmatch(text.String(), -1) {
			want = append(want, m[1])
		}
		if got := types(text.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text.String(), got, want)
		}
		found += len(want)
	}
	if found < 1000 {
		t.Errorf("only %d names in all texts", found)
	}
}
