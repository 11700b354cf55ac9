"""Checks what libdsv4.so exports, needs and weighs.

    check_library.py LIBRARY EXPORTS

The exports are compared with a list: what is in it stays for good, and a new
name is added to both. Engines run on glibc 2.34 and later.
"""

import os
import re
import sys
import tempfile

from elf import find_needs, run

MAX_GLIBC = (2, 34)
MAX_BYTES = 1_500_000
# libgcc_s has the unwinder of every C++ library of the process.
NEEDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1",
          "ld-linux-x86-64.so.2"}


def main():
    library, list_file = sys.argv[1:]
    failures = []
    names = [line.split() for line in run("nm", "-D", library).splitlines()]
    exported = {words[2] for words in names if len(words) == 3 and words[1] not in "Uwv"}
    exported = {name for name in exported if not name.startswith("DSV4_")}
    with open(list_file, encoding="utf-8") as file:
        expected = set(file.read().split())
    for name in sorted(exported - expected):
        failures.append(f"exports {name}, which {os.path.basename(list_file)} lacks")
    for name in sorted(expected - exported):
        failures.append(f"does not export {name}")
    needs, versions = find_needs(library, MAX_GLIBC, NEEDED)
    failures += needs
    newest = max(versions)
    dynamic = run("readelf", "-d", library)
    soname = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
    if not soname or soname[1] != "libdsv4.so.1":
        failures.append("does not have the soname libdsv4.so.1")
    with tempfile.NamedTemporaryFile() as stripped:
        run("strip", "-o", stripped.name, library)
        size = os.path.getsize(stripped.name)
    if size > MAX_BYTES:
        failures.append(f"has {size} bytes stripped, expected at most {MAX_BYTES}")
    for failure in failures:
        print(f"{library} {failure}")
    print("glibc %d.%d, %d bytes stripped, %d functions"
          % (newest + (size, len(exported))))
    return 1 if failures else 0


sys.exit(main())
