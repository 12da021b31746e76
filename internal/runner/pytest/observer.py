"""Tells Touchstone what pytest collects and what becomes of it.

One JSON object a line goes to the file named by TOUCHSTONE_REPORT, from the
process that runs the session only (with pytest-xdist: the controller). What
runs in workers rides on the test reports. Standard library only; Python 3.7
and later, pytest 6 and later.
"""

import ast
import functools
import hashlib
import json
import os
import re
import sys

import pytest

ROOT = os.path.realpath(os.getcwd())  # replaced by configure()
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
MAX_MESSAGE = 600


class Channel:
    """Writes records; silent in workers and in forked children."""

    def __init__(self):
        self.fd = None
        self.pid = os.getpid()

    def open(self, path):
        if self.fd is not None:
            return
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.set_inheritable(self.fd, False)

    def send(self, kind, **fields):
        if self.fd is None or os.getpid() != self.pid:
            return
        fields["kind"] = kind
        data = (json.dumps(fields, ensure_ascii=True, default=str) + "\n").encode("ascii")
        while data:
            data = data[os.write(self.fd, data):]


channel = Channel()
settings = {}
seen_ids = {}
order_of = {}


def steady(text):
    return ADDRESS.sub("0x_", text)


def digest(*texts):
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()


@functools.lru_cache(maxsize=4096)
def relative(path):
    """A path below the repository's root, with slashes; None outside of it."""
    try:
        rel = os.path.relpath(os.path.realpath(str(path)), ROOT)
    except (ValueError, OSError):
        return None
    rel = rel.replace(os.sep, "/")
    return None if rel == ".." or rel.startswith("../") else rel


# --- rows ---------------------------------------------------------------------


def path_of(item):
    path = getattr(item, "path", None) or getattr(item, "fspath", "")
    return str(path)


def identify(item):
    """The row's id: the node id with its file relative to the repository."""
    _, sep, rest = item.nodeid.partition("::")
    file = relative(path_of(item)) or item.nodeid.partition("::")[0]
    return steady(file + sep + rest)


def unique(item):
    """The id, with #2, #3 for those that came before, in order of collection."""
    known = order_of.get(item)
    if known is None:
        base = identify(item)
        seen_ids[base] = seen_ids.get(base, 0) + 1
        known = base if seen_ids[base] == 1 else "%s#%d" % (base, seen_ids[base])
        order_of[item] = known
    return known


class Source:
    """One test module as syntax: its test functions, and all around them."""

    cache = {}

    def __init__(self, path):
        self.functions = {}
        self.around = ""
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            return
        self.index(tree)
        self.around = digest(ast.dump(self.strip(tree)))

    @classmethod
    def of(cls, path):
        if path not in cls.cache:
            cls.cache[path] = cls(path)
        return cls.cache[path]

    def index(self, tree):
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                for line in range(first, node.body[0].lineno):
                    self.functions.setdefault((node.name, line), node)

    def strip(self, node):
        """The module without its test functions."""
        for child in ast.walk(node):
            if isinstance(child, (ast.Module, ast.ClassDef)):
                child.body = [c for c in child.body if not is_test(c)] or [ast.Pass()]
        return node


