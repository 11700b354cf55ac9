//===- Driver.cpp - The CUDA driver, found at run time --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Driver.h"

#include "CudaDriverAPI.h"

#include <dlfcn.h>
#include <mutex>

using namespace dsv4::rt;
using namespace dsv4::rt::cuda;

static Status unavailable(const std::string &message) {
  return Status(Code::Unavailable, message).about("driver.missing");
}

static CUdeviceptr address(const void *pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
}

static CUstream asStream(Stream stream) {
  return static_cast<CUstream>(stream);
}

/// The retained primary contexts, by device.
struct Driver::Contexts {
  std::mutex mutex;
  std::vector<CUcontext> retained;
};

//===----------------------------------------------------------------------===//
// Finding and initialising
//===----------------------------------------------------------------------===//

Driver::Driver()
    : table(std::make_unique<API>()), contexts(std::make_unique<Contexts>()) {}

Driver::~Driver() = default;

/// Fills the table from libcuda; the library stays open for good.
static Status openLibrary(API &api) {
  // A copy that the process has already (PyTorch's, say) comes first.
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unavailable("no CUDA driver (libcuda.so.1 not found): install the "
                       "NVIDIA driver, or use the host target");
  const char *missing = nullptr;
#define DSV4_RESOLVE(NAME, SYMBOL, PARAMETERS)                                 \
  api.NAME = reinterpret_cast<decltype(api.NAME)>(::dlsym(library, #SYMBOL));  \
  if (!api.NAME)                                                               \
    missing = #SYMBOL;
  DSV4_CUDA_ENTRY_POINTS(DSV4_RESOLVE)
#undef DSV4_RESOLVE
  if (missing)
    return unavailable(std::string("the CUDA driver has no ") + missing +
                       ": update it to one for CUDA 12.4 or newer");
  return Status();
}

Result<std::unique_ptr<Driver>> Driver::create(const API &api) {
  std::unique_ptr<Driver> driver(new Driver());
  *driver->table = api;
  CUresult result = api.init(0);
  if (result == ErrorNoDevice)
    return unavailable("the CUDA driver finds no GPU: check nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use the host target");
  if (result == ErrorStubLibrary)
    return unavailable("libcuda.so.1 is the CUDA toolkit's stub: take its "
                       "'stubs' directory out of LD_LIBRARY_PATH");
  Status status = driver->check(result, "cuInit", Code::Unavailable);
  if (!status)
    return status;
  int count = 0;
  status = driver->check(api.driverGetVersion(&driver->driverVersion),
                         "cuDriverGetVersion", Code::Unavailable);
  if (status)
    status = driver->check(api.deviceGetCount(&count), "cuDeviceGetCount",
                           Code::Unavailable);
  if (status && count < 1)
    status = unavailable("the CUDA driver finds no GPU: check nvidia-smi and "
                         "CUDA_VISIBLE_DEVICES, or use the host target");
  if (!status)
    return status;
  driver->contexts->retained.resize(size_t(count));
  return driver;
}

Status Driver::forked() {
  return Status(Code::Unavailable,
                "this process was forked from one that uses CUDA, which CUDA "
                "does not allow: use spawn instead of fork")
      .about("driver.forked");
}

namespace {
/// What came of starting the driver.
struct Start {
  Status failure;
  std::unique_ptr<Driver> driver;
};
} // namespace

static std::atomic<const Start *> started{nullptr};
/// One more than the forkCount() of the process that began to start it, or 0.
static std::atomic<unsigned> starter{0};
/// One thread starts it, and the others wait.
static PerProcess<std::mutex> &starting = *new PerProcess<std::mutex>;

Result<Driver *> Driver::get() {
  if (const Start *found = started.load(std::memory_order_acquire)) {
    if (!found->driver)
      return found->failure;
    if (found->driver->isOfParent())
      return forked();
    return found->driver.get();
  }
  std::unique_lock<std::mutex> lock(starting.get());
  if (!started.load(std::memory_order_acquire)) {
    // Who was forked while its parent started the driver has half of one.
    unsigned before = 0;
    const unsigned mine = forkCount() + 1;
    if (!starter.compare_exchange_strong(before, mine) && before != mine)
      return forked();
    auto made = std::make_unique<Start>();
    API api;
    made->failure = openLibrary(api);
    if (made->failure) {
      Result<std::unique_ptr<Driver>> driver = create(api);
      if (driver)
        made->driver = driver.take();
      else
        made->failure = driver.status();
    }
    started.store(made.release(), std::memory_order_release);
  }
  lock.unlock();
  return get();
}

Status Driver::check(int result, const char *what, Code code) const {
  if (result == 0)
    return Status();
  const char *name = nullptr, *text = nullptr;
  table->getErrorName(result, &name);
  table->getErrorString(result, &text);
  return Status(code, std::string(what) +
                          " failed: " + (name ? name : "unknown error") + " (" +
                          (text ? text : std::to_string(result).c_str()) + ")")
      .about("driver", -1, result);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

std::string Driver::archName(int major, int minor) {
  std::string arch = "sm_" + std::to_string(major) + std::to_string(minor);
  return major >= 9 ? arch + "a" : arch;
}

int Driver::deviceCount() const { return int(contexts->retained.size()); }

static Status noSuchDevice(int ordinal, int count) {
  return Status(Code::InvalidArgument, "device " + std::to_string(ordinal) +
                                           " does not exist: the driver sees " +
                                           std::to_string(count) + " (0 to " +
                                           std::to_string(count - 1) + ")")
      .about("device.unknown");
}

Result<DeviceInfo> Driver::device(int ordinal) const {
  if (ordinal < 0 || ordinal >= deviceCount())
    return noSuchDevice(ordinal, deviceCount());
  CUdevice device;
  Status status = check(table->deviceGet(&device, ordinal), "cuDeviceGet");
  if (!status)
    return status;
  DeviceInfo info;
  char name[256] = "";
  size_t bytes = 0;
  status = check(table->deviceGetName(name, sizeof(name) - 1, device),
                 "cuDeviceGetName");
  if (status)
    status = check(table->deviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  const std::pair<int, int *> attributes[] = {
      {AttributeMajor, &info.major},
      {AttributeMinor, &info.minor},
      {AttributeMultiprocessors, &info.multiprocessors},
      {AttributeMaxSharedPerBlock, &info.sharedBytesPerBlock},
      {AttributeL2Bytes, &info.l2Bytes}};
  for (const auto &[id, value] : attributes)
    if (status)
      status = check(table->deviceGetAttribute(value, id, device),
                     "cuDeviceGetAttribute");
  if (!status)
    return status;
  info.name = name;
  info.memoryBytes = bytes;
  info.arch = archName(info.major, info.minor);
  return info;
}

Result<void *> Driver::primaryContext(int ordinal) {
  if (ordinal < 0 || ordinal >= deviceCount())
    return noSuchDevice(ordinal, deviceCount());
  std::lock_guard<std::mutex> lock(contexts->mutex);
  CUcontext &context = contexts->retained[size_t(ordinal)];
  if (!context) {
    CUdevice device;
    Status status = check(table->deviceGet(&device, ordinal), "cuDeviceGet");
    if (status)
      status = check(table->primaryCtxRetain(&context, device),
                     "cuDevicePrimaryCtxRetain");
    if (!status)
      return status;
  }
  return static_cast<void *>(context);
}

Status Driver::makeCurrent(int ordinal) {
  Result<void *> context = primaryContext(ordinal);
  if (!context)
    return context.status();
  return check(table->ctxSetCurrent(static_cast<CUcontext>(*context)),
               "cuCtxSetCurrent");
}

Result<bool> Driver::isCapturing(Stream stream) const {
  int state = 0;
  const int result = table->streamIsCapturing(asStream(stream), &state);
  if (result == ErrorCaptureImplicit)
    return true;
  // The default stream of no context: nothing of this thread captures.
  if (result == ErrorInvalidContext)
    return false;
  Status status = check(result, "cuStreamIsCapturing");
  if (!status)
    return status;
  return state != 0;
}

//===----------------------------------------------------------------------===//
// Memory, streams, events, graphs
//===----------------------------------------------------------------------===//

Result<void *> Driver::allocate(size_t bytes) {
  CUdeviceptr memory = 0;
  Status status =
      check(table->memAlloc(&memory, bytes ? bytes : 1), "cuMemAlloc");
  if (!status)
    return status;
  return reinterpret_cast<void *>(static_cast<uintptr_t>(memory));
}

Status Driver::release(void *memory) {
  return check(table->memFree(address(memory)), "cuMemFree");
}

Status Driver::copyToDevice(void *to, const void *from, size_t bytes,
                            Stream stream) {
  if (bytes == 0)
    return Status();
  return check(
      table->memcpyHtoDAsync(address(to), from, bytes, asStream(stream)),
      "cuMemcpyHtoDAsync");
}

Status Driver::copyToHost(void *to, const void *from, size_t bytes,
                          Stream stream) {
  if (bytes == 0)
    return Status();
  return check(
      table->memcpyDtoHAsync(to, address(from), bytes, asStream(stream)),
      "cuMemcpyDtoHAsync");
}

Status Driver::copyOnDevice(void *to, const void *from, size_t bytes,
                            Stream stream) {
  if (bytes == 0)
    return Status();
  return check(table->memcpyDtoDAsync(address(to), address(from), bytes,
                                      asStream(stream)),
               "cuMemcpyDtoDAsync");
}

Status Driver::fill(void *to, uint8_t value, size_t bytes, Stream stream) {
  if (bytes == 0)
    return Status();
  return check(
      table->memsetD8Async(address(to), value, bytes, asStream(stream)),
      "cuMemsetD8Async");
}

Result<Stream> Driver::createStream() {
  CUstream stream = nullptr;
  Status status =
      check(table->streamCreate(&stream, StreamNonBlocking), "cuStreamCreate");
  if (!status)
    return status;
  return Stream(stream);
}

Status Driver::destroyStream(Stream stream) {
  return check(table->streamDestroy(asStream(stream)), "cuStreamDestroy");
}

Status Driver::synchronize(Stream stream) {
  return check(table->streamSynchronize(asStream(stream)),
               "cuStreamSynchronize");
}

Result<Event> Driver::createEvent() {
  CUevent event = nullptr;
  Status status =
      check(table->eventCreate(&event, EventDefault), "cuEventCreate");
  if (!status)
    return status;
  return Event(event);
}

Status Driver::destroyEvent(Event event) {
  return check(table->eventDestroy(static_cast<CUevent>(event)),
               "cuEventDestroy");
}

Status Driver::record(Event event, Stream stream) {
  return check(
      table->eventRecord(static_cast<CUevent>(event), asStream(stream)),
      "cuEventRecord");
}

Result<float> Driver::elapsedMilliseconds(Event begin, Event end) {
  float milliseconds = 0;
  Status status = check(table->eventSynchronize(static_cast<CUevent>(end)),
                        "cuEventSynchronize");
  if (status)
    status = check(table->eventElapsedTime(&milliseconds,
                                           static_cast<CUevent>(begin),
                                           static_cast<CUevent>(end)),
                   "cuEventElapsedTime");
  if (!status)
    return status;
  return milliseconds;
}

Status Driver::beginCapture(Stream stream) {
  return check(table->streamBeginCapture(asStream(stream), CaptureThreadLocal),
               "cuStreamBeginCapture");
}

Result<Graph> Driver::endCapture(Stream stream) {
  CUgraph graph = nullptr;
  Status status = check(table->streamEndCapture(asStream(stream), &graph),
                        "cuStreamEndCapture");
  if (!status)
    return status;
  CUgraphExec executable = nullptr;
  status = check(table->graphInstantiate(&executable, graph, 0),
                 "cuGraphInstantiate");
  Status destroyed = check(table->graphDestroy(graph), "cuGraphDestroy");
  if (!status)
    return status;
  if (!destroyed)
    return destroyed;
  return Graph(executable);
}

Status Driver::replay(Graph graph, Stream stream) {
  return check(
      table->graphLaunch(static_cast<CUgraphExec>(graph), asStream(stream)),
      "cuGraphLaunch");
}

Status Driver::destroyGraph(Graph graph) {
  return check(table->graphExecDestroy(static_cast<CUgraphExec>(graph)),
               "cuGraphExecDestroy");
}
