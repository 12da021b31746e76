"""Tells when code of the repository takes the place of pytest's own.

What decides an outcome is noted before anything of the repository is loaded, and
compared when tests of a file are over. What a test replaces and puts back is not
seen; neither is what an installed plugin replaces, which is no deed of the tree.
Standard library only; Python 3.7 and later.
"""

import builtins
import os
import sys
import types

from touchstone_tree import own

MODULES = (
    "_pytest.runner", "_pytest.reports", "_pytest.python", "_pytest.unittest", "_pytest.main", "_pytest.skipping", "_pytest.assertion",
    "_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest.outcomes", "_pytest.python_api", "_pytest.raises", "_pytest.recwarn",
    "pluggy._callers", "pluggy._hooks", "pluggy._manager", "pluggy._result", "unittest.case",
)
CLASSES = ("AssertionError", "Exception", "BaseException")

_parts = []  # (label, namespace, name, value, code)
_told = set()


def take(modules=MODULES):
    """Notes the functions and methods as they are."""
    for name in modules:
        module = sys.modules.get(name)
        if module is None:
            continue
        for key, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != name:
                continue
            if isinstance(value, types.FunctionType):
                _note(name + "." + key, module, key, value)
            elif isinstance(value, type):
                _note(name + "." + key, module, key, value)
                for method, raw in list(vars(value).items()):
                    if isinstance(raw, (types.FunctionType, staticmethod, classmethod, property)):
                        _note("%s.%s.%s" % (name, key, method), value, method, raw)
    for key in CLASSES:
        _note("builtins." + key, builtins, key, getattr(builtins, key))


def _note(label, holder, key, value):
    _parts.append((label, holder, key, value, _code(value)))


def _function(value):
    value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    return getattr(value, "__func__", value)


def _code(value):
    return getattr(_function(value), "__code__", None)


def replaced():
    """What is not as it was, each once: (what, the file that it comes from)."""
    found = []
    for label, holder, key, value, code in _parts:
        now = vars(holder).get(key)
        if now is value and _code(now) is code or label in _told:
            continue
        file = getattr(_code(now), "co_filename", "")
        if os.path.isabs(file) and os.path.exists(file) and own(file) is None:
            continue  # an installed plugin's
        _told.add(label)
        found.append((label, own(file) or ""))
    return found
