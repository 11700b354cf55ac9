# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/Python.md and the pages with pictures say."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import producers
import pytest

import dsv4
from dsv4 import _kernels

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
PAGE = os.path.join(DOCS, "Python.md")

# The functions of arrays, which are on CUDA or not.
FUNCTIONS = {
    each for each in dsv4.__all__
    if hasattr(getattr(dsv4, each), "__wrapped__") and not each[0].isupper()
}  # fmt: skip


def read():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("page, count", [("Python.md", 4), ("Writers.md", 1)])
def test_examples_run(page, count):
    """Those that are marked, one after another."""
    names = {}
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        blocks = re.findall(r"<!-- tested -->\n\n```python\n(.*?)```", file.read(), re.DOTALL)
    assert len(blocks) >= count
    for block in blocks:
        exec(compile(block, page, "exec"), names)


class OnDevice(producers.OnDevice):
    """An array of a GPU, on a machine that has none."""

    @classmethod
    def empty(cls, *shape, dtype="f4", device="cuda"):
        assert device == "cuda"
        return cls(np.empty(shape, dtype))


def test_what_an_engine_prepares_is_all_that_it_needs():
    [block] = re.findall(r"<!-- prepared -->\n\n```python\n(.*?)```", read(), re.DOTALL)
    cache = OnDevice(np.zeros((4, 64, 584), np.uint8))
    programs, frozen = set(), []

    def prepare(*args, **kw):
        program = _kernels.program_of(args[0], args[1:], kw)
        programs.add((program.text(), tuple(program.bounds.items())))

    names = {
        "torch": SimpleNamespace(empty=OnDevice.empty, bfloat16="u2", int64="i8", int32="i4"),
        "dsv4": SimpleNamespace(
            prepare=prepare, freeze=lambda: frozen.append(True), topk=dsv4.topk,
            gather=dsv4.gather, norm_rope_append_=dsv4.norm_rope_append_,
        ), "cache": cache,
    }  # fmt: skip
    exec(compile(block, PAGE, "exec"), names)
    assert frozen and len(programs) > 20
    before, empty = len(programs), OnDevice.empty
    for tokens in (1, 2, 3, 5, 9, 16, 17, 33, 63, 64, 65, 255, 256, 257, 4000, 8192):
        slots = empty(tokens, dtype="i8")
        prepare(dsv4.norm_rope_append_, empty(tokens, 512, dtype="u2"), cache, slots,
                record="v4_584")  # fmt: skip
        prepare(dsv4.gather, cache, empty(tokens, 512, dtype="i4"), record="v4_584")
        for columns in (4, 1000, 1024, 1028, 8192, 8196, 16384, 20000, 40000, 65540, 131072):
            prepare(dsv4.topk, empty(tokens, columns), 512, lengths=slots)
    assert len(programs) == before


@pytest.fixture
def gallery():
    """The script that draws the pictures."""
    spec = importlib.util.spec_from_file_location("gallery", os.path.join(DOCS, "gallery.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Seen(list):
    """The blocks that were run, and the text that they printed."""

    def done(self, block, printed):
        self.append((block, printed))

    def fill(self, gallery, page):
        return gallery.fill(gallery.read(page), [printed for _, printed in self])


def test_the_gallery_runs(gallery):
    seen = Seen()
    assert gallery.run("Gallery.md", done=seen.done)["ids"].shape == (48, 6)
    # It shows what its blocks print.
    assert any(printed for _, printed in seen)
    assert seen.fill(gallery, "Gallery.md") == gallery.read("Gallery.md"), "run docs/gallery.py"


@pytest.mark.parametrize("page, count", [("Gallery.md", 9), ("QuickStart.md", 3)])
def test_pages_with_pictures_show_them(gallery, page, count):
    """All their programs are run, and each that draws has its picture in the page and the tree."""
    text = gallery.read(page)
    blocks = gallery.blocks(text)
    assert [each.code for each in blocks] == re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == count
    drawn = [each.name for each in blocks if each.kind == "drawn"]
    assert drawn and all(drawn)
    for name in drawn:
        assert f"](images/{name}.png)" in text, name
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
    [block] = [each for each in gallery.blocks(gallery.read("QuickStart.md")) if each.printed]
    assert "dsv4::load_if" in block.printed
    printed = gallery.run_block(block, "QuickStart.md", names)
    assert printed.strip() == block.printed.strip(), "run docs/gallery.py"


def test_a_page_gets_what_its_blocks_print(gallery):
    code = "<!-- tested -->\n\n```python\n{}\n```"
    shown = "\n\nIt prints:\n\n```{}\n{}\n```"
    old = shown.format("cuda", "old")
    page = "\n\n".join([code.format("a") + old, code.format("b"), "The end."])
    blocks = gallery.blocks(page)
    assert [(each.code, each.printed) for each in blocks] == [("a\n", "old\n"), ("b\n", "")]
    assert gallery.fill(page, [None, None]) == page
    new, more = shown.format("cuda", "new"), shown.format("text", "more")
    filled = "\n\n".join([code.format("a") + new, code.format("b") + more, "The end."])
    assert gallery.fill(page, ["new\n", "more\n"]) == filled
    assert gallery.fill(page, ["", ""]) == page.replace(old, "")


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize(
    "page", ["Gallery.md", pytest.param("QuickStart.md", marks=pytest.mark.needs("torch"))]
)
def test_pictures_are_drawn(gallery, page):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    seen, figures = Seen(), []

    def done(block, printed):
        seen.done(block, printed)
        figures.append(len(plt.get_fignums()))
        plt.close("all")

    with plt.rc_context():
        gallery.run(page, True, done)
    assert figures == [int(block.kind == "drawn") for block, _ in seen]


def test_the_table_has_every_function():
    rows = re.findall(r"^\| `(\w+)` \|", read(), re.MULTILINE)
    assert len(FUNCTIONS) > 20 and FUNCTIONS <= set(rows)


def test_docstrings_say_everything():
    for name in [
        *sorted(FUNCTIONS),
        "compile",
        "prepare",
        "load",
        "devices",
        "emit",
        "explain",
        "benchmark",
    ]:
        text = inspect.getdoc(getattr(dsv4, name))
        assert ">>>" in text, name
        assert "Raises:" in text, name
        for parameter in inspect.signature(getattr(dsv4, name)).parameters:
            assert re.search(rf"\b{parameter}\b", text), (name, parameter)


def test_every_public_name_has_a_docstring():
    for name in dsv4.__all__:
        value = getattr(dsv4, name)
        assert isinstance(value, dict) or inspect.getdoc(value), name


@pytest.mark.needs("matplotlib")
def test_rooflines_are_drawn_for_the_width_of_a_page(tmp_path):
    """At half of their pixels their letters have 8 points."""
    program = os.path.join(DOCS, "..", "bench", "roofline.py")
    subprocess.run([sys.executable, program, f"--output={tmp_path}"], check=True)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    results = os.path.join(DOCS, "..", "bench", "results")
    assert set(drawn) == {each for each in os.listdir(results) if each.endswith(".png")}
    for name, picture in drawn.items():
        # The width, in the header of a PNG.
        assert int.from_bytes(picture[16:20], "big") == 1600, name
