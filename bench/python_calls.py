#!/usr/bin/env python3
"""Times calls from Python on a GPU: what the processor needs for a launch.

    PYTHONPATH=build/release/python bench/python_calls.py [--json=FILE]

The kernel is a gather with six tensors, of one row, so the GPU is never the limit: `rounds` times,
`launches` calls are made without waiting, and the median round counts. All rows are of one run:

  driver        cuLaunchKernel in a loop of C, of an empty kernel with as many parameters
  launch, call  Kernel.launch and Kernel.__call__ with six tensors of torch
  function      dsv4.gather with out=
  new           dsv4.gather, which makes two new tensors
  operator      torch.ops.dsv4.gather_mask, which makes them, too
  triton        an empty kernel of Triton with six tensors, where Triton is installed
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

ROUNDS, LAUNCHES = 50, 200

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


def time_driver(torch):
    """Microseconds of a launch by the driver alone."""
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
    rounds = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        rounds.append(driver.run(stream, LAUNCHES) / LAUNCHES)
    return statistics.median(rounds)


def time_calls(torch, call):
    """Microseconds of a call."""
    for _ in range(LAUNCHES):
        call()
    rounds = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            call()
        rounds.append((time.perf_counter() - begin) / LAUNCHES * 1e6)
    torch.cuda.synchronize()
    return statistics.median(rounds)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="where the figures go, too")
    options = parser.parse_args()
    import torch

    import dsv4
    import dsv4.torch  # noqa: F401

    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU")
    on = {"device": "cuda", "dtype": torch.int32}
    cache = torch.zeros(4, 37440, dtype=torch.uint8, device="cuda")
    indices, table = torch.zeros(1, 1, **on), torch.zeros(1, 4, **on)
    request = torch.zeros(1, **on)
    rows = torch.empty(1, 1, 512, dtype=torch.bfloat16, device="cuda")
    mask = torch.empty(1, 1, dtype=torch.bool, device="cuda")
    arrays = (cache, indices, table, request, rows, mask)
    kernel = dsv4.compile(TEXT, target="cuda")
    launch = kernel.launch
    named = {"record": "v4_584", "page_table": table, "requests": request}
    calls = {
        "launch": lambda: launch(*arrays),
        "call": lambda: kernel(*arrays),
        "function": lambda: dsv4.gather(
            cache, indices, **named, return_mask=True, out=(rows, mask)
        ),
        "new": lambda: dsv4.gather(cache, indices, **named, return_mask=True),
        "operator": lambda: torch.ops.dsv4.gather_mask(cache, indices, **named),
        "triton": make_triton(arrays),
    }
    figures = {"driver": time_driver(torch)}
    figures |= {name: time_calls(torch, call) for name, call in calls.items() if call}
    for name, microseconds in figures.items():
        over = microseconds - figures["driver"]
        print(f"{name:10} {microseconds:7.2f} us   {over:+7.2f} us over the driver")
    if options.json:
        record = {
            "device": torch.cuda.get_device_name(), "torch": torch.__version__,
            "dsv4": dsv4.__version__, "python": sys.version.split()[0], "rounds": ROUNDS,
            "launches": LAUNCHES, "microseconds": figures,
        }  # fmt: skip
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
