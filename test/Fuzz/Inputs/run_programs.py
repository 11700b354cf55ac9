#!/usr/bin/env python3
"""Runs the programs of this folder, and compares them with the oracle.

usage: run.py [--jobs N] [--seconds S] [--dsv4-run PATH] [--memcheck N] [--only NAME] [-- DSV4-RUN-OPTION...]

No program begins after S seconds. --memcheck N runs every N-th program under compute-sanitizer instead of all as they
are. Without options, programs run with --target=cuda. This script is part of the folder that random_operands.py
--write makes; it needs Python and dsv4-run.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time

LIST = "programs.json"
TIMEOUT = 300
SANITIZER = ("compute-sanitizer", "--tool=memcheck", "--error-exitcode=99")
REFUSED = 1
"""What dsv4-run exits with if a program is refused, or does not fit its arguments."""


def get_path(program, folder):
    return os.path.join(folder, program["name"] + ".mlir")


def write_program(program, folder):
    with open(get_path(program, folder), "w", encoding="utf-8") as file:
        file.write(program["text"])


def run(program, folder, command, environment, end):
    """"accepted", "refused", "failed" or "left", and what to say about it."""
    if end and time.monotonic() > end:
        return "left", ""
    path = get_path(program, folder)
    for options in program["runs"]:
        line = [*command, path, *options, "--check"]
        try:
            result = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    errors="replace", timeout=TIMEOUT, env=environment)
            status, text = result.returncode, result.stdout
        except subprocess.TimeoutExpired:
            status, text = "timeout", f"no end after {TIMEOUT} s\n"
        if status == 0:
            continue
        # The verifier of an op refuses with its name. Whatever else goes wrong is a failure.
        kind = "refused" if status == REFUSED and "error: 'dsv4." in text else "failed"
        return kind, f"{kind}, status {status}: {' '.join(line)}\n{text}"
    return "accepted", ""


def run_all(programs, folder, command, jobs, environment, seconds=0, remove=False):
    """Runs programs, prints those that are refused or fail and the numbers of each family, and says whether all is
    well: of each family there is a program that is accepted."""
    counts = collections.defaultdict(collections.Counter)
    end = time.monotonic() + seconds if seconds else None
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = pool.map(lambda program: run(program, folder, command, environment, end), programs)
        for program, (kind, message) in zip(programs, done):
            counts[program["family"]][kind] += 1
            if message:
                with open(get_path(program, folder), encoding="utf-8") as file:
                    print(f"program {message}{file.read()}", flush=True)
            elif remove:
                os.remove(get_path(program, folder))
    total = collections.Counter()
    for family, count in counts.items():
        print(f"{family:16}", *(f"{count[kind]:5} {kind}" for kind in ("accepted", "refused", "failed", "left")))
        total += count
    print(f"{total['accepted']} of {len(programs)} programs match the oracle, {total['refused']} refused, "
          f"{total['left']} left")
    return 1 if total["failed"] or any(not count["accepted"] for count in counts.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsv4-run", default="dsv4-run")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--memcheck", type=int, default=0)
    parser.add_argument("--only", default="", help="the programs whose names hold this")
    parser.add_argument("options", nargs="*", default=["--target=cuda"])
    arguments = parser.parse_args()
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, LIST), encoding="utf-8") as file:
        programs = [program for program in json.load(file) if arguments.only in program["name"]]
    command = [arguments.dsv4_run, *arguments.options]
    if arguments.memcheck:
        programs, command = programs[::arguments.memcheck], [*SANITIZER, *command]
    environment = {"DSV4_CACHE_DIR": os.path.join(folder, "cache"), **os.environ}
    return run_all(programs, folder, command, arguments.jobs, environment, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
