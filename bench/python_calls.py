#!/usr/bin/env python3
"""Times calls from Python on a GPU: what the processor needs for a launch.

    PYTHONPATH=build/release/python bench/python_calls.py [--json=FILE]

Kernels have six tensors and work on one row, so the GPU is never the limit: `rounds` times,
`launches` calls are made without waiting, and the median round counts. All rows are of one run:

  driver           cuLaunchKernel in a loop of C, of an empty kernel with as many parameters
  launch, call     Kernel.launch and Kernel.__call__, of a gather with six tensors of torch
  function         dsv4.gather with out=
  new              dsv4.gather, which makes two new tensors
  operator append  torch.ops.dsv4.norm_rope_append_ with six tensors, by position
  operator out     torch.ops.dsv4.gather_mask_out with six tensors, by position
  operator new     torch.ops.dsv4.gather_mask with four tensors, which makes two, by position
  ... named        the same with arguments by name, as far as they may be
  ... empty        an operator of the same schema that does nothing, called in the same way
  ... planned      what the operator runs, called without torch's dispatcher
  empty, quick     a new tensor by torch.empty_strided, and as plans make it
  triton           an empty kernel of Triton with six tensors, where Triton is installed

Then a decode step of 16 tokens (write an entry, select 512 of 8192, gather them), with the GPU's
time: by functions, by operators, compiled by torch with fullgraph, and replayed from a graph.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial

ROUNDS, LAUNCHES = 50, 200

# Libraries of empty operators, which end with them.
EMPTY = []

TEXT = """
!cache = !dsv4.cache<64 x <v4_584>>
func.func @gather(%cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "k"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %rows: tensor<?x?x512xbf16> {dsv4.name = "rows", dsv4.dims = ["tokens", "k", ""]},
    %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "k"]})
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>) {
  %r, %m = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) outs(%rows : tensor<?x?x512xbf16>)
      mask(%mask : tensor<?x?xi1>) : !cache, tensor<?x?xi32>
  return %r, %m : tensor<?x?x512xbf16>, tensor<?x?xi1>
}
"""

# Six pointers and five extents, as the kernel above has.
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e,
    .param .u64 f, .param .u32 g, .param .u32 h, .param .u32 i, .param .u32 j, .param .u32 k)
{ ret; }
"""

DRIVER = """
#include <dlfcn.h>
#include <time.h>
typedef int (*load_t)(void **, const void *), (*get_t)(void **, void *, const char *);
typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, void *, void **, void **);
static launch_t launch;
static void *function;
int prepare(const char *ptx) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module;
  if (!driver) return -1;
  load_t load = (load_t)dlsym(driver, "cuModuleLoadData");
  get_t get = (get_t)dlsym(driver, "cuModuleGetFunction");
  launch = (launch_t)dlsym(driver, "cuLaunchKernel");
  int result = load(&module, ptx);
  return result ? result : get(&function, module, "empty");
}
double run(void *stream, int count) {
  unsigned long long values[11] = {0};
  void *parameters[11];
  for (int i = 0; i < 11; ++i) parameters[i] = &values[i];
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < count; ++i)
    if (launch(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, 0)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) * 1e6 + (end.tv_nsec - begin.tv_nsec) / 1e3;
}
"""


