#!/usr/bin/env python3
"""Measures what PyTorch and Triton make of the same jobs, on the same shapes.

Every job is written three times: eager PyTorch, the same function through
torch.compile, and a Triton kernel written for the purpose and tuned over its
block shapes. Each is compared with the eager function in float64 first. Timing is
as in dsv4-bench: graphs of launches over four pools of more than 4 GiB that share
no data (cold), or over one slice (warm), replayed in turn; medians per launch.

Prints one JSON object. Without PyTorch or a GPU it says so in that object.
"""

import argparse
import itertools
import json
import statistics
import sys
import time

TOKENS, TOPK, PAGE, POOLS = 1024, 512, 64, 4
POOL_BYTES = 4400 << 20
DENSE_ROWS = 524288

try:
    import torch
    import triton
    import triton.language as tl

    missing = "" if torch.cuda.is_available() else "PyTorch finds no GPU"
except ImportError as error:
    missing = f"not installed: {error.name}"

if not missing:
    E2M1 = {
        dtype: torch.tensor(
            [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6],
            dtype=dtype,
            device="cuda",
        )
        for dtype in (torch.float32, torch.float64)
    }
    # Rows a program, warps; each with and without loads evicted last.
    CONFIGS = ((1, 1), (2, 1), (4, 1), (4, 4), (8, 4), (8, 8))

    # ---- eager -----------------------------------------------------------------

    def locate(indices, table, requests):
        page = table[requests.long()[:, None], indices // PAGE]
        return page.long(), (indices % PAGE).long()

    def decode_e2m1(data, dtype):
        codes = torch.stack((data & 15, data >> 4), dim=-1).flatten(-2)
        return E2M1[dtype][codes.long()]

    def v4_584(dtype, cache, indices, table, requests):
        page, slot = locate(indices, table, requests)
        records = cache[:, : PAGE * 576].view(-1, PAGE, 576)[page, slot]
        factors = cache[:, PAGE * 576 : PAGE * 584].view(-1, PAGE, 8)[page, slot]
        nope = records[..., :448].view(torch.float8_e4m3fn).to(dtype)
        scale = torch.exp2(factors[..., :7].to(dtype) - 127)
        nope = (nope.unflatten(-1, (7, 64)) * scale[..., None]).flatten(-2)
        rope = records[..., 448:].contiguous().view(torch.bfloat16)
        return torch.cat((nope.to(torch.bfloat16), rope), dim=-1)

    def seed_580(dtype, nope, rope, scale, indices, table, requests):
        page, slot = locate(indices, table, requests)
        factor = scale[page, slot].to(dtype)[..., None]
        values = nope[page, slot].view(torch.float8_e4m3fn).to(dtype) * factor
        return torch.cat((values.to(torch.bfloat16), rope[page, slot]), dim=-1)

    def v41_fp4_288(dtype, cache, indices, table, requests):
        page, slot = locate(indices, table, requests)
        data = cache[:, : PAGE * 256].view(-1, PAGE, 256)[page, slot]
        factors = cache[:, PAGE * 256 :].view(-1, PAGE, 32)[page, slot]
        scale = factors.view(torch.float8_e4m3fn).to(dtype)
        values = decode_e2m1(data, dtype).unflatten(-1, (32, 16))
        return (values * scale[..., None]).flatten(-2).to(torch.bfloat16)

    def nvfp4(dtype, data, factors, rows):
        scale = factors.view(torch.float8_e4m3fn).to(dtype) * rows.to(dtype)[:, None]
        values = decode_e2m1(data, dtype).unflatten(-1, (32, 16))
        return (values * scale[..., None]).flatten(-2).to(torch.bfloat16)

    # ---- Triton ----------------------------------------------------------------

    @triton.jit
    def find(row, indices, table, requests, max_pages, TOPK: tl.constexpr):
        index = tl.load(indices + row)
        request = tl.load(requests + row // TOPK)
        page = tl.load(table + request * max_pages + index // 64)
        return page.to(tl.int64), index % 64

    @triton.jit
    def fp8_rows(
        nope, nope_row, scale, scale_row, rope, rope_row, out, row,
        POWER: tl.constexpr, KEEP: tl.constexpr,
    ):  # fmt: skip
        columns = tl.arange(0, 512)
        inside = (columns < 448)[None, :]
        values = tl.load(
            nope + nope_row[:, None] + columns[None, :],
            mask=inside, other=0, eviction_policy=KEEP,
        ).to(tl.float8e4nv, bitcast=True).to(tl.float32)  # fmt: skip
        if POWER:
            code = tl.load(
                scale + scale_row[:, None] + (columns // 64)[None, :],
                mask=inside, other=0, eviction_policy=KEEP,
            )  # fmt: skip
            factor = (code.to(tl.int32) << 23).to(tl.float32, bitcast=True)
        else:
            factor = tl.load(scale + scale_row, eviction_policy=KEEP)[:, None]
        tail = tl.arange(0, 64)
        last = tl.load(rope + rope_row[:, None] + tail[None, :], eviction_policy=KEEP)
        at = out + (row * 512)[:, None]
        tl.store(at + columns[None, :], (values * factor).to(tl.bfloat16), mask=inside)
        tl.store(at + 448 + tail[None, :], last)

    @triton.jit
    def v4_584_kernel(
        nope, rope, scale, indices, table, requests, out, max_pages,
        TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        page, slot = find(row, indices, table, requests, max_pages, TOPK)
        start = page * 37440 + slot * 576
        factors = page * 37440 + 36864 + slot * 8
        fp8_rows(
            nope, start, scale, factors, rope, start // 2 + 224, out, row, True, KEEP
        )

    @triton.jit
    def seed_580_kernel(
        nope, rope, scale, indices, table, requests, out, max_pages,
        TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        page, slot = find(row, indices, table, requests, max_pages, TOPK)
        entry = page * 64 + slot
        fp8_rows(
            nope, entry * 448, scale, entry, rope, entry * 64, out, row, False, KEEP
        )

    @triton.jit
    def fp4_rows(
        data, data_row, scale, scale_row, factor, out, row, KEEP: tl.constexpr
    ):
        half = tl.arange(0, 256)
        pair = tl.load(
            data + data_row[:, None] + half[None, :], eviction_policy=KEEP
        ).to(tl.int16)
        group = tl.load(
            scale + scale_row[:, None] + (half // 8)[None, :], eviction_policy=KEEP
        )
        group = group.to(tl.float8e4nv, bitcast=True).to(tl.float32)
        # An E2M1 code, moved up, is a half of 2^-14 times its value.
        low = ((pair & 7) << 9) | ((pair & 8) << 12)
        high = ((pair & 0x70) << 5) | ((pair & 0x80) << 8)
        group = group * factor * 16384.0
        even = low.to(tl.float16, bitcast=True).to(tl.float32) * group
        odd = high.to(tl.float16, bitcast=True).to(tl.float32) * group
        values = tl.interleave(even.to(tl.bfloat16), odd.to(tl.bfloat16))
        columns = tl.arange(0, 512)
        tl.store(out + (row * 512)[:, None] + columns[None, :], values)

    @triton.jit
    def v41_fp4_288_kernel(
        data, scale, indices, table, requests, out, max_pages,
        TOPK: tl.constexpr, ROWS: tl.constexpr, KEEP: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        page, slot = find(row, indices, table, requests, max_pages, TOPK)
        start = page * 18432
        fp4_rows(
            data, start + slot * 256, scale, start + 16384 + slot * 32, 1.0, out, row,
            KEEP,
        )  # fmt: skip

    @triton.jit
    def nvfp4_kernel(
        data, scale, rows, out, ROWS: tl.constexpr, KEEP: tl.constexpr
    ):  # fmt: skip
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        factor = tl.load(rows + row)[:, None]
        fp4_rows(data, row * 256, scale, row * 32, factor, out, row, KEEP)

    # ---- data ------------------------------------------------------------------

    class Gather:
        """Four pools; a slice of `size` tokens of one is a launch's data."""

        what, sizes = "gather", (1024, 128, 16, 1)
        compiled_sizes = (1024, 1)

        def __init__(self, layout, part_bytes, eager, kernel, views, fp4=False):
            self.layout, self.eager, self.kernel = layout, eager, kernel
            self.views, self.pools = views, []
            page_bytes = sum(part_bytes)
            per_token = -(-POOL_BYTES // (page_bytes * TOKENS))
            pages = per_token * TOKENS
            for _ in range(POOLS):
                parts = [random_bytes(pages, n, not fp4) for n in part_bytes]
                table = torch.randperm(pages, device="cuda").int().view(TOKENS, -1)
                chosen = torch.rand(TOKENS, per_token * PAGE, device="cuda")
                indices = chosen.argsort(-1)[:, :TOPK].int().contiguous()
                # One aligned row of request numbers per slice of every size.
                numbers = torch.arange(TOKENS, device="cuda").int()
                requests = {
                    size: torch.nn.functional.pad(numbers.view(-1, size), (0, 4))
                    for size in self.sizes
                }
                out = torch.empty(
                    TOKENS, TOPK, 512, dtype=torch.bfloat16, device="cuda"
                )
                self.pools.append((self.views(*parts), indices, table, requests, out))

        def slices(self, size):
            return TOKENS // size * POOLS

        def data(self, size, i):
            parts, indices, table, requests, out = self.pools[i % POOLS]
            part = slice(i // POOLS * size, (i // POOLS + 1) * size)
            requests = requests[size][i // POOLS, :size]
            return parts, indices[part], table, requests, out[part]

        def call_eager(self, function, dtype, size, i):
            parts, indices, table, requests, _ = self.data(size, i)
            return function(dtype, *parts[0], indices, table, requests)

        def call_triton(self, size, i, rows, warps, keep):
            parts, indices, table, requests, out = self.data(size, i)
            self.kernel[(size * TOPK // rows,)](
                *parts[1], indices, table, requests, out, table.shape[1],
                TOPK=TOPK, ROWS=rows, KEEP=keep, num_warps=warps,
            )  # fmt: skip
            return out

    class Dequantize:
        """Four dense tensors; a slice of `size` rows of one is a launch's data."""

        what, layout, eager = "dequantize", "nvfp4", staticmethod(nvfp4)
        sizes, compiled_sizes = (65536, 524288), (65536,)

        def __init__(self):
            self.sets = []
            for _ in range(POOLS):
                data = random_bytes(DENSE_ROWS, 256, False)
                scales = random_bytes(DENSE_ROWS, 32, False)
                rows = torch.rand(DENSE_ROWS, device="cuda") + 0.5
                out = torch.empty(DENSE_ROWS, 512, dtype=torch.bfloat16, device="cuda")
                self.sets.append((data, scales, rows, out))

        def slices(self, size):
            return DENSE_ROWS // size * POOLS

        def data(self, size, i):
            part = slice(i // POOLS * size, (i // POOLS + 1) * size)
            return [tensor[part] for tensor in self.sets[i % POOLS]]

        def call_eager(self, function, dtype, size, i):
            return function(dtype, *self.data(size, i)[:3])

        def call_triton(self, size, i, rows, warps, keep):
            data, scales, factors, out = self.data(size, i)
            nvfp4_kernel[(size // rows,)](
                data, scales, factors, out,
                ROWS=rows, KEEP=keep, num_warps=warps,
            )  # fmt: skip
            return out

    def random_bytes(rows, columns, moderate):
        """Random bytes, none a NaN; moderate ones have no extreme exponents."""
        data = torch.empty(rows * columns // 8, dtype=torch.int64, device="cuda")
        data = data.random_(-(2**63), 2**63 - 1).view(torch.uint8).view(rows, columns)
        if moderate:
            return data.bitwise_and_(0x9F).bitwise_or_(0x20)
        return data.sub_((data & 127 == 127).to(torch.uint8))

    def v4_views(cache):
        flat = cache.flatten()
        return (cache,), (flat, flat.view(torch.bfloat16), flat)

    def seed_views(nope, rope, scale):
        nope = nope.view(-1, PAGE, 448)
        rope = rope.view(torch.bfloat16).view(-1, PAGE, 64)
        scale = torch.rand(scale.numel() // 4, device="cuda").view(-1, PAGE) + 0.5
        return (nope, rope, scale), (nope, rope, scale)

    def fp4_views(cache):
        flat = cache.flatten()
        return (cache,), (flat, flat)

    def make_jobs():
        yield lambda: Gather("v4_584", [37440], v4_584, v4_584_kernel, v4_views)
        parts = [PAGE * 448, PAGE * 128, PAGE * 4]
        yield lambda: Gather("seed_580", parts, seed_580, seed_580_kernel, seed_views)
        yield lambda: Gather(
            "v41_fp4_288", [18432], v41_fp4_288, v41_fp4_288_kernel, fp4_views, True
        )
        yield Dequantize

    # ---- timing ----------------------------------------------------------------

    def capture(call, launches):
        call(0)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(launches):
                call(i)
        graph.replay()
        torch.cuda.synchronize()
        return graph

    def time_graphs(graphs, rounds):
        """Median microseconds a launch of {key: (graph, launches)}, interleaved."""
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        times = {key: [] for key in graphs}
        keys = list(graphs)
        for r in range(rounds):
            for step in range(len(keys)):
                key = keys[(step + r) % len(keys)]
                graph, launches = graphs[key]
                begin.record()
                graph.replay()
                end.record()
                end.synchronize()
                times[key].append(begin.elapsed_time(end) * 1e3 / launches)
        return {key: statistics.median(values) for key, values in times.items()}

    def verify(job, call, size):
        """Largest error of the last slice, in 2^-8 of the value: one unit in the
        last place of a bf16 is at most 2."""
        i = job.slices(size) - 1
        want = job.call_eager(job.eager, torch.float64, size, i)
        got = call(i).view_as(want)
        a, b = got.double(), want.double()
        worst = ((a - b).abs() / (b.abs() * 2**-8 + 2**-126)).max().item()
        return worst if torch.isfinite(a).all() else float("inf")

    def tune(job, size, configs):
        """The fastest Triton configurations of one size, best first."""
        graphs = {}
        for shape, keep in itertools.product(configs, ("", "evict_last")):
            config = (*shape, keep)
            slices = job.slices(size)
            launches = min(max(slices, 4), 256)
            call = lambda i: job.call_triton(size, i % slices, *config)
            graphs[config] = capture(call, launches), launches
        times = time_graphs(graphs, 5)
        return min(times, key=times.get)

    def measure(job, rounds, deadline, quick):
        for size in job.sizes[-1:] if quick else job.sizes:
            slices = job.slices(size)
            launches = min(max(slices, 12), 1024)
            best = tune(job, size, CONFIGS[:2] if quick else CONFIGS)
            contenders = {"triton": lambda i: job.call_triton(size, i, *best)}
            if size in job.compiled_sizes and time.time() < deadline:
                compiled = torch.compile(job.eager, dynamic=False, fullgraph=True)
                contenders["torch.compile"] = lambda i: job.call_eager(
                    compiled, torch.float32, size, i
                )
                contenders["eager"] = lambda i: job.call_eager(
                    job.eager, torch.float32, size, i
                )
            errors, graphs = {}, {}
            for name, call in contenders.items():
                errors[name] = verify(job, call, size)
                for l2 in ("cold", "warm"):
                    n = min(launches, 256) if name == "eager" else launches
                    pick = (lambda i: i % slices) if l2 == "cold" else (lambda i: 0)
                    graph = capture(lambda i: call(pick(i)), n)
                    graphs[name, l2] = graph, n
            for (name, l2), us in time_graphs(graphs, rounds).items():
                row = dict(what=job.what, layout=job.layout, size=size, l2=l2)
                row.update(peer=name, us=us, launches=graphs[name, l2][1])
                row.update(worst_error=errors[name])
                if name == "triton":
                    config = dict(zip(("rows", "warps", "eviction"), best))
                    row.update(config=config)
                yield row
            print(job.what, job.layout, size, file=sys.stderr, flush=True)
            graphs.clear()
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="-")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--quick", action="store_true", help="one size of each")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="stop starting jobs after this"
    )
    options = parser.parse_args()
    if missing:
        result = {"missing": missing}
    else:
        start = time.time()
        rows, failures = [], []
        for make in make_jobs():
            try:
                job = make()
                deadline = start + options.seconds
                for row in measure(job, options.rounds, deadline, options.quick):
                    rows.append(row)
            except Exception as error:  # A peer's failure must not end the run.
                failures.append(f"{type(error).__name__}: {error}"[:500])
            job = None
            torch.cuda.empty_cache()
            if time.time() > start + options.seconds:
                break
        result = {
            "torch": torch.__version__,
            "triton": triton.__version__,
            "rows": rows,
            "failures": failures,
        }
    text = json.dumps(result, indent=2) + "\n"
    if options.output == "-":
        print(text, end="")
    else:
        with open(options.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
