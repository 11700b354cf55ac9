"""Checks what executables need: a glibc that old, and no library that engines may lack.

    check_tools.py 2.34 EXECUTABLE...
"""

import os
import re
import subprocess
import sys

NEEDED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def check(path, glibc):
    failures = []
    imports = re.findall(r"(\w+)@GLIBC_(\d+)\.(\d+)", run("nm", "-D", "--undefined-only", path))
    for name, major, minor in imports:
        if (int(major), int(minor)) > glibc:
            failures.append(f"needs {name} of glibc {major}.{minor}")
    dynamic = run("readelf", "-d", path)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in NEEDED:
            failures.append(f"needs {name}")
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        failures.append("has a run path")
    name = os.path.basename(path)
    for failure in failures:
        print(f"{name} {failure}")
    if not failures:
        print(f"{name}: {len(imports)} functions of glibc")
    return not failures


glibc = tuple(map(int, sys.argv[1].split(".")))
sys.exit(0 if all([check(path, glibc) for path in sys.argv[2:]]) else 1)
