"""Where scripts/setup.sh installs the libraries that the Python package is tested with."""

import hashlib
import os


def digest_of(source):
    """The folder of the list of libraries of a tree."""
    with open(os.path.join(source, "python", "tests", "requirements.txt"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]
