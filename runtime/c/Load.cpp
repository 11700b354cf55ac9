//===- Load.cpp - Programs on devices -------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "CudaDriverAPI.h"
#include "host/HostKernel.h"

#include <chrono>

using namespace dsv4::c;
namespace cuda = dsv4::rt::cuda;
using dsv4::rt::Driver;

/// The default streams are those of whatever context is current.
static bool isSpecial(void *stream) {
  return reinterpret_cast<uintptr_t>(stream) <= cuda::StreamPerThread;
}

//===----------------------------------------------------------------------===//
// Contexts and streams
//===----------------------------------------------------------------------===//

ContextScope::ContextScope(const Loaded &loaded) : loaded(loaded) {
  if (__builtin_expect(loaded.driver->isOfParent(), false))
    return;
  const cuda::API &api = loaded.driver->api();
  cuda::CUcontext current = nullptr;
  result = api.ctxGetCurrent(&current);
  if (result != 0 || current == loaded.context)
    return;
  previous = current;
  result = api.ctxSetCurrent(static_cast<cuda::CUcontext>(loaded.context));
  changed = result == 0;
}

ContextScope::~ContextScope() {
  if (changed)
    (void)loaded.driver->api().ctxSetCurrent(
        static_cast<cuda::CUcontext>(previous));
}

Status ContextScope::status() const {
  if (__builtin_expect(loaded.driver->isOfParent(), false))
    return Driver::forked();
  return loaded.driver->check(
      result, "making the context of the device current", Code::LaunchFailed);
}

Status dsv4::c::checkStream(const Loaded &loaded, void *stream) {
  if (isSpecial(stream))
    return Status();
  constexpr int notSupported = 801; // Streams of green contexts.
  cuda::CUcontext context = nullptr;
  const int result = loaded.driver->api().streamGetCtx(
      static_cast<cuda::CUstream>(stream), &context);
  if (result == notSupported || (result == 0 && context == loaded.context))
    return Status();
  if (result != 0)
    return Status(Code::InvalidArgument,
                  "the stream is not valid: " +
                      loaded.driver->check(result, "cuStreamGetCtx").message())
        .about("stream.invalid", -1, result);
  return invalid("stream.device",
                 "the stream belongs to another device or context than the "
                 "arguments, which are on device " +
                     std::to_string(loaded.device) +
                     ": pass a stream of that device's primary context");
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Loaded>> ProgramState::loadNew(int device, void *stream,
                                                      bool asks) {
  auto made = std::make_unique<Loaded>();
  rt::Backend backend;
  if (onHost()) {
    backend = rt::Backend::onHost(
        rt::hostModules({}, [runtime = std::weak_ptr<RuntimeState>(runtime)](
                                const std::string &message) {
          if (auto state = runtime.lock())
            state->raise(DSV4_EVENT_WARNING, message);
        }));
  } else {
    Result<Driver *> driver = Driver::get();
    if (!driver)
      return driver.status();
    Result<void *> context = (*driver)->primaryContext(device);
    if (!context)
      return context.status();
    made->driver = *driver;
    made->context = *context;
    made->device = device;
    backend = rt::Backend::cuda(*driver, device);
  }
  std::optional<ContextScope> scope;
  if (made->driver) {
    scope.emplace(*made);
    if (Status status = scope->status(); !status)
      return status;
    Result<bool> capturing =
        asks ? made->driver->isCapturing(stream) : Result<bool>(false);
    if (!capturing)
      return capturing.status();
    if (*capturing)
      return runtime->notPrepared(
          "program.capturing",
          "program '" + info().name + "' is not loaded on device " +
              std::to_string(device) +
              ", and the stream captures: call dsv4_program_load() before the "
              "capture");
  }
  Result<std::unique_ptr<rt::LoadedProgram>> program =
      rt::LoadedProgram::load(compiled, backend);
  if (!program) {
    ++runtime->counters.loadFailures;
    return program.status();
  }
  made->program = program.take();
  return made;
}

Result<const Loaded *> ProgramState::load(int device, void *stream, bool asks) {
  const int index = onHost() ? 0 : device;
  if (index < 0 || index >= MaxDevices)
    return invalid("device.unknown", "device " + std::to_string(device) +
                                         " does not exist: expected 0 to " +
                                         std::to_string(MaxDevices - 1));
  auto &slot = loaded[size_t(index)];
  if (const Loaded *found = slot.load(std::memory_order_acquire))
    return found;
  if (runtime->frozen.load(std::memory_order_relaxed))
    return runtime->notPrepared(
        "program.frozen",
        "program '" + info().name + "' is not loaded on device " +
            std::to_string(device) +
            ", and the runtime is frozen: call dsv4_program_load() before "
            "dsv4_freeze()");
  const auto begin = std::chrono::steady_clock::now();
  Result<std::unique_ptr<Loaded>> made = loadNew(device, stream, asks);
  if (!made)
    return made.status();
  const Loaded *result;
  {
    // Of two threads the first one's stays.
    std::lock_guard<std::mutex> lock(loading.get());
    auto &mine = owned[size_t(index)];
    if (mine)
      return static_cast<const Loaded *>(mine.get());
    mine = made.take();
    result = mine.get();
    slot.store(result, std::memory_order_release);
  }
  ++runtime->counters.loads;
  const std::chrono::duration<double, std::milli> passed =
      std::chrono::steady_clock::now() - begin;
  runtime->raise(DSV4_EVENT_LOADED, info().name, onHost() ? -1 : device, 0,
                 passed.count());
  return result;
}
