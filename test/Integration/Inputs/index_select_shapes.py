#!/usr/bin/env python3
"""Selections from index scores, in the kernel of the scores and in one of their own: equal bytes.

usage: index_select_shapes.py --tool=dsv4-run [--target=host] [--count=N] [--seed=S] [--jobs=J]
                              [--resident]

Each program has random formats, heads, page size, columns, k, rows per request and order, and runs
with random operands. Some queries are zeros or few values, so that many scores are equal. With
--resident, blocks or clusters have the scores in shared memory. Prints how many programs agree;
fails if one does not.
"""

import argparse
import concurrent.futures
import filecmp
import os
import random
import subprocess
import sys
import tempfile

import npy

# Format of the keys: record of a cache, and queries that go with it.
RECORDS = {
    "fp8": '[<"key" : 128 x f8E4M3FN in row>, <"scale" : 1 x f32 in tail scales "key" per row>]',
    "mxfp4": '[<"key" : 128 x f4E2M1FN in row>, <"scale" : 4 x f8E8M0FNU in tail scales "key" per 32>]',
    "nvfp4": '[<"key" : 128 x f4E2M1FN in row>, <"scale" : 8 x f8E4M3FN in row scales "key" per 16>]',
}

PROGRAM = """
!keys = !dsv4.cache<{page} x <{record}>>
func.func @select(
    %q: tensor<?x{heads}x128xf8E4M3FN> {{dsv4.name = "q", dsv4.dims = ["rows", "", ""]}},
    %w: tensor<?x{heads}xf32> {{dsv4.name = "w", dsv4.dims = ["rows", ""]}},
    %keys: !keys {{dsv4.name = "keys"}},
    %table: tensor<?x?xi32> {{dsv4.name = "table", dsv4.dims = ["requests", "pages"]}},
    %length: tensor<?xi32> {{dsv4.name = "length", dsv4.dims = ["requests"]}},
    %chosen: tensor<?x{k}xi32> {{dsv4.name = "chosen", dsv4.dims = ["rows", ""]}},
    %values: tensor<?x{k}xf32> {{dsv4.name = "values", dsv4.dims = ["rows", ""]}}{argument})
    -> (tensor<?x{k}xi32>, tensor<?x{k}xf32>{type}) {{
  {empty}
  %scores = dsv4.index_score %q weights(%w : tensor<?x{heads}xf32>) cache(%keys : !keys)
      pages(%table : tensor<?x?xi32>) lengths(%length : tensor<?xi32>) next_n {next_n}
      outs(%out : tensor<?x{columns}xf32>) : tensor<?x{heads}x128xf8E4M3FN>
  %0:2 = dsv4.topk %scores {lengths} order {order}
      outs(%chosen, %values : tensor<?x{k}xi32>, tensor<?x{k}xf32>) : tensor<?x{columns}xf32>
  return %0#0, %0#1{result} : tensor<?x{k}xi32>, tensor<?x{k}xf32>{type}
}}
"""


