#!/usr/bin/env python3
"""Writes the CHECK lines of golden emission tests.

usage: update-golden.py [--tools DIR] FILE...

A golden test is an .mlir file whose first RUN line ends in

    | FileCheck %s --strict-whitespace --match-full-lines

and whose last lines are the CHECK lines of a whole kernel, after the marker
"// The whole text." Everything from the marker on is replaced by the output of
the RUN line, one CHECK line for each line of text. Read the change before you
commit it: the appearance of emitted text is part of the contract, and this
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

MARKER = "// The whole text.\n"
FILECHECK = "| FileCheck %s --strict-whitespace --match-full-lines"


def default_tools():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in sorted(glob.glob(os.path.join(root, "build*", "bin"))
                         + glob.glob(os.path.join(root, "build", "*", "bin"))):
        if all(os.path.exists(os.path.join(folder, tool)) for tool in ("dsv4-opt", "dsv4-translate")):
            return folder
    return ""


def run_line(text):
    """The first RUN command, continuation lines joined."""
    lines = re.findall(r"^// RUN: (.*)$", text, flags=re.M)
    command = ""
    for line in lines:
        command += line.rstrip("\\")
        if not line.endswith("\\"):
            return command
    return command


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
    command = run_line(text)
    if FILECHECK not in command:
        sys.exit(f"{path}: its first RUN line does not end in '{FILECHECK}'")
    if MARKER not in text:
        sys.exit(f"{path}: has no line '{MARKER.strip()}'")
    command = command.replace(FILECHECK, "").replace("%s", os.path.abspath(path))
    environment = dict(os.environ, PATH=os.pathsep.join([tools, os.environ["PATH"]]))
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment,
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{path}: {command}\n{run.stderr}")
    head = text[: text.index(MARKER) + len(MARKER)]
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
