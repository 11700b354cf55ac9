# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/Python.md says."""

import inspect
import os
import re

import dsv4

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "Python.md")

FUNCTIONS = [
    "topk", "topk_paged", "route", "hash_route", "gather", "gather_raw", "gather_ragged",
    "append_", "norm_rope_append_", "compress_", "rms_norm", "rope", "quantize", "dequantize",
]  # fmt: skip


def read():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def test_examples_run():
    """Those that are marked, one after another."""
    names = {}
    blocks = re.findall(r"<!-- tested -->\n\n```python\n(.*?)```", read(), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, PAGE, "exec"), names)


def test_the_table_has_every_function():
    rows = re.findall(r"^\| `(\w+)` \|", read(), re.MULTILINE)
    assert [each for each in rows if each in FUNCTIONS] == FUNCTIONS
    assert set(FUNCTIONS) <= set(dsv4.__all__)


def test_docstrings_say_everything():
    for name in [*FUNCTIONS, "compile", "prepare", "load", "devices"]:
        text = inspect.getdoc(getattr(dsv4, name))
        assert ">>>" in text, name
        assert "Raises:" in text, name
        for parameter in inspect.signature(getattr(dsv4, name)).parameters:
            assert re.search(rf"\b{parameter}\b", text), (name, parameter)


def test_every_public_name_has_a_docstring():
    for name in dsv4.__all__:
        value = getattr(dsv4, name)
        assert isinstance(value, dict) or inspect.getdoc(value), name
