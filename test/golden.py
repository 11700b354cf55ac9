"""What is known of a golden emission test.

A golden test is an .mlir file of test/Target/CUDA/emission. Its first RUN line prints a kernel and ends in

    | FileCheck %s --strict-whitespace --match-full-lines

Its line "// NVRTC: ARGUMENT..." has the arguments of dsv4-nvrtc-check for that kernel: the architectures, and the local
memory that it may have. Its last lines are the CHECK lines of the kernel, after the marker "// The whole text."
"""

import os
import re

MARKER = "// The whole text.\n"
FILECHECK = "| FileCheck %s --strict-whitespace --match-full-lines"


def print_command(path, text):
    """The command that prints the kernel of a golden test, or None if it is not one."""
    command = ""
    for line in re.findall(r"^// RUN: (.*)$", text, flags=re.M):
        command += line.rstrip("\\")
        if not line.endswith("\\"):
            break
    if FILECHECK not in command:
        return None
    return command.replace(FILECHECK, "").replace("%s", os.path.abspath(path))


def nvrtc_arguments(text):
    """The arguments of dsv4-nvrtc-check for the kernel."""
    found = re.search(r"^// NVRTC: (.*)$", text, flags=re.M)
    return found[1].split() if found else []
