package javascript

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
	"github.com/touchstone-gate/touchstone/rts"
)

// traced is a suite for every framework: $TEST declares a test, $EQUAL compares.
const traced = `
-- src/money.js --
const fs = require('fs');
const path = require('path');

exports.roundUp = (x) => Math.ceil(x);

exports.split = function (total, n) {
  const part = () => exports.roundUp(total / n);
  return Array.from({ length: n }, part);
};

class Table {
  get rows() {
    return 1;
  }

  static make() {
    return new Table();
  }
}
exports.Table = Table;

exports.rates = () => JSON.parse(fs.readFileSync(path.join(__dirname, 'rates.json'), 'utf8'));

exports.unused = () => 'ü';
-- src/rates.json --
{"eur": 2}
-- src/data.json --
{"a": 1}
-- src/other.js --
const money = require('./money');
exports.later = () => 1;
exports.atLoad = (() => 2)();
-- test/split.test.js --
const money = require('../src/money');
$TEST('split', () => { $EQUAL(money.split(4, 2)[0], 2); });
-- test/table.test.js --
const { Table } = require('../src/money');
const data = require('../src/data.json');
$TEST('table', () => { $EQUAL(Table.make().rows, data.a); });
-- test/rates.test.js --
const money = require('../src/money');
$TEST('rates', () => { $EQUAL(money.rates().eur, 2); });
$TEST('again', () => { $EQUAL(1, 1); });
-- test/other.test.js --
const other = require('../src/other');
$TEST('other', () => { $EQUAL(other.atLoad, 2); });
-- test/reads.test.js --
const fs = require('fs');
$TEST('reads', () => { $EQUAL(fs.readFileSync(__dirname + '/../src/money.js', 'utf8').includes('split'), true); });
$TEST('lists', async () => { $EQUAL((await fs.promises.readdir('src')).includes('money.js'), true); });
$TEST('looks', () => { $EQUAL(fs.existsSync('src/none.txt'), false); });
-- test/child.test.js --
const { execFileSync } = require('child_process');
$TEST('child', () => { $EQUAL(String(execFileSync(process.execPath, ['-p', '1'])), '1\n'); });
-- test/later.test.js --
const run = require('util').promisify(require('child_process').execFile);
$TEST('later', async () => { $EQUAL((await run(process.execPath, ['-p', '1'])).stdout, '1\n'); });
-- test/fails.test.js --
$TEST('fails', () => { $EQUAL(1, 2); });
-- test/made.test.js --
const fs = require('fs');
fs.writeFileSync(__dirname + '/made.js', 'module.exports = 1');
$TEST('made', () => { $EQUAL(require('./made.js'), 1); });
`

var tracedWith = map[string]string{
	Node:  `{"scripts": {"test": "node --test test/*.test.js"}}`,
	Mocha: `{"scripts": {"test": "mocha test/*.test.js"}}`,
	Jest:  `{"scripts": {"test": "jest"}}`,
	Ava:   `{"scripts": {"test": "ava test/*.test.js"}}`,
}

func suiteFor(framework string) string {
	test, equal, head := "test", "assert.strictEqual", "const assert = require('assert');\n"
	switch framework {
	case Node:
		head += "const test = require('node:test');\n"
	case Mocha:
		test = "it"
	case Ava:
		head += "const test = (name, run) => require('ava')(name, async (t) => { t.pass(); await run(); });\n"
	}
	text := strings.NewReplacer("$TEST", test, "$EQUAL", equal).Replace(traced)
	for _, name := range []string{"split", "table", "rates", "other", "reads", "child", "later", "fails", "made"} {
		text = strings.Replace(text, "-- test/"+name+".test.js --\n", "-- test/"+name+".test.js --\n"+head, 1)
	}
	return "-- package.json --\n" + tracedWith[framework] + text
}

func trace(t *testing.T, framework, archive string) map[string]rts.Trace {
	t.Helper()
	modules := packages(t, framework)
	state := plainstate.New(t, archive)
	link(t, modules, state.Dir())
	r := New(Config{Framework: framework, Timeout: 2 * time.Minute})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := r.Trace(context.Background(), state, units, gate.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]rts.Trace)
	for _, row := range traces.Rows {
		_, name, _ := strings.Cut(row.ID, between)
		rows[name] = row
	}
	rows["traced"] = rts.Trace{Loads: traces.Traced}
	return rows
}

