# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import ast
import os

import dsv4
from dsv4 import _dsv4


def members(value):
    return {each for each in dir(value) if not each.startswith("_")}


def test_the_stub_has_what_the_extension_has():
    path = os.path.join(os.path.dirname(dsv4.__file__), "_dsv4.pyi")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    stubs = {
        each.name: each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))
    }
    assert set(stubs) == members(_dsv4)
    for name in ("Kernel",):
        methods = {each.name for each in stubs[name].body if isinstance(each, ast.FunctionDef)}
        assert {each for each in methods if not each.startswith("_")} == members(
            getattr(_dsv4, name)
        )


def words_of(doc):
    """Without the signature that the docstring of a method in C begins with."""
    text = doc or ""
    head, _, rest = text.partition("\n\n")
    return (rest if head.endswith(")") and "(" in head.split()[0] else text).split()


def test_the_stub_documents_what_the_extension_documents():
    """Editors and the reference read the stub."""
    path = os.path.join(os.path.dirname(dsv4.__file__), "_dsv4.pyi")
    with open(path, encoding="utf-8") as file:
        classes = [each for each in ast.parse(file.read()).body if isinstance(each, ast.ClassDef)]
    compared = 0
    for stub in classes:
        known = getattr(_dsv4, stub.name)
        if stub.name != "Kernel" and not issubclass(known, _dsv4.Error):
            continue
        assert words_of(ast.get_docstring(stub)) == words_of(known.__doc__), stub.name
        for each in stub.body:
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                expected = words_of(getattr(known, each.name).__doc__)
                assert words_of(ast.get_docstring(each)) == expected != [], each.name
                compared += 1
    assert compared == len(members(_dsv4.Kernel))
