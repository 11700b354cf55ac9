#!/usr/bin/env python3
"""Runs every measurement on this machine and writes one JSON file of results.

  bench/run.py --bin build/release/bin        as `make bench` does

The file is bench/results/<device>-<date>.json; bench/README.md says what is in
it. Prints the table with what each figure must reach and should reach.
"""

import argparse
import datetime
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KEYS = ("what", "layout", "size", "l2")  # What distinguishes rows.

# Schedules that are tried beside the one of the table; those that do not fit a
# layout are skipped.
SHAPES = ((128, 16, 4), (256, 16, 4), (512, 16, 4), (128, 16, 8), (256, 16, 8))
SHAPES += ((512, 16, 8), (256, 8, 8, 4), (64, 16, 4), (64, 16, 8))
SHAPES += ((128, 32, 8), (256, 32, 8))


def schedules():
    for threads, lanes, vector, *blocks in SHAPES:
        launch = f"threads = {threads}"
        launch += f", min_blocks = {blocks[0]}" if blocks else ""
        rows = f"lanes = {lanes}, vector = {vector}"
        for policy in ("", ", load = evict_last"):
            part = f"parts = [#dsv4.rows<{rows}{policy}>]"
            yield f"#dsv4.schedule<{launch}, pdl = true, {part}>"
            if lanes == 16 and threads == 128:
                yield f"#dsv4.schedule<{launch}, {part}>"


