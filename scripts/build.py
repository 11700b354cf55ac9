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

# What a core takes for a file of C++ on the average, in seconds. Other steps are quick.
SECONDS = 18
STATUS = re.compile(r"\[(\d+)/(\d+)\] (.*)")


class Progress:
    """The steps of a build, and the time that its files of C++ take."""

    def __init__(self, commands, files, jobs):
        self.commands, self.files, self.jobs = commands, files, jobs
        self.done = self.total = self.compiled = 0
        self.first = None

    def finish(self, done, total, what):
        self.done, self.total = done, total
        if what.startswith("Building C"):
            self.compiled += 1
            self.first = self.first or time.monotonic()

    def minutes_left(self):
        """As soon as a tenth of the files is done, by the time that they took. Of a part of all
        steps, as many are files as of all of them."""
        if self.done == self.total:
            return 0
        files = self.files * min(self.total / max(self.commands, 1), 1)
        pace = SECONDS / self.jobs
        if self.compiled > max(files / 10, 1):
            pace = (time.monotonic() - self.first) / (self.compiled - 1)
        return math.ceil(max(files - self.compiled, 0) * pace / 60)


def find_ninja(folder):
    """The one that CMake has found."""
    try:
        with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8") as file:
            found = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "ninja"


def count_commands(ninja, targets):
    """Those of the targets, and how many compile a file."""
    listed = subprocess.run(
        [*ninja, "-t", "commands", *targets], capture_output=True, text=True, errors="replace",
        check=False,
    )
    lines = listed.stdout.splitlines()
    return len(lines), sum(" -c " in line for line in lines)


def show(text, is_terminal):
    print(f"\r\033[K{text}" if is_terminal else text, end="" if is_terminal else "\n", flush=True)


def build(ninja, targets, jobs):
    is_terminal = sys.stdout.isatty()
    progress = Progress(*count_commands(ninja, targets), jobs)
    begin, shown = time.monotonic(), None
    with subprocess.Popen(
        [*ninja, "-j", str(jobs), *targets], stdout=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
    ) as process:
        for line in process.stdout:
            status = STATUS.match(line)
            # CMake first, which may change the number of steps.
            if status and status[3].startswith("Re-"):
                continue
            if not status:
                # Of a compiler, or of ninja about a step that failed.
                if not line.startswith(("ninja: Entering", "ninja: no work")):
                    print(("\r\033[K" if is_terminal else "") + line, end="", flush=True)
                continue
            progress.finish(int(status[1]), int(status[2]), status[3])
            if is_terminal or shown is None or time.monotonic() - shown > 60:
                shown = time.monotonic()
                show(f"build: {progress.done} of {progress.total} steps, "
                     f"about {progress.minutes_left()} min left", is_terminal)
    if shown is not None or process.returncode:
        minutes, seconds = divmod(int(time.monotonic() - begin), 60)
        outcome = "failed" if process.returncode else "done"
        show(f"build: {outcome} after {minutes} min {seconds} s", is_terminal)
        if is_terminal:
            print()
    return process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("preset")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    folder = os.path.join("build", arguments.preset)
    ninja = [find_ninja(folder), "-C", folder]
    try:
        sys.exit(build(ninja, arguments.targets, arguments.jobs))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
