# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/Python.md and the pages with pictures say."""

import importlib.util
import inspect
import os
import re

import numpy as np
import pytest

import dsv4

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
PAGE = os.path.join(DOCS, "Python.md")

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


@pytest.fixture
def gallery():
    """The script that draws the pictures."""
    spec = importlib.util.spec_from_file_location("gallery", os.path.join(DOCS, "gallery.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_runs(gallery):
    assert gallery.run("Gallery.md")["ids"].shape == (48, 6)
    # Its pictures are in the tree, one for each block that draws one.
    drawn = [name for kind, name, _ in gallery.blocks(gallery.read("Gallery.md")) if name]
    assert len(drawn) >= 4
    for name in drawn:
        assert os.path.exists(os.path.join(DOCS, "images", f"{name}.png")), name


@pytest.mark.needs("torch")
def test_the_quick_start_runs(gallery):
    import torch

    names = gallery.run("QuickStart.md")
    rows, best, found = names["rows"], names["best"].long(), names["found"]
    assert torch.equal(best.sort().values, names["scores"].topk(16).indices.sort().values)
    assert (found - rows[best]).abs().max() < 0.5


def test_the_quick_start_shows_its_kernel(gallery):
    names = {
        "dsv4": dsv4, "cache": np.zeros((8, 18432), np.uint8), "slots": np.zeros(256, np.int64),
        "best": np.zeros(16, np.int32),
    }  # fmt: skip
    text = gallery.read("QuickStart.md")
    assert "dsv4::load_if" in text
    assert gallery.fill_emitted(text, names) == text, "run docs/gallery.py"


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize(
    "page", ["Gallery.md", pytest.param("QuickStart.md", marks=pytest.mark.needs("torch"))]
)
def test_pictures_are_drawn(gallery, page):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawn = []
    gallery.run(page, plt, drawn.append)
    plt.close("all")
    assert drawn


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
