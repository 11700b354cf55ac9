# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events, warnings, counters, and the cache that they are about.

Most tests are processes of their own: a process has one runtime, and each warning comes once.
"""

import os
import subprocess
import sys

import pytest

import dsv4

TOPK = "import numpy, dsv4\ndsv4.topk(numpy.zeros((1, 300), 'f4'), 3)\n"


def run_python(code, **variables):
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DSV4_LOG"},
        **{name: str(value) for name, value in variables.items()},
    }
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )


def unusable(kind, folder):
    """A cache directory that cannot be used, and why."""
    where = folder / "cache"
    if kind == "file":
        where.write_text("")
        return where, "is not a directory"
    where.mkdir()
    where.chmod(0o777)
    return where, "can be written by others"


@pytest.mark.parametrize("kind", ["file", "open"])
def test_an_unusable_cache_directory_warns_once(tmp_path, kind):
    where, why = unusable(kind, tmp_path)
    code = TOPK + "dsv4.topk(numpy.zeros((1, 300), 'f4'), 4)\n"
    code += "print(dsv4.counters()['compiles'], dsv4.counters()['warnings'])\n"
    done = run_python(code, DSV4_CACHE_DIR=where)
    assert done.stdout == "2 2\n"
    assert done.stderr.count("CacheWarning") == done.stderr.count(str(where)) == 1
    assert why in done.stderr and "DSV4_CACHE_DIR" in done.stderr
    # Where the caller is, and not where the package is.
    assert done.stderr.startswith("<string>:2: CacheWarning: ")
    # As the filters say.
    strict = "import warnings, dsv4\nwarnings.simplefilter('error')\n"
    code = strict + f"try:\n    {TOPK.splitlines()[0]}; {TOPK.splitlines()[1]}\n"
    code += "except dsv4.CacheWarning as error:\n    print(error.directory, '|', error.cause)\n"
    done = run_python(code, DSV4_CACHE_DIR=where)
    assert done.stdout.startswith(f"{where} | cache directory '{where}' {why}"), done.stderr


def test_a_damaged_entry_warns(tmp_path):
    assert run_python(TOPK, DSV4_CACHE_DIR=tmp_path).stderr == ""
    (entry,) = tmp_path.glob("v*/*/llvmcache-*[0-9a-f]")
    entry.write_bytes(entry.read_bytes()[:-7])
    code = TOPK + "print(dsv4.counters()['compiles'])"
    done = run_python(code, DSV4_CACHE_DIR=tmp_path)
    assert done.stdout == "1\n"
    assert "CacheWarning" in done.stderr and str(entry) in done.stderr
    assert "quarantine" in done.stderr
    assert run_python(TOPK, DSV4_CACHE_DIR=tmp_path).stderr == ""


def test_a_slot_beyond_the_pool_warns_on_the_host_target(tmp_path):
    code = """
import numpy, dsv4
cache = numpy.zeros((2, dsv4.KNOWN_RECORDS["v4_584"].page_bytes(64)), numpy.uint8)
fields = [numpy.zeros((2, 448), "u1"), numpy.zeros((2, 64), "u2"), numpy.zeros((2, 7), "u1")]
dsv4.append_(cache, numpy.array([3, 1000], "i4"), fields, record="v4_584")
"""
    done = run_python(code, DSV4_CACHE_DIR=tmp_path)
    assert "entries beyond the pool were not written" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_log(tmp_path):
    def log(level):
        return run_python(TOPK, DSV4_CACHE_DIR=tmp_path, DSV4_LOG=level).stderr

    assert log("info").startswith("dsv4: INFO: compiled 'topk' in ")
    lines = log("debug").splitlines()
    assert [line.split(" ")[1:3] for line in lines] == [["DEBUG:", "'topk'"], ["DEBUG:", "loaded"]]
    assert log("warning") == log("") == ""
    assert "DSV4_LOG is 'loud', expected 'debug', 'info' or 'warning'" in log("loud")


def test_logging_of_the_program(tmp_path):
    """Who configures `logging` has the warnings of the cache there, too."""
    where, why = unusable("file", tmp_path)
    code = "import logging\nlogging.basicConfig(filename=%r)\n" % str(tmp_path / "log") + TOPK
    done = run_python(code, DSV4_CACHE_DIR=where)
    assert done.stderr.count("CacheWarning") == 1
    log = (tmp_path / "log").read_text()
    assert log.startswith("WARNING:dsv4:cache directory") and why in log


def test_functions_of_events(tmp_path):
    code = """
import numpy, dsv4
events = []
remove = dsv4.on_event(events.append)
def broken(event):
    raise ValueError("of mine")
remove_broken = dsv4.on_event(broken)
x = numpy.zeros((1, 300), 'f4')
dsv4.topk(x, 3)
remove_broken()
try:
    dsv4.compile("func.func @f(", target="host", name="mine")
except dsv4.CompileFailed:
    pass
dsv4.freeze()
try:
    dsv4.topk(x, 4)
except dsv4.NotPrepared:
    pass
print([each.kind for each in events])
print(events[0].text, events[0].milliseconds > 0, events[0].device, events[0].directory)
remove()
remove()
try:
    dsv4.topk(x, 4)
except dsv4.NotPrepared:
    print(len(events))
"""
    done = run_python(code, DSV4_CACHE_DIR=tmp_path)
    assert done.stdout.splitlines() == [
        "['compiled', 'loaded', 'compile_failed', 'not_prepared']", "topk True None None", "4",
    ], done.stderr  # fmt: skip
    assert done.stderr.count("a function of dsv4.on_event() failed") == 2
    assert done.stderr.count("ValueError: of mine") == 2
    with pytest.raises(
        dsv4.InvalidArgument, match="'function' is 3, expected a function of one event"
    ):
        dsv4.on_event(3)


def test_counters_distinguish_hits(tmp_path):
    code = """
import numpy, dsv4
x = numpy.zeros((1, 300), 'f4')
def show():
    counters = dsv4.counters()
    print(*(counters[name] for name in ("compiles", "disk_hits", "memory_hits")))
dsv4.topk(x, 3)
show()
dsv4.topk(x, 3)
dsv4.topk(numpy.zeros((2, 200), 'f4'), 3)
dsv4.topk(x, 4)
show()
"""
    assert run_python(code, DSV4_CACHE_DIR=tmp_path).stdout == "1 0 0\n2 0 2\n"
    assert run_python(code, DSV4_CACHE_DIR=tmp_path).stdout == "0 1 0\n0 2 2\n"


def test_the_cache_directory_is_the_one_that_is_used(tmp_path):
    show = "import dsv4; print(dsv4.cache_directory())"

    def directory(**variables):
        names = {"DSV4_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "", **variables}
        return run_python(show, **names).stdout.strip()

    assert directory(DSV4_CACHE_DIR=tmp_path / "a/") == str(tmp_path / "a")
    assert directory(DSV4_CACHE_DIR="here") == os.path.join(os.getcwd(), "here")
    # A relative one is not used, as its specification asks.
    assert directory(XDG_CACHE_HOME="there", HOME=tmp_path) == str(tmp_path / ".cache/dsv4")
    assert directory() == "None"
    where, why = unusable("file", tmp_path)
    done = run_python(show, DSV4_CACHE_DIR=where)
    assert done.stdout == "None\n" and why in done.stderr
    assert not (tmp_path / "a").exists()


def test_no_device_is_no_error():
    done = run_python("import dsv4; print(dsv4.devices())", CUDA_VISIBLE_DEVICES="")
    assert done.stdout == "[]\n", done.stderr
