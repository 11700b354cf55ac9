"""What executables and shared libraries need of the machine."""

import re
import subprocess


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def find_needs(path, glibc, libraries):
    """What is wrong with a file that may need a glibc up to (major, minor), and these libraries;
    and the versions of glibc's functions that it needs."""
    failures = []
    imports = re.findall(r"(\w+)@GLIBC_(\d+)\.(\d+)", run("nm", "-D", "--undefined-only", path))
    versions = [(int(major), int(minor)) for _, major, minor in imports]
    for (name, major, minor), version in zip(imports, versions):
        if version > glibc:
            failures.append(f"needs {name} of glibc {major}.{minor}, expected at most %d.%d" % glibc)
    dynamic = run("readelf", "-d", path)
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in libraries:
            failures.append(f"needs {name}")
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        failures.append("has a run path")
    return failures, versions
