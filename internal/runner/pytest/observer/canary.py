"""Tests of the gate's own that must fail, one in each directory of a run.

Where it is asked for, every test of the run is replaced by one that must fail and
has its name: code that makes named tests report success does so to it too. They pass through the same hooks and fixtures as the tests beside them: a
conftest or a plugin that makes failing tests report success does so to them too.
Standard library and pytest only; Python 3.7 and later, pytest 6.2 and later.
"""

import functools
import os
import unittest

import pytest

from touchstone_tree import relative, settings

NAME = settings.get("canary") or ""
ALL = bool(settings.get("must_fail"))


def add(items):
    """Puts a canary behind the last test of one module in each directory."""
    if ALL:
        replace(items)
    if not NAME:
        return
    last = {}
    for index, item in enumerate(items):
        module = item.getparent(pytest.Module)
        # Exactly that class: doctest modules and other plugins' kinds make other items.
        if type(module) is pytest.Module:
            last[os.path.dirname(str(module.fspath))] = (index, module)
    for index, module in sorted(last.values(), key=lambda entry: -entry[0]):
        try:
            items.insert(index + 1, make(module))
        except Exception:  # a plugin that cannot bear it: the run goes on without
            continue


def make(module):
    def must_fail():
        raise AssertionError("this test of the gate's must fail")

    item = pytest.Function.from_parent(module, name=NAME, callobj=must_fail)
    at_once(item)
    return item


def at_once(item):
    if item.config.pluginmanager.hasplugin("rerunfailures"):
        item.add_marker(pytest.mark.flaky(reruns=0), append=False)  # it may wait between tries


def replace(items):
    """Puts a test that must fail in the place of each, and leaves out those whose
    failure is expected or of which nobody knows how they are run."""
    items[:] = [item for item in items if empty(item)]


def empty(item):
    if not isinstance(item, pytest.Function) or item.get_closest_marker("xfail"):
        return False
    case = getattr(item.parent, "obj", None)
    try:
        test = item.obj
        if getattr(test, "__unittest_expecting_failure__", False) or getattr(case, "__unittest_expecting_failure__", False):
            return False
        if isinstance(case, type) and issubclass(case, unittest.TestCase):
            setattr(case, item.name, failing(test))
            item._obj = None  # it is looked up again
        else:
            item.obj = failing(test)
    except Exception:  # a plugin's own kind of test
        return False
    at_once(item)
    return True


def failing(test):
    def must_fail(*args, **kwargs):
        raise AssertionError("assert 1 == 2")

    functools.update_wrapper(must_fail, test)
    del must_fail.__wrapped__
    return must_fail


def is_canary(nodeid):
    return ALL or bool(NAME) and nodeid.endswith("::" + NAME)


def unit_of(nodeid):
    """The file that the canary was put into, relative to the work tree."""
    return relative(os.path.abspath(nodeid.partition("::")[0])) or nodeid.partition("::")[0]
