package javascript

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const built = `
-- package.json --
{"scripts": {"lint": "false", "build": "node build.js", "test": "npm run lint; npm run build && node --test test/*.test.js"}}
-- build.js --
const fs = require('fs');
const source = fs.readFileSync('src/lib.js', 'utf8');
if (source.includes('broken')) { console.error("src/lib.ts(1,1): error TS2304: Cannot find name 'broken'."); process.exit(2); }
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/lib.js', source);
-- src/lib.js --
exports.two = () => 2;
-- dist/lib.js --
exports.two = () => 'a build of another state';
-- test/a.test.js --
const test = require('node:test');
const assert = require('node:assert');
test('two', () => { assert.equal(require('../dist/lib.js').two(), 2); });
`

// TestBuildsOnEveryState runs what the repository builds before its tests, so
// that no other state's build is tested; when it fails, no row has a result.
func TestBuildsOnEveryState(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, built)
	runner := New(Config{Framework: Node, Timeout: time.Minute})
	run := func() []string {
		result, err := runner.Run(context.Background(), state, gate.Batch{Units: []string{"test/a.test.js"}})
		if err != nil {
			t.Fatal(err)
		}
		return lines(result)
	}
	compare(t, run(), []string{"test/a.test.js > two = passed"})
	if err := os.WriteFile(filepath.Join(state.Dir(), "src/lib.js"), []byte("broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	compare(t, run(), []string{"test/a.test.js = errored compile [broken]"})
}

// TestExactRows runs only the rows that were asked for, lists without running,
// and asks no unit outside of its directory or the state.
func TestExactRows(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, `
-- app/package.json --
{"scripts": {"test": "node --test"}}
-- app/test/a.test.js --
const { test, describe } = require('node:test');
const fs = require('node:fs');
const ran = (name) => fs.appendFileSync('ran', name + '\n');
test('one', () => ran('one'));
describe('s', () => { test('two', () => ran('two')); test('three', () => { ran('three'); throw new Error('no'); }); });
-- other/b.test.js --
require('node:test').test('not ours', () => {});
`)
	runner := New(Config{Framework: Node, Dir: "app", Timeout: time.Minute})
	ctx, units := context.Background(), []string{"app/test/a.test.js", "other/b.test.js", "app/test/gone.test.js"}
	listed, err := runner.List(ctx, state, units)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(listed), []string{"app/test/a.test.js > one = ", "app/test/a.test.js > s = ", "app/test/a.test.js > s > three = ", "app/test/a.test.js > s > two = "})
	if _, err := os.Stat(filepath.Join(state.Dir(), "app/ran")); err == nil {
		t.Error("listing ran a test")
	}
	result, err := runner.Run(ctx, state, gate.Batch{Units: units, Rows: []string{"app/test/a.test.js > s > three"}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(result), []string{"app/test/a.test.js > s > three = failed exception"})
	if ran, _ := os.ReadFile(filepath.Join(state.Dir(), "app/ran")); string(ran) != "three\n" {
		t.Errorf("ran %q, want three alone", ran)
	}
	row := result.Rows[0].Row
	if row.Line != 5 || row.Digest == "" || row.Unit != "app/test/a.test.js" || row.Name != "three" {
		t.Errorf("row %+v", row)
	}
	if want := "env -C app node --test"; !strings.HasPrefix(strings.Join(result.Commands[0], " "), want) {
		t.Errorf("command %q, want %q…", result.Commands[0], want)
	}
}

// TestHangTakesNothingWithIt ends a file that never ends at the time limit, and
// answers for the others.
func TestHangTakesNothingWithIt(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, `
-- package.json --
{"scripts": {"test": "node --test --test-concurrency=1"}}
-- a.test.js --
const test = require('node:test');
test('before', () => {});
test('spins', () => { for (;;); });
-- b.test.js --
require('node:test')('other', () => {});
`)
	runner := New(Config{Framework: Node, Timeout: 15 * time.Second})
	result, err := runner.Run(context.Background(), state, gate.Batch{Units: []string{"a.test.js", "b.test.js"}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(result), []string{"a.test.js > before = passed", "a.test.js > spins = timed_out timeout", "b.test.js > other = passed"})
}

