# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m dsv4, and the compiler that it names."""

import re

import pytest

import dsv4
from dsv4.__main__ import main
from dsv4._kernels import compiler_versions


def test_it_says_what_it_finds(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    # A machine may have several devices.
    names = list(dict.fromkeys(line.split()[0] for line in lines))
    assert names == ["dsv4", "devices", "compiler", "NVRTC", "C++", "cache", "self-test"]
    compiler = next(line for line in lines if line.startswith("compiler"))
    version = re.escape(dsv4.__version__)
    assert re.search(rf"/dsv4-compile: dsv4-compile {version}, MLIR \d", compiler)
    assert lines[-1] == "self-test   passed on the host target"
    assert main(["--no-test"]) == 0
    assert "self-test" not in capsys.readouterr().out


def test_a_compiler_that_is_not_there(monkeypatch, capsys):
    monkeypatch.setenv("DSV4_COMPILER", "/nowhere/dsv4-compile")
    for call in (compiler_versions, lambda: dsv4.emit("func.func @f() { return }")):
        with pytest.raises(dsv4.Unavailable, match="/nowhere/dsv4-compile.* cannot be started"):
            call()
    assert main(["--no-test"]) == 0
    assert "compiler    none: the compiler '/nowhere/dsv4-compile'" in capsys.readouterr().out


def test_a_compiler_that_does_not_run(monkeypatch):
    monkeypatch.setenv("DSV4_COMPILER", "/bin/false")
    with pytest.raises(dsv4.Unavailable, match="'/bin/false' does not run: 1"):
        compiler_versions()
