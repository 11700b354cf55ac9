# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of the pages with pictures, by an interpreter that has what they need.

The tools of the site have none of it. So this file is a program, too, for the other interpreter:

    python run_pages.py TREE PACKAGES        prints what the interpreter has and lacks, as JSON
    python run_pages.py TREE PACKAGES FILE   writes into FILE what each program printed and drew

PACKAGES is a folder that holds the package dsv4.
"""

import base64
import hashlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import platform
import shutil
import subprocess
import sys

COMPILER = "a C++ compiler"
# In the order in which pages name them.
NEEDS = ("dsv4", "numpy", "matplotlib", "torch", COMPILER)


def load_gallery(tree):
    """docs/gallery.py, or None if the tree has none."""
    path = os.path.join(tree, "docs", "gallery.py")
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location("gallery", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_version(name):
    """The version of a library, or None if there is none that can be imported."""
    try:
        # These two must fit the interpreter. The others take seconds.
        if name in ("dsv4", "numpy"):
            return importlib.import_module(name).__version__
        found = importlib.util.find_spec(name)
        return importlib.metadata.version(name) if found else None
    except Exception:  # What is broken is not there; of many kinds.
        return None


def stamp_of(name):
    """Sizes and times of the files of a package."""
    digest = hashlib.sha256()
    for folder in importlib.import_module(name).__path__:
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.is_file():
                stat = entry.stat()
                digest.update(f"{entry.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def probe():
    found = {name: find_version(name) for name in NEEDS if name != COMPILER}
    lacks = [name for name, version in found.items() if version is None]
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        lacks.append(COMPILER)
    versions = {"Python": platform.python_version()}
    versions.update((name, version) for name, version in found.items() if version)
    stamp = "" if "dsv4" in lacks else stamp_of("dsv4")
    return {"lacks": lacks, "versions": versions, "stamp": stamp}


def take_picture():
    """The figure that was drawn last, and its name."""
    import matplotlib.pyplot as plt

    figure, picture = plt.gcf(), io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})
    plt.close("all")
    return {"picture": base64.b64encode(picture.getvalue()).decode(), "figure": repr(figure)}


def run_page(gallery, page, found):
    """What the page lacks, by which versions it was run, and of each block what it printed and
    drew, or None if it was not run."""
    is_needed = {"torch": gallery.needs_torch(gallery.read(page))}
    lacks = [name for name in found["lacks"] if is_needed.get(name, True)]
    versions = [
        f"{name} {each}" for name, each in found["versions"].items() if is_needed.get(name, True)
    ]
    results = []

    def done(block, printed):
        is_drawn = printed is not None and block.kind == "drawn"
        picture = take_picture() if is_drawn else {}
        results.append(None if printed is None else {"printed": printed, **picture})

    if set(lacks) <= {"matplotlib"}:
        gallery.run(page, not lacks, done)
    else:
        results = [None] * len(gallery.blocks(gallery.read(page)))
    return {"lacks": lacks, "versions": versions, "results": results}


def run_all(tree):
    found = probe()
    if "matplotlib" not in found["lacks"]:
        import matplotlib

        matplotlib.use("Agg")
    gallery = load_gallery(tree)
    return {page: run_page(gallery, page, found) for page in gallery.PAGES}


#===-- What the tools of the site call --------------------------------------===#


def call(python, tree, packages, *more):
    command = [python, os.path.abspath(__file__), tree, packages, *more]
    return subprocess.run(command, stdout=None if more else subprocess.PIPE,
                          stderr=None if more else subprocess.DEVNULL, text=True)  # fmt: skip


def find_python(tree, packages, candidates):
    """The first interpreter that lacks nothing, or else the one that lacks least, and what it has
    and lacks."""
    best = sys.executable, {"lacks": list(NEEDS), "versions": {}, "stamp": ""}
    for python in dict.fromkeys(filter(None, candidates)):
        try:
            done = call(python, tree, packages)
        except OSError:
            continue
        if done.returncode == 0:
            found = json.loads(done.stdout)
            if len(found["lacks"]) < len(best[1]["lacks"]):
                best = python, found
            if not found["lacks"]:
                break
    return best


def find_results(tree, packages, candidates, path):
    """The results of all pages, from the file `path` if it has those of the same pages by the same
    interpreter and package. Raises CalledProcessError if a program fails."""
    gallery = load_gallery(tree)
    python, found = find_python(tree, packages, candidates)
    key = hashlib.sha256(json.dumps([python, found]).encode())
    files = [os.path.join(tree, "docs", page) for page in (*gallery.PAGES, "gallery.py")]
    for name in (*files, os.path.abspath(__file__)):
        with open(name, "rb") as file:
            key.update(file.read())
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["key"] == key.hexdigest():
            return kept["pages"]
        os.remove(path)
    call(python, tree, packages, path + ".new").check_returncode()
    with open(path + ".new", encoding="utf-8") as file:
        results = json.load(file)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"key": key.hexdigest(), "pages": results}, file)
    os.rename(path + ".new", path)
    return results


if __name__ == "__main__":
    tree, packages, *more = sys.argv[1:]
    sys.path.insert(0, packages)
    if more:
        results = run_all(tree)
        with open(more[0], "w", encoding="utf-8") as file:
            json.dump(results, file)
    else:
        print(json.dumps(probe()))
