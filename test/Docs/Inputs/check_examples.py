#!/usr/bin/env python3
"""Verifies the programs in Markdown pages and op descriptions with dsv4-opt.

usage: check_examples.py FILE...

A program is a block that begins with ```mlir and defines a function. The description of every op in
a .td file begins with a block of MLIR.
"""

import re
import subprocess
import sys


def programs(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for block in re.finditer(r"^( *)```mlir\n(.*?)^\1```", text, re.S | re.M):
        if "func.func" in block.group(2) and "..." not in block.group(2):
            line = text.count("\n", 0, block.start()) + 1
            yield line, block.group(2)


def ops_without_example(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for op in re.finditer(r"^def \w+ : \w+Op<\"(\w+)\"", text, re.M):
        description = re.compile(r"let description = \[\{\s*(.*)").search(text, op.end())
        if not description or description.group(1) != "```mlir":
            yield op.group(1)


def main(paths):
    count = failed = 0
    for path in paths:
        if path.endswith(".td"):
            for op in ops_without_example(path):
                failed += 1
                print(f"{path}: the description of '{op}' does not begin with an example")
        for line, program in programs(path):
            count += 1
            run = subprocess.run(["dsv4-opt", "-"], input=program, text=True,
                                 capture_output=True)
            if run.returncode:
                failed += 1
                print(f"{path}:{line}: {run.stderr.strip()}")
    print(f"{count} programs, {failed} failed")
    return 1 if failed or not count else 0


sys.exit(main(sys.argv[1:]))
