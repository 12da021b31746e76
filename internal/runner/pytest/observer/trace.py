"""Tells which code each test executes, and what it opens, lists and starts.

Loaded beside the observer when a run is traced. A node is a code object, an
opened file, a listed directory or a started process. Records:

    trace_node   n and what it is: file and line of a function, opens, lists, starts
    trace_edge   caller, callee: a function called another, or opened a file, ...
    trace_use    user, used: a file loaded or read another while it was loaded itself
    trace        id, nodes: what a row did, with the fixtures that it uses
    trace_shared nodes: what ran while nothing but modules were loaded

Python 3.12 and later: sys.monitoring, for the tree's own functions alone. 3.11:
marks in what is imported. Before, and as soon as code of the tree runs that was
not imported: a trace function that is called once a function call and never a line.
"""

import os
import re
import sys
import threading

import pytest

import touchstone_marks as marks
import touchstone_rows
from touchstone_observer import channel
from touchstone_tree import INSTALLED, REAL_ROOT, ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
# Programs that say something about the machine and read nothing of the tree.
HARMLESS = {"uname", "ldconfig", "tput", "stty", "locale", "which", "lsb_release", "getconf", "hostname", "id", "sw_vers"}


class Nodes:
    """Numbers for what was seen, each told once."""

    def __init__(self):
        self.numbers = {}

    def of(self, key, **what):
        n = self.numbers.get(key)
        if n is None:
            n = self.numbers[key] = len(self.numbers)
            channel.send("trace_node", n=n, **what)
        return n


nodes = Nodes()
edges = set()
uses = set()
seen = set()  # id of every code object that the present context has met, the tree's or not
found = set()  # the numbers among it
loads = True  # whether a file was loaded in the present context
contexts = []  # (seen, found, loads, met) of the contexts around
row = None  # the item that runs
loading = set()  # numbers of what ran while a file was loaded
fixtures = {}  # id of a fixture definition -> numbers
outside = {}  # id -> code that is not the tree's
kept_code = []  # so that no id is used twice (a code object's hash, unlike its id, is made anew from all of it)
places = {}  # file name of code -> path in the tree, None outside


def place(name):
    try:
        return places[name]
    except KeyError:
        path = places[name] = _place(name)
        return path


def _place(name):
    if name.startswith("<") or name.startswith(HERE):
        return None
    path = os.path.abspath(name)
    for root in (ROOT, REAL_ROOT):
        if path.startswith(root + os.sep):
            rel = path[len(root) + 1 :].replace(os.sep, "/")
            return None if INSTALLED.search(rel) else rel
    return None


def number(code, path):
    n = nodes.numbers.get(id(code))
    if n is None:
        kept_code.append(code)
        n = nodes.of(id(code), file=path, line=code.co_firstlineno, stores=stores(code))
    return n


STORES = None


def stores(code):
    """Whether a function keeps something that outlives the call: then what it
    calls may run once, for later tests too."""
    global STORES
    if STORES is None:
        import dis

        STORES = {dis.opmap[name] for name in ("STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR") if name in dis.opmap}
    text = code.co_code
    return any(text[i] in STORES for i in range(0, len(text), 2))


def executed(code, caller):
    """The first call of a function in this context."""
    global loads
    path = place(code.co_filename)
    if path is None:
        return
    n = number(code, path)
    found.add(n)
    above = _above(caller)
    if above is not None:
        edge(number(*above), n)
    loads = loads or code.co_name == "<module>"
    if loads and n not in loading and _loads(caller):
        loading.add(n)
        channel.send("trace_shared", nodes=[n])


def edge(a, b):
    if (a, b) not in edges:
        edges.add((a, b))
        channel.send("trace_edge", caller=a, callee=b)


def use(a, b):
    if a != b and (a, b) not in uses:
        uses.add((a, b))
        channel.send("trace_use", user=a, used=b)


# --- functions --------------------------------------------------------------------


def _trace(frame, event, arg):
    code = frame.f_code
    if id(code) not in seen:
        seen.add(id(code))
        if place(code.co_filename) is None:
            outside[id(code)] = code
        else:
            executed(code, frame.f_back)
    return None


