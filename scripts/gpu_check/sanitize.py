"""Cases under compute-sanitizer: memcheck and racecheck.

`sanitized.txt` has a line for each program: its file, options of dsv4-run. With a small case of each table
entry they call every function of the device library that kernels call; Structure/gpu-check compares.
"""

import dataclasses
import glob
import os
import re
import shutil
import tempfile
import time

from .execute import FAILED, PASSED, Result, build_command, explain_end, run, write_text
from .hazards import read_hazards, read_roles
from .suites import listed_case
from .table_cases import small_cases

LIST = os.path.join("scripts", "gpu_check", "sanitized.txt")
SUPPRESSIONS = os.path.join("scripts", "gpu_check", "suppressions.txt")
EXIT = 99
# That racecheck prints, one for each byte.
HAZARDS = 200000
UNCALLED = "uncalled "




@dataclasses.dataclass
class Suppression:
    """Functions of the device library between which racecheck reports a hazard that is none."""

    functions: tuple
    reason: str


def uncalled_functions(tree):
    """Functions that the list says are called by no program."""
    with open(os.path.join(tree, LIST), encoding="utf-8") as file:
        return {line.split()[1] for line in file if line.startswith(UNCALLED)}


def listed_cases(tree):
    with open(os.path.join(tree, LIST), encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line and not line.startswith(("#", UNCALLED)):
                yield listed_case(line)


def read_suppressions(path):
    """Each line: functions, a colon and a space, the reason."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    found = []
    for line in lines:
        if line and not line.startswith("#"):
            functions, _, reason = line.partition(": ")
            if not functions.strip() or not reason.strip():
                raise ValueError(f"{path}: expected 'FILE:FUNCTION, ...: REASON', got '{line}'")
            found.append(Suppression(tuple(name.strip() for name in functions.split(",")), reason.strip()))
    return found


class Functions:
    """Which function of the device library a line is in."""

    def __init__(self, tree):
        self.files = {}
        for path in glob.glob(os.path.join(tree, "runtime", "device", "dsv4", "**", "*.cuh"), recursive=True):
            with open(path, encoding="utf-8") as file:
                self.files[os.path.basename(path)] = file.read().splitlines()

    def find(self, file, line):
        """FILE:FUNCTION, or FILE:LINE."""
        base = os.path.basename(file)
        lines = self.files.get(base, [])
        for number in range(min(line, len(lines)), 0, -1):
            if "__device__" in lines[number - 1] and "->" not in lines[number - 1]:
                text = " ".join(lines[number - 1:number + 4])
                found = re.search(r"(\w+)\(", text[text.index("__device__") + len("__device__"):].replace(
                    "__launch_bounds__(", ""))
                if found:
                    return f"{base}:{found.group(1)}"
        return f"{base}:{line}"


def explain_races(ended, functions, suppressions, roles):
    """What racecheck found that nothing explains, and notes of what is explained."""
    summary = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) error", ended.text)
    if not summary:
        return "racecheck has no summary", []
    left, notes = [], set()
    hazards = read_hazards(ended.text, functions)
    for hazard in hazards:
        explained = [each.reason for each in suppressions if hazard.functions <= set(each.functions)]
        names = ", ".join(sorted(hazard.functions))
        if explained:
            notes.add(f"{names}: {explained[0]}")
        elif roles and (reason := roles.explain(hazard)):
            notes.add(f"{names}: {reason}")
        else:
            left.append(" and ".join(sorted(hazard.functions)))
    if int(summary.group(2)) > len(hazards):
        left.append(f"{int(summary.group(2)) - len(hazards)} hazards that are not displayed")
    return "; ".join(sorted(set(left))), sorted(notes)


def sanitize(case, tool, context, sanitizer, functions, suppressions):
    """The result of one case under a tool."""
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix=f"{tool}-", dir=context.work)
    write_text(folder, "program.mlir", case.text)
    command = [sanitizer, f"--tool={tool}", f"--error-exitcode={EXIT}",
               *build_command(case, context, folder, [*case.options, "--check"])]
    emitted = os.path.join(folder, "emitted")
    if tool == "racecheck":
        # Line numbers name functions.
        command[2:2] = ["--racecheck-report=hazard", f"--print-limit={HAZARDS}"]
        command += ["--line-info", f"--emit={emitted}"]
    ended = run(command, context.environment(), context.timeout)
    result = Result(tool, case.name, launches=1, repeat=" ".join(command))
    if ended.status in (0, EXIT) and tool == "racecheck":
        result.why, notes = explain_races(ended, functions, suppressions, read_roles(emitted))
        result.note = "; ".join(notes)
    if not result.why and (ended.status not in (0, EXIT) or (tool == "memcheck" and ended.status)):
        found = re.findall(r"^=+ (Invalid .*|.*error.*)$", ended.text, re.M)
        result.why = found[0] if found and ended.status == EXIT else explain_end(ended, context.timeout)
    if not result.why and "matches the oracle" not in ended.text:
        result.why = "the result was not compared"
    result.status = FAILED if result.why else PASSED
    if result.why:
        write_text(folder, "output.txt", ended.text)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    result.seconds = time.monotonic() - begin
    return result


def sanitized_cases(tree, tables, family):
    small = [case for table in tables if table.arch == family for case in small_cases(table)]
    return [*listed_cases(tree), *small]


def find_sanitizer():
    paths = [shutil.which("compute-sanitizer")] + sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer"))
    return next((path for path in paths if path), None)
