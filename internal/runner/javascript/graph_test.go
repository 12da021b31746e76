package javascript

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
	"github.com/touchstone-gate/touchstone/rts"
)

const graphed = `
-- package.json --
{"name": "root", "workspaces": ["packages/*"], "imports": {"#db/*": "./src/db/*.js", "#env": {"test": "./src/envtest.js", "default": "./src/env.js"}},
 "scripts": {"test": "jest --config jest.unit.js"}, "dependencies": {"lodash": "4"}, "devDependencies": {"jest": "29"}}
-- jest.unit.js --
const shared = require('./jest.shared');
module.exports = { ...shared, setupFiles: ['<rootDir>/test/setup'], moduleNameMapper: { '^lodash$': '<rootDir>/test/lodash.js' } };
-- jest.shared.js --
module.exports = {};
-- tsconfig.json --
{ // for the editor
  "compilerOptions": { "baseUrl": ".", "paths": { "@app/*": ["src/*"], }, },
}
-- test/setup/index.js --
require('../../src/polyfill');
-- test/lodash.js --
-- src/polyfill.js --
-- src/a.js --
-- src/a/index.js --
-- src/b.ts --
import type { T } from './types';
export * from './barrel';
-- src/types.ts --
-- src/barrel/index.ts --
export { one } from './one';
-- src/barrel/one.ts --
-- src/db/pg.js --
-- src/env.js --
-- src/envtest.js --
-- src/data.json --
{}
-- src/lang/de.js --
-- src/lang/fr/index.js --
-- src/mocked.js --
-- src/__mocks__/mocked.js --
-- __mocks__/axios.js --
-- packages/ui/package.json --
{"name": "@x/ui", "exports": {".": {"import": "./src/main.ts", "require": "./dist/main.js"}, "./parts/*": "./src/parts/*.ts"}}
-- packages/ui/src/main.ts --
-- packages/ui/src/parts/button.ts --
-- packages/built/package.json --
{"name": "built", "main": "dist/index.js"}
-- packages/built/src/index.ts --
-- src/unused.js --
-- test/stem.test.js --
require('../src/a');
-- test/alias.test.ts --
import { b } from '@app/b';
-- test/imports.test.js --
require('#db/pg'); require('#env');
-- test/json.test.js --
require('../src/data.json');
-- test/lang.test.js --
module.exports = (n) => import('../src/lang/' + n + '.js');
-- test/mock.test.js --
jest.mock('../src/mocked');
require('axios');
-- test/ui.test.js --
import '@x/ui/parts/button';
-- test/uimain.test.js --
import '@x/ui';
-- test/built.test.js --
import built from 'built';
-- test/tail.test.js --
import x from '~/db/pg';
-- test/gone.test.js --
require('../src/nothing');
-- test/child.test.js --
require('child_process').execSync('node src/a.js');
-- test/snap.test.js --
-- test/__snapshots__/snap.test.js.snap --
`

func TestGraph(t *testing.T) {
	r := New(Config{Framework: Jest})
	g := &rts.Graph{}
	r.AddGraph(g, plainstate.New(t, graphed).Tree())
	for file, want := range map[string]string{
		"src/a.js":                             "stem",
		"src/a/index.js":                       "stem",
		"src/types.ts":                         "alias",
		"src/barrel/one.ts":                    "alias",
		"src/db/pg.js":                         "imports tail",
		"src/env.js":                           "imports",
		"src/data.json":                        "json",
		"src/lang/de.js":                       "lang",
		"src/lang/fr/index.js":                 "lang",
		"src/mocked.js":                        "mock",
		"src/__mocks__/mocked.js":              "mock",
		"__mocks__/axios.js":                   "mock",
		"packages/ui/src/main.ts":              "uimain",
		"packages/ui/src/parts/button.ts":      "ui",
		"packages/built/src/index.ts":          "built",
		"src/unused.js":                        "",
		"test/__snapshots__/snap.test.js.snap": "snap",
		"src/polyfill.js":                      "*",
		"test/lodash.js":                       "*",
		"jest.shared.js":                       "*",
	} {
		if !g.Knows(file) {
			t.Errorf("%s is not known", file)
		}
		var got []string
		for unit := range g.Reaching(file) {
			got = append(got, strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(unit, "test/"), ".js"), ".test"))
		}
		slices.Sort(got)
		words := strings.ReplaceAll(strings.Join(got, " "), ".test.ts", "")
		if want == "*" && len(got) == len(g.Units()) {
			continue
		}
		if words != want {
			t.Errorf("%s is reached by %q, want %q", file, words, want)
		}
	}
	doubts := g.Doubtful()
	for unit, why := range map[string]string{"test/gone.test.js": "src/nothing", "test/child.test.js": startsProcesses} {
		if !strings.Contains(doubts[unit], why) {
			t.Errorf("%s: %q", unit, doubts[unit])
		}
	}
	if why := doubts["test/stem.test.js"]; why != "" {
		t.Errorf("a plain test is in doubt: %s", why)
	}
}
