/* fakecuda.c - A libcuda.so.1 that only takes notes
 *
 * Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two devices. The context of device n is 0x100 + n, and its streams are
 * 0x1000 * (n + 1) and above; odd streams capture. Memory is any address.
 */

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  const int *attributes; /* The number of one is the first of it. */
  unsigned count;
} launch_config;

#define MAX_PARAMETERS 16

static struct {
  atomic_int launches;
  int loads;
  uintptr_t stream, context;
  unsigned grid[3], block[3];
  int attribute, value; /* Of the first attribute, or -1. */
  uint64_t parameters[MAX_PARAMETERS];
  uint64_t seconds[16]; /* The second parameter of the first launches. */
} notes;
static int sizes[MAX_PARAMETERS], launch_result, wait_result;
static uintptr_t current;

int fake_launches(void) { return notes.launches; }
int fake_loads(void) { return notes.loads; }
uint64_t fake_stream(void) { return notes.stream; }
uint64_t fake_context(void) { return notes.context; }
unsigned fake_grid(int axis) { return notes.grid[axis]; }
unsigned fake_block(int axis) { return notes.block[axis]; }
int fake_attribute(void) { return notes.attribute; }
int fake_value(void) { return notes.value; }
uint64_t fake_parameter(int index) { return notes.parameters[index]; }
uint64_t fake_second(int launch) { return notes.seconds[launch]; }
/* The bytes of a parameter of every kernel. */
void fake_expect(int index, int bytes) { sizes[index] = bytes; }
void fake_fail(int result) { launch_result = result; }
void fake_fail_to_wait(int result) { wait_result = result; }

/* Launches, and questions about devices, wait as if the queue were full, for
 * ten seconds at most. */
static atomic_int is_full, waiting;
void fake_fill(int full) { is_full = full; }
int fake_waiting(void) { return waiting; }
static int wait_for_room(void) {
  ++waiting;
  for (int tries = 0; is_full; ++tries) {
    if (tries == 10000)
      return 999;
    usleep(1000);
  }
  --waiting;
  return 0;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuGetErrorName(int code, const char **name) {
  (void)code;
  return *name = "CUDA_ERROR_OF_A_FAKE", 0;
}
int cuGetErrorString(int code, const char **text) {
  (void)code;
  return *text = "a fake failed", 0;
}
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  return strncpy(name, "Fake H200", (size_t)size), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : attribute == 16 ? 132 : 0;
  if (attribute == 97)
    *value = 232448;
  return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  return *bytes = (size_t)1 << 37, wait_for_room();
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  return *context = (void *)(uintptr_t)(0x100 + device), 0;
}
/* Of the stream that was waited for last. */
static uintptr_t waited_stream, waited_context;
uint64_t fake_waited_stream(void) { return waited_stream; }
uint64_t fake_waited_context(void) { return waited_context; }
int cuStreamSynchronize(void *stream) {
  waited_stream = (uintptr_t)stream;
  waited_context = current;
  return current ? wait_result : 201;
}
int cuCtxSetCurrent(void *context) { return current = (uintptr_t)context, 0; }
int cuCtxGetCurrent(void **context) { return *context = (void *)current, 0; }
int cuStreamGetCtx(void *stream, void **context) {
  const uintptr_t device = ((uintptr_t)stream >> 12) - 1;
  return *context = (void *)(0x100 + device), 0;
}
int cuStreamIsCapturing(void *stream, int *status) {
  return *status = (int)((uintptr_t)stream & 1), 0;
}
/* Memory of the host, never freed. */
int cuMemAlloc_v2(unsigned long long *memory, size_t bytes) {
  return *memory = (uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256), 0;
}
int cuMemFree_v2(unsigned long long memory) { return (void)memory, 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  return memcpy((void *)(uintptr_t)to, from, bytes), 0;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  return memcpy(to, (const void *)(uintptr_t)from, bytes), 0;
}
int cuCtxSynchronize(void) { return current ? wait_result : 201; }
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
int cuMemsetD8Async(unsigned long long memory, unsigned char value,
                    size_t bytes, void *stream) {
  (void)memory, (void)value, (void)bytes, (void)stream;
  return 0;
}
int cuLibraryLoadData(void **library, const void *code, int *a, void **b,
                      unsigned c, int *d, void **e, unsigned f) {
  (void)code, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  ++notes.loads;
  return *library = &notes, 0;
}
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  (void)library, (void)name;
  return *kernel = &notes, 0;
}
int cuKernelGetFunction(void **function, void *kernel) {
  return *function = kernel, 0;
}
int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device) {
  (void)attribute, (void)kernel, (void)device;
  return *value = 0, 0;
}
int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  (void)attribute, (void)value, (void)kernel, (void)device;
  return 0;
}
int cuLaunchKernelEx(const launch_config *config, void *function,
                     void **parameters, void **extra) {
  (void)function, (void)extra;
  if (launch_result)
    return launch_result;
  if (wait_for_room())
    return 999;
  const int launch = notes.launches++;
  notes.stream = (uintptr_t)config->stream;
  notes.context = current;
  memcpy(notes.grid, config->grid, sizeof(notes.grid));
  memcpy(notes.block, config->block, sizeof(notes.block));
  notes.attribute = config->count ? config->attributes[0] : -1;
  notes.value = config->count ? config->attributes[2] : -1;
  memset(notes.parameters, 0, sizeof(notes.parameters));
  for (int i = 0; i < MAX_PARAMETERS && sizes[i]; ++i)
    memcpy(&notes.parameters[i], parameters[i], (size_t)sizes[i]);
  if (launch < 16 && sizes[1])
    memcpy(&notes.seconds[launch], parameters[1], (size_t)sizes[1]);
  return 0;
}

/* Text for the assembler of the driver. */
int cuModuleLoadData(void **module, const char *text) {
  ++notes.loads;
  return *module = &notes, strstr(text, ".visible .entry kernel(") ? 0 : 218;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return *function = module, strcmp(name, "kernel") ? 500 : 0;
}
int cuModuleUnload(void *module) {
  --notes.loads;
  return module == (void *)&notes ? 0 : 400;
}

/* Asked for, and not used by a launch. */
#define NOTHING(name)                                                          \
  int name(void) { return 801; }
NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoHAsync_v2)
NOTHING(cuMemcpyDtoDAsync_v2)
NOTHING(cuStreamCreate)
NOTHING(cuStreamDestroy_v2)
NOTHING(cuEventCreate)
NOTHING(cuEventDestroy_v2)
NOTHING(cuEventRecord)
NOTHING(cuEventSynchronize)
NOTHING(cuEventElapsedTime)
NOTHING(cuStreamBeginCapture_v2)
NOTHING(cuStreamEndCapture)
NOTHING(cuGraphInstantiateWithFlags)
NOTHING(cuGraphLaunch)
NOTHING(cuGraphDestroy)
NOTHING(cuGraphExecDestroy)
int cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset,
                         size_t *size) {
  (void)kernel;
  *offset = 0;
  /* More parameters are strides of another kernel. */
  *size = index < MAX_PARAMETERS && sizes[index] ? (size_t)sizes[index] : 4;
  return 0;
}
int cuFuncLoad(void *function) {
  (void)function;
  return 0;
}
