"""Checks that the table of docs/Environment.md has every environment variable that the tree reads,
and no others.

    check_environment.py SOURCE
"""

import os
import re
import sys

FOLDERS = ("bench", "docs", "include", "kvcache", "lib", "python", "runtime", "scripts", "test", "tools")
FILES = ("Makefile", ".ci/run")
PAGE = "docs/Environment.md"
NAME = r"[A-Z][A-Z0-9_]+"

PYTHON = [
    rf"os\.environ(?:\.get\(|\.pop\(|\.setdefault\(|\[)\s*[\"']({NAME})[\"'](?!\] =)",
    rf"[\"']({NAME})[\"'] (?:not )?in os\.environ",
    rf"os\.getenv\([\"']({NAME})[\"']",
]
# What a variable is if it is not set; the script sets others itself.
SHELL = [rf"\$\{{({NAME}):?[-?]", rf"\$\(\(?({NAME}),true\)"]
MAKE = [rf"^(?:\w+: )?(?:export )?({NAME}) \?=", rf"\$\(({NAME})\),true\)", rf"^export ({NAME}) := \$\(if",
        rf"\$\(or \$\(({NAME})\),"]


def patterns_of(path, text):
    if path.endswith((".cpp", ".h", ".c", ".hpp")):
        # Where one name is not in the call, the file has it in a list.
        calls = re.findall(r"getenv\(\s*([^)]*)\)", text)
        if not calls:
            return []
        return [rf'"({NAME})"'] if any('"' not in each for each in calls) else [rf'getenv\("({NAME})"']
    if path.endswith((".py", ".cfg")) or text.startswith("#!/usr/bin/env python3"):
        return PYTHON
    if path.endswith(".sh") or text.startswith("#!/usr/bin/env bash"):
        return SHELL
    return MAKE if path == "Makefile" else []


def files_of(source):
    yield from FILES
    for folder in FOLDERS:
        for root, _, names in os.walk(os.path.join(source, folder)):
            if not os.path.relpath(root, source).startswith("bench/results"):
                for name in names:
                    yield os.path.relpath(os.path.join(root, name), source)


def find_read(source):
    """{name: the first file that reads it}."""
    found = {}
    for path in files_of(source):
        try:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        for pattern in patterns_of(path, text):
            for name in re.findall(pattern, text, re.MULTILINE):
                # Tests set variables of other programs.
                if not path.startswith(("test/", "python/tests/")) or name.startswith("DSV4_"):
                    found.setdefault(name, path)
    return found


def main():
    source = sys.argv[1]
    with open(os.path.join(source, PAGE), encoding="utf-8") as file:
        cells = re.findall(r"^\| (`.*?) \|", file.read(), re.MULTILINE)
    listed = [name for cell in cells for name in re.findall(rf"`({NAME})`", cell)]
    read = find_read(source)
    bad = [f"{read[name]} reads {name}, which {PAGE} lacks" for name in sorted(set(read) - set(listed))]
    bad += [f"{PAGE} has {name}, which nothing reads" for name in sorted(set(listed) - set(read))]
    bad += [f"{PAGE} has {name} twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    print(*bad, f"{len(read)} environment variables", sep="\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
