"""What an exception says, as plain data: its kind, its place, missing names.

Standard library and, where there is one, pytest only; Python 3.7 and later.
"""

import doctest
import os
import re

try:
    import pytest

    ASSERTIONS = (AssertionError, pytest.fail.Exception, doctest.DocTestFailure)
except ImportError:
    ASSERTIONS = (AssertionError, doctest.DocTestFailure)

from touchstone_tree import ROOT, is_test_code, own, relative

MAX_MESSAGE = 600
DOCTEST = (doctest.DocTestFailure, doctest.UnexpectedException)
LOOKUPS = ("__getattr__", "__getattribute__")


def explain(exc, tb):
    """Facts about an exception that decide how the outcome reads."""
    exc = _unwrap(exc)
    members = list(_members(exc))
    found = _frames(tb) or _frames(exc.__traceback__)
    if len(members) == 1 and members[0] is not exc:
        found += _frames(members[0].__traceback__)
    file, line, _ = found[-1] if found else ("", 0, "")
    # A module or class may answer for its own missing attributes: the look-up
    # stood with whoever asked.
    asked = [frame for frame in found if frame[2] not in LOOKUPS] or found
    production = bool(asked) and not is_test_code(asked[-1][0])
    file, line = _stated_place(exc) or (file, line)
    return {
        "type": type(exc).__name__,
        "assertion": all(_is_assertion(e) for e in members),
        "import": any(isinstance(e, ImportError) for e in members),
        "syntax": any(isinstance(e, SyntaxError) for e in members),
        "message": brief(exc),
        "file": file,
        "line": line,
        "from_production": production,
        "missing": missing(members, production),
    }


def _stated_place(exc):
    """The place that an exception itself speaks of, rather than where it was raised."""
    if isinstance(exc, SyntaxError) and exc.filename:
        file = own(os.path.abspath(exc.filename))
        return (file, exc.lineno or 0) if file else None
    if isinstance(exc, DOCTEST):
        file = own(os.path.abspath(exc.test.filename or ""))
        return (file, (exc.test.lineno or 0) + exc.example.lineno + 1) if file else None
    return None


def _unwrap(exc):
    """The exception that counts inside those that only carry it."""
    inner = _carried(exc)
    return exc if inner is None else _unwrap(inner)


def _carried(exc):
    name = type(exc).__name__
    if name == "MultipleDoctestFailures" and getattr(exc, "failures", None):
        return exc.failures[0]
    if name in ("CollectError", "PluginImportFailure"):  # the latter from pytest 9.2 on
        return exc.__cause__
    if name == "ConftestImportFailure":
        inner = getattr(exc, "cause", None) or exc.__cause__
        if inner is None and getattr(exc, "excinfo", None):
            inner = exc.excinfo[1]
        return inner
    return None


def _members(exc):
    group = getattr(exc, "exceptions", None)
    if isinstance(group, (tuple, list)) and group and all(isinstance(e, BaseException) for e in group):
        for member in group:
            yield from _members(member)
    else:
        yield exc


def _is_assertion(exc):
    return isinstance(exc, ASSERTIONS)


