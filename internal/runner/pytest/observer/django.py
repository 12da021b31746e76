"""Runs Django's tests by the repository's own test runner, with our ear on them.

Named to Django as --testrunner=touchstone_django.Runner. Standard library and
Django only; Python 3.7 and later, Django 3.2 and later.
"""

import unittest

from django.conf import settings as django_settings
from django.test.utils import get_runner

import touchstone_failure
import touchstone_unittest
from touchstone_channel import channel
from touchstone_tree import settings

touchstone_unittest.start()


class Runner(get_runner(django_settings)):
    """The repository's runner: it makes suites and data bases; ours is the result."""

    def build_suite(self, *args, **kwargs):
        build = super().build_suite
        self.touchstone_items = touchstone_unittest.collect(lambda module: build([module.__name__]))
        return unittest.TestSuite(item.test for item in self.touchstone_items)

    def setup_databases(self, **kwargs):
        try:
            return super().setup_databases(**kwargs)
        except Exception as exc:
            channel.send("internal_error", message="the test data bases could not be made: " + touchstone_failure.brief(exc))
            raise

    def run_suite(self, suite, **kwargs):
        return touchstone_unittest.run(self.touchstone_items)

    def suite_result(self, suite, result, **kwargs):
        return touchstone_unittest.finish(result)

    def run_tests(self, *args, **kwargs):
        if not settings.get("list"):
            return super().run_tests(*args, **kwargs)
        self.setup_test_environment()
        self.build_suite()
        return touchstone_unittest.finish(touchstone_unittest.run(self.touchstone_items))
