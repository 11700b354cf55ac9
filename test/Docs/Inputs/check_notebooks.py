"""Checks the notebooks of a site: they are valid, have the programs of their pages in order with
their results, which the site shows, and run as they are on another machine.

usage: check_notebooks.py PYTHON PACKAGES DOCS SITE PAGE...

Runs in an interpreter with nbformat; PYTHON is one with what the notebooks need.
"""

import base64
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile

import nbformat

# Runs the cells of notebooks as a stranger does, one after another, in names of their own. Prints
# what each printed and how many figures it drew.
RUN = """
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import matplotlib.pyplot as plt
pages = {}
for page, cells in json.load(sys.stdin).items():
    names, results = {"__name__": "__main__"}, pages.setdefault(page, [])
    for count, cell in enumerate(cells, 1):
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(cell, page, "exec"), names)
        except Exception as error:
            results.append([repr(error), None])
            continue
        results.append([printed.getvalue(), len(plt.get_fignums())])
        plt.close("all")
print(json.dumps(pages))
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pictures_of(cell):
    data = [each.get("data", {}) for each in cell.outputs]
    return [each["image/png"] for each in data if "image/png" in each]


def printed_by(cell):
    return "".join(each.text for each in cell.outputs if each.output_type == "stream")


def check(text, site, shown, notebook):
    """What is wrong with the notebook of a page, and with the page in the site."""
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        yield f"not valid: {error.message}"
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    drawn = re.findall(r"<!-- drawn: [\w-]+ -->\n\n```python\n(.*?)```", text, re.DOTALL)
    first, *cells = [each for each in notebook.cells if each.cell_type == "code"]
    sources = [each.source.strip() for each in cells]
    if sources != [each.strip() for each in programs]:
        yield "its cells are not the programs of the page"
    counts = [each.execution_count for each in (first, *cells)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"runs {counts}"
    files = set()
    for path in glob.glob(os.path.join(site, "_images", "*.png")):
        with open(path, "rb") as file:
            files.add(file.read())
    for number, (cell, program) in enumerate(zip(cells, programs), 2):
        pictures = pictures_of(cell)
        if len(pictures) != (program in drawn):
            yield f"run {number} has {len(pictures)} pictures"
        for each in pictures:
            if base64.b64decode(each) not in files:
                yield f"the site does not show the picture of run {number}"
        if "print(" in program and not printed_by(cell):
            yield f"run {number} prints nothing"
        if printed_by(cell).strip() not in shown:
            yield f"the site does not show the text of run {number}"
    texts = [each.source for each in notebook.cells if each.cell_type == "markdown"]
    if re.search(r"\]\((?!https?:|attachment:)", "\n".join(texts)):
        yield "has a link that leads nowhere elsewhere"


def run_as_stranger(python, packages, notebooks):
    """What is wrong with a run of the cells."""
    cells = {
        page: [each.source for each in notebook.cells if each.cell_type == "code"]
        for page, notebook in notebooks.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-c", RUN, os.path.abspath(packages)], input=json.dumps(cells), cwd=folder,
            stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "MPLBACKEND": "Agg"},
        )  # fmt: skip
    for page, results in json.loads(done.stdout).items():
        has = [each for each in notebooks[page].cells if each.cell_type == "code"]
        for number, (cell, (printed, figures)) in enumerate(zip(has, results), 1):
            if figures is None:
                yield f"{page}: run {number} elsewhere: {printed}"
            elif (printed, figures) != (printed_by(cell), len(pictures_of(cell))):
                yield f"{page}: run {number} elsewhere gives another result"


def main():
    python, packages, docs, root, *pages = sys.argv[1:]
    [site] = [
        os.path.join(root, each) for each in os.listdir(root) if re.fullmatch(r"[\d.]+\d", each)
    ]
    notebooks, bad = {}, []
    for page in pages:
        shown = read(os.path.join(site, "docs", f"{page}.html"))
        [link] = re.findall(rf'href="([^"]*/{page}\.ipynb)"', shown)
        path = os.path.join(site, "docs", link)
        notebooks[page] = nbformat.read(path, as_version=4)
        # As the text of an element, without the colours.
        shown = html.unescape(re.sub(r"<[^>]*>", "", shown))
        text = read(os.path.join(docs, f"{page}.md"))
        bad += [f"{page}: {each}" for each in check(text, site, shown, notebooks[page])]
    bad += run_as_stranger(python, packages, notebooks)
    for page, notebook in notebooks.items():
        cells = [each for each in notebook.cells if each.cell_type == "code"]
        pictures = sum(len(pictures_of(each)) for each in cells)
        texts = sum(bool(printed_by(each)) for each in cells)
        bad.append(f"{page}: {len(cells)} cells, {pictures} pictures, {texts} texts")
    print(*bad, sep="\n")
    sys.exit(len(bad) > len(notebooks))


if __name__ == "__main__":
    main()
