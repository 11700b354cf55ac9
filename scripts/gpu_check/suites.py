"""Cases that are not made from tables: programs of the tree, drawn programs, and the tests of the tree that
check many cases by themselves."""

import glob
import os
import random
import re
import shlex
import sys

from .case import Case
from .execute import Command
from .table_cases import score_case

ENGINES = os.path.join("examples", "engines")
INTEGRATION = os.path.join("test", "Integration", "Inputs")


def parse_options(options):
    """The dims and the other options of a command line of dsv4-run."""
    words, dims, others = shlex.split(options), {}, []
    while words:
        word = words.pop(0)
        name, _, value = word.partition("=")
        if name == "--dim":
            value = value or words.pop(0)
            dim, _, extent = value.partition("=")
            dims[dim] = int(extent)
        else:
            others.append(word)
    return dims, [word for word in others if word != "--check" and not word.startswith("--random")]


def example_cases(tree):
    """The programs of examples/, as their first comments run them."""
    for path in sorted(glob.glob(os.path.join(tree, "examples", "*.mlir"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = os.path.relpath(path, tree)
        comment = text.split("\n\n")[0].replace("//", " ").replace("\\\n", " ")
        found = re.search(rf"dsv4-run {re.escape(name)}((?:\s+--\S+(?:\s+[\w.]+=\d+)?)+)", comment)
        if not found:
            raise ValueError(f"{name}: its first comment has no command of dsv4-run")
        dims, options = parse_options(found.group(1))
        # Also with a few rows more or less than the comment has.
        for turn, more in enumerate((0, 1)):
            changed = {dim: extent + more if dim in ("tokens", "queries", "rows") else extent
                       for dim, extent in dims.items()}
            yield Case("examples", f"{name} {turn}", path=name, dims=changed, options=tuple(options), seed=turn + 1,
                       cost=2)


def engine_cases(tree):
    """The programs of examples/engines, with the extents that each names."""
    for path in sorted(glob.glob(os.path.join(tree, ENGINES, "*.mlir"))):
        name = os.path.relpath(path, tree)
        with open(path, encoding="utf-8") as file:
            lines = re.findall(r"^// Dims: (.*)$", file.read(), re.M)
        for seed, line in enumerate(lines, 1):
            dims, options = parse_options(line)
            yield Case("engines", f"{os.path.basename(name)} {seed}", path=name, dims=dims, options=tuple(options),
                       seed=seed)


def listed_case(line):
    """A case of a line with a file and options of dsv4-run."""
    path, _, rest = line.partition(" ")
    dims, options = parse_options(rest)
    entry = [word.split("=")[1] for word in options if word.startswith("--entry=")]
    return Case("", line, path=path, entry=entry[0] if entry else "", dims=dims,
                options=tuple(word for word in options if not word.startswith("--entry=")))


def next_n_cases(seed):
    """Selections from scores of several rows per request in one kernel, against stored scores: every number of
    rows, around the numbers of columns at which schedules change."""
    for columns in (4096, 8192, 16384, 16385, 32768, 65536, 131072):
        for next_n in range(1, 9):
            for key_format in ("e4m3", "mxfp4", "nvfp4", "bf16"):
                requests = {1: 150, 2: 2, 3: 50, 4: 64, 5: 30, 6: 3, 7: 20, 8: 32}[next_n]
                # Without tensor cores scores are slow.
                scores = (4 if key_format == "bf16" else 24) << 20
                rows = min(requests * next_n, max(2, scores // columns // next_n) * next_n)
                point = {"rows": rows, "columns": columns, "form": "fused", "format": key_format, "next_n": next_n}
                case = score_case(f"next_n={next_n} {key_format} rows={rows} columns={columns}", point,
                                  fixed={"heads": 64, "page": 64, "k": 512})
                case.group, case.seed, case.launches = "next_n", seed, 20
                case.cost += 3
                yield case


def drawn_cases(tree, seed, needed, count):
    """The random programs of test/Fuzz, of a seed: those that are needed, and more if there is time."""
    sys.path.insert(0, os.path.join(tree, "test", "Fuzz", "Inputs"))
    import random_operands  # pylint: disable=import-outside-toplevel,import-error

    for index in range(count):
        program = random_operands.make(str(seed), index, list(random_operands.FAMILIES), 1)
        for options in program["runs"]:
            number = int(options[0].split("=")[1])
            dims, others = parse_options(" ".join(options[1:]))
            yield Case("drawn programs", f"seed {seed}, {program['name']}", text=program["text"], dims=dims,
                       options=tuple(others), seed=number, optional=index >= needed)


def selection_commands(context, seed, chunks, each):
    """Random selections in the kernel of the scores and in one of their own."""
    script = os.path.join(context.tree, INTEGRATION, "index_select_shapes.py")
    source = random.Random(seed)
    for chunk in range(chunks):
        resident = ["--resident"] if chunk % 2 else []
        drawn = source.randint(1, 1 << 30)
        yield Command("drawn selections", f"seed {drawn} {' '.join(resident)}",
                      [sys.executable, script, "--tool=dsv4-run", f"--target={context.target}", f"--count={each}",
                       f"--seed={drawn}", *resident], r"^(\d+) of \d+ selections agree$", launches=2, cost=2.5 * each)


def fuzz_commands(context, seed, chunks, runs):
    """Damaged programs with random schedules, against the oracle."""
    for chunk in range(chunks):
        yield Command("damaged programs", f"seed {seed + chunk}",
                      [os.path.join(context.binaries, "dsv4-fuzz"), "check", f"--seed={seed + chunk}",
                       f"--runs={runs}", "--seconds=30", f"--save={context.work}", os.path.join(context.tree, "examples")],
                      r"^check: \d+ inputs, (\d+) accepted", cost=40)


# Tests of dsv4-integration-tests, and into how many processes they are divided.
UNIT_TESTS = {"GPUTest.*": 3, "LayoutsTest.*": 6, "RegressionTest.*:WritersTest.*": 8, "Topk*:Router*": 8,
              "CompressorsTest.*:SegmentsTest.*": 9, "ManyValuesTest.*": 2}


def unit_commands(context, seed):
    """The tests of the tree that launch kernels, with another seed."""
    count = r"^\[  PASSED  \] (\d+) test"
    if context.target == "cuda":
        binary = os.path.join(context.binaries, "dsv4RuntimeTests")
        yield Command("unit tests", "Driver", [binary, "--gtest_filter=Driver.RealOneOrAMessage"], count)
    binary = os.path.join(context.binaries, "dsv4-integration-tests")
    for tests, shards in UNIT_TESTS.items():
        for shard in range(shards):
            yield Command("unit tests", f"{tests} {shard + 1}/{shards}", [binary, f"--gtest_filter={tests}"], count,
                          cost=40,
                          environment={"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard),
                                       "DSV4_TEST_SEED": str(seed), "DSV4_TEST_SCALE": "0"})
