"""Runs cases and commands: each is one result, whether it passes, differs, crashes or hangs."""

import dataclasses
import filecmp
import os
import re
import shlex
import shutil
import struct
import tempfile
import time

from .process import Ended, Servers, run

PASSED, DIFFERS, FAILED, REFUSED, LEFT = "passed", "DIFFERS", "FAILED", "refused", "NOT RUN"
DIFFERENCE = 2  # The exit status of dsv4-run.
NO_OTHER = 3  # Of no tool: there is nothing to compare with.


@dataclasses.dataclass
class Result:
    group: str
    name: str
    status: str = PASSED
    why: str = ""
    cases: int = 1
    launches: int = 0
    seconds: float = 0.0
    note: str = ""
    repeat: str = ""  # The command that runs it again.


@dataclasses.dataclass
class Command:
    """A program of the tests that checks many cases by itself, and says how many."""

    group: str
    name: str
    arguments: list
    count: str  # A regular expression: its first group is the number of cases.
    launches: int = 1  # Of each case, at least.
    environment: dict = dataclasses.field(default_factory=dict)
    cost: float = 20.0


@dataclasses.dataclass
class Context:
    tree: str
    binaries: str
    work: str
    target: str = "cuda"
    timeout: float = 100.0
    tables: dict = dataclasses.field(default_factory=dict)  # Files, by family.
    deadline: float = 0.0
    suppressions: str = ""  # A file.
    servers: Servers = dataclasses.field(default_factory=Servers)

    def environment(self, **more):
        paths = os.pathsep.join([self.binaries, os.environ.get("PATH", "")])
        return {**os.environ, "PATH": paths, "DSV4_CACHE_DIR": os.path.join(self.work, "cache"),
                "DSV4_TEST_TARGET": self.target, **more}


def write_lengths(path, values):
    """A .npy file of i32."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}i", *values))


def run_tool(command, context):
    """Runs a command of dsv4-run, in a process that has run others, if there is one."""
    return context.servers.run(command[0], shlex.join(command[1:]), context.environment(), context.timeout)


def explain_end(ended, timeout):
    """Why a command failed, in one line."""
    lines = [line for line in ended.text.splitlines() if line.strip()]
    telling = [line for line in lines if "error: " in line or "DIFFER" in line or " FAILED " in line]
    last = (telling or lines or [""])[-1].strip()
    if ended.status is None:
        return f"no end after {timeout:.0f} s"
    if ended.status < 0:
        return f"signal {-ended.status}: {last}"
    return f"status {ended.status}: {last}"


def find_status(ended):
    """What the end of dsv4-run means."""
    if ended.status == 0:
        return PASSED
    if ended.status == DIFFERENCE:
        return DIFFERS
    # The verifier of an op, or of a schedule, refuses with its name.
    refuses = "error: 'dsv4." in ended.text or re.search(r"schedule_\w*c\d", ended.text)
    return REFUSED if ended.status == 1 and refuses else FAILED


def build_command(case, context, folder, options):
    """The command of dsv4-run for a case, whose files are in `folder`."""
    path = os.path.join(context.tree, case.path) if case.path else os.path.join(folder, "program.mlir")
    command = [os.path.join(context.binaries, "dsv4-run"), path, f"--target={context.target}", f"--random={case.seed}"]
    command += [f"--entry={case.entry}"] if case.entry else []
    command += [f"--dim={name}={extent}" for name, extent in case.dims.items()]
    for name, lengths in case.lengths.items():
        write_lengths(os.path.join(folder, f"{name}.npy"), lengths.values())
        command.append(f"--input={name}={folder}/{name}.npy")
    if case.forced:
        command.append(f"--schedule-table={context.tables[case.forced]}")
    return command + list(options)


def write_text(folder, name, text):
    if text:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def compare_with_other(case, context, folder, command):
    """Runs the other program, or schedule, and compares all outputs bit for bit."""
    other = case.other
    names = [f"--output={name}={folder}/{{}}.{name}.npy" for name in other.outputs]
    ended = run_tool(command + [name.format("got") for name in names] + [f"--launches={case.launches}"], context)
    if ended.status != 0:
        return ended
    reference = [*command, *other.options]
    if other.text:
        reference[1] = os.path.join(folder, "other.mlir")
    ended = run_tool(reference + [name.format("want") for name in names], context)
    if ended.status != 0:
        # No refusal either: it says nothing of the case.
        status = NO_OTHER if ended.status and ended.status > 0 else ended.status
        return Ended(status, ended.text.replace("error: ", "error: in what it is compared with: "))
    for name in other.outputs:
        if not filecmp.cmp(f"{folder}/got.{name}.npy", f"{folder}/want.{name}.npy", shallow=False):
            return Ended(DIFFERENCE, f"DIFFERS: {name_difference(folder, name)}")
    return ended


def name_difference(folder, name):
    """Which elements of an output differ, of four bytes each or two."""
    got, want = (open(f"{folder}/{kind}.{name}.npy", "rb").read() for kind in ("got", "want"))
    start = 10 + struct.unpack("<H", want[8:10])[0]
    width = 2 if b"'<f2'" in want[:start] or b"'<u2'" in want[:start] else 4
    wrong = [at for at in range(start, len(want), width) if got[at:at + width] != want[at:at + width]]
    return (f"'{name}' differs from the other program in {len(wrong)} of {(len(want) - start) // width} elements, "
            f"first at {(wrong[0] - start) // width}" if wrong else f"'{name}' has another header")


def run_case(case, context):
    """The result of a case, whose files stay if it fails."""
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix="case-", dir=context.work)
    write_text(folder, "program.mlir", case.text)
    if case.other:
        write_text(folder, "other.mlir", case.other.text)
        command = build_command(case, context, folder, case.options)
        ended = compare_with_other(case, context, folder, command)
    else:
        command = build_command(case, context, folder, [*case.options, "--check", f"--launches={case.launches}"])
        ended = run_tool(command, context)
    status = find_status(ended)
    result = Result(case.group, case.name, status, seconds=time.monotonic() - begin,
                    launches=case.launches + (1 if case.other else 0))
    if status == PASSED:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        result.why = explain_end(ended, context.timeout)
        result.repeat = shlex.join([os.path.basename(command[0]), *command[1:]])
    return result


def run_command(command, context):
    begin = time.monotonic()
    ended = run(command.arguments, context.environment(**command.environment), 3 * context.timeout, context.tree)
    found = re.findall(command.count, ended.text, re.M)
    result = Result(command.group, command.name, seconds=time.monotonic() - begin,
                    cases=sum(int(number) for number in found))
    result.launches = result.cases * command.launches
    if ended.status != 0:
        result.status, result.why = FAILED, explain_end(ended, 3 * context.timeout)
    elif not result.cases:
        result.status, result.why = FAILED, "ran no case: " + explain_end(ended, 0)
    if result.status != PASSED:
        result.cases = max(result.cases, 1)
        result.repeat = shlex.join(command.arguments)
        write_text(tempfile.mkdtemp(prefix="command-", dir=context.work), "output.txt", ended.text)
    return result
