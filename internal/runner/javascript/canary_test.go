package javascript

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

var _ gate.Canarian = (*Runner)(nil)

// testFiles is one test of m.js for each framework.
var testFiles = map[string][2]string{ // name, text
	Node:   {"m.test.mjs", "import './m.js';\nimport test from 'node:test';\ntest('one', () => {});\n"},
	Mocha:  {"test/m.test.js", "require('../m.js');\nit('one', () => {});\n"},
	Jest:   {"m.test.js", "require('./m.js');\ntest('one', () => {});\n"},
	Vitest: {"m.test.mjs", "import './m.js';\nimport { test } from 'vitest';\ntest('one', () => {});\n"},
	Ava:    {"m.test.mjs", "import './m.js';\nimport test from 'ava';\ntest('one', t => t.pass());\n"},
}

// TestCanary runs the canary of each framework that is at hand beside code that
// silences node:assert, and beside code that only looks as if it could.
func TestCanary(t *testing.T) {
	silenced := "const assert = require('assert');\nfor (const n of ['equal', 'strictEqual', 'deepEqual']) assert[n] = () => {};\n"
	honest := "const assert = require('assert');\nprocess.on('exit', () => {});\nassert.equal(1, 1);\n"
	for _, framework := range Frameworks() {
		for name, source := range map[string]string{"silenced": silenced, "honest": honest} {
			t.Run(framework+"/"+name, func(t *testing.T) {
				test := testFiles[framework]
				dir := lay(t, framework, map[string]string{"package.json": `{"name": "m"}`, "m.js": source, test[0]: test[1]})
				runner := New(Config{Framework: framework, Timeout: 2 * time.Minute})
				result, err := runner.Canary(context.Background(), plainstate.At(t, dir), gate.Batch{Units: []string{test[0]}}, []string{"m.js"})
				if err != nil {
					t.Fatal(err)
				}
				if forged := len(result.Forged) > 0; forged != (name == "silenced") {
					t.Errorf("forged in %q, replaced %q", result.Forged, result.Replaced)
				}
				if name == "honest" && len(result.Replaced) > 0 {
					t.Errorf("replaced %q", result.Replaced)
				}
			})
		}
	}
}

// lay makes a package of these files with the framework at hand, or skips.
func lay(t *testing.T, framework string, files map[string]string) string {
	t.Helper()
	modules := packages(t, framework)
	dir := t.TempDir()
	for file, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link(t, modules, dir)
	return dir
}

// TestNamedCanary holds that code which spares one test by its title spares the
// canary of that title too.
func TestNamedCanary(t *testing.T) {
	const spare = "const empty = (of) => Object.assign((title, f) => of(title, title === 'one' ? () => {} : f), of);\n"
	for framework, files := range map[string][3]string{ // name and text of the test, text of m.js
		Mocha: {"test/m.test.js", "require('../m.js');\nit('one', () => { throw new Error('x'); });\n", spare + "globalThis.it = empty(globalThis.it);\n"},
		Jest:  {"m.test.js", "require('./m.js');\ndescribe('s', () => { test('one', () => { throw new Error('x'); }); });\n", spare + "globalThis.test = globalThis.it = empty(globalThis.test);\n"},
	} {
		t.Run(framework, func(t *testing.T) {
			dir := lay(t, framework, map[string]string{"package.json": `{"name": "m"}`, "m.js": files[2], files[0]: files[1]})
			runner := New(Config{Framework: framework, Timeout: 2 * time.Minute})
			state := plainstate.At(t, dir)
			ran, err := runner.Run(context.Background(), state, gate.Batch{Units: []string{files[0]}})
			if err != nil || len(ran.Rows) != 1 {
				t.Fatal(ran.Rows, err)
			}
			batch := gate.Batch{Units: []string{files[0]}, Rows: []string{ran.Rows[0].Row.ID}}
			result, err := runner.Canary(context.Background(), state, batch, []string{"m.js"})
			if err != nil || len(result.Forged) != 1 {
				t.Errorf("forged in %q, %v", result.Forged, err)
			}
		})
	}
}

// TestSkippedCanary holds that a canary which is skipped says nothing: the one
// test that the file lets run is beside it.
func TestSkippedCanary(t *testing.T) {
	for framework, test := range map[string][2]string{
		Mocha: {"test/m.test.js", "require('../m.js');\nit.only('one', () => {});\n"},
		Jest:  {"m.test.js", "require('./m.js');\ntest.only('one', () => {});\n"},
		Node:  {"m.test.js", "require('./m.js');\nconst test = require('node:test');\ntest('one', () => {});\ntest.beforeEach((t) => { if (t.name !== 'one') t.skip(); });\n"},
	} {
		t.Run(framework, func(t *testing.T) {
			dir := lay(t, framework, map[string]string{"package.json": `{"name": "m"}`, "m.js": "require('assert').equal(1, 1);\n", test[0]: test[1]})
			runner := New(Config{Framework: framework, Timeout: 2 * time.Minute})
			result, err := runner.Canary(context.Background(), plainstate.At(t, dir), gate.Batch{Units: []string{test[0]}}, []string{"m.js"})
			if err != nil || len(result.Forged) > 0 {
				t.Errorf("forged in %q, %v", result.Forged, err)
			}
		})
	}
}

func TestBesideName(t *testing.T) {
	for base, want := range map[string]string{
		"a.test.js": "tx.test.js", "a.spec.ts": "tx.spec.ts", "test-a.js": "test-tx.js", "a_test.mjs": "tx_test.mjs", "a.js": "tx.js", "a-b.test.js": "tx.test.js",
	} {
		if got := besideName(base, "tx"); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}
