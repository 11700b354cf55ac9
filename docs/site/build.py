#!/usr/bin/env python3
# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the site of the documentation: OUTPUT/VERSION, and a list of the versions in OUTPUT.

    build/site-tools/bin/python docs/site/build.py OUTPUT [TREE]

`make site` installs the tools first. A link to a file or heading that does not exist is an error,
and so is a page of docs/ that docs/README.md does not list. Pages with pictures are run, if some
interpreter has all that they need, and a program that fails is an error, too. Does nothing if
nothing changed.
"""

import argparse
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import api
import notebooks
import pages
import run_pages
import sources

SITE = os.path.dirname(os.path.abspath(__file__))
HERE = os.path.normpath(os.path.join(SITE, "..", ".."))
sys.path.append(os.path.join(HERE, "scripts"))
import libraries

VERSIONS_JS = """\
(() => {{
  const versions = {versions};
  const list = document.getElementById("versions");
  list.replaceChildren(...versions.map((each) => new Option(each)));
  list.value = list.dataset.version;
  list.onchange = () => {{ location = list.dataset.root + "/../" + list.value + "/index.html"; }};
}})();
"""
REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<title>dsv4</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">dsv4 {version}</a>
"""


def find_version(tree):
    text = pages.read(os.path.join(tree, "CMakeLists.txt"))
    return re.search(r"^project\(dsv4 VERSION ([\d.]+)", text, re.MULTILINE)[1]


def find_pages(tree):
    """The pages below docs/."""
    for folder, _, names in os.walk(os.path.join(tree, "docs")):
        for name in names:
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), tree)


def contents_of(heading, entries):
    lines = "\n".join(os.path.splitext(each)[0] for each in entries)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n"


def write_sources(tree, output, shown):
    """The pages for Sphinx: those of the tree, the reference of the package, and the contents."""
    contents = pages.read_contents(tree)
    listed = [page for _, entries in contents for page in entries]
    listed += ["README.md", "docs/README.md", "CONTRIBUTING.md"]
    unlisted = sorted(set(find_pages(tree)) - set(listed))
    if unlisted:
        raise pages.BrokenLink(f"docs/README.md: no link to {', '.join(unlisted)}")
    written = pages.Pages(tree, output, shown)
    written.add_all(listed)
    modules = api.write_pages(os.path.join(tree, "python", "dsv4"))
    for name, text in modules.items():
        written.write(f"api/{name}.md", text)
    contents += [
        ("Reference of the Python package", [f"api/{each}.md" for each in modules]),
        ("More", ["docs/README.md", "CONTRIBUTING.md"]),
    ]
    with open(os.path.join(output, "index.md"), "a", encoding="utf-8") as file:
        for heading, entries in contents:
            file.write(contents_of(heading, entries))


def digest_of(*folders):
    """Of all that is in folders."""
    digest = hashlib.sha256()
    for root in folders:
        for path in sorted(glob.glob("**", root_dir=root, recursive=True)):
            if os.path.isfile(os.path.join(root, path)) and "__pycache__" not in path:
                with open(os.path.join(root, path), "rb") as file:
                    digest.update(f"{path}\0".encode() + file.read())
    return digest.hexdigest()


def run_sphinx(output, written, site, version):
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", SITE, "--fail-on-warning",
               "--keep-going", "-j", "auto", "-d", os.path.join(output, ".doctrees"),
               "-D", f"version={version}", "-D", f"release={version}",
               "-D", f"html_title=dsv4 {version}", written, site]  # fmt: skip
    if subprocess.run(command).returncode != 0:
        sys.exit("site: the lines above say what is wrong")


def write_versions(output):
    """What chooses a version, and what leads to the newest."""
    versions = [each for each in os.listdir(output) if re.fullmatch(r"[\d.]*\d", each)]
    versions.sort(key=lambda each: [int(number) for number in each.split(".")], reverse=True)
    with open(os.path.join(output, "versions.js"), "w", encoding="utf-8") as file:
        file.write(VERSIONS_JS.format(versions=json.dumps(versions)))
    with open(os.path.join(output, "index.html"), "w", encoding="utf-8") as file:
        file.write(REDIRECT.format(version=versions[0]))


def add_notebooks(options, written, kept):
    """Runs the pages with pictures, and adds what they print and draw."""
    gallery = run_pages.load_gallery(options.tree)
    if not gallery:
        return
    candidates = (libraries.find_python(HERE), shutil.which("python3"), "/usr/bin/python3")
    if options.python:
        candidates = (options.python,)
    try:
        found = run_pages.find_results(options.tree, options.packages, candidates, kept)
    except subprocess.CalledProcessError:
        sys.exit("site: a program of a page fails: the lines above say why")
    notebooks.add(gallery, options.tree, written, found)


def make(options, output):
    tree = options.tree
    version = find_version(tree)
    written, files = os.path.join(output, ".pages"), os.path.join(output, ".files")
    site = os.path.join(output, version)
    for each in (written, files):
        shutil.rmtree(each, ignore_errors=True)
        os.mkdir(each)
    bodies = os.path.join(output, f".shown-{version}")
    kept = json.loads(pages.read(bodies)) if os.path.exists(bodies) else {}
    shown = sources.Sources(tree, files, version, kept)
    try:
        write_sources(tree, written, shown)
    except pages.BrokenLink as broken:
        sys.exit(f"site: {broken}")
    with open(f"{bodies}.new", "w", encoding="utf-8") as file:
        json.dump(shown.shown, file)
    os.rename(f"{bodies}.new", bodies)
    add_notebooks(options, written, os.path.join(output, f".ran-{version}"))
    # What it was made of, where all of it was made.
    made, digest = os.path.join(output, f".made-{version}"), digest_of(written, files, SITE)
    is_there = all(map(os.path.exists, (made, os.path.join(site, "index.html"))))
    if is_there and pages.read(made) == digest:
        return
    if os.path.exists(made):
        os.remove(made)
    shutil.rmtree(site, ignore_errors=True)
    run_sphinx(output, written, site, version)
    shutil.copytree(files, site, dirs_exist_ok=True)
    write_versions(output)
    with open(made, "w", encoding="utf-8") as file:
        file.write(digest)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", metavar="OUTPUT")
    parser.add_argument("tree", metavar="TREE", nargs="?", default=HERE)
    parser.add_argument("--python", help="the interpreter that runs the pages with pictures")
    parser.add_argument(
        "--packages", default=os.path.join(HERE, "build", "release", "python"),
        help="the folder with the package dsv4 that they use",
    )  # fmt: skip
    options = parser.parse_args()
    output = os.path.abspath(options.output)
    os.makedirs(output, exist_ok=True)
    # Of two that make the same site, one waits for the other.
    with open(os.path.join(output, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(options, output)
    print(os.path.join(output, "index.html"))


if __name__ == "__main__":
    main()
