"""Runs unittest's tests and tells Touchstone what becomes of them.

What decides is a result object of ours: nothing that is printed is read. The
module is run as a program, or by the runner for Django beside it. Standard
library only; Python 3.7 and later.
"""

import importlib
import importlib.util
import os
import sys
import time
import unittest
from unittest.suite import _ErrorHolder

import touchstone_failure
import touchstone_guard
import touchstone_rows
import touchstone_standins
import touchstone_tree
from touchstone_channel import channel
from touchstone_tree import ROOT, relative, settings

INTERPRETER = os.environ.pop("TOUCHSTONE_PYTHON", "")
CANARY = settings.get("canary") or ""
ALL_FAIL = bool(settings.get("must_fail"))


def start():
    channel.open()
    touchstone_guard.take(("unittest.case", "unittest.result", "unittest.suite", "unittest.loader", "unittest.async_case"))
    touchstone_tree.reach_sources()
    if touchstone_standins.active:
        touchstone_standins.install()
    channel.send("start", at=time.time(), python=sys.version.split()[0], interpreter=INTERPRETER)
    channel.send("session", rootdir=ROOT, collect_only=False)


# --- tests ------------------------------------------------------------------------


class Item:
    """A test as the rows describe it."""

    def __init__(self, test, unit):
        self.test = test
        self.unit = unit
        self.path = os.path.join(ROOT, unit)
        self.name = getattr(test, "_testMethodName", None)
        self.function = getattr(type(test), self.name, None) if self.name else None
        if self.function is None or not callable(self.function) or type(test).__module__ in ("unittest.case", "doctest"):
            self.function, self.dtest = None, getattr(test, "_dt_test", None)
            self.name = test.id()
            self.touchstone_classes = ()
        else:
            self.touchstone_classes = tuple(type(test).__qualname__.split("."))
        self.originalname = self.name
        self.nodeid = "::".join((unit,) + self.touchstone_classes + (self.name,))


def tests_of(suite):
    """A suite's tests, in order."""
    if isinstance(suite, unittest.BaseTestSuite):
        for inner in suite:
            for test in tests_of(inner):
                yield test
    elif suite is not None:
        yield suite


def module_of(unit):
    """The name under which a file is imported, and the directory for it: the first
    one upwards that is no package."""
    parts = unit[: -len(".py")].split("/")
    top = len(parts) - 1
    while top > 0 and os.path.exists(os.path.join(ROOT, *(parts[:top] + ["__init__.py"]))):
        top -= 1
    names = parts[top:]
    if names[-1] == "__init__":
        names = names[:-1]
    return ".".join(names), os.path.join(ROOT, *parts[:top])


_tops = set()


