# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the sources of the package say of errors: their ids are in a page, and checks are used."""

import ast
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..")


def read(*path):
    with open(os.path.join(SOURCES, *path), encoding="utf-8") as file:
        return file.read()


def ids_of_sources():
    """Ids that the package raises; what is not a constant in one is a NAME."""
    ids = set()
    for name in os.listdir(os.path.join(SOURCES, "dsv4")):
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(read("dsv4", name))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "make_error":
                if isinstance(node.args[1], (ast.Constant, ast.JoinedStr)):
                    ids.add(re.sub(r"\{\w+\}", "NAME", ast.unparse(node.args[1]).strip("f'\"")))
    for name in os.listdir(os.path.join(SOURCES, "src")):
        ids |= set(re.findall(
            r'(?:raise_argument|refuse_view)\([^"]*"([a-z_]+\.[a-z_]+)"', read("src", name)
        ))  # fmt: skip
    return ids


def ids_of_the_c_interface():
    page = read("..", "docs", "EmbeddingInC.md")
    ids, before = set(), ""
    for each in re.findall(r"`([\w.]+)`", page[page.index("| class | means | ids |") :]):
        if each.startswith("."):
            each = before.partition(".")[0] + each
        before = each
        ids.add(each)
    return ids


def test_every_id_is_in_a_page():
    page = read("..", "docs", "Python.md").partition("| id | class | means |")[2]
    rows = re.findall(r"^\| (`[\w.]+\.[\w., `]+) \| `\w+` \|", page, re.M)
    listed = [each for row in rows for each in re.findall(r"`([\w.]+)`", row)]
    raised, known = ids_of_sources(), ids_of_the_c_interface()
    assert len(raised) > 30 and len(listed) == 23

    def is_known(id):
        kind, _, name = id.partition(".")
        one_of = f"{kind}.NAME" in listed and name.isidentifier()
        return id in known or id in listed or one_of or id == "NAME.unknown"

    assert not [each for each in sorted(raised) if not is_known(each)]
    # None that is not raised, or is the C interface's.
    assert set(listed) - raised == {"record.unknown", "recipe.unknown"}
    assert not set(listed) & known


def test_what_a_check_returns_is_used():
    """What a check returns is of Python's own types; what it was given may be anything."""
    for name in os.listdir(os.path.join(SOURCES, "dsv4")):
        for node in ast.walk(ast.parse(read("dsv4", name) if name.endswith(".py") else "")):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = ast.unparse(node.value.func)
                assert not re.fullmatch(r"check_(flag|int|float|word|name|list|text)", called), (
                    name, node.lineno
                )  # fmt: skip
