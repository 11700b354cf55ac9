"""Checks that scripts/gpu-check covers the tree.

    check_gpu_cases.py entries TREE DSV4-OPT          every entry of every schedule table is in a case
    check_gpu_cases.py functions TREE DSV4-COMPILE    every function that kernels call is in a case of racecheck

TREE may be another than this file's: then it has only what is checked, lib/ and what the cases name.
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "scripts"))

from gpu_check import calls, reached, sanitize, table_cases  # pylint: disable=wrong-import-position
from gpu_check.tables import read_tables  # pylint: disable=wrong-import-position

# An architecture of each family of tables.
ARCHS = {"sm_8": "sm_80", "sm_9": "sm_90a", "sm_": "sm_100a"}


def check_entries(tree, opt):
    tables, failures, number = read_tables(tree), [], 0
    for family in sorted({table.arch for table in tables}):
        if family not in ARCHS:
            failures.append(f"no architecture is known of the tables for '{family}': add one to {__file__}")
            continue
        cases = table_cases.table_cases(tables, family)
        small = [case for table in tables if table.arch == family for case in table_cases.small_cases(table)]
        with tempfile.TemporaryDirectory() as folder:
            counts, errors = reached.count_reached(opt, tables, family, ARCHS[family], cases, folder)
            failures += errors + reached.count_reached(opt, tables, family, ARCHS[family], small, folder)[1]
        failures += [f"entry {label} is in no case of gpu-check: an earlier entry is for all kernels that it is for, "
                     "or scripts/gpu_check/table_cases.py has no kernel that it is for"
                     for label, count in counts.items() if not count]
        number += len(counts)
    return failures, f"{number} entries of {len(tables)} tables are in cases of gpu-check"


def check_functions(tree, compiler):
    tables, family = read_tables(tree), "sm_9"
    cases = sanitize.sanitized_cases(tree, tables, family)
    per_case, failures = calls.calls_of(compiler, cases, tree, ARCHS[family])
    called, entry_points = set().union(*per_case), calls.entry_points(tree)
    uncalled = sanitize.uncalled_functions(tree)
    failures += [f"dsv4::{name}: no program of {sanitize.LIST} calls it; add one that does"
                 for name in sorted(entry_points - called - uncalled)]
    failures += [f"dsv4::{name}: {sanitize.LIST} says that no program calls it, which one does; remove that line"
                 for name in sorted(uncalled & called)]
    failures += [f"dsv4::{name}: {sanitize.LIST} names it, and the compiler does not; remove that line"
                 for name in sorted(uncalled - entry_points)]
    return failures, f"{len(entry_points - uncalled)} functions are in cases of racecheck"


if __name__ == "__main__":
    problems, summary = {"entries": check_entries, "functions": check_functions}[sys.argv[1]](*sys.argv[2:])
    print("\n".join(problems) if problems else summary)
    sys.exit(1 if problems else 0)
