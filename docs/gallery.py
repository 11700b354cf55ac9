#!/usr/bin/env python3
"""Runs the programs of the pages with pictures, and draws the pictures.

    PYTHONPATH=build/release/python python3 docs/gallery.py [PAGE]...

A ```python block after `<!-- tested -->` is run, and one after `<!-- drawn: NAME -->` draws
images/NAME.png. Blocks of a page are run one after another, with the same names. The text that a
block prints stands after it and the words `It prints:`, and is written anew. Without a PAGE, all
such pages. Needs matplotlib; the page with torch needs torch. The site of the documentation makes
a notebook of each page.
"""

import contextlib
import io
import os
import re
import sys
from typing import NamedTuple

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGES = ("QuickStart.md", "Gallery.md")
BLOCK = re.compile(
    r"<!-- (?P<kind>tested|drawn)(?:: (?P<name>[\w-]+))? -->\n\n```python\n(?P<code>.*?)```"
    r"(?:\n\nIt prints:\n\n```(?P<language>\w+)\n(?P<printed>.*?)```)?",
    re.DOTALL,
)
# What programs need that a page does not show.
PICTURES = """\
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

COLORS = ("#1f5fa8", "#2a9d8f", "#e9a23b", "#c8553d")
plt.rcParams.update({"axes.spines.right": False, "axes.spines.top": False})
plt.rcParams.update({"figure.autolayout": True, "figure.dpi": 100})
"""
SEED = """\
import torch

torch.manual_seed(7)
"""


class Block(NamedTuple):
    """A program of a page: where it is there, and the text that it printed."""

    kind: str
    name: str
    code: str
    printed: str
    start: int
    end: int


def read(page):
    with open(os.path.join(FOLDER, page), encoding="utf-8") as file:
        return file.read()


def needs_torch(text):
    return "\nimport torch\n" in text


def blocks(text):
    """The blocks of a page."""
    return [
        Block(each["kind"], each["name"], each["code"], each["printed"] or "", *each.span())
        for each in BLOCK.finditer(text)
    ]


def prologue(text, draws=True):
    """The code that comes before the blocks of a page."""
    return "\n".join(filter(None, (PICTURES * draws, SEED * needs_torch(text))))


def run_block(block, page, names):
    """Returns the text that the block prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, page, "exec"), names)
    return printed.getvalue()


def run(page, draws=False, done=lambda block, printed: None):
    """Runs the blocks of a page, those that draw only if it `draws`. `done` gets each block, with
    the text that it printed, or None if it was not run. Returns the names that the page has then.
    """
    text, names = read(page), {}
    exec(prologue(text, draws), names)
    for block in blocks(text):
        is_run = draws or block.kind == "tested"
        done(block, run_block(block, page, names) if is_run else None)
    return names


def fill(text, printed):
    """The page with the text that each of its blocks printed; None leaves a block as it is."""
    outputs = iter(printed)

    def write(found):
        output = next(outputs)
        if output is None:
            return found[0]
        code = text[found.start() : found.end("code")] + "```"
        if not output:
            return code
        language = found["language"] or "text"
        return f"{code}\n\nIt prints:\n\n```{language}\n{output.rstrip()}\n```"

    return BLOCK.sub(write, text)


def save(name):
    import matplotlib.pyplot as plt

    path = os.path.join(FOLDER, "images", f"{name}.png")
    plt.savefig(path, metadata={"Software": None})
    plt.close("all")
    print(path)


def main():
    try:
        import matplotlib
    except ImportError:
        print("gallery.py: no matplotlib, so no pictures: pip install matplotlib")
        return
    matplotlib.use("Agg")
    for page in map(os.path.basename, sys.argv[1:] or PAGES):
        outputs = []

        def done(block, printed):
            outputs.append(printed)
            if block.kind == "drawn":
                save(block.name)

        run(page, True, done)
        text = fill(read(page), outputs)
        with open(os.path.join(FOLDER, page), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
