#!/usr/bin/env python3
# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds targets of a preset, and shows one line: steps done, and minutes left.

    scripts/build.py release dsv4-run     # with `--jobs N`; no target: all

What compilers print stays, as what ninja says of a step that fails. Where standard output is no
terminal, the line comes once per minute.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import time

# What a core takes for a file of C++ on the average, and for any other step, in seconds.
SECONDS = {"Building": 8.0, "": 0.2}
STATUS = re.compile(r"\[(\d+)/(\d+)\] (\w*)")


def estimate_of(kind):
    return SECONDS.get(kind, SECONDS[""])


class Progress:
    """The steps of a build, and the time that they take."""

    def __init__(self, kinds, jobs):
        self.total = len(kinds)
        self.work = sum(map(estimate_of, kinds))
        self.jobs = jobs
        self.done = 0.0
        self.begin = time.monotonic()

    def finish(self, kind):
        self.done += estimate_of(kind)

    def left(self):
        """Minutes. As soon as a tenth is done, by the time that it took."""
        elapsed = time.monotonic() - self.begin
        rest = max(self.work - self.done, 0.0)
        pace = elapsed / self.done if self.done > self.work / 10 else 1 / self.jobs
        return math.ceil(rest * pace / 60)


def list_steps(ninja):
    """The kind of each step that is to be done: "Building", "Linking" and others."""
    listed = subprocess.run([*ninja, "-n"], check=True, capture_output=True, text=True)
    return [found[3] for found in map(STATUS.match, listed.stdout.splitlines()) if found]


def show(text, is_terminal):
    if is_terminal:
        text = f"\r\033[K{text}"
    print(text, end="" if is_terminal else "\n", flush=True)


def build(ninja, jobs):
    kinds = list_steps(ninja)
    if not kinds:
        return 0
    is_terminal = sys.stdout.isatty()
    progress = Progress(kinds, jobs)
    show(f"build: {progress.total} steps, about {progress.left()} min", is_terminal)
    shown = time.monotonic()
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    process = subprocess.Popen(ninja, stdout=subprocess.PIPE, text=True, env=environment)
    for line in process.stdout:
        status = STATUS.match(line)
        if not status:
            # Of a compiler, or of ninja about a step that failed.
            if not line.startswith("ninja: Entering"):
                print(("\r\033[K" if is_terminal else "") + line, end="", flush=True)
            continue
        progress.finish(status[3])
        if is_terminal or time.monotonic() - shown > 60:
            shown = time.monotonic()
            show(f"build: {status[1]} of {status[2]}, about {progress.left()} min left",
                 is_terminal)
    code = process.wait()
    minutes, seconds = divmod(int(time.monotonic() - progress.begin), 60)
    show(f"build: {'failed' if code else 'done'} after {minutes} min {seconds} s", is_terminal)
    if is_terminal:
        print()
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("preset")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    ninja = ["ninja", "-C", os.path.join("build", arguments.preset), "-j", str(arguments.jobs)]
    try:
        sys.exit(build([*ninja, *arguments.targets], arguments.jobs))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