def run_json(command):
    """The JSON that a command prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"run.py: {command[0]} failed")
    return json.loads(done.stdout)


def query(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def time_process(command, count=100):
    """Milliseconds from start to end of a process, output thrown away."""
    null = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        child = os.posix_spawn(command[0], command, os.environ, file_actions=null)
        status = os.waitpid(child, 0)[1]
        times.append((time.perf_counter() - begin) * 1e3)
        if status != 0:
            sys.exit(f"run.py: {command[0]} failed")
    return {"median_ms": statistics.median(times), "least_ms": min(times)}


def slim(dsv4, count=8):
    """Of the schedules that were tried, keeps the fastest, and what differs."""
    shared = {}
    for row in dsv4["rows"]:
        shared.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    dsv4["rows"] = []
    for rows in shared.values():
        tried = [row for row in rows if not row["from_table"]]
        tried.sort(key=lambda row: row["us"])
        dsv4["rows"] += [row for row in rows if row["from_table"]]
        keep = (*KEYS, "from_table", "schedule", "registers", "us", "matches_oracle")
        wrong = [row for row in tried[count:] if not row["matches_oracle"]]
        dsv4["rows"] += [{k: row[k] for k in keep} for row in tried[:count] + wrong]
    return dsv4


def measure(options):
    bench = [str(options.bin / "dsv4-bench"), f"--rounds={options.rounds}"]
    if options.quick:
        bench.append("--quick")
    if options.only:
        bench.append(f"--only={options.only}")
    if options.no_compile_costs:
        bench.append("--no-compile-costs")
    if options.schedules:
        bench += [f"--schedule={schedule}" for schedule in schedules()]
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(" ", "seconds"),
        "commit": options.commit or query(["git", "rev-parse", "HEAD"]),
        "driver": query(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        ),
        "tool_start": {
            "dsv4-opt --version": time_process(
                [str(options.bin / "dsv4-opt"), "--version"]
            ),
            "true": time_process(["/bin/true"]),
        },
        "dsv4": slim(run_json(bench)),
    }
    peers = [sys.executable, str(HERE / "peers.py"), f"--rounds={options.rounds}"]
    peers += ["--quick"] if options.quick else []
    peers += [f"--only={options.only}"] if options.only else []
    peers += [f"--seconds={options.peer_seconds}"]
    result["peers"] = {"missing": "not run"} if options.no_peers else run_json(peers)
    return result


# ---- the table -----------------------------------------------------------------


def best_copy(result):
    """TB/s of the fastest large copy, and of the fastest without load policy."""
    copies = result["dsv4"]["copies"]
    plain = [copy for copy in copies if "evict" not in copy["name"]]
    return [max(copy["tb_per_s"] for copy in some) for some in (copies, plain)]


def rows_of(result, **keys):
    rows = result["dsv4"]["rows"]
    return [row for row in rows if all(row[key] == keys[key] for key in keys)]


def peer_us(result, row, peer):
    for other in result["peers"].get("rows", []):
        same = all(other[key] == row[key] for key in KEYS)
        if same and other["peer"] == peer:
            return other["us"]
    return None


def judge(value, must, goal, less=False):
    if value is None:
        return "-"
    reached = (lambda bound: value <= bound) if less else (lambda bound: value >= bound)
    return "goal met" if reached(goal) else "must met" if reached(must) else "MISSED"


def requirements(result):
    """(what, value, must, goal, less is better) of every figure we are held to."""
    found = []

    def add(what, value, must, goal, less=False):
        found.append((what, value, must, goal, less))

    require_gathers(result, add)
    require_writers(result, add)
    require_compressors(result, add)
    require_routers(result, add)
    require_topk(result, add)
    require_costs(result, add)
    return found


def table_row(result, what, layout, size, l2):
    keys = dict(what=what, layout=layout, size=size, l2=l2, from_table=True)
    rows = rows_of(result, **keys)
    return rows[0] if rows else None


def add_copy_ratios(result, add, row, what, must, goal):
    copy, plain = best_copy(result)
    add(f"{what} copy", row["tb_per_s"] / copy, must, goal)
    add(f"{what} plain copy", row["tb_per_s"] / plain, must, goal)


def add_all_ratios(result, add, row, size, must, goal):
    what = f"{row['what']} {row['layout']} {size}, of the best"
    same = row["same_copy_us"] / row["us"]
    add(f"{what} copy of the same bytes", same, must, goal)
    add_copy_ratios(result, add, row, what, must, goal)


def add_speedup(result, add, row, must, goal):
    peer = peer_us(result, row, "torch.compile")
    what = f"{row['what']} {row['layout']} T={row['size']}, times torch.compile"
    add(what, peer / row["us"] if peer else None, must, goal)


def require_gathers(result, add):
    for layout, must, goal in (
        ("seed_580", 0.87, 0.94),
        ("v4_584", 0.87, 0.94),
        ("v41_fp4_288", 0.85, 0.93),
    ):
        if row := table_row(result, "gather", layout, 1024, "cold"):
            what = f"gather {layout} T=1024, of the best"
            add_copy_ratios(result, add, row, what, must, goal)
    for layout in ("seed_580", "v4_584"):
        if row := table_row(result, "gather", layout, 1024, "cold"):
            add_speedup(result, add, row, 1.45, 1.6)
    for layout in ("seed_580", "v4_584", "v41_fp4_288"):
        for l2 in ("warm", "cold"):
            if row := table_row(result, "gather", layout, 1, l2):
                add(f"gather {layout} T=1 {l2}, us", row["us"], 1.9, 1.5, True)
    for size in (65536, 524288):
        if row := table_row(result, "dequantize", "nvfp4", size, "cold"):
            add_all_ratios(result, add, row, f"{size} rows", 0.88, 0.95)


def require_writers(result, add):
    layouts = ("v4_584", "seed_580")
    for what, layout in itertools.product(("append", "append_in_order"), layouts):
        if row := table_row(result, what, layout, 32768, "cold"):
            add_all_ratios(result, add, row, "T=32768", 0.83, 0.92)
    for layout in layouts:
        if row := table_row(result, "append_chain", layout, 32768, "cold"):
            add_speedup(result, add, row, 2, 4)
    for what, layout, size in itertools.product(
        ("append", "append_chain"), layouts, (1, 256)
    ):
        if row := table_row(result, what, layout, size, "warm"):
            add(f"{what} {layout} T={size} warm, us", row["us"], 2, 1.5, True)
    for size in (65536, 8192):
        ragged = table_row(result, "gather_ragged", "v4_584", size, "cold")
        given = table_row(result, "gather_given", "v4_584", size, "cold")
        if ragged and given:
            name = f"gather_ragged v4_584 {size} rows cold, times the one with given indices"
            add(name, ragged["us"] / given["us"], 1.05, 1.0, True)
    repeats = table_row(result, "append_repeats", "v4_584", 16384, "cold")
    unique = table_row(result, "append", "v4_584", 16384, "cold")
    if repeats and unique:
        name = "append v4_584 T=16384 cold, times the one with unique"
        add(name, repeats["us"] / unique["us"], 1.15, 1.05, True)
    for columns in (4096, 7168):
        if row := table_row(result, "rms_norm", f"bf16_{columns}", 8192, "cold"):
            name = f"rms_norm 8192 x {columns} cold, times a copy"
            add(name, row["us"] / row["same_copy_us"], 1.4, 1.1, True)
    # As many values as 8192 rows of 7168.
    for layout, must, goal in (("nvfp4", 0.8, 0.9), ("fp8_ue8m0", 0.88, 0.95)):
        if row := table_row(result, "quantize", layout, 114688, "cold"):
            add_all_ratios(result, add, row, "114688 rows", must, goal)


def require_compressors(result, add):
    # Entries of 8192 tokens.
    for what, size, must, goal in (
        ("compress_csa", 2048, 0.75, 0.85),
        ("compress_hca", 64, 0.6, 0.78),
    ):
        if row := table_row(result, what, "v4_584", size, "cold"):
            add_all_ratios(result, add, row, f"{size} entries", must, goal)
            add_speedup(result, add, row, 2, 4)
    if row := table_row(result, "compress_decode", "v4_584", 64, "warm"):
        add("compress_decode v4_584 64 warm, us", row["us"], 3.5, 2.4, True)
        add_speedup(result, add, row, 2, 4)


def require_routers(result, add):
    for size, experts, l2, must, goal in (
        (1, 256, "warm", 2.6, 1.8),
        (64, 384, "warm", 3.2, 2),
        (8192, 256, "cold", 8, 5),
        (8192, 384, "cold", 11, 7),
    ):
        if row := table_row(result, "router", f"{experts}_experts", size, l2):
            what = f"router {experts} experts T={size} {l2}, us"
            add(what, row["us"], must, goal, True)


# Rows, elements, k: microseconds a launch that a cold one must and should take.
TOPK = {
    (1, 4096, 512): (3.1, 2.4),
    (1, 16384, 512): (5.7, 3.5),
    (1, 65536, 512): (8.0, 5.0),
    (1, 262144, 512): (11.5, 7.0),
    (16, 65536, 512): (11, 6.5),
    (64, 8192, 512): (4.6, 3.4),
    (64, 32768, 512): (10, 6.5),
    (64, 131072, 2048): (28, 15),
    (64, 262144, 512): (32, 22),
    (256, 16384, 512): (11, 7),
    (256, 131072, 2048): (58, 44),
}


def require_topk(result, add):
    for (rows, size, k), (must, goal) in TOPK.items():
        name = f"topk_{rows} k{k} {size} cold"
        if row := table_row(result, f"topk_{rows}", f"k{k}", size, "cold"):
            add(f"{name}, us", row["us"], must, goal, True)
        if starts := table_row(result, f"topk_{rows}_starts", f"k{k}", size, "cold"):
            times = starts["us"] / row["us"] if row else None
            add(f"{name}, starts, times without", times, 1.05, 1.02, True)
        for scores in ("ascending", "equal", "bucket", "specials", "masked"):
            hard = table_row(result, f"topk_{rows}_{scores}", f"k{k}", size, "cold")
            if hard:
                times = hard["us"] / row["us"] if row else None
                add(f"{name}, {scores}, times the random", times, 3, 3, True)


def require_costs(result, add):
    for row in result["dsv4"]["compile"]:
        name = f"{row['what']} {row['layout']}"
        ratio = row["nvrtc_ms"] / row["nvrtc_empty_ms"]
        if row["what"].startswith("topk") or "router" in row["what"]:
            add(f"NVRTC over an empty kernel, {name}", ratio, 6, 4, True)
        if row["what"] not in ("gather", "dequantize"):
            continue  # Nothing is required of writers.
        add(f"passes and printing, {name}, ms", row["passes_ms"], 10, 5, True)
        add(f"NVRTC over an empty kernel, {name}", ratio, 3, 2, True)
        add(f"disk hit to launchable, {name}, ms", row["disk_hit_ms"], 1, 0.3, True)
    if dispatch := result["dsv4"]["dispatch"]:
        over = dispatch["over_us"]
        add("dispatch over the bare driver call, us", over, 0.2, 0.05, True)
    # A file of dsv4-bench alone has none.
    if tool := result["tool_start"].get("dsv4-opt --version"):
        add("dsv4-opt --version, ms", tool["median_ms"], 5, 2, True)


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def print_rows(result):
    copy, _ = best_copy(result)
    print(
        f"\n{'row':40}{'us':>8}{'TB/s':>7}{'floor':>8}{'empty':>7}{'same copy':>11}"
        f"{'/copy':>7}{'/same':>7}{'compile':>9}{'triton':>8}{'eager':>8}  oracle"
    )
    for row in rows_of(result, from_table=True):
        name = f"{row['what']} {row['layout']} {row['size']} {row['l2']}"
        peers = [peer_us(result, row, p) for p in ("torch.compile", "triton", "eager")]
        print(
            f"{name:40}{row['us']:8.2f}{row['tb_per_s']:7.3f}"
            f"{row['bytes'] / copy * 1e-6:8.2f}{row['empty_pdl_us']:7.2f}"
            f"{row['same_copy_us']:11.2f}{row['tb_per_s'] / copy:7.3f}"
            f"{row['same_copy_us'] / row['us']:7.3f}"
            + "".join(f"{number(us):>{w}}" for us, w in zip(peers, (9, 8, 8)))
            + ("  equal" if row["matches_oracle"] else "  DIFFERS")
        )


def print_schedules(result, count=4):
    """The fastest schedules of every row, beside the table's."""
    groups = {}
    for row in result["dsv4"]["rows"]:
        groups.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    tried = {key: rows for key, rows in groups.items() if len(rows) > 1}
    if tried:
        print("\nfastest schedules (* the table's)")
    for key, rows in tried.items():
        print(" ".join(map(str, key)))
        best = sorted(rows, key=lambda row: row["us"])[:count]
        best += [row for row in rows if row["from_table"] and row not in best]
        for row in best:
            text = re.sub(r"#dsv4\.(?:row_)?schedule<(.*)>", r"\1", row["schedule"])
            mark = "*" if row["from_table"] else " "
            wrong = "" if row["matches_oracle"] else "  DIFFERS"
            print(f"  {mark}{row['us']:9.3f}  {row['registers']:3} regs  {text}{wrong}")


