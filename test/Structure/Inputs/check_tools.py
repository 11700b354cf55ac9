"""Checks what executables need: a glibc that old, and no library that engines may lack.

    check_tools.py 2.34 EXECUTABLE...
"""

import os
import sys

from elf import find_needs

NEEDED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


def check(path, glibc):
    failures, versions = find_needs(path, glibc, NEEDED)
    name = os.path.basename(path)
    for failure in failures:
        print(f"{name} {failure}")
    if not failures:
        print(f"{name}: {len(versions)} functions of glibc")
    return not failures


glibc = tuple(map(int, sys.argv[1].split(".")))
sys.exit(0 if all([check(path, glibc) for path in sys.argv[2:]]) else 1)