func TestTrace(t *testing.T) {
	for framework := range tracedWith {
		t.Run(framework, func(t *testing.T) {
			rows := trace(t, framework, suiteFor(framework))
			for name, want := range map[string]rts.Trace{
				"split": {Executes: []string{"src/money.js#exports.split", "src/money.js#exports.roundUp"}, Loads: []string{"src/money.js", "test/split.test.js"}},
				"table": {Executes: []string{"src/money.js#Table.make", "src/money.js#Table.rows"}, Opens: []string{"src/data.json"}},
				"rates": {Executes: []string{"src/money.js#exports.rates"}, Opens: []string{"src/rates.json"}},
				"again": {Opens: []string{"src/rates.json"}},
				"other": {Loads: []string{"src/other.js", "src/money.js"}},
				"reads": {Opens: []string{"src/money.js", "src/none.txt"}, Lists: []string{"src"}},
			} {
				row := rows[name]
				for what, pair := range map[string][2][]string{"executes": {row.Executes, want.Executes}, "loads": {row.Loads, want.Loads}, "opens": {row.Opens, want.Opens}, "lists": {row.Lists, want.Lists}} {
					for _, key := range pair[1] {
						if !slices.Contains(pair[0], key) {
							t.Errorf("%s %s %q, not %s", name, what, pair[0], key)
						}
					}
				}
				if row.Open != "" || !row.Green {
					t.Errorf("%s: open %q, green %v", name, row.Open, row.Green)
				}
			}
			for name, not := range map[string]string{"split": "src/money.js#exports.unused", "table": "src/money.js#exports.split", "other": "src/other.js#exports.later", "rates": "src/money.js#Table.rows"} {
				if slices.Contains(rows[name].Executes, not) {
					t.Errorf("%s is said to execute %s", name, not)
				}
			}
			if slices.Contains(rows["split"].Opens, "src/money.js") || slices.Contains(rows["reads"].Loads, "src/money.js") || slices.Contains(rows["split"].Opens, "src/rates.json") {
				t.Errorf("a row is given what it did not do: %+v, %+v", rows["split"], rows["reads"])
			}
			if rows["child"].Open == "" || rows["later"].Open == "" || rows["made"].Open == "" || rows["fails"].Green {
				t.Errorf("child: open %q; later: open %q; made: open %q; failing: green %v", rows["child"].Open, rows["later"].Open, rows["made"].Open, rows["fails"].Green)
			}
			if !slices.Contains(rows["traced"].Loads, "src/money.js") {
				t.Errorf("what money.js executes is not said to be seen: %q", rows["traced"].Loads)
			}
		})
	}
}

const tracedTypes = `
-- package.json --
{"type": "module", "scripts": {"test": "vitest run"}}
-- vitest.config.ts --
import { defineConfig } from 'vitest/config';
export default defineConfig({ test: { setupFiles: ['./test/setup.ts'] } });
-- test/setup.ts --
import { prepare } from '../src/prepare';
prepare();
-- src/prepare.ts --
export function prepare(): void {}
-- src/shapes.ts --
import { readFileSync } from 'node:fs';
import type { Unit } from './unit';

export interface Shape {
  area(): number;
}

export class Square implements Shape {
  constructor(
    private side: number,
    readonly unit: Unit = 'm',
  ) {}

  area(): number {
    return this.side ** 2;
  }

  async later(): Promise<number> {
    return this.area();
  }
}

export const twice = <T,>(x: T): [T, T] => [x, x];

export function config(): { scale: number } {
  return JSON.parse(readFileSync(new URL('./scale.json', import.meta.url), 'utf8'));
}

export function unused(): string {
  return 'no';
}
-- src/unit.ts --
export type Unit = 'm' | 'ft';
-- src/scale.json --
{"scale": 1}
-- src/table.json --
{"a": 1}
-- test/area.test.ts --
import { expect, test } from 'vitest';
import { Square } from '../src/shapes';
import table from '../src/table.json';

test('area', async () => {
  expect(await new Square(2).later()).toBe(4 * table.a);
});
-- test/config.test.ts --
import { expect, test } from 'vitest';
import { config } from '../src/shapes';

test('config', () => {
  expect(config().scale).toBe(1);
});
-- test/snap.test.ts --
import { expect, test } from 'vitest';

test('snap', () => {
  expect('a').toMatchSnapshot();
});
-- test/__snapshots__/snap.test.ts.snap --
// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html

exports[` + "`snap 1`] = `\"a\"`" + `;
-- test/child.test.ts --
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('child', () => {
  expect(String(execFileSync(process.execPath, ['-p', '1']))).toBe('1\n');
});
`

// TestTraceOfVitest reads positions in TypeScript through source maps.
func TestTraceOfVitest(t *testing.T) {
	rows := trace(t, Vitest, tracedTypes)
	for name, want := range map[string]rts.Trace{
		"area":   {Executes: []string{"src/shapes.ts#Square.area", "src/shapes.ts#Square.later", "src/shapes.ts#Square.constructor", "src/prepare.ts#prepare"}, Loads: []string{"src/shapes.ts", "src/prepare.ts", "test/setup.ts"}, Opens: []string{"src/table.json"}},
		"config": {Executes: []string{"src/shapes.ts#config"}, Opens: []string{"src/scale.json"}},
		"snap":   {},
	} {
		row := rows[name]
		for what, pair := range map[string][2][]string{"executes": {row.Executes, want.Executes}, "loads": {row.Loads, want.Loads}, "opens": {row.Opens, want.Opens}} {
			for _, key := range pair[1] {
				if !slices.Contains(pair[0], key) {
					t.Errorf("%s %s %q, not %s", name, what, pair[0], key)
				}
			}
		}
		if row.Open != "" || !row.Green {
			t.Errorf("%s: open %q, green %v", name, row.Open, row.Green)
		}
	}
	if slices.Contains(rows["area"].Executes, "src/shapes.ts#unused") || slices.Contains(rows["config"].Executes, "src/shapes.ts#Square.area") {
		t.Errorf("more is executed than was: %q and %q", rows["area"].Executes, rows["config"].Executes)
	}
	if rows["child"].Open == "" || !slices.Contains(rows["traced"].Loads, "src/shapes.ts") {
		t.Errorf("child: open %q; traced %q", rows["child"].Open, rows["traced"].Loads)
	}
}
