package pytest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
	"github.com/touchstone-gate/touchstone/rts"
)

// markable is an interpreter into whose code marks can be put, with pytest; a
// clone's own comes first.
func markable(t *testing.T, clone string) string {
	t.Helper()
	candidates := append(interpreters(), "python3.11")
	if clone != "" {
		candidates = []string{filepath.Join(clone, ".venv", "bin", "python")}
	}
	for _, candidate := range candidates {
		out, err := exec.Command(candidate, "-c", "import sys, pytest; print(sys.executable if sys.version_info[:2] == (3, 11) and sys.implementation.name == 'cpython' else '')").Output()
		if program := strings.TrimSpace(string(out)); err == nil && program != "" {
			return program
		}
	}
	t.Skipf("none of %v is CPython 3.11 with pytest", candidates)
	return ""
}

// TestMarksLeaveCodeAsItIs compares code of the standard library, by instruction,
// with what it is with marks.
func TestMarksLeaveCodeAsItIs(t *testing.T) {
	program := markable(t, "")
	lib, err := exec.Command(program, "-c", "import os; print(os.path.dirname(os.__file__))").Output()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-W", "ignore", "testdata/marks_check.py", "observer/marks.py"}
	for _, name := range []string{"asyncio", "contextlib.py", "inspect.py", "typing.py", "importlib"} {
		args = append(args, filepath.Join(strings.TrimSpace(string(lib)), name))
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil || len(out) < 4 { // a thousand code objects at least
		t.Errorf("%v: %s", err, out)
	}
}

// unimported makes the trace function take over before the first test: it is code
// of the tree that was not imported.
const unimported = "\nexec(compile('pass', __file__, 'exec'))\n"

const awkwardSuite = `
-- lib/__init__.py --
-- lib/flow.py --
import asyncio, contextlib

def leaf():
    return 1

def numbers():
    got = yield leaf()
    while got:
        got = yield got

def outer():
    yield from numbers()
    yield from [10, 11]

def handed():
    yield from [1, 2, 3]

class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)

class Thing(metaclass=Meta):
    size = (lambda self: leaf())
    @property
    def value(self):
        return [self.size() for _ in range(2)]
    def __enter__(self):
        return self
    def __exit__(self, *failure):
        return True

@contextlib.contextmanager
def managed():
    try:
        yield
    finally:
        cleaned()

def cleaned():
    pass

async def pause():
    await asyncio.sleep(0)

async def items():
    for i in range(2):
        await pause()
        yield i

async def gather():
    async with guard():
        return [i async for i in items()] + list(await asyncio.gather(one(), one()))

@contextlib.asynccontextmanager
async def guard():
    await pause()
    yield

async def one():
    return leaf()

def deep(n):
    return n and deep(n - 1)

def raises():
    raise ValueError

shared = handed()
-- lib/wide.py --
def wide(x):
    CONSTANTS
    return x

def far():
    got = yield 0
    while got:
        if got > 1:
            CONSTANTS
        got = yield x
-- tests/conftest.py --
import pytest
from lib import flow

@pytest.fixture(scope="module")
def stream():
    made = flow.outer()
    next(made)
    yield made
    flow.cleaned()
-- tests/test_flow.py --
import asyncio, copy, inspect, pickle, threading
import pytest
from lib import flow

def test_started(stream):
    assert stream.send(5) == 5
def test_resumed(stream):
    assert stream.send(6) == 6
def test_ended(stream):
    assert stream.send(0) == 10
def test_delegates_to_c(stream):
    assert next(stream) == 11
def test_first_of_shared():
    assert next(flow.shared) == 1
def test_second_of_shared():
    assert next(flow.shared) == 2
def test_thrown_into():
    made = flow.numbers()
    next(made)
    with pytest.raises(KeyError):
        made.throw(KeyError)
def test_thing():
    with flow.Thing() as thing:
        assert thing.value == [1, 1]
        flow.raises()
def test_managed():
    with flow.managed():
        pass
def test_async():
    assert asyncio.run(flow.gather()) == [0, 1, 1, 1]
def test_thread():
    thread = threading.Thread(target=flow.leaf)
    thread.start(); thread.join()
def test_deep():
    with pytest.raises(RecursionError):
        flow.deep(10 ** 6)
    assert flow.deep(300) == 0
def test_source():
    assert inspect.getsource(flow.leaf) == "def leaf():\n    return 1\n" and flow.leaf.__code__.co_varnames == ()
def test_failure_shows_its_line():
    with pytest.raises(ValueError) as caught:
        flow.raises()
    assert caught.traceback[-1].lineno + 1 == flow.raises.__code__.co_firstlineno + 1
def test_hash():
    assert len({flow.leaf.__code__, flow.one.__code__}) == 2 and copy.deepcopy(flow.leaf) is flow.leaf
def test_line_events():
    import sys
    lines = []
    def local(frame, event, arg):
        lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return local
    before = sys.gettrace()
    flow.leaf()
    sys.settrace(lambda frame, event, arg: local if frame.f_code is flow.leaf.__code__ else None)
    flow.leaf()
    sys.settrace(before)
    assert lines == [("line", 1), ("return", 1)]
def test_wide():
    from lib import wide
    assert wide.wide(3) == 3
    made = wide.far()
    assert next(made) == 0 and made.send(2) == 600
`

// awkward is the suite, with functions of many constants and far jumps.
func awkward() string {
	many := make([]string, 600)
	for i := range many {
		many[i] = fmt.Sprintf("x = %d", i+1)
	}
	return strings.ReplaceAll(awkwardSuite, "CONSTANTS", strings.Join(many, "; "))
}

// TestMarksSeeWhatTheTraceFunctionSees runs suites both ways: this one, and those
// of the clones that TOUCHSTONE_MARKS lists, each with its packages in .venv.
func TestMarksSeeWhatTheTraceFunctionSees(t *testing.T) {
	t.Run("awkward", func(t *testing.T) {
		compareTracers(t, markable(t, ""), func(more string) gate.State {
			return plainstate.New(t, strings.Replace(awkward(), "-- tests/test_flow.py", more+"-- tests/test_flow.py", 1))
		})
	})
	for _, clone := range filepath.SplitList(os.Getenv("TOUCHSTONE_MARKS")) {
		t.Run(filepath.Base(clone), func(t *testing.T) {
			compareTracers(t, markable(t, clone), func(more string) gate.State { return copied(t, clone, more) })
		})
	}
}

// copied is a clone's commit with more in its root conftest.
func copied(t *testing.T, clone, more string) gate.State {
	dir := t.TempDir()
	if out, err := exec.Command("git", "clone", "-q", "--shared", clone, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := os.OpenFile(filepath.Join(dir, "conftest.py"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.WriteString(more)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plainstate.At(t, dir)
}

// compareTracers holds what marks tell against what the trace function does.
func compareTracers(t *testing.T, program string, state func(more string) gate.State) {
	marked, traced := traceBy(t, program, state("")), traceBy(t, program, state(unimported))
	if len(marked) != len(traced) || len(traced) == 0 {
		t.Fatalf("%d rows with marks, %d traced", len(marked), len(traced))
	}
	keys := 0
	for id, want := range traced {
		got := marked[id]
		if got.Green && !want.Green { // a limit of time, say: an open row needs no keys
			t.Logf("%s fails under the trace function", id)
			continue
		}
		for kind, both := range map[string][2][]string{"executes": {got.Executes, want.Executes}, "loads": {got.Loads, want.Loads}, "opens": {got.Opens, want.Opens}, "lists": {got.Lists, want.Lists}} {
			for _, key := range both[1] {
				if keys++; !slices.Contains(both[0], key) {
					t.Errorf("%s %s %s: only the trace function sees it", id, kind, key)
				}
			}
		}
		if got.Green != want.Green || (got.Open == "") != (want.Open == "") && want.Open != "another tracer took over" { // by too deep a recursion
			t.Errorf("%s: green %v and %v, open %q and %q", id, got.Green, want.Green, got.Open, want.Open)
		}
	}
	t.Logf("%d rows, %d keys", len(traced), keys)
}

func traceBy(t *testing.T, program string, state gate.State) map[string]rts.Trace {
	t.Helper()
	r := New(Config{Command: []string{program, "-m", "pytest"}})
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
		rows[row.ID] = row
	}
	return rows
}
