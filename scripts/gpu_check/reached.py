"""Which entries of its tables the compiler chooses for cases, as remarks of dsv4-select-schedule tell."""

import concurrent.futures
import os
import re
import subprocess

from .tables import write_labelled

PIPELINE = ("builtin.module(func.func(dsv4-specialize{{dims={dims}}},dsv4-form-kernels,"
            "dsv4-select-schedule{{arch={arch} table={table}}}))")


def find_entries(opt, case, arch, table):
    """The labels of the entries that the kernels of a case get, in the order of its kernels. Raises an error
    with what the compiler says if it refuses the program."""
    dims = ",".join(f"{name}={extent}" for name, extent in case.exact.items())
    command = [opt, "--pass-pipeline=" + PIPELINE.format(dims=dims, arch=arch, table=table), "-o", os.devnull,
               "--remarks-filter=dsv4-select-schedule", "--remark-format=emitRemark"]
    done = subprocess.run(command, input=case.text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr.strip()}")
    return re.findall(r"\. entry ([\w-]+:\d+)\"", done.stderr)


def count_reached(opt, tables, family, arch, cases, folder, jobs=2):
    """How many of the cases are for each entry of a family; what went wrong."""
    path = os.path.join(folder, f"labelled-{family}.json")
    write_labelled(tables, family, path)
    counts = {table.label(index): 0 for table in tables if table.arch == family for index in range(len(table.entries))}
    errors = []

    def look(case):
        try:
            return case, find_entries(opt, case, arch, path)
        except RuntimeError as error:
            errors.append(str(error))
            return case, []

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, labels in pool.map(look, cases):
            for label in labels:
                counts[label] += 1
            if case.aims and case.aims not in labels:
                errors.append(f"{case.name}: gets {', '.join(labels) or 'no entry'}")
    return counts, errors
