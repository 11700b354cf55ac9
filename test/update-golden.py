#!/usr/bin/env python3
"""Writes the CHECK lines of golden emission tests.

usage: update-golden.py [--tools DIR] FILE...

Everything after the marker of a golden test (golden.py) is replaced by the output
of its RUN line, one CHECK line for each line of the kernel. Read the change before
you commit it: the appearance of emitted source is part of the contract, and this
program does not judge it.

DIR holds dsv4-opt and dsv4-translate (default: the first build/*/bin that has
both, else PATH).
"""

import argparse
import glob
import os
import re
import subprocess
import sys

import golden


def default_tools():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in sorted(glob.glob(os.path.join(root, "build*", "bin"))
                         + glob.glob(os.path.join(root, "build", "*", "bin"))):
        if all(os.path.exists(os.path.join(folder, tool)) for tool in ("dsv4-opt", "dsv4-translate")):
            return folder
    return ""


def to_checks(output):
    """One check a line. --strict-whitespace --match-full-lines takes the text from
    after the colon as it is, so the colons stand in one column."""
    lines = output.rstrip("\n").split("\n")
    checks = []
    for i, line in enumerate(lines):
        # What FileCheck would read as its own syntax.
        line = re.sub(r"\[\[|\{\{", lambda m: "{{" + "".join(f"[{c}]" if c == "{" else "\\[" for c in m[0]) + "}}", line)
        if not line:
            checks.append("//CHECK-EMPTY:")
        elif i == 0:
            checks.append("//     CHECK:" + line)
        else:
            checks.append("//CHECK-NEXT:" + line)
    return "\n".join(checks) + "\n"


def update(path, tools):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    command = golden.print_command(path, text)
    if command is None:
        sys.exit(f"{path}: its first RUN line does not end in '{golden.FILECHECK}'")
    if golden.MARKER not in text:
        sys.exit(f"{path}: has no line '{golden.MARKER.strip()}'")
    environment = dict(os.environ, PATH=os.pathsep.join([tools, os.environ["PATH"]]))
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment,
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{path}: {command}\n{run.stderr}")
    head = text[: text.index(golden.MARKER) + len(golden.MARKER)]
    new = head + to_checks(run.stdout)
    if new == text:
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)
    print(path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip()[7:])
    parser.add_argument("--tools", default=default_tools())
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    for path in arguments.files:
        update(path, arguments.tools)


if __name__ == "__main__":
    main()
