"""Tells Touchstone what pytest collects and what becomes of it.

One JSON object a line goes to TOUCHSTONE_REPORT, from the process that runs the
session only (with pytest-xdist: the controller). What workers know rides on the
test reports and on a file of the controller's. Standard library and pytest
only; Python 3.7 and later, pytest 6.2 and later.
"""

import json
import os
import shutil
import sys
import tempfile
import time

import pytest

import touchstone_canary
import touchstone_failure
import touchstone_guard
import touchstone_rows
import touchstone_standins
import touchstone_tree
from touchstone_channel import channel, plain
from touchstone_tree import relative, settings

INTERPRETER = os.environ.pop("TOUCHSTONE_PYTHON", "")
MAX_TEXT = 600


def is_worker(config):
    return hasattr(config, "workerinput")


# --- session --------------------------------------------------------------------


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests():
    channel.open()
    touchstone_guard.take()
    touchstone_tree.reach_sources()
    if touchstone_standins.active:
        touchstone_standins.install()
    channel.send("start", at=time.time(), pytest=pytest.__version__, python=sys.version.split()[0], interpreter=INTERPRETER)
    outcome = yield
    if outcome.excinfo is not None:
        exc = outcome.excinfo[1]
        channel.send("conftest_error", file=touchstone_failure.conftest_of(exc), facts=touchstone_failure.explain(exc, exc.__traceback__))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # What a former run left in the work tree's cache selects nothing here.
    for name in ("lf", "failedfirst", "newfirst", "stepwise", "stepwise_skip"):
        if getattr(config.option, name, None):
            setattr(config.option, name, False)
    config.pluginmanager.register(LeftOut(), "touchstone_left_out")
    channel.send(
        "session", rootdir=str(getattr(config, "rootpath", None) or config.rootdir), inifile=str(getattr(config, "inipath", None) or ""),
        collect_only=bool(config.option.collectonly),
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if is_worker(session.config):
        session.config.workeroutput["touchstone_loaded"] = plain(touchstone_tree.loaded())
        return
    for entry in touchstone_tree.loaded():
        channel.send("loaded", **entry)
    tell_replaced()
    channel.send("finish", status=int(exitstatus))
    workers.close()


def tell_replaced():
    for what, file in touchstone_guard.replaced():
        channel.send("replaced", message=what, file=file)


def pytest_keyboard_interrupt(excinfo):
    channel.send("interrupted", message=touchstone_failure.brief(excinfo.value))


def pytest_internalerror(excrepr):
    lines = [line for line in str(excrepr).splitlines() if line.strip()]
    channel.send("internal_error", message=" ".join(lines[-3:]).replace(touchstone_tree.ROOT + os.sep, "")[-MAX_TEXT:])


# --- collection -----------------------------------------------------------------


class LeftOut:
    """Keeps the suite's own collect_ignore and --ignore: pytest does not ask
    about files that are named on the command line, as ours are."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.File) or not self.asks(collector):
            return None
        channel.send("collect_skip", unit=relative(touchstone_rows.path_of(collector)) or "", message="left out by the suite's own configuration", left_out=True)
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    @staticmethod
    def asks(collector):
        if not hasattr(pytest, "CollectReport"):
            return False  # pytest 6 keeps the class to itself
        path = getattr(collector, "path", None)
        if path is None or not collector.session.isinitpath(path):
            return False
        return bool(collector.session.gethookproxy(path).pytest_ignore_collect(collection_path=path, config=collector.config))


def pytest_collectstart(collector):
    if isinstance(collector, pytest.File):
        channel.send("collecting", unit=relative(touchstone_rows.path_of(collector)) or "")


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    report = outcome.get_result()
    if isinstance(collector, pytest.File):
        channel.send("collecting", unit="")  # came to its end
    if report.passed:
        return
    touchstone_standins.state.take()  # what it reached was not swallowed: it ended the collection
    excinfo = getattr(getattr(report, "call", None), "excinfo", None)
    facts = {"unit": relative(touchstone_rows.path_of(collector)) or ""}
    if excinfo is not None:
        facts.update(touchstone_failure.explain(excinfo.value, excinfo.value.__traceback__))
    report.touchstone = plain(facts)


def pytest_collectreport(report):
    if report.passed:
        return
    facts = json.loads(getattr(report, "touchstone", "{}"))
    unit = facts.pop("unit", None) or report.nodeid.partition("::")[0]
    if report.failed:
        facts = facts if "type" in facts else {"type": "", "message": str(report.longrepr)[-MAX_TEXT:]}
        channel.send("collect_error", unit=unit, facts=facts)
    elif "::" not in report.nodeid:
        channel.send("collect_skip", unit=unit, message=skip_reason(report))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(session, config, items):
    touchstone_rows.number(items)
    before = list(items)
    yield
    kept = set(items)
    workers.deselected = [touchstone_rows.id_of(item) for item in before if item not in kept]
    if settings["rows"] is not None:
        narrow(config, items, set(settings["rows"]))
    if not config.option.collectonly:
        touchstone_canary.add(items)


def narrow(config, items, wanted):
    gone = [item for item in items if touchstone_rows.id_of(item) not in wanted]
    if gone:
        items[:] = [item for item in items if touchstone_rows.id_of(item) in wanted]
        config.hook.pytest_deselected(items=gone)


@pytest.hookimpl(tryfirst=True)  # in a worker: before it says that it has collected
def pytest_collection_finish(session):
    rows = [touchstone_rows.describe(item) for item in getattr(session, "items", ()) if not touchstone_canary.is_canary(item.nodeid)]
    if is_worker(session.config):
        workers.leave(session.config, rows)
    else:
        send_rows(rows, workers.deselected)


def send_rows(rows, deselected):
    for row in rows:
        channel.send("row", row=row)
    for start in range(0, len(deselected), 100):
        channel.send("deselected", ids=deselected[start : start + 100])


# --- outcomes -------------------------------------------------------------------


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    if touchstone_canary.is_canary(item.nodeid):
        yield
        return
    channel.send("begin", at=time.time(), id=touchstone_rows.id_of(item))
    touchstone_standins.state.running = True
    yield
    touchstone_standins.state.running = False
    if not is_worker(item.config) and path_of_last.changed(item):
        tell_replaced()


class Last:
    """Tells when the tests of another file begin."""

    path = None

    def changed(self, item):
        before, self.path = self.path, touchstone_rows.path_of(item)
        return before != self.path


path_of_last = Last()


def pytest_runtest_logstart(nodeid):
    if workers.folder is not None and not touchstone_canary.is_canary(nodeid):  # the item is in a worker
        channel.send("begin", at=time.time(), node=nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if touchstone_canary.is_canary(item.nodeid):
        return
    facts = {"id": touchstone_rows.id_of(item)}
    if call.excinfo is not None and not report.skipped:
        facts.update(touchstone_failure.explain(call.excinfo.value, call.excinfo.tb))
    if touchstone_standins.active:
        facts["reached"] = touchstone_standins.of(call.excinfo.value if call.excinfo is not None else None)
    if is_worker(item.config) and not workers.left and call.when == "setup":
        facts["row"] = touchstone_rows.describe(item)
    report.touchstone = plain(facts)


def pytest_runtest_logreport(report):
    if touchstone_canary.is_canary(report.nodeid):
        channel.send("canary", unit=touchstone_canary.unit_of(report.nodeid), when=report.when, outcome=report.outcome)
        return
    facts = json.loads(getattr(report, "touchstone", "{}"))
    if report.when not in ("setup", "call", "teardown"):
        channel.send("crash", node=report.nodeid)  # xdist: a worker died
        return
    if "row" in facts:
        channel.send("row", row=facts.pop("row"))
    xfail = getattr(report, "wasxfail", None)
    channel.send(
        "report", id=facts.pop("id", ""), node=report.nodeid, when=report.when, outcome=report.outcome,
        part=type(report).__name__.lower() == "subtestreport", seconds=getattr(report, "duration", 0.0),
        xfail=None if xfail is None else str(xfail), skip=skip_reason(report) if report.skipped else "",
        words=str(report.longrepr)[:MAX_TEXT] if report.failed and "type" not in facts else "", facts=facts,
    )


def skip_reason(report):
    longrepr = report.longrepr
    text = str(longrepr[2]) if isinstance(longrepr, (tuple, list)) and len(longrepr) == 3 else str(longrepr or "")
    return text[len("Skipped: ") :] if text.startswith("Skipped: ") else text[:MAX_TEXT]


# --- xdist ----------------------------------------------------------------------


class Workers:
    """Rows and loaded files on their way from xdist's workers.

    A worker leaves its rows in a file of the controller's folder as soon as it
    has collected: it may die before it could hand them over.
    """

    def __init__(self):
        self.folder = None  # on the controller
        self.left = False  # on a worker
        self.sent = False
        self.deselected = []
        self.loaded = set()

    def leave(self, config, rows):
        folder = config.workerinput.get("touchstone_folder")
        try:
            with open(os.path.join(folder, config.workerinput["workerid"]), "w", encoding="ascii") as file:
                file.write(plain({"rows": rows, "deselected": self.deselected}))
            self.left = True
        except (OSError, TypeError):
            pass  # a worker on another machine: its rows come with the reports

    def take(self, worker):
        """All workers collect the same: the first one's rows are everybody's."""
        if self.sent:
            return
        try:
            with open(os.path.join(self.folder, worker), encoding="ascii") as file:
                found = json.load(file)
        except (OSError, TypeError, ValueError):
            return
        self.sent = True
        send_rows(found["rows"], found["deselected"])

    def close(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


workers = Workers()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    if workers.folder is None:
        workers.folder = tempfile.mkdtemp(prefix="touchstone-")
    node.workerinput["touchstone_folder"] = workers.folder


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node):
    workers.take(node.workerinput["workerid"])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", None) or {}
    for entry in json.loads(output.get("touchstone_loaded", "[]")):
        if plain(entry) not in workers.loaded:
            workers.loaded.add(plain(entry))
            channel.send("loaded", **entry)
