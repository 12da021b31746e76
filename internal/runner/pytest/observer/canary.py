"""Tests of the gate's own that must fail, one in each directory of a run.

They pass through the same hooks and fixtures as the tests beside them: a
conftest or a plugin that makes failing tests report success does so to them too.
Standard library and pytest only; Python 3.7 and later, pytest 6.2 and later.
"""

import os

import pytest

from touchstone_tree import relative, settings

NAME = settings.get("canary") or ""


def add(items):
    """Puts a canary behind the last test of one module in each directory."""
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
    if module.config.pluginmanager.hasplugin("rerunfailures"):
        item.add_marker(pytest.mark.flaky(reruns=0))  # it may wait between tries
    return item


def is_canary(nodeid):
    return bool(NAME) and nodeid.endswith("::" + NAME)


def unit_of(nodeid):
    """The file that the canary was put into, relative to the work tree."""
    return relative(os.path.abspath(nodeid.partition("::")[0])) or nodeid.partition("::")[0]
