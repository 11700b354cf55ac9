"""Fails if a link within a site names no file, or no anchor of a page.

usage: check_site.py SITE
"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def is_outside(link):
    return "://" in link or link.startswith(("data:", "mailto:"))


def main():
    root, bad, count = sys.argv[1], 0, 0
    paths = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".html") and os.sep + "." not in folder
    ]
    pages = {os.path.normpath(path): Page(path) for path in paths}
    for path, page in pages.items():
        for link in page.links:
            if is_outside(link):
                continue
            count += 1
            name, _, anchor = link.partition("#")
            name = unquote(name.partition("?")[0])
            target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            # A server takes // for a folder without a name.
            if "//" in name or not os.path.isfile(target):
                print(f"{path}: no file {link}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                print(f"{path}: no anchor {link}")
            else:
                continue
            bad = 1
    print(f"{len(pages)} pages with {count} links")
    sys.exit(bad)


if __name__ == "__main__":
    main()
