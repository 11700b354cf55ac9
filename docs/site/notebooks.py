# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Notebooks of the pages whose programs are run, with the results, and these pages of the site."""

import base64
import os
import re

import nbformat
from nbformat import v4

import pages

# In the Markdown of a cell.
COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
DETAILS = re.compile(r"</?details>\n?|</?summary>")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def join(names):
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def describe(ran):
    """How far a page was run, and by which versions."""
    if not ran["lacks"]:
        return f"Its results are from {join(ran['versions'])}."
    without = "pictures" if any(ran["results"]) else "results"
    return f"It has no {without}: the machine that made this site lacks {join(ran['lacks'])}."


class Notebook:
    """The notebook of a page."""

    def __init__(self, gallery, folder, page, ran):
        self.folder, self.text = folder, gallery.read(page)
        self.blocks, self.results = gallery.blocks(self.text), ran["results"]
        self.cells, self.count, at = [], 0, 0
        for block, result in zip(self.blocks, self.results):
            self.add_text(self.text[at : block.start])
            if block is self.blocks[0]:
                self.add_text(f"{describe(ran)} {self.needs(gallery)}")
                self.add_code(gallery.prologue(self.text), None if ran["lacks"] else {})
            self.add_code(block.code, result, self.alt_of(block))
            at = block.end
        self.add_text(self.text[at:])

    def needs(self, gallery):
        needs = ["the package dsv4", "matplotlib", "a C++ compiler"]
        if gallery.needs_torch(self.text):
            needs[2:] = ["torch", "a C++ compiler or a GPU"]
        return f"The cells need {join(needs)}. The next one prepares the others."

    def drawn(self):
        """What each block drew, by the picture's name in the page."""
        return {
            f"images/{block.name}.png": base64.b64decode(result["picture"])
            for block, result in zip(self.blocks, self.results)
            if result and "picture" in result
        }

    def alt_of(self, block):
        """The text of the picture of a block."""
        for text, link in PICTURE.findall(self.text):
            if link == f"images/{block.name}.png":
                return " ".join(text.split())
        return ""

    def add_text(self, text):
        attachments = {}

        def show(picture):
            text, link = " ".join(picture[1].split()), picture[2]
            if link in self.drawn():
                return ""
            name = os.path.basename(link)
            with open(os.path.join(self.folder, link), "rb") as file:
                attachments[name] = {"image/png": base64.b64encode(file.read()).decode()}
            return f"![{text}](attachment:{name})"

        def change(text):
            text = DETAILS.sub("", COMMENT.sub("", text))
            return PICTURE.sub(show, LINK.sub(r"\1", text))

        text = re.sub(r"\n{3,}", "\n\n", pages.map_text(text, change)).strip()
        if text:
            cell = v4.new_markdown_cell(text, id=self.next_id())
            if attachments:
                cell["attachments"] = attachments
            self.cells.append(cell)

    def add_code(self, code, result, alt=""):
        cell = v4.new_code_cell(code.rstrip(), id=self.next_id())
        if result is not None:
            self.count += 1
            cell["execution_count"] = self.count
            if result.get("printed"):
                cell["outputs"].append(v4.new_output("stream", text=result["printed"]))
            if "picture" in result:
                data = {"image/png": result["picture"] + "\n", "text/plain": result["figure"]}
                metadata = {"image/png": {"alt": alt}}
                cell["outputs"].append(v4.new_output("display_data", data, metadata=metadata))
        self.cells.append(cell)

    def next_id(self):
        # Those of nbformat are random, and the site would be another one each time.
        return f"cell-{len(self.cells)}"

    def write(self, path):
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        notebook = v4.new_notebook(cells=self.cells, metadata=metadata)
        nbformat.validate(notebook)
        nbformat.write(notebook, path)


def add(gallery, tree, output, found):
    """Writes the notebooks of pages below `output`, and what their programs printed and drew into
    the pages there."""
    for page, ran in found.items():
        name = os.path.splitext(page)[0] + ".ipynb"
        folder = os.path.join(output, "docs")
        notebook = Notebook(gallery, os.path.join(tree, "docs"), page, ran)
        notebook.write(os.path.join(folder, name))
        printed = [result and result["printed"] for result in ran["results"]]
        text = gallery.fill(pages.read(os.path.join(folder, page)), printed)
        note = f"You can download this page as [a notebook]({name}). {describe(ran)}"
        if ran["lacks"]:
            note += " What this page shows of them is from the repository."
        title, _, rest = text.partition("\n\n")
        with open(os.path.join(folder, page), "w", encoding="utf-8") as file:
            file.write(f"{title}\n\n:::{{note}}\n{note}\n:::\n\n{rest}")
        for picture, data in notebook.drawn().items():
            with open(os.path.join(folder, picture), "wb") as file:
                file.write(data)
