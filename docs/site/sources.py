# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files and folders of the tree that pages link to, as pages of their own below files/."""

import hashlib
import html
import os
import shutil

from pygments import __version__ as pygments_version
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

import mlir
from mlir import MLIRLexer

# Larger files are downloads.
MAX_SHOWN = 200_000
LANGUAGES = {
    ".c": "c", ".cmake": "cmake", ".cpp": "cpp", ".cuh": "cuda", ".h": "cpp", ".hpp": "cpp",
    ".json": "json", ".md": "markdown", ".py": "python", ".sh": "sh", ".td": "tablegen",
}  # fmt: skip
LEFT_OUT = ("__pycache__",)
PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - dsv4 {version}</title>
<style>
body {{ font-family: sans-serif; margin: 1rem; }}
pre {{ font-size: 0.85rem; overflow-x: auto; }}
{style}
</style>
<p><a href="{home}">dsv4 {version}</a> / {title}</p>
{body}
</html>
"""


def lexer_of(path):
    name = os.path.basename(path)
    language = LANGUAGES.get(os.path.splitext(name)[1])
    if name.endswith(".mlir"):
        return MLIRLexer()
    if name == "CMakeLists.txt":
        language = "cmake"
    try:
        return get_lexer_by_name(language) if language else TextLexer()
    except ClassNotFound:
        return TextLexer()


def is_text(full):
    if os.path.getsize(full) > MAX_SHOWN:
        return False
    with open(full, "rb") as file:
        return b"\0" not in file.read()


class Sources:
    """Writes the pages of files below `output`/files. `kept` has the bodies of an earlier time."""

    def __init__(self, tree, output, version, kept):
        self.tree, self.output, self.version = tree, output, version
        self.formatter, self.written = HtmlFormatter(), set()
        self.kept, self.shown = kept, {}
        with open(mlir.__file__, encoding="utf-8") as file:
            self.colours = f"{pygments_version}\0{file.read()}"

    def page_of(self, path):
        """The page of a file or folder, which it writes, relative to the site."""
        full = os.path.join(self.tree, path)
        if os.path.isdir(full):
            page, write = f"files/{path}/index.html", self.write_folder
        elif is_text(full):
            page, write = f"files/{path}.html", self.write_file
        else:
            page, write = f"files/{path}", self.copy
        if page not in self.written:
            self.written.add(page)
            os.makedirs(os.path.dirname(os.path.join(self.output, page)), exist_ok=True)
            write(path, page)
        return page

    def copy(self, path, page):
        shutil.copyfile(os.path.join(self.tree, path), os.path.join(self.output, page))

    def write_file(self, path, page):
        with open(os.path.join(self.tree, path), encoding="utf-8") as file:
            text = file.read()
        # This takes most of the time where nothing changed.
        key = hashlib.sha256(f"{self.colours}\0{path}\0{text}".encode()).hexdigest()
        body = self.kept.get(key) or highlight(text, lexer_of(path), self.formatter)
        self.shown[key] = body
        self.write(path, page, body)

    def write_folder(self, path, page):
        items = []
        for name in sorted(os.listdir(os.path.join(self.tree, path))):
            if name in LEFT_OUT:
                continue
            full = os.path.join(path, name)
            to = os.path.relpath(self.page_of(full), os.path.dirname(page))
            end = "/" if os.path.isdir(os.path.join(self.tree, full)) else ""
            items.append(f'<li><a href="{html.escape(to)}">{html.escape(name)}{end}</a>')
        self.write(path, page, f"<ul>{''.join(items)}</ul>")

    def write(self, path, page, body):
        home = os.path.relpath("index.html", os.path.dirname(page))
        style = self.formatter.get_style_defs(".highlight")
        with open(os.path.join(self.output, page), "w", encoding="utf-8") as file:
            file.write(
                PAGE.format(
                    title=html.escape(path), version=self.version, home=home, style=style, body=body
                )
            )
