"""Fails if a relative link of a page names no file, or no heading of a page.

usage: check-links.py ROOT
"""

import os
import re
import sys


def headings(text):
    """The anchors of a page, as renderers make them of its headings."""
    anchors, fenced = set(), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        match = re.match(r"#+ (.*)", line)
        if match and not fenced:
            name = re.sub(r"[^\w\- ]", "", match.group(1).lower()).strip()
            anchors.add(name.replace(" ", "-"))
    return anchors


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    root = sys.argv[1]
    pages = [os.path.join(root, name) for name in ("README.md", "CONTRIBUTING.md")]
    for folder, _, files in os.walk(os.path.join(root, "docs")):
        pages += [os.path.join(folder, name) for name in files if name.endswith(".md")]
    bad = 0
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(target):
                print(f"{page}: no file {link}")
            elif anchor and anchor not in headings(read(target)):
                print(f"{page}: no heading {link}")
            else:
                continue
            bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
