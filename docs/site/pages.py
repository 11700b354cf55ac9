# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Markdown files of the tree as sources of the site.

They are for GitHub, too: their links lead to files and folders. In the site, a link to a folder
leads to its README or a list of its files, and a link to another file to a page that shows it.
"""

import os
import re
import shutil

# Blocks and code in lines, which hold no links.
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()[^)\s]+(?=\))")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


class BrokenLink(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def map_text(text, change):
    """The text of a page, as `change` has it where it is not code."""
    parts, at = [], 0
    for code in [*CODE.finditer(text), None]:
        end = code.start() if code else len(text)
        parts.append(change(text[at:end]))
        if code:
            parts.append(code[0])
            at = code.end()
    return "".join(parts)


def map_links(text, change):
    """The text of a page with every link as `change` has it."""
    return map_text(text, lambda part: LINK.sub(lambda link: change(link[0]), part))


class Pages:
    """Writes the pages of a tree below `output`: given ones, and all that they link to."""

    def __init__(self, tree, output, sources):
        self.tree, self.output, self.sources = tree, output, sources
        self.seen, self.waiting = set(), []

    def add_all(self, paths):
        """Adds pages. Those that these link to are in no contents."""
        for path in paths:
            self.ask(path)
        while self.waiting:
            path = self.waiting.pop()
            front = "" if path in paths else "---\norphan: true\n---\n"
            self.write(page_of(path), front + self.text_of(path))

    def ask(self, path):
        if path not in self.seen:
            self.seen.add(path)
            self.waiting.append(path)

    def write(self, page, text):
        target = os.path.join(self.output, page)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)

    def text_of(self, path):
        text = read(os.path.join(self.tree, path))
        images = set(IMAGE.findall(text))

        def change(link):
            if "://" in link or link.startswith("#"):
                return link
            name, hash, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not os.path.exists(os.path.join(self.tree, target)):
                raise BrokenLink(f"{path}: no file {link}")
            scheme, to = self.find(target, is_image=link in images)
            start = os.path.dirname(page_of(path)) or "."
            return scheme + os.path.relpath(to, start) + hash + anchor

        return map_links(text, change)

    def find(self, path, is_image):
        """What leads to a path of the tree: a scheme, and a page or image."""
        full = os.path.join(self.tree, path)
        if is_image:
            target = os.path.join(self.output, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(full, target)
            return "", path
        if os.path.exists(os.path.join(full, "README.md")):
            path = os.path.normpath(os.path.join(path, "README.md"))
        if not path.endswith(".md"):
            return "source:", self.sources.page_of(path)
        self.ask(path)
        return "", page_of(path)


def page_of(path):
    return "index.md" if path == "README.md" else path


def read_contents(tree):
    """[(heading, pages)] of docs/README.md, which lists pages by reader. A page is where it is
    listed first."""
    contents, seen = [], set()
    for section in read(os.path.join(tree, "docs", "README.md")).split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        pages = []
        for link in LINK.findall(text):
            path = os.path.normpath(os.path.join("docs", link.partition("#")[0]))
            if path.endswith(".md") and path not in seen:
                seen.add(path)
                pages.append(path)
        if pages:
            contents.append((heading, pages))
    return contents