def load_module(unit):
    name, top = module_of(unit)
    file = os.path.join(ROOT, unit)
    if top not in _tops and os.path.realpath(top) != os.path.realpath(os.getcwd()):
        sys.path.insert(0, top)  # before what is installed, as discovery has it
        _tops.add(top)
    beside = os.path.dirname(file)
    if beside not in sys.path:
        sys.path.append(beside)  # as discovery from that directory has it
    if all(part.isidentifier() for part in name.split(".")):
        known = getattr(sys.modules.get(name), "__file__", None)
        if known is None or os.path.realpath(known) == os.path.realpath(file):
            module = importlib.import_module(name)
            if os.path.realpath(getattr(module, "__file__", None) or "") == os.path.realpath(file):
                return module
    # Another file has the name: this one is loaded by its path.
    alias = "touchstone_loaded_" + "".join(c if c.isalnum() else "_" for c in unit)
    spec = importlib.util.spec_from_file_location(alias, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    spec.loader.exec_module(module)
    return module


def collect(tests_in):
    """Loads the units; tests_in makes a suite of a module. Returns the items."""
    items = []
    for unit in settings["tests"]:
        channel.send("collecting", unit=unit)
        try:
            suite = tests_in(load_module(unit))
        except unittest.SkipTest as skip:
            channel.send("collect_skip", unit=unit, message=str(skip))
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # a module may do anything
            not_loaded(unit, exc)
        else:
            items.extend(items_of(suite, unit))
        channel.send("collecting", unit="")
    return items


def items_of(suite, unit):
    found = []
    for test in tests_of(suite):
        if type(test).__name__ == "_FailedTest":
            not_loaded(unit, getattr(test, "_exception", None) or ImportError(test.id()))
        elif type(test).__name__ == "ModuleSkipped":
            channel.send("collect_skip", unit=unit, message="skipped")
        else:
            found.append(Item(test, unit))
    return found


def not_loaded(unit, exc):
    touchstone_standins.state.take()  # what it reached was not swallowed: it ended the loading
    channel.send("collect_error", unit=unit, facts=touchstone_failure.explain(exc, exc.__traceback__))


def choose(items):
    """Names the rows, tells them, and keeps those that were asked for."""
    touchstone_rows.number(items)
    if settings["rows"] is not None:
        wanted = set(settings["rows"])
        items = [item for item in items if touchstone_rows.id_of(item) in wanted]
    for item in items:
        channel.send("row", row=touchstone_rows.describe(item))
    return items


# --- tests of the gate's own that must fail ------------------------------------------


def failing(*args, **kwargs):
    raise AssertionError("1 != 2")


def add_canaries(items):
    """A test that must fail behind the last one of each directory; or one in the
    place of each."""
    canaries = {}
    if ALL_FAIL:
        kept = [item for item in items if not getattr(item.function, "__unittest_expecting_failure__", False)]
        for item in kept:
            setattr(item.test, item.name, failing)
            canaries[id(item.test)] = item.unit
        return kept, canaries
    last = {}
    for index, item in enumerate(items):
        if item.function is not None:
            last[os.path.dirname(item.path)] = (index, item)
    for index, item in sorted(last.values(), key=lambda entry: -entry[0]):
        case = type("Must", (unittest.TestCase,), {CANARY: failing, "__module__": __name__})
        canary = Item(case(CANARY), item.unit)
        items.insert(index + 1, canary)
        canaries[id(canary.test)] = item.unit
    return items, canaries


# --- outcomes --------------------------------------------------------------------------


class Result(unittest.TestResult):
    """Hears what becomes of each test and tells it in phases."""

    def __init__(self, items, canaries):
        super().__init__()
        self.items = {id(item.test): item for item in items}
        self.canaries = canaries
        self.order = items
        self.ran = set()  # ids of tests
        self.red = 0
        self.at = None  # the item that runs
        self.last = None
        self.phase = "call"
        self.found = []  # (phase, outcome, exception or None, words, part)
        self.began = 0.0
        self.raised = []  # (exception, phase)

    # of one test

    def startTest(self, test):
        super().startTest(test)
        self.at = self.items.get(id(test))
        self.found, self.phase, self.began, self.raised = [], "setup", time.time(), []
        if self.at is None:
            return
        if self.last is not None and self.last.unit != self.at.unit:
            tell_replaced()
        self.ran.add(id(test))
        if id(test) not in self.canaries:
            channel.send("begin", at=self.began, id=touchstone_rows.id_of(self.at))
        touchstone_standins.state.running = True
        self.watch(test)

    def watch(self, test):
        """Notes in which phase a test is."""
        if not hasattr(test, "_callTestMethod"):
            self.phase = None  # before Python 3.8: read off the traceback
            return
        for name, phase in (("_callSetUp", "setup"), ("_callTestMethod", "call"), ("_callTearDown", "teardown"), ("doCleanups", "teardown")):
            plain = getattr(test, name)

            def entered(*args, _plain=plain, _phase=phase, **kwargs):
                self.phase = _phase
                try:
                    return _plain(*args, **kwargs)
                except BaseException as exc:  # up to Python 3.10 they are all told at the end
                    self.raised.append((exc, _phase))
                    raise

            try:
                setattr(test, name, entered)
            except AttributeError:  # a class with slots
                self.phase = None
                return

    def phase_of(self, exc):
        if self.phase is not None:
            for known, phase in self.raised:
                if known is exc:
                    return phase
            return "teardown"  # of a clean-up
        tb = exc.__traceback__
        while tb is not None:
            name = tb.tb_frame.f_code.co_name
            if self.at is not None and name == self.at.name:
                return "call"
            if name in ("setUp", "tearDown"):
                return {"setUp": "setup", "tearDown": "teardown"}[name]
            tb = tb.tb_next
        return "call"

    def addSuccess(self, test):
        pass  # nothing that was found says otherwise

    def addFailure(self, test, err):
        self.error(test, err)

    def addError(self, test, err):
        if isinstance(test, _ErrorHolder):
            self.around(str(test), err[1], "")
        else:
            self.error(test, err)

    def error(self, test, err):
        self.found.append((self.phase_of(err[1]), "failed", err[1], "", False))
        self.red += 1

    def addSkip(self, test, reason):
        if isinstance(test, _ErrorHolder):
            self.around(str(test), None, str(reason))
        elif id(test) in self.items:
            self.found.append(("setup" if self.phase == "setup" else "call", "skipped", None, str(reason), False))

    def addExpectedFailure(self, test, err):
        self.found.append(("call", "xfailed", err[1], "", False))

    def addUnexpectedSuccess(self, test):
        self.found.append(("call", "failed", None, "Unexpected success", False))
        self.red += 1

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.found.append(("call", "failed", err[1], "", True))
            self.red += 1

    def stopTest(self, test):
        super().stopTest(test)
        touchstone_standins.state.running = False
        item, self.last, self.at = self.at, self.at, None
        if item is None:
            return
        took = time.time() - self.began
        if id(test) in self.canaries:
            outcome = "failed" if any(f[1] == "failed" for f in self.found) else "skipped" if any(f[1] == "skipped" for f in self.found) else "passed"
            channel.send("canary", unit=self.canaries[id(test)], when="call", outcome=outcome)
            return
        self.tell(item, took)

    def tell(self, item, took):
        row = touchstone_rows.id_of(item)
        for phase in ("setup", "call", "teardown"):
            of = [f for f in self.found if f[0] == phase]
            seconds = took if phase == "call" else 0.0
            if not of and phase == "call" and any(f[0] == "setup" for f in self.found):
                continue  # it never came to it
            if not of:
                report(row, phase, "passed", seconds)
            for _, outcome, exc, words, part in of:
                if outcome == "xfailed":
                    report(row, phase, "skipped", seconds, xfail=words or touchstone_failure.brief(exc))
                else:
                    report(row, phase, outcome, seconds, exc, words, part)

    # around classes and modules

    def around(self, what, exc, skip):
        """setUpClass and its kin: of a failure before the tests all of them tell,
        of one behind them the last."""
        kind, _, where = what.partition(" (")
        where = where.rstrip(")")
        concerned = [item for item in self.order if where in (unittest.util.strclass(type(item.test)), type(item.test).__module__) and id(item.test) not in self.canaries]
        if exc is not None:
            self.red += 1
        if kind.startswith("setUp"):
            for item in concerned:
                if id(item.test) not in self.ran:
                    self.ran.add(id(item.test))
                    row = touchstone_rows.id_of(item)
                    report(row, "setup", "failed" if exc is not None else "skipped", 0.0, exc, skip)
                    report(row, "teardown", "passed", 0.0)
        elif exc is not None:
            done = [item for item in concerned if id(item.test) in self.ran]
            if done:
                report(touchstone_rows.id_of(done[-1]), "teardown", "failed", 0.0, exc)

    def wasSuccessful(self):
        return self.red == 0


def report(row, when, outcome, seconds, exc=None, words="", part=False, xfail=None):
    facts = {}
    if exc is not None:
        facts = touchstone_failure.explain(exc, exc.__traceback__)
    if touchstone_standins.active:
        facts["reached"] = touchstone_standins.of(exc)
    channel.send(
        "report", id=row, node=row, when=when, outcome=outcome, part=part, seconds=seconds, xfail=xfail,
        skip=words if outcome == "skipped" else "", words=words if outcome == "failed" and exc is None else "", facts=facts,
    )


def tell_replaced():
    for what, file in touchstone_guard.replaced():
        channel.send("replaced", message=what, file=file)


def run(items, suite_of=unittest.TestSuite):
    """Runs the chosen items, or only lists them."""
    items = choose(items)
    if settings.get("list"):
        return Result(items, {})
    items, canaries = add_canaries(items)
    result = Result(items, canaries)
    suite_of(item.test for item in items).run(result)
    return result


def finish(result):
    for entry in touchstone_tree.loaded():
        channel.send("loaded", **entry)
    tell_replaced()
    status = 5 if not result.order else 0 if result.wasSuccessful() else 1
    channel.send("finish", status=status)
    return status


def main():
    start()
    loader = unittest.TestLoader()
    return finish(run(collect(loader.loadTestsFromModule)))


if __name__ == "__main__":
    sys.exit(main())
