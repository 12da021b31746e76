package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSelectInJavaScript: without a map the import graph selects, with one what
// was executed; the command is that of the repository's own script.
func TestSelectInJavaScript(t *testing.T) {
	need(t, "node")
	test := func(of string) string {
		return "const test = require('node:test');\nconst assert = require('node:assert');\ntest('" + of + "', () => assert.equal(require('../src/m')." + of + "(), 1));\n"
	}
	dir := repository(t, "", map[string]string{
		"package.json": `{"scripts": {"test": "node --no-warnings --test test/*.test.js"}}`, "src/m.js": "exports.a = () => 1;\nexports.b = () => 1;\n", "src/o.js": "exports.o = 1;\n",
		"test/a.test.js": test("a"), "test/b.test.js": test("b"), "test/o.test.js": "require('node:test').test('o', () => require('../src/o'));\n", "test/p.test.js": "require('node:test').test('p', () => {});\n",
	})
	args := []string{"--repo", dir, "--map", filepath.Join(t.TempDir(), "map"), "--base", "HEAD"}
	write(t, dir, map[string]string{"src/m.js": "exports.a = () => 2;\nexports.b = () => 1;\n"})
	out := selectIn(t, args...)
	if names(out) != "js js" || !strings.Contains(out.Fallback, "no coverage map: none was made yet") || out.Commands[0] != "node --no-warnings --test test/a.test.js test/b.test.js" {
		t.Errorf("without a map: %+v", out)
	}
	if code, _, stderr := run(append([]string{"select", "--index", "build"}, args...)...); code != exitPass || !strings.Contains(stderr, "holds 4 tests") {
		t.Fatalf("index: exit %d: %s", code, stderr)
	}
	if out := selectIn(t, args...); len(out.Rows) != 1 || out.Rows[0].File != "test/a.test.js" || out.Rows[0].Reasons[0] != "coverage:src/m.js#exports.a" || out.Fallback != "" || out.Commands[0] != "node --no-warnings --test test/a.test.js" {
		t.Errorf("with a map: %+v", out)
	}
	gitIn(t, dir, "commit", "-qam", "a")
	if code, _, stderr := run(append([]string{"select", "--index", "refresh"}, args...)...); code != exitPass || !strings.Contains(stderr, "holds 4 tests, 3 of them from the map before") {
		t.Fatalf("refresh: exit %d: %s", code, stderr)
	}
}