class OldTracer:
    def start(self):
        threading.settrace(_trace)
        sys.settrace(_trace)

    def again(self):
        if sys.gettrace() is not _trace:
            sys.settrace(_trace)

    def whole(self):
        return sys.gettrace() is _trace

    def stop(self):
        threading.settrace(None)
        sys.settrace(None)


class NewTracer:
    tool = None

    def start(self):
        monitoring = sys.monitoring
        for tool in (4, 3, 2, 1):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "touchstone")
                self.tool = tool
                break
        else:
            return
        for event in (monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(self.tool, event, self._begun)
        monitoring.set_events(self.tool, monitoring.events.PY_START | monitoring.events.PY_RESUME)

    def _begun(self, code, offset):
        if id(code) not in seen:
            if place(code.co_filename) is None:
                return sys.monitoring.DISABLE  # for good: only the tree's own code is asked again
            seen.add(id(code))
            executed(code, sys._getframe(1).f_back)
        return None

    def again(self):
        pass

    def whole(self):
        return self.tool is not None and sys.monitoring.get_tool(self.tool) == "touchstone"

    def stop(self):
        if self.whole():
            sys.monitoring.set_events(self.tool, 0)
            sys.monitoring.free_tool_id(self.tool)


class MarkTracer(OldTracer):
    """Marks, and the trace function beside them from when they do not tell all."""

    traces = False

    def start(self):
        marks.Mark.met = self.met
        marks.install(lambda code: place(code.co_filename) is not None)
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        if any(isinstance(file, str) and place(file) is not None for file in files):
            self.trace()  # it came before the marks

    def trace(self):
        if not self.traces:
            self.traces = True
            super().start()

    def met(self, mark, frame):
        met.append(mark)
        executed(frame.f_code, frame.f_back)

    def foreign(self, code):
        if place(code.co_filename) is not None:
            self.trace()

    def again(self):
        if self.traces:
            super().again()

    def whole(self):
        return not self.traces or super().whole()

    def stop(self):
        if self.traces:
            super().stop()


met = []  # the marks that are set in the present context
tracer = NewTracer() if hasattr(sys, "monitoring") else MarkTracer() if marks.POSSIBLE else OldTracer()


def enter():
    """Begin a context of its own."""
    global seen, found, loads, met
    contexts.append((seen, found, loads, met))
    for mark in met:
        mark.clear()
    seen, found, loads, met = set(outside), set(), False, []
    tracer.again()


def leave():
    """End it, and say what it did."""
    global seen, found, loads, met
    did = found
    for mark in met:
        mark.clear()
    seen, found, loads, met = contexts.pop()
    for mark in met:
        mark.append(True)
    tracer.again()
    return did


# --- files and processes ----------------------------------------------------------


def audited(event, args):
    handler = HANDLERS.get(event)
    if handler is not None and os.getpid() == channel.pid:
        try:
            handler(args)
        except Exception:  # of a caller with strange arguments: it will fail itself
            pass


def _opened(args):
    path, mode, flags = args
    if isinstance(path, int):
        return
    if isinstance(mode, str) and not ("r" in mode or "+" in mode) or mode is None and flags & 3 == os.O_WRONLY:
        return
    rel = _place(os.fsdecode(path))
    if rel is None:
        return
    if rel.endswith(".pyc"):
        rel = re.sub(r"(^|/)__pycache__/([^/]+?)\.[^/]*\.pyc$", r"\1\2.py", rel)
    frame = sys._getframe(2)
    if rel.endswith(".py") and _imports(frame):
        above = _above(frame)
        if above is not None:
            use(above[1], rel)
        return
    _note(frame, rel, ("opens", rel), opens=rel)


def _imports(frame):
    for _ in range(8):
        if frame is None:
            return False
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or name.endswith(("importlib/_bootstrap_external.py", "assertion/rewrite.py")):
            return True
        if place(name) is not None:
            return False
        frame = frame.f_back
    return False


def _listed(args):
    frame = sys._getframe(2)
    if frame.f_code.co_filename.startswith("<frozen importlib"):
        return
    path = args[0] if args else None
    if isinstance(path, int):
        return
    full = os.path.abspath(os.fsdecode(path) if path is not None else ".")
    rel = "." if full in (ROOT, REAL_ROOT) else _place(full)
    if rel is not None:
        _note(frame, rel + "/", ("lists", rel), lists=rel)


def _made(args):
    """Code that the program runs, or makes a function of, without importing it."""
    code = next((a for a in args if type(a) is type(_made.__code__)), None)
    if code is not None and isinstance(tracer, MarkTracer) and not marks.marked(code):
        tracer.foreign(code)


def _started(args):
    frame = sys._getframe(2)
    argv = args[1] if len(args) > 1 and args[1] else args[0] if args else ""
    first = argv if isinstance(argv, (str, bytes)) else (list(argv) or [""])[0]
    name = os.path.basename(os.fsdecode(first).split(" ")[0])
    if name not in HARMLESS:
        _note(frame, "", ("starts", name), starts=name or "a process")


def _forked(args):
    _note(sys._getframe(2), "", ("starts", "fork"), starts="a copy of itself")


def _above(frame):
    """The innermost function of the tree that stands above a frame."""
    while frame is not None:
        path = place(frame.f_code.co_filename)
        if path is not None:
            return frame.f_code, path
        frame = frame.f_back
    return None


def _loads(frame):
    """Whether a file of the tree is being loaded above a frame."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and place(frame.f_code.co_filename) is not None:
            return True
        frame = frame.f_back
    return False


def _note(frame, target, key, **what):
    above = _above(frame)
    if above is None and row is None:
        return  # pytest's own reading
    n = nodes.of(key, **what)
    found.add(n)
    if above is not None:
        edge(number(*above), n)
        if not contexts or _loads(frame):
            use(above[1], target or "starts:" + key[1])


HANDLERS = {
    "open": _opened, "os.listdir": _listed, "os.scandir": _listed, "subprocess.Popen": _started, "os.system": _started,
    "exec": _made, "function.__new__": _made, "object.__setattr__": _made, "os.exec": _started, "os.posix_spawn": _started, "os.spawn": _started, "pty.spawn": _started, "os.fork": _forked, "os.forkpty": _forked,
}


def _watch_imports():
    """Which file imports which, also a second time, when nothing is loaded."""
    import builtins
    import importlib

    plain_import, by_name = builtins.__import__, importlib.import_module

    known = set()

    def told(module):
        name = getattr(module, "__file__", None)
        rel = place(name) if isinstance(name, str) else None
        if rel is None:
            return
        frame = sys._getframe(2)
        if (frame.f_code, rel) in known:
            return
        known.add((frame.f_code, rel))
        above = _above(frame)
        if above is not None:
            use(above[1], rel)

    def watched_import(name, globals=None, locals=None, fromlist=(), level=0):
        module = plain_import(name, globals, locals, fromlist, level)
        told(module)
        if not fromlist and "." in name:
            told(sys.modules.get(name))
        for part in fromlist or ():
            inner = getattr(module, part, None) if isinstance(part, str) and part != "*" else None
            if type(inner) is type(sys):
                told(inner)
        return module

    def watched_by_name(name, package=None):
        module = by_name(name, package)
        told(module)
        return module

    builtins.__import__ = watched_import
    importlib.import_module = watched_by_name


# --- pytest -----------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, args):
    plugins = early_config.pluginmanager
    if plugins.hasplugin("xdist"):
        args.append("-n0")
    if plugins.hasplugin("pytest_cov"):
        args.append("--no-cov")
    if channel.fd is None:
        channel.open()
    sys.addaudithook(audited)
    _watch_imports()
    tracer.start()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    global row
    if not contexts:
        channel.send("trace_shared", nodes=sorted(found))
        found.clear()
    row = item
    enter()
    yield
    whole = tracer.whole()
    did = leave()
    row = None
    try:
        used = getattr(item, "_touchstone_fixtures", {})
    except Exception:
        used = {}
    for definition in used.values():
        did |= fixtures.get(id(definition), set())
    channel.send("trace", id=touchstone_rows.id_of(item), nodes=sorted(did), whole=whole)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope == "function":
        yield
        return
    enter()
    yield
    did = leave()
    found.update(did)
    fixtures.setdefault(id(fixturedef), set()).update(did)
    kept.append(fixturedef)


kept = []  # so that no id is used twice


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item):
    request = getattr(item, "_request", None)
    item._touchstone_fixtures = dict(getattr(request, "_fixture_defs", None) or {})


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    tracer.stop()
    channel.send("trace_shared", nodes=sorted(found))
