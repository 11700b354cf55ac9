#!/usr/bin/env python3
"""Runs random programs over the operands that engines pass, and compares them with the oracle.

usage: random_operands.py [--count N] [--seed S] [--jobs N] [--keep DIR] [--families A,B] [-- DSV4-RUN-OPTION...]
       random_operands.py --write DIR [--count N] [--seed S] [--families A,B]

Program i of seed S is the same everywhere. The second form writes programs and run.py, which runs them on another
machine. A failing program is printed with the command that runs it, and stays in DIR.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile

import run_programs
from operands import FAMILIES
from operands.program import Program


def make(seed, index, families, inputs):
    """Program `index` of `seed`: its family, text, and the options of dsv4-run for each of its runs."""
    rng = random.Random(f"{seed}/{index}")
    program = Program(rng)
    family = families[index % len(families)]
    FAMILIES[family](program)
    program.finish()
    dims = [f"--dim={name}={extent}" for name, extent in program.used_dims().items()]
    return {"name": f"{index}-{family}", "family": family, "text": str(program),
            "runs": [[f"--random={rng.randrange(1, 1000)}", *dims] for _ in range(inputs)]}


def write(programs, folder):
    """A folder that needs only Python and dsv4-run: the programs, what runs them, and the script that does."""
    os.makedirs(folder, exist_ok=True)
    for program in programs:
        run_programs.write_program(program, folder)
    with open(os.path.join(folder, run_programs.LIST), "w", encoding="utf-8") as file:
        json.dump([{key: program[key] for key in ("name", "family", "runs")} for program in programs], file, indent=1)
    shutil.copy(run_programs.__file__, os.path.join(folder, "run.py"))
    print(f"{len(programs)} programs in {folder}: run.py runs them")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--inputs", type=int, default=2, help="random inputs for each program")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--keep", help="folder that failing programs stay in")
    parser.add_argument("--write", help="folder that programs are written to, instead of running them")
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    families = arguments.families.split(",")
    programs = [make(arguments.seed, index, families, arguments.inputs)
                for index in range(arguments.first, arguments.first + arguments.count)]
    if arguments.write:
        return write(programs, arguments.write)
    with tempfile.TemporaryDirectory() as scratch:
        # Compiled programs are of no use to others.
        environment = dict(os.environ, DSV4_CACHE_DIR=os.path.join(scratch, "cache"))
        folder = arguments.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for program in programs:
            run_programs.write_program(program, folder)
        command = ["dsv4-run", *arguments.options]
        return run_programs.run_all(programs, folder, command, arguments.jobs, environment, remove=True)


if __name__ == "__main__":
    sys.exit(main())
