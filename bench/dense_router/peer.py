#!/usr/bin/env python3
"""Times a dense router in PyTorch, as main.cu times those of the device library.

256 experts of 7168 bf16; sigmoid, bias, the best 8, renormalised weights. Graphs
over 60 sets of weights, 220 MB together. `mm` is the product of the rows and the
weights alone; `eager` and `compiled` are the whole router.
"""

import torch

EXPERTS, DEPTH, CHOSEN, SETS = 256, 7168, 8, 60
REPLAYS, WARM_UPS = 11, 3


def time_graph(function):
    """Microseconds of a call, the median of the replays."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        function(0)
        function(1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(2 * SETS):
            function(i % SETS)
    times = []
    for _ in range(WARM_UPS + REPLAYS):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / (2 * SETS))
    return sorted(times[WARM_UPS:])[REPLAYS // 2]


def main():
    shape = (SETS, EXPERTS, DEPTH)
    weights = torch.randn(shape, device="cuda", dtype=torch.bfloat16) / DEPTH**0.5
    bias = torch.randn(EXPERTS, device="cuda") * 0.1

    def route(logits):
        scores = torch.sigmoid(logits.float())
        experts = torch.topk(scores + bias, CHOSEN, dim=-1).indices
        shares = scores.gather(1, experts)
        return shares / shares.sum(-1, keepdim=True) * 1.5, experts

    compiled = torch.compile(route, mode="max-autotune-no-cudagraphs")
    for rows in (1, 64, 4096):
        hidden = torch.randn(rows, DEPTH, device="cuda", dtype=torch.bfloat16)

        def multiply(i):
            return torch.mm(hidden, weights[i].t())

        def multiply_to_f32(i):
            return torch.mm(hidden, weights[i].t(), out_dtype=torch.float32)

        compiled(multiply(0))
        jobs = {
            "mm bf16": multiply,
            "mm f32 out": multiply_to_f32,
            "router eager": lambda i: route(multiply(i)),
            "router f32 eager": lambda i: route(multiply_to_f32(i)),
            "mm + compiled": lambda i: compiled(multiply(i)),
        }
        times = [f"{name} {time_graph(job):.2f} us" for name, job in jobs.items()]
        print(", ".join([f"T {rows}"] + times), flush=True)


if __name__ == "__main__":
    main()