def is_test(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


@functools.lru_cache(maxsize=None)
def bare(node):
    """A test function's syntax without what hands it parameters."""
    kept = [d for d in node.decorator_list if "parametrize" not in ast.dump(d)]
    return "\0".join(ast.dump(d) for d in kept) + ast.dump(node.args) + "\0".join(ast.dump(s) for s in node.body)


def parameters(item):
    spec = getattr(item, "callspec", None)
    if spec is None:
        return ""
    parts = []
    for name in sorted(spec.params):
        try:
            text = repr(spec.params[name])
        except BaseException:
            text = spec.id
        parts.append(name + "=" + steady(text[:2000]))
    marks = [repr((m.name, m.args, m.kwargs)) for m in getattr(spec, "marks", []) if m.name != "parametrize"]
    return "\0".join(parts + [steady(m) for m in marks])


described = {}


def describe(item):
    """The row's facts, made once for each item."""
    if item not in described:
        described[item] = make_row(item)
    return described[item]


def make_row(item):
    path = path_of(item)
    row = {"id": unique(item), "file": relative(path) or "", "name": item.name, "line": 0, "end": 0, "digest": "", "context": ""}
    function = getattr(item, "function", None)
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None:
        row["line"] = (item.location[1] or 0) + 1 if item.location else 0
        test = getattr(item, "dtest", None)
        row["digest"] = digest(getattr(test, "docstring", None) or "")
        return row
    source = Source.of(code.co_filename)
    row["line"] = code.co_firstlineno
    node = source.functions.get((code.co_name, code.co_firstlineno))
    if node is not None:
        row["end"] = getattr(node, "end_lineno", None) or node.lineno
        row["digest"] = digest(bare(node), parameters(item))
    row["context"] = Source.of(path).around
    return row


# --- failures -----------------------------------------------------------------

TEST_DIRS = {"test", "tests", "testing"}


def is_test_file(rel):
    base = rel.rsplit("/", 1)[-1]
    if rel in (settings.get("tests") or ()) or base == "conftest.py" or base.startswith("test_") or base.endswith("_test.py"):
        return True
    roots = (settings.get("roots") or ())
    return any(rel.startswith(root + "/") for root in roots)


def frames(tb):
    """The traceback's files in the repository, outermost first, and whether each
    frame is the last one of all."""
    found = []
    while tb is not None:
        code = tb.tb_frame.f_code
        rel = relative(code.co_filename) if os.path.isabs(code.co_filename) else None
        if rel is not None and "site-packages/" not in rel and "dist-packages/" not in rel and not rel.startswith(".venv/"):
            found.append((rel, tb.tb_lineno))
        tb = tb.tb_next
    return found


def leaves(exc):
    members = getattr(exc, "exceptions", None)
    if isinstance(members, (tuple, list)) and members and all(isinstance(m, BaseException) for m in members):
        for member in members:
            yield from leaves(member)
    else:
        yield exc


PATTERNS = [
    (re.compile(r"'?(\w+)'? object has no attribute '(\w+)'"), 2, 1, False),
    (re.compile(r"type object '(\w+)' has no attribute '(\w+)'"), 2, 1, False),
    (re.compile(r"module '([\w.]+)' has no attribute '(\w+)'"), 2, 1, False),
    (re.compile(r"does not have the attribute '(\w+)'"), 1, 0, False),
    (re.compile(r"cannot import name '(\w+)' from '([\w.]+)'"), 1, 2, False),
    (re.compile(r"No module named '([\w.]+)'"), 1, 0, False),
    (re.compile(r"name '(\w+)' is not defined"), 1, 0, False),
    (re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'"), 2, 1, False),
    (re.compile(r"(\w+)\(\) takes .* positional arguments?"), 1, 0, True),
    (re.compile(r"(\w+)\(\) missing \d+ required"), 1, 0, True),
    (re.compile(r"fixture '(\w+)' not found"), 1, 0, False),
]


def missing(exc, from_production):
    """The names that an exception says are not there."""
    found = []

    def add(name, owner="", signature=False):
        entry = {"name": str(name), "owner": str(owner or ""), "from_production": from_production, "signature": signature}
        if name and entry not in found:
            found.append(entry)

    for one in leaves(exc):
        if not isinstance(one, (AttributeError, ImportError, NameError, TypeError, LookupError)) and type(one).__name__ != "FixtureLookupError":
            continue
        if isinstance(one, ImportError) and one.name:
            text = str(one)
            match = re.search(r"cannot import name '(\w+)'", text)
            if match:
                add(match.group(1), one.name)
                add(one.name + "." + match.group(1))
            else:
                add(one.name)
            continue
        if isinstance(one, AttributeError) and getattr(one, "name", None):
            owner = getattr(one, "obj", None)
            add(one.name, getattr(owner, "__name__", None) or type(owner).__name__)
            continue
        if type(one).__name__ == "FixtureLookupError":
            add(getattr(one, "argname", ""))
            continue
        if isinstance(one, LookupError):
            continue
        text = str(one)
        for pattern, name, owner, signature in PATTERNS:
            match = pattern.search(text)
            if match:
                add(match.group(name), match.group(owner) if owner else "", signature)
                break
        else:
            if isinstance(one, AttributeError) and re.match(r"^\w+$", text):
                add(text)
    return found


def brief(exc, excinfo=None):
    try:
        text = str(exc)
    except BaseException:
        text = "(its text could not be made)"
    name = type(exc).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (name + ": " + " ".join(lines) if lines else name)[:MAX_MESSAGE]


def explain(excinfo, when):
    """Facts about an exception that the reader of the matrix needs."""
    exc = excinfo.value
    try:
        from unittest import SkipTest
    except ImportError:
        SkipTest = ()
    found = frames(excinfo.tb)
    last = found[-1] if found else None
    from_production = bool(last) and not is_test_file(last[0])
    failed = getattr(pytest.fail, "Exception", ())
    kinds = [type(one) for one in leaves(exc)]
    return {
        "type": type(exc).__name__,
        "assertion": all(issubclass(k, (AssertionError, failed)) for k in kinds),
        "import": any(issubclass(k, ImportError) for k in kinds),
        "syntax": any(issubclass(k, SyntaxError) for k in kinds),
        "fixture": type(exc).__name__ == "FixtureLookupError",
        "message": brief(exc),
        "file": last[0] if last else "",
        "line": last[1] if last else 0,
        "from_production": from_production,
        "missing": missing(exc, from_production),
        "when": when,
    }


# --- hooks --------------------------------------------------------------------


def configure():
    global ROOT
    path = os.environ.get("TOUCHSTONE_SETTINGS")
    if path:
        with open(path, encoding="utf-8") as file:
            settings.update(json.load(file))
    root = os.getcwd()
    for _ in [p for p in settings.get("dir", ".").split("/") if p not in ("", ".")]:
        root = os.path.dirname(root)
    ROOT = os.path.realpath(root)


configure()


def is_worker(config):
    return hasattr(config, "workerinput")


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config, parser, args):
    """A conftest.py that cannot be imported ends pytest before it reports."""
    outcome = yield
    exc = getattr(outcome, "exception", None) or (outcome.excinfo[1] if outcome.excinfo else None)
    if exc is None or "PYTEST_XDIST_WORKER" in os.environ or not os.environ.get("TOUCHSTONE_REPORT"):
        return
    cause = getattr(exc, "cause", None) or exc.__cause__
    if cause is None and isinstance(getattr(exc, "excinfo", None), tuple):
        cause = exc.excinfo[1]
    cause = cause or exc
    channel.open(os.environ["TOUCHSTONE_REPORT"])
    excinfo = pytest.ExceptionInfo.from_exc_info((type(cause), cause, cause.__traceback__))
    channel.send("conftest_error", facts=explain(excinfo, "conftest"))


def pytest_configure(config):
    if not is_worker(config) and os.environ.get("TOUCHSTONE_REPORT"):
        channel.open(os.environ["TOUCHSTONE_REPORT"])
        channel.send("start", pytest=pytest.__version__, python=sys.version.split()[0])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        unique(item)
    wanted = settings.get("rows")
    if wanted is not None:
        wanted = set(wanted)
        kept = [item for item in items if unique(item) in wanted]
        gone = [item for item in items if unique(item) not in wanted]
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    rows = [describe(item) for item in session.items]
    if is_worker(session.config):
        session.config.workeroutput["touchstone_rows"] = json.dumps(rows)
    else:
        for row in rows:
            channel.send("row", **row)
        channel.send("collected", count=len(rows))


def pytest_collectreport(report):
    if report.failed:
        facts = getattr(report, "touchstone", None) or {"message": str(report.longrepr)[-MAX_MESSAGE:], "type": ""}
        file = report.nodeid.partition("::")[0]
        channel.send("collect_error", file=facts.get("unit") or file, facts=facts)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        call = getattr(report, "call", None)
        excinfo = getattr(call, "excinfo", None)
        if excinfo is not None:
            cause = excinfo
            inner = excinfo.value.__cause__ or excinfo.value.__context__
            if type(excinfo.value).__name__ == "CollectError" and inner is not None:
                cause = pytest.ExceptionInfo.from_exc_info((type(inner), inner, inner.__traceback__)) if hasattr(pytest, "ExceptionInfo") else excinfo
            facts = explain(cause, "collect")
        else:
            facts = {"message": "", "type": ""}
        facts["unit"] = relative(path_of(collector)) or ""
        report.touchstone = facts


def pytest_runtest_logstart(nodeid, location):
    channel.send("begin", node=nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    raised = call.excinfo is not None
    facts = {"id": unique(item), "raised": raised}
    if call.excinfo is not None and not report.skipped and report.failed:
        facts.update(explain(call.excinfo, call.when))
    report.touchstone = facts
    if is_worker(item.config) and (call.when == "call" or report.failed):
        report.touchstone_row = describe(item)


def pytest_runtest_logreport(report):
    facts = getattr(report, "touchstone", None)
    if facts is None:
        return  # a subtest or a plugin's own report
    reason = ""
    if report.skipped and isinstance(report.longrepr, (tuple, list)) and len(report.longrepr) == 3:
        reason = str(report.longrepr[2])
    longrepr = ""
    if report.failed and not facts.get("message"):
        longrepr = str(report.longrepr)[:MAX_MESSAGE]
    channel.send(
        "report", id=facts["id"], node=report.nodeid, when=report.when, outcome=report.outcome, seconds=getattr(report, "duration", 0.0),
        xfail=getattr(report, "wasxfail", None), skip=reason, longrepr=longrepr, facts=facts, row=getattr(report, "touchstone_row", None),
    )


def loaded():
    """For each changed production file: which file this process loaded for it."""
    found = []
    for subject in settings.get("subjects") or ():
        for name in module_names(subject):
            module = sys.modules.get(name)
            file = getattr(module, "__file__", None)
            if not file:
                continue
            file = os.path.realpath(file)
            in_tree = relative(file) == subject
            installed = "site-packages" in file or "dist-packages" in file
            package = subject.endswith("/__init__.py") or subject.startswith("src/")
            if not in_tree and "." not in name and not (installed and package):
                continue  # a bare name may be anybody's
            try:
                with open(file, "rb") as source:
                    sha = hashlib.sha256(source.read()).hexdigest()
            except OSError:
                sha = ""
            found.append({"subject": subject, "file": file, "sha256": sha, "in_tree": in_tree})
            break
    return found


def module_names(subject):
    """The dotted names under which a file may be imported, the likeliest first."""
    if not subject.endswith(".py"):
        return []
    parts = subject[:-3].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    names = []
    depth = len(parts)
    top = depth - 1 if not subject.endswith("/__init__.py") else depth - 1
    while top > 0 and os.path.exists(os.path.join(ROOT, *parts[:top], "__init__.py")):
        top -= 1
    for start in sorted({top, 1 if parts[:1] == ["src"] else top}):
        if start < depth:
            names.append(".".join(parts[start:]))
    return names


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    config = session.config
    if is_worker(config):
        config.workeroutput["touchstone_loaded"] = json.dumps(loaded())
        return
    for entry in loaded():
        channel.send("loaded", **entry)
    channel.send("finish", status=int(exitstatus))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    output = getattr(node, "workeroutput", None) or {}
    for row in json.loads(output.get("touchstone_rows", "[]")):
        if row["id"] not in seen_ids:
            seen_ids[row["id"]] = 1
            channel.send("row", **row)
    for entry in json.loads(output.get("touchstone_loaded", "[]")):
        channel.send("loaded", **entry)