def print_table(result):
    dsv4 = result["dsv4"]
    print(f"{dsv4['device']['name']}, driver {result['driver']}, {result['date']}")
    for copy in dsv4["copies"]:
        print(
            f"  copy {copy['name']:32}{copy['us']:9.1f} us {copy['tb_per_s']:7.3f} TB/s"
        )
    print_rows(result)
    if "missing" in result["peers"]:
        print(f"peers: {result['peers']['missing']}")
    for failure in result["peers"].get("failures", []):
        print(f"peer failed: {failure}")
    for row in result["peers"].get("rows", []):
        if row.get("worst_error", 0) >= 2:
            name = " ".join(str(row[key]) for key in KEYS)
            print(f"peer is wrong: {name} {row['peer']}: error {row['worst_error']}")
    for failure in dsv4.get("failures", []):
        print(f"FAILED: {failure['what']} {failure['layout']}: {failure['why']}")
    for row in rows_of(result, from_table=True):
        if not row["matches_oracle"]:
            print(f"DIFFERS: {' '.join(str(row[k]) for k in KEYS)}: {row['mismatch']}")
        # The last kernel keeps the tokens in the state.
        if row.get("kernels", 1) != 1 + row["what"].endswith("_state"):
            print(f"{row['kernels']} kernels: {row['what']} {row['layout']}")
    print_schedules(result)
    print("\ncompile and launch")
    for row in dsv4["compile"]:
        figures = [f"{k} {v:.4g}" for k, v in row.items() if not isinstance(v, str)]
        ratio = row["nvrtc_ms"] / row["nvrtc_empty_ms"]
        figures.append(f"nvrtc_over_empty {ratio:.3g}")
        print(f"  {row['what']} {row['layout']}: {', '.join(figures)}")
    print("  dispatch:", dsv4["dispatch"])
    print("  process:", result["tool_start"])
    print(f"\n{'requirement':66}{'value':>8}{'must':>7}{'goal':>7}")
    for what, value, must, goal, less in requirements(result):
        print(
            f"{what:66}{number(value):>8}{must:>7}{goal:>7}  "
            + judge(value, must, goal, less)
        )


