#!/usr/bin/env python3
"""Writes programs that nest deeply, each in another way, into FOLDER.

usage: make_nested.py FOLDER
"""

import os
import sys

DEPTH = 20000


def chain(sigil, first, name):
    """Aliases, each of which is in the next one, as `name` says."""
    lines = [f"{sigil}a0 = {first}"]
    lines += [f"{sigil}a{i + 1} = " + name(f"{sigil}a{i}") for i in range(DEPTH)]
    return "\n".join(lines) + "\n"


programs = {
    "arrays": "module attributes {x.a = " + "[" * DEPTH + "]" * DEPTH + "} {}",
    "tuples": "func.func private @f(" + "tuple<" * DEPTH + "i32" + ">" * DEPTH + ")",
    "modules": "module {" * DEPTH + "}" * DEPTH,
    "signs": "#m = affine_map<(d0) -> (" + "-" * DEPTH + "d0)>",
    "sums": "#m = affine_map<(d0) -> (d0" + " + d0" * DEPTH + ")>",
    "locations": "func.func private @f(i32) loc(" + "callsite(" * DEPTH,
    "sets": "module attributes {x.a = " + "[affine_set<(d0) : (d0 >= 0)>, " * DEPTH,
    "aliases": chain("#", "1 : i32", lambda a: f"[{a}]"),
    "types": chain("!", "i32", lambda a: f"tuple<{a}>"),
    # Not deep, but 2^DEPTH of them where they are written out.
    "doubled": chain("!", "i32", lambda a: f"tuple<{a}, {a}>"),
}
os.makedirs(sys.argv[1], exist_ok=True)
for name, text in programs.items():
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w") as file:
        file.write(text)
