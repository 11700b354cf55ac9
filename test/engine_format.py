"""Tests for each program of examples/engines: `run`, on the host against the oracle, and `nvrtc`.

A program says in its first comment with which extents it runs:

    // Dims: --dim tokens=5 --dim cache.pages=3
    // Dims: --dim tokens=0 --dim cache.pages=0

Each such line is a run of the test, with random data, as the threads come and in reverse. NVRTC compiles what is
emitted for the first line, for each architecture. A program may say how much local memory its kernels may have, as
golden kernels do:

    // NVRTC: --max-stack=24 sm_100a sm_120a

It also says whether its bytes are those of the kernel that it stands in for, in the words of docs/Engines.md, whose
row for the program has them, too:

    // Bytes: last bits; sums are added in another order
"""

import os
import re
import subprocess

import lit.formats
import lit.Test

# The schedules were measured on sm_90a. Those of other architectures may need a little local memory.
ARCHS = ("sm_90a", "--max-stack=128 sm_80", "--max-stack=128 sm_100a", "--max-stack=128 sm_120a")


BYTES = ("equal", "last bits", "same elements", "own layout", "not compared")


def explain_bytes(path, text):
    """What is wrong with what a program says about its bytes, or an empty string."""
    said = re.findall(rf"^// Bytes: ({'|'.join(BYTES)})\b", text, flags=re.M)
    if len(said) != 1:
        return f"{path}: expected a line '// Bytes: ...' that begins with one of {', '.join(BYTES)}"
    folder, name = os.path.split(path)
    table = os.path.join(folder, "..", "..", "docs", "Engines.md")
    with open(table, encoding="utf-8") as file:
        rows = [line.split(" | ") for line in file if f"/{name})" in line and line.startswith("|")]
    cells = [row[3].split(", ") for row in rows if len(row) == 5]
    if not cells or any(said[0] not in cell for cell in cells):
        return f"{table}: expected '{said[0]}' in the column 'bytes' of the row with {name}"
    return ""


def run_commands(path, text):
    """The commands that run a program, none if it does not say with which extents."""
    for seed, dims in enumerate(re.findall(r"^// Dims: (.*)$", text, flags=re.M), 1):
        for order in ("forward", "reverse"):
            yield f"dsv4-run {path} --target=host --thread-order={order} --random={seed} --check {dims}"


def allowed_stacks(text):
    """The bytes of local memory that a program names architectures with."""
    stacks, stack = {}, 0
    for word in " ".join(re.findall(r"^// NVRTC: (.*)$", text, flags=re.M)).split():
        if word.startswith("--max-stack="):
            stack = int(word.split("=")[1])
        else:
            stacks[word] = stack
    return stacks


def nvrtc_commands(path, text):
    """The commands that compile its kernels, none if it does not say with which extents."""
    lines = re.findall(r"^// Dims: (.*)$", text, flags=re.M)
    # The pipeline takes the extents that kernels are specialised to, and no others.
    policies = re.findall(r"(\w+) = #dsv4\.policy<", text)
    stacks = allowed_stacks(text)
    for arch in ARCHS if lines else ():
        name = arch.split()[-1]
        dims = re.findall(r"--dim ([\w.]+=\d+)", lines[0])
        given = ",".join(dim for dim in dims if dim.split("=")[0] in policies)
        options = f"arch={name}" + (f" dims={given}" if given else "")
        allowed = f"--max-stack={stacks[name]} {name}" if name in stacks else arch
        yield (f'dsv4-opt {path} --dsv4-lower-to-cuda-pipeline="{options}" -mlir-print-debuginfo'
               f" | dsv4-translate --mlir-to-cuda | dsv4-nvrtc-check {allowed}")


class EngineFormat(lit.formats.TestFormat):
    def __init__(self, programs, commands, feature=None):
        self.programs, self.commands, self.feature = programs, commands, feature

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for name in sorted(os.listdir(self.programs)):
            if name.endswith(".mlir"):
                yield lit.Test.Test(testSuite, path_in_suite + (name,), localConfig)

    def execute(self, test, litConfig):
        path = os.path.join(self.programs, test.path_in_suite[-1])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        commands = list(self.commands(path, text))
        wrong = explain_bytes(path, text)
        if wrong:
            return lit.Test.FAIL, wrong
        if not commands:
            return lit.Test.UNRESOLVED, f"{path}: expected a line '// Dims: --dim NAME=N ...'"
        if self.feature and self.feature not in test.config.available_features:
            return lit.Test.UNSUPPORTED, f"there is no {self.feature}"
        for command in commands:
            run = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=test.config.environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if run.returncode:
                return lit.Test.FAIL, f"{command}\n{run.stdout}"
        return lit.Test.PASS, ""