// TestLoaded names the production files that a test's process loaded.
func TestLoaded(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, built)
	result, err := New(Config{Framework: Node, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: []string{"test/a.test.js"}, Subjects: []string{"dist/lib.js", "src/lib.js"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range result.Loaded {
		got = append(got, l.Subject)
		if !l.InTree || len(l.SHA256) != 64 {
			t.Errorf("loaded %+v", l)
		}
	}
	if !slices.Equal(got, []string{"dist/lib.js"}) {
		t.Errorf("loaded %q", got)
	}
}

// TestBuiltBefore says of a file that tests load and no tree holds that another
// build made it, unless the tests' own script builds.
func TestBuiltBefore(t *testing.T) {
	packages(t, Node)
	for script, want := range map[string]string{"node --test": "target/lib.js", "mkdir -p target && cp src/lib.js target/ && node --test": ""} {
		state := plainstate.New(t, `
-- package.json --
{"scripts":{"test":"`+script+`"}}
-- src/lib.js --
exports.two = () => 2
-- target/lib.js --
exports.two = () => 2
-- test/a.test.js --
require('node:test')('two', () => require('node:assert').equal(require('../target/lib.js').two(), 2))
`)
		result, err := New(Config{Framework: Node, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: []string{"test/a.test.js"}, Subjects: []string{"src/lib.js"}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(result.Built, want) || (want == "") != (result.Built == "") || len(result.Loaded) > 0 {
			t.Errorf("%s: built %q, loaded %v", script, result.Built, result.Loaded)
		}
	}
}

// TestWaitsForEver asks again for the tests that had no turn since another one
// waits for what never comes: only that one failed.
func TestWaitsForEver(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, `
-- package.json --
{"scripts":{"test":"node --test"}}
-- test/a.test.js --
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
test('first', () => {});
test('waits', async () => { await new Promise(() => {}); });
test('later', () => {});
test('waits too', () => new Promise(() => {}));
test('fails', () => assert.equal(1, 2));
describe('suite', () => { it('inner', () => {}); });
`)
	result, err := New(Config{Framework: Node, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: []string{"test/a.test.js"}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(result), []string{
		"test/a.test.js > fails = failed assertion", "test/a.test.js > first = passed", "test/a.test.js > later = passed", "test/a.test.js > suite = passed", "test/a.test.js > suite > inner = passed",
		"test/a.test.js > waits = failed exception", "test/a.test.js > waits too = failed exception",
	})
}

// TestOptionsOfNode runs mocha where it starts itself again with options of
// Node's.
func TestOptionsOfNode(t *testing.T) {
	modules := packages(t, Mocha)
	for _, files := range []string{
		`-- package.json --
{"scripts":{"test":"mocha --enable-source-maps test"}}
`, `-- package.json --
{"scripts":{"test":"mocha test"}}
-- .mocharc.json --
{"node-option":["no-warnings"]}
`} {
		state := plainstate.New(t, files+`
-- test/a.js --
const assert = require('assert');
it('two', () => assert.equal(require('../lib.js').two(), 2));
it('three', () => assert.equal(require('../lib.js').two(), 3));
-- lib.js --
exports.two = () => 2
`)
		link(t, modules, state.Dir())
		result, err := New(Config{Framework: Mocha, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: []string{"test/a.js"}, Subjects: []string{"lib.js"}})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, lines(result), []string{"test/a.js > three = failed assertion", "test/a.js > two = passed"})
		if len(result.Loaded) != 1 || result.Loaded[0].Subject != "lib.js" {
			t.Errorf("loaded %+v", result.Loaded)
		}
	}
}

// TestListsSubtests lists the subtests that stand in a test, so that those of
// base are not taken for new ones.
func TestListsSubtests(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, `
-- package.json --
{"scripts":{"test":"node --test"}}
-- test/a.test.js --
const { test, describe, it } = require('node:test');
test('outer', async (t) => {
  await t.test('inner', async (t) => { await t.test('deep', () => {}); });
  for (const n of [1, 2]) await t.test('made ' + n, () => {});
});
describe('suite', () => { it('part', async (t) => { await t.test('sub', () => {}); }); });
`)
	result, err := New(Config{Framework: Node, Timeout: time.Minute}).List(context.Background(), state, []string{"test/a.test.js"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, observed := range result.Rows {
		got = append(got, strings.TrimPrefix(observed.Row.ID, "test/a.test.js > "))
	}
	slices.Sort(got)
	if want := "outer; outer > inner; outer > inner > deep; suite; suite > part; suite > part > sub"; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "; "), want)
	}
}

// TestMissingFramework says what to install.
func TestMissingFramework(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, "-- package.json --\n{}\n-- a.test.js --\n")
	_, err := New(Config{Framework: Jest}).Run(context.Background(), state, gate.Batch{Units: []string{"a.test.js"}})
	if err == nil || !strings.Contains(err.Error(), "jest is not installed") || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("got %v", err)
	}
}

