#!/usr/bin/env python3
"""Runs the programs of the pages with pictures, and draws the pictures.

    PYTHONPATH=build/release/python python3 docs/gallery.py [PAGE]...

A ```python block after `<!-- tested -->` is run, and one after `<!-- drawn: NAME -->` draws
images/NAME.png. Blocks of a page are run one after another, with the same names. What stands in the
```cuda block after `<!-- emitted -->` is written anew: it is what the ```python block before it
prints. Without a PAGE, all such pages. Needs matplotlib; the page with torch needs torch.
"""

import contextlib
import io
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGES = ("QuickStart.md", "Gallery.md")
COLORS = ("#1f5fa8", "#2a9d8f", "#e9a23b", "#c8553d")
BLOCK = re.compile(
    r"<!-- (?P<kind>tested|drawn)(?:: (?P<name>[\w-]+))? -->\n\n```python\n(?P<code>.*?)```",
    re.DOTALL,
)
EMITTED = re.compile(
    r"```python\n(?P<code>[^`]*)```\n\n<!-- emitted -->\n\n```cuda\n(?P<source>.*?)```", re.DOTALL
)


def read(page):
    with open(os.path.join(FOLDER, page), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """(kind, name, code) of the blocks of a page."""
    return [(each["kind"], each["name"], each["code"]) for each in BLOCK.finditer(text)]


def fill_emitted(text, names):
    """The page with the source that its code prints."""

    def fill(found):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(found["code"], names)
        return found[0].replace(found["source"], printed.getvalue().strip() + "\n", 1)

    return EMITTED.sub(fill, text)


def run(page, plt=None, done=lambda name: None):
    """Runs the blocks of a page, those that draw only with pyplot. `done` gets the name of each
    picture. Returns the names that the page has then."""
    text, names = read(page), {"plt": plt, "COLORS": COLORS}
    if plt:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        names.update(ListedColormap=ListedColormap, Patch=Patch)
    if "import torch" in text:
        import torch

        torch.manual_seed(7)
    for kind, name, code in blocks(text):
        if kind == "tested" or plt:
            exec(compile(code, page, "exec"), names)
        if kind == "drawn" and plt:
            done(name)
    if page == "QuickStart.md" and plt:
        draw_quick_start(plt, names)
        done("quick-start")
    return names


def draw_quick_start(plt, names):
    """The quick start is short: its picture is made here."""
    scores, best, rows, found = (
        names[each].cpu() for each in ("scores", "best", "rows", "found")
    )
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(10, 4.6))
    top.bar(range(256), scores, width=1, color="#dddddd")
    top.bar(best.long(), scores[best.long()], width=1, color=COLORS[0])
    top.set(ylabel="score", xlabel="row", xlim=(-1, 256))
    bottom.plot(rows[best[0]][:96], color="#999999", label="row")
    bottom.plot(found[0][:96], ".", color=COLORS[3], label="from the cache")
    bottom.set(xlabel="element", xlim=(0, 96))
    bottom.legend(frameon=False, ncol=2)


def save(name):
    import matplotlib.pyplot as plt

    for axes in plt.gcf().axes:
        axes.spines[["top", "right"]].set_visible(False)
    plt.tight_layout()
    path = os.path.join(FOLDER, "images", f"{name}.png")
    plt.savefig(path, dpi=100, metadata={"Software": None})
    plt.close("all")
    print(path)


def main():
    try:
        import matplotlib
    except ImportError:
        print("gallery.py: no matplotlib, so no pictures: pip install matplotlib")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for page in map(os.path.basename, sys.argv[1:] or PAGES):
        text = fill_emitted(read(page), run(page, plt, save))
        with open(os.path.join(FOLDER, page), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
