# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Skips are seen: a test that needs something is one of lit, and no other test skips itself."""

import glob
import os
import re
import shutil
import subprocess
import sys

import features
import pytest

HERE = os.path.dirname(__file__)
LIT = os.path.join(HERE, "..", "..", "test", "Python")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def needs_of(path):
    """What the tests of a file need, each combination once."""
    base = features.MODULES.get(os.path.basename(path), set())
    found = set()
    for first, more in re.findall(
        r"^@pytest\.mark\.needs\(([^)]*)\)(.*?)^def ", read(path), re.MULTILINE | re.DOTALL
    ):
        found.add(frozenset(base.union(re.findall(r'"([\w-]+)"', first))))
        for each in re.findall(r"marks=pytest\.mark\.needs\(([^)]*)\)", more):
            both = re.findall(r'"([\w-]+)"', first + each)
            found.add(frozenset(base.union(both)))
    return found | {frozenset(base)}


def test_lit_has_a_test_for_all_that_tests_need():
    needed = {
        (os.path.basename(path), needs)
        for path in glob.glob(os.path.join(HERE, "test_*.py"))
        for needs in needs_of(path)
    }
    # The one file without tests that need nothing.
    needed.discard(("test_gpu_libraries.py", frozenset()))
    run = set()
    for path in glob.glob(os.path.join(LIT, "*.test")):
        text = read(path)
        [required] = re.findall(r"REQUIRES: (.*)", text)
        for line in re.findall(r"RUN: (.*%pytest.*)", text):
            # A line may run where lit has one more feature: "%if FEATURE %{ LINE %}".
            [(more, needs, files)] = re.findall(
                r"^(?:%if (\S+) %\{ )?%pytest (?:--needs=(\S+) )?(.*?)(?: %\})?$", line
            )
            names = frozenset(filter(None, needs.split(",")))
            # What lit requires is the same, or implies it.
            implied = {"cuda": {"cuda-device", "two-devices"}}
            for each in names:
                assert implied.get(each, {each}) & {more, *required.split(", ")}, (path, each)
            run.update((os.path.basename(file), names) for file in files.split())
    assert run == needed


RUNS = {
    "def test_it():\n    pass\n": (0, "1 passed"),
    "import pytest\n@pytest.mark.needs('absent')\ndef test_it():\n    assert 0\n":
        (0, "needs absent"),
    "import pytest\ndef test_it():\n    pytest.skip('no')\n": (1, "skips itself"),
    "import pytest\n@pytest.mark.skip\ndef test_it():\n    pass\n": (1, "skips itself"),
    "import pytest\npytest.importorskip('absent')\n": (1, "skips itself"),
    "import pytest\n@pytest.mark.needs('tensors')\ndef test_it():\n    pass\n":
        (4, "features.py lacks"),
}  # fmt: skip


@pytest.mark.parametrize("text", RUNS)
def test_a_skip_without_a_mark_fails(tmp_path, text):
    shutil.copy(os.path.join(HERE, "conftest.py"), tmp_path)
    contents = read(os.path.join(HERE, "features.py"))
    contents = contents.replace("FEATURES = {", 'FEATURES = {"absent": lambda: False,', 1)
    (tmp_path / "features.py").write_text(contents)
    (tmp_path / "test_some.py").write_text(text)
    for more in ([], ["--needs="]):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *more, str(tmp_path)],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        status, message = RUNS[text]
        if more and message == "needs absent":
            status, message = 5, "1 deselected"
        # A file that skips itself leaves no tests.
        assert done.returncode in ((1, 5) if "importorskip" in text else (status,)), done.stdout
        assert message in done.stdout + done.stderr