// TestArgumentsOfTheScript shows the code under test the command line that the
// repository's own script gives the framework, not what is added to it.
func TestArgumentsOfTheScript(t *testing.T) {
	for framework, option := range map[string]string{Jest: "--expand", Mocha: "--check-leaks"} {
		t.Run(framework, func(t *testing.T) {
			state := plainstate.New(t, `
-- package.json --
{"scripts": {"test": "`+framework+` `+option+`"}, "jest": {"rootDir": "test"}}
-- test/a.test.js --
const assert = require('assert');
const { test = it } = globalThis;
test('arguments', () => { assert.strictEqual(process.argv.slice(2).join(' '), '`+option+`'); });
`)
			link(t, packages(t, framework), state.Dir())
			batch := gate.Batch{Units: []string{"test/a.test.js"}, Rows: []string{"test/a.test.js > arguments"}}
			result, err := New(Config{Framework: framework, Timeout: time.Minute}).Run(context.Background(), state, batch)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range result.Rows {
				t.Log(row.Observations[0].Message)
			}
			compare(t, lines(result), []string{"test/a.test.js > arguments = passed"})
		})
	}
}

// TestListsWhatIsToBeDone names ava's tests that are still to be written: what is
// not listed is not asked again after another file ended the process of all.
func TestListsWhatIsToBeDone(t *testing.T) {
	modules := packages(t, Ava)
	state := plainstate.New(t, `
-- package.json --
{}
-- a.test.js --
const test = require('ava');
test('written', (t) => { t.pass(); });
test.todo('to be written');
`)
	link(t, modules, state.Dir())
	runner := New(Config{Framework: Ava, Timeout: time.Minute})
	list, err := runner.List(context.Background(), state, []string{"a.test.js"})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(list), []string{"a.test.js > written = ", "a.test.js > to be written = "})
	result, err := runner.Run(context.Background(), state, gate.Batch{Units: []string{"a.test.js"}, Rows: []string{"a.test.js > to be written"}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(result), []string{"a.test.js > to be written = skipped"})
}

// TestLateWords does not blame the last test that began for the death of ava's
// process: what its thread said after it may not have arrived.
func TestLateWords(t *testing.T) {
	for framework, mute := range map[string]bool{Ava: true, Jest: false} {
		h := heard{session: newSession(nil)}
		h.atOnce = framework == Ava
		h.take(record{Kind: "file", Unit: "a.test.js"})
		h.take(record{Kind: "begin", Unit: "a.test.js", Path: []string{"before"}})
		if h.mute("a.test.js") != mute {
			t.Errorf("%s: got %v", framework, !mute)
		}
		h.exit.TimedOut = true
		if h.mute("a.test.js") {
			t.Errorf("%s: the test that runs at the time limit is not told", framework)
		}
	}
}

// TestPackageThatIsNotInstalled tells what the place of the tests lacks from what the
// code gets wrong: a package that package.json declares from one that it does not.
func TestPackageThatIsNotInstalled(t *testing.T) {
	packages(t, Node)
	state := plainstate.New(t, `
-- package.json --
{"dependencies": {"declared": "1", "@scope/declared": "1"}}
-- lib.js --
module.exports = (name) => require(name);
-- a.test.js --
const test = require('node:test');
const lib = require('./lib.js');
for (const name of ['declared', '@scope/declared/part', 'forgotten', './declared']) test(name, () => { lib(name); });
test.describe('behind', () => {
  test.before(() => { lib('declared'); });
  test('a hook', () => {});
});
`)
	result, err := New(Config{Framework: Node, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: []string{"a.test.js"}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, lines(result), []string{
		"a.test.js > declared = errored import [declared]", "a.test.js > @scope/declared/part = errored import [part]",
		"a.test.js > behind = errored import [declared]", "a.test.js > behind > a hook = errored setup",
		"a.test.js > forgotten = failed exception [forgotten]", "a.test.js > ./declared = failed exception [declared]",
	})
}
