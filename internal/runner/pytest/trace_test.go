package pytest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
	"github.com/touchstone-gate/touchstone/rts"
)

const tracedSuite = `
-- shop/__init__.py --
-- shop/money.py --
import functools, json, os
HERE = os.path.dirname(__file__)

def round_up(x):
    return -(-x // 1)

def split(total, n):
    def part(i):
        return round_up(total / n)
    return [part(i) for i in range(n)]

@functools.lru_cache(None)
def rates():
    return parse(os.path.join(HERE, "rates.json"))

def parse(path):
    with open(path) as file:
        return json.load(file)

_table = None
def table():
    global _table
    if _table is None:
        _table = build()
    return _table

def build():
    return {"a": 1}

class Labels:
    def __init__(self):
        self._made = {}
    def make(self, key):
        return shout(key)
    def get(self, key):
        if key not in self._made:
            self._made[key] = self.make(key)
        return self._made[key]
labels = Labels()

def shout(key):
    return key.upper()

def unused():
    return 1
-- shop/rates.json --
{"eur": 2}
-- shop/plugins/__init__.py --
import importlib, os
NAMES = sorted(n[:-3] for n in os.listdir(os.path.dirname(__file__)) if not n.startswith("_"))
ALL = [importlib.import_module("shop.plugins." + n) for n in NAMES]
-- shop/plugins/one.py --
def run():
    return 1
-- tests/conftest.py --
import pytest
from shop import money
@pytest.fixture(scope="session")
def halves():
    return money.split(2, 2)
-- tests/test_money.py --
from shop import money
def test_split():
    assert money.split(4, 2) == [2, 2]
def test_rates():
    assert money.rates()["eur"] == 2
def test_rates_again():
    assert money.rates()["eur"] == 2
def test_table():
    assert money.table()["a"] == 1
def test_table_again():
    assert money.table()["a"] == 1
def test_label():
    assert money.labels.get("a") == "A"
def test_other_label():
    assert money.labels.get("b") == "B"
def test_label_again():
    assert money.labels.get("a") == "A"
def test_halves(halves):
    assert halves == [1, 1]
def test_halves_again(halves):
    assert halves == [1, 1]
def test_thread():
    import threading
    out = []
    thread = threading.Thread(target=lambda: out.append(money.round_up(1.5)))
    thread.start(); thread.join()
    assert out == [2]
def test_fails():
    assert money.unused() == 2
-- tests/test_other.py --
import os, subprocess, sys
from shop import plugins
def test_plugins():
    assert [p.run() for p in plugins.ALL] == [1]
def test_child():
    assert subprocess.call([sys.executable, "-c", "import shop.money"]) == 0
def test_listing():
    assert "money.py" in os.listdir("shop")
def test_reads():
    with open("shop/money.py") as file:
        assert "split" in file.read()
`

func trace(t *testing.T, archive string) rts.Traces {
	t.Helper()
	r := New(Config{Command: []string{python(t), "-m", "pytest"}})
	state := plainstate.New(t, archive)
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := r.Trace(context.Background(), state, units, gate.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

func TestTraceSaysWhatEachRowDoes(t *testing.T) {
	traces := trace(t, tracedSuite)
	rows := make(map[string]rts.Trace)
	for _, row := range traces.Rows {
		_, name, _ := strings.Cut(row.ID, "::")
		rows[name] = row
	}
	for name, want := range map[string]struct{ executes, opens, lists string }{
		"test_split":        {executes: "shop/money.py#split shop/money.py#round_up"},
		"test_rates":        {executes: "shop/money.py#rates shop/money.py#parse", opens: "shop/rates.json"},
		"test_rates_again":  {opens: "shop/rates.json"}, // the cache was full
		"test_table":        {executes: "shop/money.py#table shop/money.py#build"},
		"test_table_again":  {executes: "shop/money.py#table shop/money.py#build"}, // kept from the test before
		"test_label":        {executes: "shop/money.py#Labels.get shop/money.py#Labels.make shop/money.py#shout"},
		"test_other_label":  {executes: "shop/money.py#Labels.get shop/money.py#Labels.make shop/money.py#shout"},
		"test_label_again":  {executes: "shop/money.py#Labels.get shop/money.py#Labels.make shop/money.py#shout"}, // both were made, for one test each
		"test_halves":       {executes: "shop/money.py#split tests/conftest.py#halves"},
		"test_halves_again": {executes: "shop/money.py#split tests/conftest.py#halves"},
		"test_thread":       {executes: "shop/money.py#round_up"},
		"test_plugins":      {executes: "shop/plugins/one.py#run", lists: "shop/plugins"},
		"test_listing":      {lists: "shop"},
		"test_reads":        {opens: "shop/money.py"},
	} {
		row := rows[name]
		for _, key := range strings.Fields(want.executes) {
			if !slices.Contains(row.Executes, key) {
				t.Errorf("%s executes %q, not %s", name, row.Executes, key)
			}
		}
		for _, key := range strings.Fields(want.opens) {
			if !slices.Contains(row.Opens, key) {
				t.Errorf("%s opens %q, not %s", name, row.Opens, key)
			}
		}
		for _, key := range strings.Fields(want.lists) {
			if !slices.Contains(row.Lists, key) {
				t.Errorf("%s lists %q, not %s", name, row.Lists, key)
			}
		}
		if row.Open != "" || !row.Green {
			t.Errorf("%s: open %q, green %v", name, row.Open, row.Green)
		}
	}
	if slices.Contains(rows["test_split"].Executes, "shop/money.py#parse") || slices.Contains(rows["test_listing"].Opens, "shop/money.py") {
		t.Errorf("a row is given what it did not do: %+v", rows["test_split"])
	}
	if rows["test_child"].Open == "" || rows["test_fails"].Green {
		t.Errorf("child: open %q; failing: green %v", rows["test_child"].Open, rows["test_fails"].Green)
	}
	if !slices.Contains(rows["test_plugins"].Loads, "shop/plugins/one.py") || slices.Contains(rows["test_split"].Loads, "shop/plugins/one.py") {
		t.Errorf("loads: %q and %q", rows["test_plugins"].Loads, rows["test_split"].Loads)
	}
	if !slices.Contains(traces.Imports, "shop/money.py#parse") {
		t.Errorf("what is behind a cache is for everybody: %q", traces.Imports)
	}
}

func TestAnotherTracerLeavesRowsOpen(t *testing.T) {
	traces := trace(t, "-- test_a.py --\nimport sys\nexec(compile('pass', __file__, 'exec'))\ndef test_a():\n    sys.settrace(None)\n    if hasattr(sys, 'monitoring'):\n        for tool in range(5):\n            if sys.monitoring.get_tool(tool) == 'touchstone':\n                sys.monitoring.set_events(tool, 0)\n                sys.monitoring.free_tool_id(tool)\ndef test_b():\n    pass\n")
	if len(traces.Rows) != 2 || traces.Rows[0].Open == "" {
		t.Errorf("%+v", traces.Rows)
	}
}