def _frames(tb):
    """The traceback's places in the repository, outermost first."""
    found = []
    while tb is not None:
        code = tb.tb_frame.f_code
        rel = own(code.co_filename)
        if rel is not None:
            found.append((rel, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    return found


def brief(exc):
    """Type and text on one line; an assertion's explanation speaks for itself."""
    text = " ".join(line.strip() for line in _words(exc).splitlines() if line.strip()).replace(ROOT + os.sep, "")
    name = type(exc).__name__
    if name == "FixtureLookupError":
        return "fixture %r not found" % getattr(exc, "argname", None)
    if isinstance(exc, doctest.DocTestFailure):
        return ("expected %r, got %r" % (exc.example.want, exc.got))[:MAX_MESSAGE]
    if isinstance(exc, doctest.UnexpectedException):
        return brief(exc.exc_info[1])
    if name == "AssertionError" and text.startswith("assert "):
        return text[:MAX_MESSAGE]
    return (name + ": " + text if text else name)[:MAX_MESSAGE]


# --- missing names --------------------------------------------------------------

OBJECT = r"'([\w.]+)' object has no attribute '(\w+)'"
TYPE = r"type object '([\w.]+)' has no attribute '(\w+)'"
MODULE = r"module '([\w.]+)' has no attribute '(\w+)'"
CALLED = r"([\w.<>]+)\(\) "

# (pattern, group of the name, group of the owner, whether the name exists but
# was called in another way)
ATTRIBUTE_TEXTS = [
    (re.compile(OBJECT), 2, 1, False),
    (re.compile(TYPE), 2, 1, False),
    (re.compile(MODULE), 2, 1, False),
    (re.compile(r"<(?:module|class|function) '?([\w.]+)'?.*> does not have the attribute '(\w+)'"), 2, 1, False),
    (re.compile(r"does not have the attribute '(\w+)'"), 1, 0, False),
    (re.compile(r"has no attribute '?(\w+)'?"), 1, 0, False),
    (re.compile(r"^(\w+)$"), 1, 0, False),  # a member of an enumeration
]
NAME_TEXTS = [(re.compile(r"name '(\w+)' is not defined"), 1, 0, False)]
CALL_TEXTS = [
    (re.compile(CALLED + r"got an unexpected keyword argument '(\w+)'"), 2, 1, False),
    (re.compile(r"'(\w+)' is an invalid keyword argument for ([\w.]+)\(\)"), 1, 2, False),
    (re.compile(CALLED + r"takes (?:.* positional arguments?|no (?:keyword )?arguments)"), 1, 0, True),
    (re.compile(CALLED + r"missing \d+ required"), 1, 0, True),
    (re.compile(CALLED + r"got (?:multiple values for argument|some (?:positional|keyword)-only)"), 1, 0, True),
]


def missing(members, production):
    """The names that exceptions say are not there."""
    found = []
    for exc in members:
        for name, owner, signature in _names(exc):
            entry = {"name": str(name), "owner": str(owner or ""), "from_production": production, "signature": signature}
            if name and entry not in found:
                found.append(entry)
    return found


def _names(exc):
    if isinstance(exc, ImportError):
        return _import_names(exc)
    if type(exc).__name__ == "FixtureLookupError":
        return [(getattr(exc, "argname", ""), "", False)]
    if isinstance(exc, AttributeError):
        if getattr(exc, "name", None):
            return [(exc.name, _owner(exc), False)]
        return _parse(exc, ATTRIBUTE_TEXTS)
    if isinstance(exc, doctest.UnexpectedException):
        return _names(exc.exc_info[1])
    if isinstance(exc, NameError) and not isinstance(exc, UnboundLocalError):
        return _parse(exc, NAME_TEXTS)
    if isinstance(exc, TypeError):
        return [_method(*found) for found in _parse(exc, CALL_TEXTS)]
    return []


def _import_names(exc):
    match = re.search(r"cannot import name '(\w+)'(?: from (?:partially initialized module )?'([\w.]+)')?", _words(exc))
    if match:
        owner = exc.name or match.group(2) or ""
        # The name may be one that the module declares, or a module of its own.
        return [(match.group(1), owner, False)] + ([(owner + "." + match.group(1), "", False)] if owner else [])
    if exc.name:
        return [(exc.name, "", False)]
    return _parse(exc, [(re.compile(r"No module named '?([\w.]+)'?"), 1, 0, False)])


def _owner(exc):
    thing = getattr(exc, "obj", None)
    try:
        return thing.__name__ if isinstance(thing, type) or type(thing).__name__ == "module" else type(thing).__name__
    except Exception:
        return ""


def _method(name, owner, signature):
    """A call names "Class.method" from Python 3.10 on: split it.

    Building an object is a call of its class.
    """
    if not signature:
        return name, owner.rpartition(".")[0] if owner.endswith(".__init__") else owner, False
    above, _, last = name.rpartition(".")
    above = above.rpartition("<locals>.")[2]
    if last in ("__init__", "__new__") and above:
        return above, "", True
    return last, above, True


def _parse(exc, patterns):
    text = _words(exc)
    for pattern, name, owner, signature in patterns:
        match = pattern.search(text)
        if match:
            return [(match.group(name), match.group(owner) if owner else "", signature)]
    return []


def _words(exc):
    try:
        return str(exc)[:5000]
    except Exception:  # an exception of the tests' own may do anything
        return "(its text could not be made)"


def conftest_of(exc):
    """The conftest.py that could not be imported, relative to the repository."""
    return relative(getattr(exc, "path", "")) or ""
