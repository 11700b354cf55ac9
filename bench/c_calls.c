/* c_calls.c - What launches through the C interface cost
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Times launches of a program beside the driver's own, in turns: what the
 * processor needs, without waiting for the GPU. Every dim is 1 and all memory
 * is zero, so the GPU is never the limit. All launches are on one stream.
 *
 *   c_calls PROGRAM.mlir [ROUNDS]
 *
 *   driver    cuLaunchKernelEx of the same kernel with the same parameters,
 *             beside itself: how much of a difference is chance
 *   context   the same, and cuCtxGetCurrent, which every launch has to call
 *   launch    dsv4_launch of bound arguments
 *   set_data  dsv4_set_data and dsv4_launch
 *   set_dim   dsv4_set_dim and dsv4_launch, if the program has an extent
 *   call      dsv4_call
 */

#include <cuda.h>
#include <dsv4.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 200, MAX_ARGUMENTS = 64, MAX_TEXT = 1 << 16 };

static void check(dsv4_status status) {
  if (status == DSV4_OK)
    return;
  fprintf(stderr, "c_calls: %s: %s\n", dsv4_status_name(status),
          dsv4_last_error()->message);
  exit(1);
}

static void check_cuda(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  fprintf(stderr, "c_calls: %s: CUresult %d\n", what, (int)result);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/*===-- What is timed ----------------------------------------------------===*/

static dsv4_program *program;
static dsv4_block *block;
static dsv4_argument arguments[MAX_ARGUMENTS];
static uint32_t argument_count;
static void *addresses[2]; /* Of the first argument, in turns. */
static uint32_t extent_dim;

static CUstream stream;
static CUfunction function;
static CUlaunchConfig config;
static CUlaunchAttribute attribute;
static void **parameters;

static void time_driver(int at) {
  (void)at;
  check_cuda(cuLaunchKernelEx(&config, function, parameters, NULL), "launch");
}
static void time_context(int at) {
  CUcontext context;
  check_cuda(cuCtxGetCurrent(&context), "context");
  time_driver(at);
}
static void time_launch(int at) {
  (void)at;
  check(dsv4_launch(block, stream, NULL));
}
static void time_set_data(int at) {
  check(dsv4_set_data(block, 0, addresses[at & 1], NULL));
  check(dsv4_launch(block, stream, NULL));
}
static void time_set_dim(int at) {
  (void)at;
  check(dsv4_set_dim(block, extent_dim, 1, NULL));
  check(dsv4_launch(block, stream, NULL));
}
static void time_call(int at) {
  (void)at;
  check(dsv4_call(program, arguments, argument_count, NULL, stream, NULL));
}

static const struct {
  const char *name;
  void (*run)(int);
} timed[] = {{"driver", time_driver},   {"context", time_context},
             {"launch", time_launch},   {"set_data", time_set_data},
             {"set_dim", time_set_dim}, {"call", time_call}};
enum { TIMED = sizeof(timed) / sizeof(timed[0]) };

/*===-- Preparation ------------------------------------------------------===*/

/* An argument for each binding, in memory of device 0. */
static void make_arguments(const dsv4_program_info *info) {
  static dsv4_tensor tensors[MAX_ARGUMENTS];
  static int64_t shapes[MAX_ARGUMENTS][DSV4_MAX_RANK];
  static int64_t number = 1;
  for (uint32_t i = 0; i < info->bindings; ++i) {
    dsv4_binding binding = DSV4_INIT(dsv4_binding);
    check(dsv4_program_binding(program, i, &binding, NULL));
    arguments[i] = (dsv4_argument)DSV4_INIT(dsv4_argument);
    if (binding.scalar) {
      arguments[i].kind = DSV4_ARGUMENT_SCALAR;
      arguments[i].value = &number;
      continue;
    }
    size_t bytes = binding.element_bytes;
    for (int32_t axis = 0; axis < binding.rank; ++axis) {
      shapes[i][axis] = 1;
      if (binding.extents[axis] >= 0)
        shapes[i][axis] = binding.extents[axis];
      bytes *= (size_t)shapes[i][axis];
    }
    tensors[i] = (dsv4_tensor)DSV4_INIT(dsv4_tensor);
    tensors[i].ndim = binding.rank;
    tensors[i].shape = shapes[i];
    tensors[i].device_type = DSV4_DEVICE_CUDA;
    arguments[i].value = &tensors[i];
    for (int copy = i ? 1 : 0; copy < 2; ++copy) {
      CUdeviceptr memory;
      check_cuda(cuMemAlloc(&memory, bytes), "memory");
      check_cuda(cuMemsetD8(memory, 0, bytes), "memory");
      tensors[i].data = (void *)(uintptr_t)memory;
      if (i == 0)
        addresses[copy] = tensors[i].data;
    }
  }
  argument_count = info->bindings;
}

/* The first dim that is an extent. */
static uint32_t find_extent(const dsv4_program_info *info) {
  for (uint32_t i = 0; i < info->dims; ++i) {
    dsv4_dim dim = DSV4_INIT(dsv4_dim);
    check(dsv4_program_dim(program, i, &dim, NULL));
    if (!dim.is_stride)
      return i;
  }
  fprintf(stderr, "c_calls: the program has no extents\n");
  exit(1);
}

/* The program's own launch for the driver alone: that of a captured graph. */
static void make_driver_launch(void) {
  CUgraph graph;
  CUgraphNode node;
  CUDA_KERNEL_NODE_PARAMS launch;
  size_t count = 1;
  check_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
             "capture");
  check(dsv4_launch(block, stream, NULL));
  check_cuda(cuStreamEndCapture(stream, &graph), "capture");
  check_cuda(cuGraphGetNodes(graph, &node, &count), "nodes");
  check_cuda(cuGraphKernelNodeGetParams(node, &launch), "node");
  function = launch.func;
  if (!function)
    check_cuda(cuKernelGetFunction(&function, launch.kern), "function");
  parameters = launch.kernelParams;
  config.gridDimX = launch.gridDimX;
  config.gridDimY = launch.gridDimY;
  config.gridDimZ = launch.gridDimZ;
  config.blockDimX = launch.blockDimX;
  config.blockDimY = launch.blockDimY;
  config.blockDimZ = launch.blockDimZ;
  config.sharedMemBytes = launch.sharedMemBytes;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  /* All kernels of dsv4 may begin before the one before them ends. */
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, MAX_TEXT);
  if (!file || !text || !fread(text, 1, MAX_TEXT - 1, file)) {
    fprintf(stderr, "c_calls: %s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return text;
}

/* Microseconds of a launch. */
static double time_launches(void (*run)(int)) {
  check_cuda(cuCtxSynchronize(), "the device");
  const double begin = now();
  for (int launch = 0; launch < LAUNCHES; ++launch)
    run(launch);
  const double end = now();
  check_cuda(cuCtxSynchronize(), "the device");
  return (end - begin) / LAUNCHES;
}

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  const int rounds = argc > 2 ? atoi(argv[2]) : 200;
  if (argc < 2 || rounds < 1) {
    fprintf(stderr, "usage: c_calls PROGRAM.mlir [ROUNDS]\n");
    return 1;
  }
  dsv4_runtime *runtime;
  check(dsv4_runtime_create(NULL, &runtime, NULL));
  CUdevice device;
  CUcontext context;
  check_cuda(cuInit(0), "cuInit");
  check_cuda(cuDeviceGet(&device, 0), "device 0");
  check_cuda(cuDevicePrimaryCtxRetain(&context, device), "context");
  check_cuda(cuCtxSetCurrent(context), "context");
  check_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "stream");

  dsv4_compile_options options = DSV4_INIT(dsv4_compile_options);
  options.source_name = argv[1];
  check(dsv4_compile(runtime, read_file(argv[1]), SIZE_MAX, &options, &program,
                     NULL));
  dsv4_program_info info = DSV4_INIT(dsv4_program_info);
  check(dsv4_program_query(program, &info, NULL));
  if (info.kernels != 1 || info.bindings > MAX_ARGUMENTS) {
    fprintf(stderr, "c_calls: expected one kernel and at most %d arguments\n",
            MAX_ARGUMENTS);
    return 1;
  }
  make_arguments(&info);
  extent_dim = find_extent(&info);
  check(dsv4_bind(program, arguments, argument_count, NULL, &block, NULL));
  make_driver_launch();

  /* Clocks change with time, so each is compared with the driver just before
   * it. */
  double *over = calloc((size_t)rounds, sizeof(double));
  double *driver = calloc((size_t)rounds, sizeof(double));
  if (!over || !driver)
    return 1;
  for (int i = 0; i < TIMED; ++i) {
    for (int round = 0; round < rounds; ++round) {
      driver[round] = time_launches(time_driver);
      over[round] = time_launches(timed[i].run) - driver[round];
    }
    qsort(driver, (size_t)rounds, sizeof(double), compare);
    qsort(over, (size_t)rounds, sizeof(double), compare);
    printf("%-10s %+7.3f us over the driver's %.3f us\n", timed[i].name,
           over[rounds / 2], driver[rounds / 2]);
  }
  free(over);
  free(driver);
  dsv4_block_destroy(block);
  dsv4_program_destroy(program);
  dsv4_runtime_destroy(runtime);
  return 0;
}
