"""What gpu-check does: all cases, by several processes at a time, and the report."""

import concurrent.futures
import os
import random
import re
import shutil
import sys
import tempfile
import time

from . import pack, report, sanitize, suites
from .case import Case
from .device import Device, find_device
from .execute import FAILED, LEFT, Context, Result, run_case, run_command
from .table_cases import forced_cases, table_cases
from .tables import family_of, read_tables, write_labelled

HOST = Device("host", "sm_90a", "none")
# Of the drawn programs, and of schedules of other families, some are legitimately refused.
DRAWN = "drawn programs"
# Groups that most likely find nothing that the cases before them do not.
LATER = ("damaged programs", "drawn selections", "unit tests")
# With --quick: cases of a group, and how much work each may be.
QUICK_CASES, QUICK_COST = 3, 2.5


class Task:
    """Something to run: a name, what it costs about, and a function that returns a result."""

    def __init__(self, item, function):
        self.group, self.name, self.cost, self.function = item.group, item.name, item.cost, function
        self.optional = getattr(item, "optional", False)


def make_cases(context, tables, arch, seed):
    family = family_of(tables, arch)
    yield from table_cases(tables, family)
    yield from forced_cases(tables, family)
    yield from suites.next_n_cases(seed)
    yield from suites.example_cases(context.tree)
    yield from suites.engine_cases(context.tree)
    for case in sanitize.listed_cases(context.tree):
        case.group = "device functions"
        yield case
    yield from suites.drawn_cases(context.tree, seed, needed=126, count=630)


def make_commands(context, seed, quick):
    if quick:
        yield from suites.selection_commands(context, seed, chunks=1, each=2)
        yield from suites.fuzz_commands(context, seed, chunks=1, runs=20)
        return
    yield from suites.selection_commands(context, seed, chunks=6, each=10)
    yield from suites.fuzz_commands(context, seed, chunks=4, runs=300)
    yield from suites.unit_commands(context, seed)


def make_sanitizer_tasks(context, tables, arch, sanitizer):
    functions = sanitize.Functions(context.tree)
    suppressions = sanitize.read_suppressions(context.suppressions)
    for case in sanitize.sanitized_cases(context.tree, tables, family_of(tables, arch)):
        for tool in ("memcheck", "racecheck"):
            item = Case(tool, case.name, cost=30)

            def work(case=case, tool=tool):
                if not sanitizer:
                    return Result(tool, case.name, FAILED, "there is no compute-sanitizer")
                return sanitize.sanitize(case, tool, context, sanitizer, functions, suppressions)

            yield Task(item, work)


def make_tasks(context, tables, arch, options):
    tasks = [Task(case, lambda case=case: run_case(case, context))
             for case in make_cases(context, tables, arch, options.seed)]
    tasks += [Task(command, lambda command=command: run_command(command, context))
              for command in make_commands(context, options.seed, options.quick)]
    sanitizer = options.sanitizer or (sanitize.find_sanitizer() if context.target == "cuda" else "")
    if sanitizer or context.target == "cuda":
        tasks += make_sanitizer_tasks(context, tables, arch, sanitizer)
    tasks = [task for task in tasks if re.search(options.only, f"{task.group}: {task.name}")]
    return pick_quick(tasks) if options.quick else tasks


def pick_quick(tasks):
    picked, counts = [], {}
    for task in sorted(tasks, key=lambda task: task.cost):
        counts[task.group] = counts.get(task.group, 0) + 1
        if counts[task.group] <= QUICK_CASES and task.cost <= QUICK_COST:
            picked.append(task)
    return [task for task in tasks if task in picked]


def run_task(task, context):
    if time.monotonic() > context.deadline:
        return Result(task.group, task.name, LEFT, "no time was left")
    try:
        return task.function()
    except Exception as error:  # One row, whatever goes wrong.
        return Result(task.group, task.name, FAILED, f"{type(error).__name__}: {error}")


def run_all(tasks, context, jobs):
    """The results in the order of the tasks. Those that take long begin first, drawn ones and tests of the tree after
    all others, and those that may be left out last."""
    order = sorted(range(len(tasks)), key=lambda at: (tasks[at].optional, tasks[at].group in LATER, -tasks[at].cost))
    results = [None] * len(tasks)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run_task, tasks[at], context): at for at in order}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            results[futures[future]] = future.result()
            if done % 200 == 0:
                print(f"gpu-check: {done} of {len(tasks)}", file=sys.stderr, flush=True)
    return [result for task, result in zip(tasks, results) if not (task.optional and result.status == LEFT)]


def run_pack(tree, options):
    size = pack.pack(options.build, options.folder, pack.describe_commit(tree))
    print(f"gpu-check: {size / 1e6:.1f} MB in {options.folder}; scripts/gpu-check {options.folder} runs them")
    return 0


def main(tree, options):
    if options.pack:
        return run_pack(tree, options)
    device = HOST if options.target == "host" else find_device()
    if not device:
        print("gpu-check: there is no CUDA device; --target=host runs the same cases without one", file=sys.stderr)
        return 1
    begin = time.monotonic()
    options.seed = options.seed or random.SystemRandom().randint(1, 1 << 30)
    work, status = tempfile.mkdtemp(prefix="gpu-check-", dir=options.keep or None), 0
    try:
        status = check(tree, options, device, work, begin)
        return status
    finally:
        # The files of what failed stay.
        for folder in [os.path.join(work, name) for name in ("bin", "cache")] if status else [work]:
            shutil.rmtree(folder, ignore_errors=True)


def check(tree, options, device, work, begin):
    binaries = os.path.join(work, "bin")
    pack.unpack(options.folder, binaries)
    context = Context(tree, binaries, work, options.target, options.timeout, deadline=begin + options.seconds,
                      suppressions=options.suppressions or os.path.join(tree, sanitize.SUPPRESSIONS))
    tables = read_tables(tree)
    for table in tables:
        context.tables[table.arch] = os.path.join(work, f"forced-{table.arch}.json")
        write_labelled(tables, table.arch, context.tables[table.arch])
    tasks = make_tasks(context, tables, device.arch, options)
    if options.list:
        print("\n".join(f"{task.group}: {task.name}" for task in tasks))
        return 0
    try:
        results = run_all(tasks, context, options.jobs)
    finally:
        context.servers.end()
    may_refuse = {DRAWN} | {task.group for task in tasks if task.group.endswith(", forced")}
    facts = {"device": f"{device.name} ({device.arch})", "driver": device.driver,
             "commit": pack.describe_commit(tree) or pack.read_commit(options.folder) or "unknown",
             "tools": pack.read_commit(options.folder) or options.folder,
             "seed of drawn cases": str(options.seed)}
    text, good = report.write_report(results, may_refuse, facts, time.monotonic() - begin)
    print(text)
    if failures := report.write_failures(results, may_refuse):
        print(f"\nDifferences and failures, with files in {work}:\n\n{failures}")
    if not results:
        print("gpu-check: no case has that name", file=sys.stderr)
    return 0 if good and results else 1
