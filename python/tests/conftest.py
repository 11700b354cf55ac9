# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the package on the host target: PYTHONPATH=build/release/python pytest python/tests.

A test that needs more than NumPy says so: `@pytest.mark.needs("torch")`, with a name of
features.py. `--needs=torch,inductor` runs the tests that need just these, and `--needs=` those that
need nothing more. Then no test may be skipped. Without the option all tests run, and those are
skipped that need what the machine lacks. Any other skip is a failure.
"""

import features
import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def pytest_addoption(parser):
    parser.addoption("--needs", help="run the tests that need these features, and no others")
    parser.addoption("--pairs-seed", type=int, default=0, help="of the cases of test_pairs.py")


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(*features): what a test needs beside NumPy")


def _wanted(config):
    """The features of `--needs`, or None."""
    given = config.getoption("--needs")
    return None if given is None else set(filter(None, given.split(",")))


def pytest_ignore_collect(collection_path, config):
    """Files that cannot be read here, or have no such test."""
    of_file = features.MODULES.get(collection_path.name, set())
    wanted = _wanted(config)
    if wanted is not None:
        return True if not of_file <= wanted else None
    lacks = [each for each in sorted(of_file) if not features.has(each)]
    if lacks:
        _lacking[collection_path.name] = lacks
    return True if lacks else None


_lacking = {}
_forbidden = []


def pytest_collection_modifyitems(config, items):
    wanted = _wanted(config)
    kept = []
    for item in items:
        needs = set(features.MODULES.get(item.path.name, ()))
        for mark in item.iter_markers("needs"):
            needs.update(mark.args)
        unknown = needs - features.FEATURES.keys()
        if unknown:
            raise pytest.UsageError(f"{item.nodeid} needs {unknown}, which features.py lacks")
        lacks = [each for each in sorted(needs) if wanted is None and not features.has(each)]
        if lacks:
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(lacks)}"))
            item.lacks = True
        if wanted is None or needs == wanted:
            kept.append(item)
    config.hook.pytest_deselected(items=[each for each in items if each not in kept])
    items[:] = kept


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A test that skips itself fails: who reads the summary would not see it."""
    report = (yield).get_result()
    if report.skipped and not hasattr(report, "wasxfail") and not hasattr(item, "lacks"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skips itself: mark what it needs ({report.longrepr})"


def pytest_collectreport(report):
    """The same for a file."""
    if report.skipped:
        _forbidden.append(report.nodeid)


def pytest_sessionfinish(session):
    if _forbidden and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for name, lacks in sorted(_lacking.items()):
        terminalreporter.write_line(f"left out: {name} needs {', '.join(lacks)}")
    for name in _forbidden:
        terminalreporter.write_line(f"failed: {name} skips itself: list it in features.py")
