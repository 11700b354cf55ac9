# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where scripts/setup.sh installs the libraries that the Python package is tested with."""

import hashlib
import os


def digest_of(source):
    """The folder of the list of libraries of a tree."""
    with open(os.path.join(source, "python", "tests", "requirements.txt"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def find_python(source):
    """The interpreter that has these libraries, or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    shared = os.environ.get("DSV4_LIBRARIES") or os.path.join(cache, "dsv4", "python-libraries")
    folder = os.path.join(shared, digest_of(source))
    is_complete = os.path.exists(os.path.join(folder, "complete"))
    return os.path.join(folder, "bin", "python") if is_complete else None
