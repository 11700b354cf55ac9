#!/usr/bin/env python3
"""Writes programs that nest deeply, each in another way, into FOLDER; or, with "long", those
whose aliases are long.

usage: make_nested.py FOLDER deep|long
"""

import os
import sys

DEPTH = 20000


def chain(sigil, first, name, length=DEPTH):
    """Aliases, each of which is in the next one, as `name` says."""
    lines = [f"{sigil}a0 = {first}"]
    lines += [f"{sigil}a{i + 1} = " + name(f"{sigil}a{i}") for i in range(length)]
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
    # What hides the nesting from a scan that knows no tokens.
    "comment": "module attributes {a.b = [ // >\n" + "[" * DEPTH + "]" * DEPTH + "]} {}",
    "brackets of aliases": chain("#", "1", lambda a: "[" * 200 + a + "]" * 200, 1000),
    "comments of aliases": chain("#", "1", lambda a: f"[{a}]").replace(" =", " // x\n="),
    "broken aliases": chain("!", "\ni32", lambda a: f"\ntuple\n<{a}>"),
    "symbols": "func.func @f(%i: index) { affine.apply affine_map<(d0) -> (d0)>(%i"
    + " + %i" * DEPTH + ") }",
    "names with -": "module attributes {a.b = "
    + "[#d<#a- >, " * DEPTH + "]" * DEPTH + "} {}",
}
# Not deep, but long where aliases are written out.
long_programs = {
    "doubled": chain("!", "i32", lambda a: f"tuple<{a}, {a}>"),
    "long": "!a = tuple<" + "i32, " * 100000 + "i32>\n!b = tuple<" + "!a, " * 1000 + "i32>\n",
    "used": "!a = tuple<" + "i32, " * 10000 + "i32>\nfunc.func private @f("
    + "!a, " * 1000 + "i32)\n",
}
os.makedirs(sys.argv[1], exist_ok=True)
for name, text in (long_programs if sys.argv[2] == "long" else programs).items():
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w") as file:
        file.write(text)
