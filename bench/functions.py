#!/usr/bin/env python3
"""Times the programs of the functions of the package beside programs of the very sizes.

    PYTHONPATH=build/release/python bench/functions.py [--json=FILE] [--only=NAME,...]
    bench/functions.py --show FILE

Every function is called with shapes of decode steps and of prompts. Each case has four programs:

  exact     every extent is known to the compiler: what a kernel written for these sizes would be
  dynamic   no extent is known
  buckets   of every extent the next power of two is known, and whether 16 divides it
  package   what the package launches: dynamic, or the bucket of these sizes

All are launched with the same arrays, in graphs of many launches that are replayed in turns,
and the smallest time of a launch counts. Arrays are the same in every launch: small ones are in the
L2 cache.
"""

import argparse
import concurrent.futures
import json
import statistics
import sys

ROUNDS = 15
# How long a graph of launches takes, about.
GRAPH_US, MAX_LAUNCHES = 400, 100
# The pool of a cache.
PAGES, PAGE_SIZE = 16384, 64
VARIANTS = ("exact", "dynamic", "buckets", "package")


class Inputs:
    """Random tensors on the GPU."""

    def __init__(self, torch, dsv4):
        self.torch, self.dsv4 = torch, dsv4

    def floats(self, *shape):
        return self.torch.randn(*shape, device="cuda")

    def halves(self, *shape):
        return self.floats(*shape).bfloat16()

    def integers(self, high, *shape):
        return self.torch.randint(0, high, shape, dtype=self.torch.int32, device="cuda")

    def bytes(self, *shape):
        return self.torch.randint(0, 255, shape, dtype=self.torch.uint8, device="cuda")

    def pool(self, name="v4_584"):
        return self.bytes(PAGES, self.dsv4.KNOWN_RECORDS[name].page_bytes(PAGE_SIZE))

    def slots(self, count):
        return self.torch.randperm(PAGES * PAGE_SIZE, device="cuda")[:count].int()

    def count_up(self, count):
        return self.torch.arange(count, dtype=self.torch.int32, device="cuda")


def call(fn, *args, **kw):
    return fn, args, kw


