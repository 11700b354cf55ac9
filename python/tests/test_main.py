# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m dsv4, and the compiler that it names."""

import json
import os
import re
import subprocess
import sys

import pytest

import dsv4
from dsv4.__main__ import main
from dsv4._source import compiler_versions


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


def test_json(capsys):
    assert main(["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["dsv4"] == dsv4.__version__ and found["ok"] is True
    assert found["devices"] == dsv4.devices()
    assert (found["devices_problem"] is None) == bool(found["devices"])
    assert found["compiler"]["path"].endswith("/dsv4-compile")
    assert found["cache"]["directory"] == dsv4.cache_directory()
    # Devices come before the host target.
    assert len(found["tests"]) == len(found["devices"]) + 1
    assert found["tests"][-1]["where"] == "the host target"
    assert main(["--json", "--no-test"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tests"] == [] and found["ok"] is None


def run_module(*options, **variables):
    return subprocess.run(
        [sys.executable, "-m", "dsv4", *options],
        env={**os.environ, **variables}, capture_output=True, text=True,
    )  # fmt: skip


def test_a_cache_that_is_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_module("--no-test", DSV4_CACHE_DIR=str(tmp_path / "file"))
    assert done.returncode == 0
    assert f"cache       not used: cache directory '{tmp_path}/file' is not a dir" in done.stdout


def test_nothing_can_be_launched(tmp_path):
    """No device, and no compiler for the host target."""
    done = run_module(
        CUDA_VISIBLE_DEVICES="", DSV4_HOST_CXX="/nowhere/g++", DSV4_CACHE_DIR=str(tmp_path)
    )
    assert done.returncode == 1
    assert "self-test   untested on the host target: DSV4_HOST_CXX names '/nowh" in done.stdout


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
