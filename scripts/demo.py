#!/usr/bin/env python3
# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows a program, its kernel, and what kernels of some programs do here.

    scripts/demo.py build/release/bin build/demo

Programs run with random inputs on the GPU if there is one, and are compared with the oracle.
"""

import json
import os
import shutil
import subprocess
import sys

# Each program with extents of its dims.
SHOWN = "gather"
PROGRAMS = {
    SHOWN: "k=32768 cache.pages=4096",
    "decode_step": "tokens=64 entries=64 requests=64 positions=4096 topk=512 max_pages=16 "
                   "window.pages=128 state.pages=64 cache.pages=1024",
    "router": "tokens=1024",
}
NEXT = {
    "ls {directory}/{shown}": "the program at every level, down to CUDA",
    "{binaries}/dsv4-run --help": "how to run a program of yours, or another one of examples/",
    "make wheel": "the Python package, which docs/QuickStart.md calls from torch",
    "make check": "every test",
}


class Failed(Exception):
    pass


def run(binaries, cache, program, *options):
    """What dsv4-run says of a program, as a dict."""
    dims = [f"--dim={dim}" for dim in PROGRAMS[program].split()]
    command = [os.path.join(binaries, "dsv4-run"), f"examples/{program}.mlir", "--json", "--valid",
               "--random=1", *dims, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "DSV4_CACHE_DIR": cache})
    if done.returncode not in (0, 2):
        raise Failed(f"examples/{program}.mlir: dsv4-run ended with status {done.returncode}")
    return json.loads(done.stdout)


def rows_of(program, first, second):
    """A row of the table for each kernel of a program; what is of all stands in the first row."""
    compiled = first["passes_ms"] + first["backend_ms"]
    row = {
        "program": program,
        "compile": f"{compiled:.0f} ms" if first["cache"] == "none" else "before",
        "again": f"{second['cache']}, {second['lookup_ms'] + second['load_ms']:.1f} ms",
        "moved": f"{second['bytes_moved'] / 1e6:.1f} MB",
        "oracle": "matches" if first["matches_oracle"] else "DIFFERS",
    }
    if second["target"] == "cuda":
        row["time"] = f"{second['us']:.1f} us"
        row["GB/s"] = f"{second['gb_per_s']:.0f}"
        row["copy, GB/s"] = f"{second['copy_gb_per_s']:.0f}"
    rows = []
    for kernel in second["kernels"]:
        rows.append({"program": row.pop("program", ""),
                     "kernel": kernel["symbol"].replace("_and_", " + "), **row})
        row = {}
    return rows


def print_table(rows):
    names = list(rows[0])
    table = [names, *([row.get(name, "") for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for line in table:
        print("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths)).rstrip())


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read().rstrip()


def main(binaries, directory):
    shutil.rmtree(directory, ignore_errors=True)
    # The first run compiles, the second one finds that in the cache.
    cache = os.path.abspath(os.path.join(directory, "cache"))
    emitted = os.path.join(directory, SHOWN)
    rows = []
    for program in PROGRAMS:
        first = run(binaries, cache, program, "--check",
                    f"--emit={os.path.join(directory, program)}")
        if program == SHOWN:
            text = read("examples", SHOWN + ".mlir").split("\n\n", maxsplit=1)[1]
            print(f"A program, examples/{SHOWN}.mlir:\n\n{text}\n")
            kernel = read(emitted, "kernel.cu").split("\n", maxsplit=2)[2]
            print(f"Its kernel, {emitted}/kernel.cu:\n\n{kernel}\n")
            print(f"Compiled for {first['device']} ({first['target']}, {first['arch']}), twice, "
                  "and compared with the oracle:\n", flush=True)
        # Nobody wants to know how long kernels take on the CPU.
        timed = ["--repeat=20"] if first["target"] == "cuda" else []
        rows += rows_of(program, first, run(binaries, cache, program, *timed))
    print_table(rows)
    if "time" not in rows[0]:
        print("\nThere is no GPU here, or no driver: the same source ran on the CPU, untimed.")
    print("\nNext:\n")
    for command, what in NEXT.items():
        command = command.format(directory=directory, binaries=binaries, shown=SHOWN)
        print(f"  {command:<34} # {what}")
    if any(row.get("oracle") == "DIFFERS" for row in rows):
        raise Failed("a result differs from the oracle's")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failed as failure:
        sys.exit(f"demo: {failure}")
