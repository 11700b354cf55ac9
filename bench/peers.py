#!/usr/bin/env python3
"""Measures what PyTorch and Triton make of the same jobs, on the same shapes.

Every job is written three times: eager PyTorch, the same function through
torch.compile (where that changes anything), and a Triton kernel written for the
purpose and tuned over its block shapes. Each is compared with the eager function or
its values in float64 first. Timing is as in dsv4-bench: graphs of launches that share
no data (cold), or over one slice (warm), replayed in turn; medians per launch.

The jobs are in peer_readers.py, peer_writers.py, peer_topk.py, peer_router.py,
peer_compress.py and peer_online.py. Prints one JSON object. Without PyTorch or a GPU
it says so in that object.
"""

import argparse
import itertools
import json
import statistics
import sys
import time

try:
    import torch
    import triton
    import triton.language as tl

    missing = "" if torch.cuda.is_available() else "PyTorch finds no GPU"
except ImportError as error:
    missing = f"not installed: {error.name}"

if not missing:
    import peer_compress
    import peer_online
    import peer_readers
    import peer_router
    import peer_topk
    import peer_writers

    # The chain first: most depends on what torch.compile makes of it.
    JOBS = peer_compress.JOBS + peer_online.JOBS + peer_writers.JOBS[:2]
    JOBS += peer_readers.JOBS + peer_writers.JOBS[2:] + peer_router.JOBS + peer_topk.JOBS

    @triton.jit
    def keep_kernel(to, source, N: tl.constexpr):
        at = tl.program_id(0) * N + tl.arange(0, N)
        tl.store(to + at, tl.load(source + at, eviction_policy="evict_last"))

    class Flush:
        """Fills the L2 cache with other data. Lines loaded with evict_last give way to
        their like only; the other copy leaves the cache as launches without that
        policy find it."""

        def __init__(self, words=1 << 25):
            self.words = words
            self.source = torch.zeros(words, dtype=torch.int32, device="cuda")
            self.to = torch.empty_like(self.source)
            self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size

        def __call__(self):
            keep_kernel[(self.words // 1024,)](self.to, self.source, N=1024)
            self.to.copy_(self.source)

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

    def time_graphs(graphs, rounds, before=None):
        """Median microseconds a launch of {key: (graph, launches)}, interleaved;
        `before` replays of those keys that it is given."""
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        times = {key: [] for key in graphs}
        keys = list(graphs)
        for r in range(rounds):
            for step in range(len(keys)):
                key = keys[(step + r) % len(keys)]
                graph, launches = graphs[key]
                if before:
                    before(key)
                begin.record()
                graph.replay()
                end.record()
                end.synchronize()
                times[key].append(begin.elapsed_time(end) * 1e3 / launches)
        return {key: statistics.median(values) for key, values in times.items()}

    def tune(job, size, configs):
        """The fastest Triton configurations of one size, best first."""
        graphs = {}
        for shape, keep in itertools.product(configs, job.policies):
            if not job.fits(size, shape):
                continue
            config = (*shape, keep)
            slices = job.slices(size)
            launches = min(max(slices, 4), 256)
            call = lambda i: job.call_triton(size, i % slices, *config)
            try:
                graphs[config] = capture(call, launches), launches
            except triton.runtime.errors.OutOfResources:
                continue
        times = time_graphs(graphs, 5)
        return min(times, key=times.get)

    def make_contenders(job, size, best, pytorch):
        contenders = {"triton": lambda i: job.call_triton(size, i, *best)}
        if pytorch and job.compiles:
            torch._dynamo.reset()  # Sizes of one function must not become dynamic.
            function = torch.compile(job.compiled, dynamic=False, fullgraph=True)
            contenders["torch.compile"] = lambda i: job.call_compiled(function, size, i)
        if pytorch:
            contenders["eager"] = lambda i: job.call_eager(size, i)
        return contenders

    def describe(job, size, name, error):
        where = f"{job.what} {job.layout} {size} {name}"
        return f"{where}: {type(error).__name__}: {error}"[:500]

    def measure(job, flush, rounds, deadline, quick, failures):
        for size in job.sizes[-1:] if quick else job.sizes:
            slices = job.slices(size)
            launches = min(max(slices, 12), 1024)
            bytes_moved = size * job.rows_per_size * job.row_bytes
            best = tune(job, size, job.configs[:2] if quick else job.configs)
            pytorch = size in job.compiled_sizes and time.time() < deadline
            checks, graphs, few = {}, {}, set()
            for name, call in make_contenders(job, size, best, pytorch).items():
                try:
                    checks[name] = job.verify(call, size)
                except Exception as error:  # The others may still do.
                    failures.append(describe(job, size, name, error))
                    continue
                for l2 in ("cold", "warm"):
                    n = min(launches, 256) if name == "eager" else launches
                    pick = (lambda i: i % slices) if l2 == "cold" else (lambda i: 0)
                    graphs[name, l2] = capture(lambda i: call(pick(i)), n), n
                    # What few bytes a graph moves would be warm in its next replay.
                    if l2 == "cold" and n * bytes_moved < 4 * flush.l2_bytes:
                        few.add((name, l2))
            before = lambda key: flush() if key in few else None
            for (name, l2), us in time_graphs(graphs, rounds, before).items():
                row = dict(what=job.what, layout=job.layout, size=size, l2=l2)
                row.update(peer=name, us=us, launches=graphs[name, l2][1])
                row.update(flushed=(name, l2) in few, **checks[name])
                if name == "triton":
                    config = dict(zip(job.config_names, best))
                    row.update(config=config)
                yield row
            print(job.what, job.layout, size, file=sys.stderr, flush=True)
            graphs.clear()
            torch.cuda.empty_cache()

    def run_jobs(options):
        start = time.time()
        deadline = start + options.seconds
        rows, failures = [], []
        flush = Flush()
        flush()
        wanted = options.only.split(",") if options.only else [""]
        for name, make in JOBS:
            if not any(name.startswith(each) for each in wanted):
                continue
            try:
                job = make()
                for row in measure(
                    job, flush, options.rounds, deadline, options.quick, failures
                ):
                    rows.append(row)
            except Exception as error:  # A peer's failure must not end the run.
                failures.append(f"{name}: {type(error).__name__}: {error}"[:500])
            job = None
            torch.cuda.empty_cache()
            if time.time() > deadline:
                break
        return {
            "torch": torch.__version__,
            "triton": triton.__version__,
            "rows": rows,
            "failures": failures,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="-")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--quick", action="store_true", help="one size of each")
    parser.add_argument("--only", default="", help="jobs whose name begins so, a,b")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="stop starting jobs after this"
    )
    options = parser.parse_args()
    result = {"missing": missing} if missing else run_jobs(options)
    text = json.dumps(result, indent=2) + "\n"
    if options.output == "-":
        print(text, end="")
    else:
        with open(options.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
