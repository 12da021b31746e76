package jsimports

import (
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
