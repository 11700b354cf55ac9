# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of examples/engines, which stand for kernels of engines."""

import os

import dsv4

_HERE = os.path.dirname(os.path.abspath(__file__))
_ENGINES = os.path.join(_HERE, "..", "..", "examples", "engines")


def compile_engine(name):
    """The program that stands for a kernel of an engine."""
    with open(os.path.join(_ENGINES, f"{name}.mlir"), encoding="utf-8") as file:
        return dsv4.compile(file.read(), target="host", name=name)