def make_job(source):
    columns = source.choice([source.randint(1, 300), source.randint(1, 3000), source.randint(1, 9000)])
    next_n = source.choice([1, 1, 2, 3, 4])
    requests = source.randint(1, 6)
    page = source.choice([1, 2, 6, 16, 64, 64, 100, 256])
    return {
        "format": source.choice(list(RECORDS)),
        "heads": source.choice([1, 7, 32, 33, 64, 64, 100, 128]),
        "page": page,
        "columns": columns,
        "k": min(columns, source.choice([1, 2, 33, 512, source.randint(1, 2048)])),
        "next_n": next_n,
        "order": source.choice(["sorted", "index_ascending"]),
        "lengths": f"lengths(%length : tensor<?xi32>) next_n {next_n}" if source.random() < 0.7 else "",
        "values": source.choice(["any", "any", "few", "zero"]),
        "rows": requests * next_n - source.choice([0, 0, 1 % next_n]),
        "requests": requests,
        "pages": max(1, columns // page + source.choice([-1, 0, 1])),
        "seed": source.randint(1, 1 << 30),
    }


def draw_schedule(job):
    """A schedule whose threads hold a row of scores."""
    source = random.Random(job["seed"])
    threads = source.choice([256, 512])
    fewest = -(-job["columns"] // (32 * threads))
    # Plain scores have other last bits.
    tiles = 1 if job["format"] == "nvfp4" else source.choice([1, 2])
    cluster = source.randint(fewest, max(fewest, source.choice([4, 8])))
    shares = job["next_n"] % 2 == 0 and job["columns"] < 5000 * cluster
    rows = 2 if shares and source.random() < 0.5 else 1
    return (f"#dsv4.schedule<threads = {threads}, cluster = {cluster}, min_blocks = 1, "
            "parts = [#dsv4.select<algorithm = resident, vector = 4>, "
            f"#dsv4.score<algorithm = mma, rows = {rows}, tiles = {tiles}, "
            "stages = 6, slots = 1>]>")


def write_programs(job, folder):
    given = {**job, "record": RECORDS[job["format"]]}
    columns, heads = job["columns"], job["heads"]
    row = f"tensor<?x{columns}xf32>"
    forms = {
        "fused": {
            "argument": "", "type": "", "result": "",
            "empty": f"%c0 = arith.constant 0 : index\n  %rows = tensor.dim %q, %c0 : tensor<?x{heads}x128xf8E4M3FN>\n"
            f"  %out = tensor.empty(%rows) : {row}",
        },
        "stored": {
            "argument": f',\n    %out: {row} {{dsv4.name = "out", dsv4.dims = ["rows", ""]}}',
            "type": f", {row}", "result": ", %scores", "empty": "",
        },
    }
    for name, form in forms.items():
        with open(f"{folder}/{name}.mlir", "w") as file:
            file.write(PROGRAM.format(**given, **form))


def write_queries(job, folder):
    """Queries of few values, with which many scores are equal."""
    os.makedirs(f"{folder}/in")
    source = random.Random(job["seed"])
    count = job["rows"] * job["heads"] * 128
    codes = [0] if job["values"] == "zero" else [0] * 60 + [0x38, 0xB8]
    npy.write(f"{folder}/in/q.npy", "|u1", (job["rows"], job["heads"], 128), source.choices(codes, k=count))


def run(job, options):
    with tempfile.TemporaryDirectory() as folder:
        write_programs(job, folder)
        extra = []
        if job["values"] != "any":
            write_queries(job, folder)
            extra = [f"--input=q={folder}/in/q.npy"]
        for name in ("fused", "stored"):
            command = [options.tool, f"{folder}/{name}.mlir", f"--target={options.target}", f"--random={job['seed']}"]
            command += [f"--outputs={folder}/{name}", f"--dim=keys.pages={job['requests'] * job['pages'] + 1}"]
            command += [f"--dim={dim}={job[dim]}" for dim in ("rows", "requests", "pages")] + extra
            if options.resident and name == "fused":
                command.append(f"--schedule={draw_schedule(job)}")
            done = subprocess.run(command, capture_output=True, text=True)
            kernels = sum(line.startswith("kernel ") for line in done.stdout.splitlines())
            if done.returncode or kernels != (1 if name == "fused" else 2):
                return f"{job}\n{name}: {kernels} kernels\n{done.stdout[-800:]}{done.stderr[-800:]}"
        for result in ("chosen", "values"):
            if not filecmp.cmp(f"{folder}/fused/{result}.npy", f"{folder}/stored/{result}.npy", shallow=False):
                return f"{job}\n'{result}' differs"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--target", default="host")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resident", action="store_true")
    options = parser.parse_args()
    source = random.Random(options.seed)
    jobs = [make_job(source) for _ in range(options.count)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failures = [failure for failure in pool.map(lambda job: run(job, options), jobs) if failure]
    for failure in failures[:5]:
        print(failure)
    print(f"{len(jobs) - len(failures)} of {len(jobs)} selections agree")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
