#!/usr/bin/env python3
"""Runs lit and ends with a line "N passed, N failed, N skipped".

usage: run-lit.py NOTE LIT [ARGUMENT]...

NOTE is a file that tests may leave, whose text comes before that line. The exit
status is lit's. Skipped are tests that cannot run on this machine (no GPU, no
NVRTC) and unit tests that skipped themselves; they are named before the last
line. A test that is expected to fail, and does, has passed.
"""

import collections
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What lit says of a test that its own --filter left out.
NOT_SELECTED = "Test not selected"


def outcome(case):
    """"passed", "failed", "skipped", or None for a test that was not asked for."""
    if case.find("failure") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return None if skipped.get("message", "").startswith(NOT_SELECTED) else "skipped"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    note, *command = sys.argv[1:]
    if os.path.exists(note):
        os.remove(note)
    # The XML report names skipped unit tests; the JSON report leaves them out.
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, "results.xml")
        lit = subprocess.run([command[0], "--xunit-xml-output", output, *command[1:]])
        try:
            cases = xml.etree.ElementTree.parse(output).getroot().iter("testcase")
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            print(f"run-lit.py: lit left no results: {error}", file=sys.stderr)
            return lit.returncode or 1
    outcomes = [(outcome(case), f"{case.get('classname')}/{case.get('name')}") for case in cases]
    skipped = sorted(name for what, name in outcomes if what == "skipped")
    if skipped:
        print("Skipped:")
        for name in skipped:
            print(f"  {name}")
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            print(file.read().strip())
    count = collections.Counter(what for what, _ in outcomes)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return lit.returncode


if __name__ == "__main__":
    sys.exit(main())
