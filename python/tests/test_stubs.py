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
