#!/usr/bin/env python3
"""Runs dsv4-run with hostile values of its options.

usage: command_line.py [--seed N] [--runs N] --folder DIR EXAMPLES

Each run ends in time, with 0, 1 or 2, and says on standard error no more than a few
lines of its own. Prints what was wrong and fails otherwise.
"""

import argparse
import glob
import os
import random
import subprocess
import sys

NUMBERS = ["0", "1", "3", "-1", "", "x", "1e3", "0x10", "4294967295", "4294967296",
           "9223372036854775807", "9223372036854775808", "99999999999999999999", "+1", " 1"]
WORDS = ["", " ", "a\nb", "\x1b[31m", "=", "a=", "=b", "a=b=c", "\xff\xfe", "\x9b31m", "a%b", "--", "-", "%s%n",
         "../../x", "/dev/null", "/dev/zero", "/dev/full", "/", ".", "a" * 5000, "gather_kv"]
OPTIONS = {
    "--dim": lambda r: f"{r.choice(['rows', 'tokens', 'topk', 'k', 'cache.pages', ''] + WORDS)}="
                       f"{r.choice(NUMBERS)}",
    "--random": lambda r: r.choice(NUMBERS),
    "--repeat": lambda r: r.choice(["0", "1", "2", "x", "-1", "99999999999"]),
    "--launches": lambda r: r.choice(["0", "1", "3", "x", "-1", "99999999999"]),
    "--target": lambda r: r.choice(["host", "cuda", "auto", "x"] + WORDS),
    "--arch": lambda r: r.choice(["sm_90a", "sm_80", "sm_", "sm_9999999999999", "x"] + WORDS),
    "--entry": lambda r: r.choice(WORDS),
    "--input": lambda r: f"{r.choice(['data', 'x', 'cache'] + WORDS)}={r.choice(WORDS)}",
    "--output": lambda r: f"{r.choice(['out', 'rows', 'x'] + WORDS)}={r.choice(WORDS)}",
    "--emit": lambda r: r.choice(["levels", "/proc/x", "50%"] + WORDS),
    "--schedule": lambda r: r.choice(
        WORDS + ["#dsv4.schedule<threads = 7, parts = []>", "#dsv4.schedule<threads = 128, parts = "
                 "[#dsv4.rows<lanes = 8, vector = 8>]>", "#dsv4.schedule<", "1 : i32", "[" * 300, "#dsv4.record<v4_584>"]),
    "--schedule-table": lambda r: r.choice(WORDS + ["table.json"]),
    "--thread-order": lambda r: r.choice(["forward", "reverse", "random:1", "random:", "random:-1",
                                          "x", ""] + NUMBERS),
    "--json": lambda r: r.choice(["true", "false", "x"] + WORDS),
    "--check": lambda r: r.choice(["true", "false", "x"] + WORDS),
}


def draw(rng, programs):
    """The arguments of one run; half of them are right."""
    program = rng.choice(programs) if rng.random() < 0.9 else rng.choice(WORDS)
    arguments = [program, "--target=host"] if rng.random() < 0.7 else [program]
    for option in rng.sample(sorted(OPTIONS), rng.randint(1, 4)):
        value = OPTIONS[option](rng)
        if "\0" not in value:
            arguments.append(f"{option}={value}")
    return arguments


def explain(arguments, folder):
    """What is wrong with a run, or nothing."""
    environment = dict(os.environ, DSV4_CACHE_DIR=os.path.join(folder, "cache"))
    try:
        run = subprocess.run(["dsv4-run"] + [a.encode("utf-8", "surrogateescape") for a in arguments],
                             cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "takes more than 60 s"
    lines = run.stderr.splitlines()
    if run.returncode not in (0, 1, 2):
        return f"ends with {run.returncode}: {lines[:3]}"
    if run.returncode == 1 and not lines:
        return "fails without a message"
    if len(lines) > 6 or any(b"Stack dump" in line or b"LLVM ERROR" in line for line in lines):
        return f"says {len(lines)} lines: {lines[:3]}"
    printed = lines + run.stdout.splitlines()
    if any(byte < 32 and byte != 9 for line in printed for byte in line) or any(
            128 <= ord(c) < 160 for line in printed for c in line.decode(errors="replace")):
        return f"says what no terminal should get: {lines[:3]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--folder", required=True)
    parser.add_argument("examples")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    with open(os.path.join(options.folder, "table.json"), "w", encoding="utf-8") as file:
        file.write('[{"threads": 64, "rows": {"lanes": 8, "vector": 8}}]')
    programs = sorted(glob.glob(os.path.join(options.examples, "*.mlir")))
    rng = random.Random(options.seed)
    failures = 0
    for _ in range(options.runs):
        arguments = draw(rng, programs)
        why = explain(arguments, options.folder)
        if why:
            failures += 1
            print(f"dsv4-run {arguments!r}: {why}")
    print(f"command-line: {options.runs} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