def dump(value):
    """JSON with an innermost object or list a line."""
    text = json.dumps(value, indent=1) + "\n"
    line = lambda found: re.sub(r"\s*\n\s*", " ", found[0])
    return re.sub(r"[\[{][^][{}]*[\]}]", line, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default="build/release/bin")
    parser.add_argument("--commit", default=os.environ.get("DSV4_COMMIT", ""))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results")
    parser.add_argument("--quick", action="store_true", help="a few rows only")
    parser.add_argument("--only", default="", help="rows whose name begins so: a,b")
    parser.add_argument("--kind", default="", help="what rows of --only are, for results/")
    parser.add_argument("--schedules", action="store_true", help="try others, too")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-compile-costs", action="store_true")
    parser.add_argument("--peer-seconds", type=float, default=600)
    parser.add_argument("--show", type=pathlib.Path, help="print an old result")
    options = parser.parse_args()
    if options.show:
        if not options.show.is_file():
            parser.error(f"--show: there is no file {options.show}")
        print_table(json.loads(options.show.read_text()))
        return
    result = measure(options)
    if options.only and not options.kind and options.output == HERE / "results":
        print_table(result)
        print("\nnot written: results/ is for all rows or a --kind of them")
        return
    device = re.sub(r"[^a-z0-9]+", "-", result["dsv4"]["device"]["name"].lower())
    options.output.mkdir(parents=True, exist_ok=True)
    kind = f"-{options.kind}" if options.kind else ""
    path = options.output / f"{device}-{result['date'][:10]}{kind}.json"
    path.write_text(dump(result))
    print_table(result)
    print(f"\nwritten: {path.name}")


if __name__ == "__main__":
    main()