def selection_cases(dsv4, inputs):
    decode = (
        (1, 100, 6), (1, 500, 6), (16, 1000, 32), (1, 1000, 512), (1, 4096, 512), (1, 131072, 512),
        (1, 1 << 20, 2048), (4, 32768, 512), (16, 8192, 512), (16, 65536, 2048), (64, 2048, 512),
        (64, 32768, 512), (64, 131072, 2048),
    )  # fmt: skip
    prefill = (
        (4096, 1000, 32), (4096, 4096, 512), (2048, 32768, 512), (2048, 32768, 2048),
        (256, 131072, 512),
    )  # fmt: skip
    for phase, sizes in (("decode", decode), ("prefill", prefill)):
        for rows, columns, k in sizes:
            size = f"{rows} x {columns}, k {k}"
            yield "topk", size, phase, call(dsv4.topk, inputs.floats(rows, columns), k)
    for rows, columns, phase in ((16, 32768, "decode"), (2048, 16384, "prefill")):
        table = inputs.integers(4096, rows, columns // 64)
        yield "topk_paged", f"{rows} x {columns}, k 512", phase, call(
            dsv4.topk_paged, inputs.floats(rows, columns), 512, table, page_size=64
        )


def router_cases(dsv4, inputs):
    bias = inputs.floats(256)
    for tokens in (1, 16, 64, 256, 512, 2048, 8192):
        phase = "decode" if tokens <= 256 else "prefill"
        logits = inputs.floats(tokens, 256)
        yield "route", f"{tokens}, of 256 experts", phase, call(dsv4.route, logits, 6, bias=bias)
        yield "route", f"{tokens}, of 256 in groups", phase, call(
            dsv4.route, logits, 8, bias=bias, score="sigmoid", groups=(8, 4, 2)
        )
        yield "hash_route", f"{tokens}, of 256 experts", phase, call(
            dsv4.hash_route, logits, inputs.integers(1000, tokens), inputs.integers(256, 1000, 6)
        )


def gather_cases(dsv4, inputs):
    pool, keys = inputs.pool(), inputs.pool("index_fp8_132")
    for tokens, phase in ((1, "decode"), (16, "decode"), (64, "decode"), (1024, "prefill")):
        indices = inputs.integers(PAGES * PAGE_SIZE, tokens, 512)
        table = inputs.integers(PAGES, tokens, 256)
        positions = inputs.integers(256 * PAGE_SIZE, tokens, 512)
        size = f"{tokens} x 512"
        yield "gather", size, phase, call(dsv4.gather, pool, indices, record="v4_584")
        yield "gather", f"{size}, page table", phase, call(
            dsv4.gather, pool, positions, record="v4_584", page_table=table, return_mask=True
        )
        yield "gather_raw", size, phase, call(
            dsv4.gather_raw, keys, indices, record="index_fp8_132"
        )
    for requests, length, phase in ((1, 1000, "decode"), (4, 512, "decode"), (64, 4096, "prefill")):
        table = inputs.integers(PAGES, requests, length // PAGE_SIZE + 1)
        yield "gather_ragged", f"{requests} x {length}", phase, call(
            dsv4.gather_ragged, pool, table, record="v4_584", rows=requests * length,
            cu_seq_lens=inputs.count_up(requests + 1) * length,
        )  # fmt: skip
        yield "gather_ragged", f"{requests} x {length}, rows of their own", phase, call(
            dsv4.gather_ragged, pool, table, record="v4_584", rows=length,
            seq_lens=inputs.count_up(requests) * 0 + length,
        )  # fmt: skip


def writer_cases(dsv4, inputs):
    pool, table, weight = inputs.pool(), inputs.floats(65536, 64), inputs.halves(512)
    for tokens in (1, 16, 64, 256, 8192):
        phase = "decode" if tokens <= 256 else "prefill"
        where, positions = inputs.slots(tokens), inputs.integers(65536, tokens)
        fields = (inputs.bytes(tokens, 448), inputs.halves(tokens, 64), inputs.bytes(tokens, 7))
        yield "append_", f"{tokens}", phase, call(
            dsv4.append_, pool, where, fields, record="v4_584"
        )
        yield "norm_rope_append_", f"{tokens}", phase, call(
            dsv4.norm_rope_append_, inputs.halves(tokens, 512), pool, where, record="v4_584",
            weight=weight, table=table, positions=positions,
        )  # fmt: skip
        yield "norm_rope_append_", f"{tokens}, slots may repeat", phase, call(
            dsv4.norm_rope_append_, inputs.halves(tokens, 512), pool, where, record="v4_584",
            unique=False,
        )  # fmt: skip
        rotated = min(tokens, 2048)
        yield "rope", f"{rotated} x 64 x 512", phase, call(
            dsv4.rope, inputs.halves(rotated, 64, 512), table, positions[:rotated]
        )


def quantiser_cases(dsv4, inputs):
    for tokens in (1, 16, 64, 256, 8192):
        phase = "decode" if tokens <= 256 else "prefill"
        for columns in (512, 7168):
            x, size = inputs.halves(tokens, columns), f"{tokens} x {columns}"
            yield "rms_norm", size, phase, call(dsv4.rms_norm, x, inputs.halves(columns))
            yield "quantize", size, phase, call(dsv4.quantize, x, "deepseek_fp8")
            yield "quantize", f"{size}, swizzled NVFP4", phase, call(
                dsv4.quantize, x, "nvfp4", scale_layout="swizzle_128x4",
                global_scale=inputs.floats(1).abs(),
            )  # fmt: skip
            values, scales = dsv4.quantize(x, "deepseek_fp8")
            yield "dequantize", size, phase, call(
                dsv4.dequantize, values, scales, "deepseek_fp8"
            )


def compression_cases(dsv4, inputs):
    pool, table, weight = inputs.pool(), inputs.floats(65536, 64), inputs.halves(512)
    for entries in (1, 4, 16, 64, 256, 512, 2048):
        phase = "decode" if entries <= 256 else "prefill"
        for window, overlap in ((4, True), (128, False)):
            if entries * window > 32768:
                continue
            tokens, columns = entries * window, 1024 if overlap else 512
            number = inputs.count_up(entries)
            # A decode step has a window of each request, a prompt all windows of one.
            plan = (
                (number * 0, number, number * 0, number * window)
                if phase == "decode"
                else (number * window, number * 0, number * 0, number * 0)
            )
            yield "compress_", f"{entries} windows of {window}", phase, call(
                dsv4.compress_, inputs.halves(tokens, columns), inputs.halves(tokens, columns),
                inputs.torch.stack(plan, 1).contiguous(), pool, inputs.slots(entries),
                window=window, overlap=overlap, record="v4_584", weight=weight, table=table,
                positions=inputs.integers(65536, entries), bias=inputs.floats(window, columns),
            )  # fmt: skip


def make_cases(torch, dsv4):
    """(function, size, phase, a call of it): shapes of decode steps and of prompts."""
    inputs = Inputs(torch, dsv4)
    for cases in (
        selection_cases, router_cases, gather_cases, writer_cases, quantiser_cases,
        compression_cases,
    ):  # fmt: skip
        yield from cases(dsv4, inputs)


def make_variants(dsv4, kernels, call):
    """The programs of a call by variant: text, and the extents that the compiler knows."""
    fn, args, kw = call
    program = kernels._program_of(fn, args, kw)
    made = {"package": (program.text(), dict(program.bounds))}
    program.policies, program.bounds = {}, {}
    made["dynamic"] = (program.text(), {})
    program.policies = {dim: "#dsv4.policy<exact>" for dim in program.dims}
    made["exact"] = (program.text(), dict(program.dims))
    program.policies = {
        dim: f"#dsv4.policy<bucket{'' if extent % 16 else ', multiple = 16'}>"
        for dim, extent in program.dims.items()
    }
    bounds = {dim: 1 << max(0, n - 1).bit_length() for dim, n in program.dims.items()}
    made["buckets"] = (program.text(), bounds)
    return program, made


def compile_program(text_and_dims):
    import dsv4

    text, dims = text_and_dims
    return dsv4.compile(text, dims=dict(dims), target="cuda")


def capture(torch, stream, kernel, arrays, launches):
    graph = torch.cuda.CUDAGraph()
    # A first launch on the stream gives it the workspace that a kernel may need.
    with torch.cuda.stream(stream):
        kernel.launch(*arrays)
    stream.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(launches):
            kernel.launch(*arrays)
    return graph


def time_replay(torch, graph):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def time_variants(torch, kernels, arrays):
    """Microseconds of a launch of every kernel: the least and the median."""
    stream = torch.cuda.Stream()
    probe = time_replay(torch, capture(torch, stream, kernels["package"], arrays, 3)) / 3
    launches = max(3, min(MAX_LAUNCHES, int(GRAPH_US / max(probe, 1))))
    graphs = {
        name: capture(torch, stream, each, arrays, launches) for name, each in kernels.items()
    }
    times = {name: [] for name in graphs}
    for _ in range(ROUNDS):
        for name, graph in graphs.items():
            times[name].append(time_replay(torch, graph) / launches)
    return {name: (min(each), statistics.median(each)) for name, each in times.items()}


def print_range(ratios):
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low} to {high}"


def show(path):
    """The tables of docs/Performance/Functions.md."""
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    ratios = {}
    for case in cases:
        exact = case["microseconds"]["exact"]
        case |= {name: case["microseconds"][name] / exact for name in VARIANTS[1:]}
        ratios.setdefault((case["function"], case["phase"]), []).append(case)
    print("| function | phase | cases | dynamic | package | programs |\n|---|---|---|---|---|---|")
    for (function, phase), group in ratios.items():
        dynamic, package = ([each[name] for each in group] for name in ("dynamic", "package"))
        programs = "one" if all(each["same"] for each in group) else "buckets"
        print(f"| `{function}` | {phase} | {len(group)} | {print_range(dynamic)} | "
              f"{print_range(package)} | {programs} |")  # fmt: skip
    print("\n| function, size | exact, µs | dynamic | buckets | package |\n|---|---|---|---|---|")
    for case in cases:
        if not case["same"] or max(case["dynamic"], case["package"]) > 1.1:
            exact = case["microseconds"]["exact"]
            print(f"| `{case['function']}`, {case['size']} | {exact:.2f} | {case['dynamic']:.2f} | "
                  f"{case['buckets']:.2f} | {case['package']:.2f} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="where the figures go, too")
    parser.add_argument("--only", help="functions, with commas")
    parser.add_argument("--show", help="prints the tables of such a file")
    options = parser.parse_args()
    if options.show:
        return show(options.show)
    import torch

    import dsv4
    from dsv4 import _kernels

    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU")
    torch.manual_seed(1)
    only = options.only.split(",") if options.only else None
    cases = [each for each in make_cases(torch, dsv4) if not only or each[0] in only]
    prepared = [make_variants(dsv4, _kernels, each[3]) for each in cases]
    texts = {(text, tuple(sorted(dims.items()))) for _, made in prepared
             for text, dims in made.values()}  # fmt: skip
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        compiled = dict(zip(texts, pool.map(compile_program, texts)))
    print(f"{len(compiled)} programs of {len(cases)} cases")
    rows = []
    for (function, size, phase, _), (program, made) in zip(cases, prepared):
        kernels = {name: compiled[made[name][0], tuple(sorted(made[name][1].items()))]
                   for name in VARIANTS}  # fmt: skip
        try:
            times = time_variants(torch, kernels, program.allocate()[0])
        except dsv4.Error as error:
            print(f"{function:18} {size:28} {phase:8} {error}", flush=True)
            continue
        exact, dynamic, buckets, package = (times[name][0] for name in VARIANTS)
        rows.append({
            "function": function, "size": size, "phase": phase,
            "microseconds": {name: times[name][0] for name in VARIANTS},
            "medians": {name: times[name][1] for name in VARIANTS},
            "bucket": made["package"][1], "same": made["package"] == made["dynamic"],
        })  # fmt: skip
        how = "dynamic" if rows[-1]["same"] else f"bucket {made['package'][1]}"
        print(f"{function:18} {size:28} {phase:8} {exact:9.2f} us   dynamic {dynamic / exact:5.2f} "
              f"buckets {buckets / exact:5.2f}   package {package / exact:5.2f}   {how}",
              flush=True)  # fmt: skip
    if options.json:
        record = {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                  "dsv4": dsv4.__version__, "python": sys.version.split()[0], "rounds": ROUNDS,
                  "cases": rows}  # fmt: skip
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