def make_driver(torch):
    """A function that returns the microseconds of launches by the driver alone."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "driver.c"), os.path.join(folder, "driver.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(DRIVER)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        driver = ctypes.CDLL(library)
    driver.run.restype = ctypes.c_double
    result = driver.prepare(PTX.encode())
    if result:
        raise SystemExit(f"the empty kernel cannot be loaded: CUresult {result}")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return lambda: driver.run(stream, LAUNCHES)


def time_round(call):
    """Microseconds of all calls of a round."""
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        call()
    return (time.perf_counter() - begin) * 1e6


def time_calls(torch, driver, calls):
    """Microseconds of a call of each. They take turns, so a busy moment hits all."""
    timers = {"driver": driver} | {
        name: partial(time_round, call) for name, call in calls.items()
    }
    rounds = {name: [] for name in timers}
    for number in range(ROUNDS + 1):
        for name, timer in timers.items():
            torch.cuda.synchronize()
            microseconds = timer() / LAUNCHES
            if number:
                rounds[name].append(microseconds)
    torch.cuda.synchronize()
    return {name: statistics.median(each) for name, each in rounds.items()}


def make_triton(arrays):
    """A call of an empty kernel of Triton, or None."""
    try:
        import triton
    except ImportError:
        return None
    # Triton reads the source of its kernels from a file.
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "empty_kernel.py"), "w", encoding="utf-8") as file:
        file.write("import triton\n\n\n@triton.jit\ndef empty(a, b, c, d, e, f):\n    pass\n")
    sys.path.insert(0, folder)
    import empty_kernel

    del triton
    return lambda: empty_kernel.empty[(1,)](*arrays)


def make_operators(torch, dsv4, arrays):
    """Calls of operators, of empty ones, and of what they run."""
    from torch import library as torch_library

    from dsv4._kernels import operator
    from dsv4.torch import SCHEMAS, _body

    cache, indices, table, request, rows, mask = arrays
    x = torch.randn(1, 512, device="cuda").bfloat16()
    weight, angles = torch.ones(512, device="cuda"), torch.ones(9, 64, device="cuda")
    cases = {
        "append": (
            "norm_rope_append_", None, (x, cache, request, "v4_584"), (weight, angles, request),
            ("weight", "table", "positions"),
        ),
        "out": (
            "gather_mask_out", None, (cache, indices, "v4_584", rows, mask), (table, request),
            ("page_table", "requests"),
        ),
        "new": (
            "gather_mask", (rows, mask), (cache, indices, "v4_584"), (table, request),
            ("page_table", "requests"),
        ),
    }  # fmt: skip
    library = torch_library.Library("dsv4_empty", "DEF")
    calls = {}
    for case, (name, result, args, rest, names) in cases.items():
        library.define(name + SCHEMAS[name])
        library.impl(name, lambda *_, result=result, **__: result, "CUDA")
        real, empty = getattr(torch.ops.dsv4, name), getattr(torch.ops.dsv4_empty, name)
        planned = operator(_body(name), has_results=result is not None)
        named = dict(zip(names, rest))
        calls[f"operator {case}"] = partial(real, *args, *rest)
        calls[f"operator {case}, default"] = partial(real.default, *args, *rest)
        calls[f"operator {case}, named"] = partial(real, *args, **named)
        calls[f"operator {case}, empty"] = partial(empty, *args, *rest)
        calls[f"operator {case}, empty, named"] = partial(empty, *args, **named)
        calls[f"operator {case}, planned"] = partial(planned, *args, *rest)
    EMPTY.append(library)
    return calls


def make_calls(torch, dsv4):
    from dsv4 import _dsv4
    from dsv4._arrays import make_maker

    on = {"device": "cuda", "dtype": torch.int32}
    cache = torch.zeros(4, 37440, dtype=torch.uint8, device="cuda")
    indices, table = torch.zeros(1, 1, **on), torch.zeros(1, 4, **on)
    request = torch.zeros(1, **on)
    rows = torch.empty(1, 1, 512, dtype=torch.bfloat16, device="cuda")
    mask = torch.empty(1, 1, dtype=torch.bool, device="cuda")
    arrays = (cache, indices, table, request, rows, mask)
    kernel = dsv4.compile(TEXT, target="cuda")
    named = {"record": "v4_584", "page_table": table, "requests": request, "return_mask": True}
    maker = make_maker(rows, rows.shape, "bf16")
    quick, sure = maker if isinstance(maker, tuple) else (maker, maker)
    calls = {
        "launch": partial(kernel.launch, *arrays),
        "call": partial(kernel, *arrays),
        "function": partial(dsv4.gather, cache, indices, **named, out=(rows, mask)),
        "new": partial(dsv4.gather, cache, indices, **named),
        "key": partial(_dsv4.describe_call, (*arrays, "v4_584"), {}),
        "empty": sure,
        "quick": quick,
        "triton": make_triton(arrays),
    }
    return calls | make_operators(torch, dsv4, arrays)


def make_steps(torch, dsv4):
    """A decode step in several ways, each with its results, and the code of the compiled one."""
    from torch._inductor.utils import run_and_get_code

    tokens, pages = 16, 512
    on = {"device": "cuda"}
    cache = torch.zeros(pages, 37440, dtype=torch.uint8, **on)
    x, weight = torch.randn(tokens, 512, **on).bfloat16(), torch.ones(512, **on)
    table = torch.randn(8192, 64, **on)
    positions = torch.randint(0, 8192, (tokens,), **on)
    slots = torch.randperm(pages * 64, **on)[:tokens]
    scores = torch.randn(tokens, 8192, **on)
    pages_of = torch.randint(0, pages, (tokens, 128), dtype=torch.int32, **on)
    ops = torch.ops.dsv4

    def by_functions():
        dsv4.norm_rope_append_(
            x, cache, slots, record="v4_584", weight=weight, table=table, positions=positions
        )
        chosen = dsv4.topk_paged(scores, 512, pages_of, page_size=64)
        return dsv4.gather(cache, chosen, record="v4_584")

    def by_operators(x, cache, slots, scores):
        ops.norm_rope_append_(x, cache, slots, "v4_584", weight, table, positions)
        chosen = ops.topk_paged(scores, 512, pages_of, 64)
        return ops.gather(cache, chosen, "v4_584")

    given = (x, cache, slots, scores)
    compiled = torch.compile(by_operators, fullgraph=True)
    _, codes = run_and_get_code(compiled, *given)
    # What follows makes arguments to try the step with.
    code = "\n".join(each.split("def get_args")[0] for each in codes)
    if "clone" in code or str(tuple(cache.shape)) in code.replace("assert_size_stride", ""):
        print("python_calls.py: the compiled step has a tensor of the cache's shape:\n" + code)
    by_functions()
    compiled(*given)
    torch.cuda.synchronize()
    graphs = []
    for step in (by_functions, partial(compiled, *given)):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            step()
    return {
        "functions": by_functions,
        "operators": partial(by_operators, *given),
        "compiled": partial(compiled, *given),
        "functions replayed": graphs[0].replay,
        "compiled replayed": graphs[1].replay,
    }


def time_steps(torch, steps):
    """Microseconds of a step, with the GPU's time."""
    figures = {}
    for name, step in steps.items():
        rounds = []
        for _ in range(ROUNDS):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(20):
                step()
            torch.cuda.synchronize()
            rounds.append((time.perf_counter() - begin) / 20 * 1e6)
        figures[name] = statistics.median(rounds)
        print(f"step, {name:24} {figures[name]:7.2f} us")
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="where the figures go, too")
    options = parser.parse_args()
    import torch

    import dsv4
    import dsv4.torch  # noqa: F401

    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU")
    calls = make_calls(torch, dsv4)
    calls = {name: call for name, call in calls.items() if call}
    figures = time_calls(torch, make_driver(torch), calls)
    for name, microseconds in figures.items():
        over = microseconds - figures["driver"]
        print(f"{name:30} {microseconds:7.2f} us   {over:+7.2f} us over the driver")
    steps = time_steps(torch, make_steps(torch, dsv4))
    if options.json:
        record = {
            "device": torch.cuda.get_device_name(), "torch": torch.__version__,
            "dsv4": dsv4.__version__, "python": sys.version.split()[0], "rounds": ROUNDS,
            "launches": LAUNCHES, "microseconds": figures, "step": steps,
        }  # fmt: skip
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
