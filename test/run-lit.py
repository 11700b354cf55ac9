#!/usr/bin/env python3
"""Runs lit and ends with a line "N passed, N failed, N skipped".

usage: run-lit.py LIT [ARGUMENT]...

The exit status is lit's. Skipped are tests that could not run here (no GPU, no
NVRTC, a unit test that skipped itself); they are named before the last line.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "results.json")
        lit = subprocess.run([sys.argv[1], "--output", output, *sys.argv[2:]])
        try:
            with open(output, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
        except (OSError, ValueError, KeyError) as error:
            print(f"run-lit.py: lit left no results: {error}", file=sys.stderr)
            return lit.returncode or 1
    skipped = [test["name"] for test in tests if test["code"] in SKIPPED]
    count = collections.Counter(
        "passed" if test["code"] in PASSED
        else "skipped" if test["code"] in SKIPPED
        else "failed"
        for test in tests
    )
    if skipped:
        print("skipped (needs what this machine has not):")
        for name in sorted(skipped):
            print(f"  {name}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return lit.returncode


if __name__ == "__main__":
    sys.exit(main())
