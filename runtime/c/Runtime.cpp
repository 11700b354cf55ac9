//===- Runtime.cpp - Runtimes and devices ---------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Structs.h"

#include "CacheRoot.h"

#include <cstring>

using namespace dsv4::c;
namespace rt = dsv4::rt;
using dsv4::rt::Driver;

void RuntimeState::raise(int32_t kind, const std::string &text, int32_t device,
                         uint64_t bytes, double milliseconds,
                         const char *directory) const {
  counters.warnings +=
      kind == DSV4_EVENT_WARNING || kind == DSV4_EVENT_CACHE_WARNING;
  if (!callback)
    return;
  dsv4_event event = {};
  event.size = sizeof(event);
  event.kind = kind;
  event.text = text.c_str();
  event.milliseconds = milliseconds;
  event.bytes = bytes;
  event.device_id = device;
  event.directory = directory;
  callback(user, &event);
}

const char *RuntimeState::keep(const std::string &text) const {
  Texts &mine = texts.get();
  std::lock_guard<std::mutex> lock(mine.mutex);
  return mine.all.insert(text).first->c_str();
}

Status RuntimeState::notPrepared(const char *id,
                                 const std::string &message) const {
  ++counters.notPrepared;
  raise(DSV4_EVENT_NOT_PREPARED, message);
  return Status(Code::NotPrepared, message).about(id);
}

dsv4_status dsv4_runtime_create(const dsv4_runtime_options *options,
                                dsv4_runtime **runtime, dsv4_error **error) {
  if (runtime)
    *runtime = nullptr;
  return guarded(error, {}, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    dsv4_runtime_options given = {};
    if (options)
      if (Status status = readStruct(options, "dsv4_runtime_options", given);
          !status)
        return status;
    if (Status status = checkReserved(given.reserved, "dsv4_runtime_options");
        !status)
      return status;
    auto state = std::make_shared<RuntimeState>();
    state->callback = given.on_event;
    state->user = given.user;
    if (given.compiler)
      state->compiler = given.compiler;
    if (given.nvrtc_path)
      state->nvrtcPath = given.nvrtc_path;
    if (given.cache_dir)
      state->cacheDirectory = given.cache_dir;
    *runtime = new dsv4_runtime{std::move(state)};
    return Status();
  });
}

void dsv4_runtime_destroy(dsv4_runtime *runtime) { delete runtime; }

dsv4_status dsv4_freeze(dsv4_runtime *runtime, dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    runtime->state->frozen = true;
    return Status();
  });
}

dsv4_status dsv4_counters_read(const dsv4_runtime *runtime,
                               dsv4_counters *counters, dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    const Counters &from = runtime->state->counters;
    dsv4_counters value = {};
    value.programs = from.programs;
    value.compiles = from.compiles;
    value.compile_failures = from.compileFailures;
    value.loads = from.loads;
    value.load_failures = from.loadFailures;
    value.binds = from.binds;
    value.calls = from.calls;
    value.not_prepared = from.notPrepared;
    value.errors = from.errors;
    value.workspace_bytes = runtime->state->workspaces.bytesHeld();
    value.disk_hits = from.diskHits;
    value.waits = from.waits;
    value.passed_by = from.passedBy;
    value.warnings = from.warnings;
    return writeStruct(counters, "dsv4_counters", value);
  });
}

dsv4_status dsv4_cache_query(const dsv4_runtime *runtime, dsv4_cache *cache,
                             dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    const RuntimeState &state = *runtime->state;
    rt::CacheRoot root;
    // An empty one is none.
    if (const auto &given = state.cacheDirectory; !given || !given->empty())
      root = rt::findCacheRoot(given.value_or(""), /*make=*/false);
    dsv4_cache value = {};
    value.used = !root.path.empty() && root.problem.empty();
    if (!root.path.empty())
      value.directory = state.keep(root.path);
    if (!root.problem.empty())
      value.problem = state.keep(rt::toOneLine(root.problem));
    return writeStruct(cache, "dsv4_cache", value);
  });
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

dsv4_status dsv4_device_count(dsv4_runtime *runtime, int32_t *count,
                              dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime || !count)
      return isNull(runtime ? "count" : "runtime");
    Result<Driver *> driver = Driver::get();
    if (!driver)
      return driver.status();
    *count = (*driver)->deviceCount();
    return Status();
  });
}

dsv4_status dsv4_device_query(dsv4_runtime *runtime, int32_t device_id,
                              dsv4_device *device, dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    Result<Driver *> driver = Driver::get();
    if (!driver)
      return driver.status();
    Result<rt::DeviceInfo> info = (*driver)->device(device_id);
    if (!info)
      return info.status();
    dsv4_device value = {};
    value.device_id = device_id;
    std::strncpy(value.name, info->name.c_str(), sizeof(value.name) - 1);
    std::strncpy(value.arch, info->arch.c_str(), sizeof(value.arch) - 1);
    value.major = info->major;
    value.minor = info->minor;
    value.multiprocessors = info->multiprocessors;
    value.driver_version = (*driver)->version();
    value.memory_bytes = info->memoryBytes;
    return writeStruct(device, "dsv4_device", value);
  });
}

dsv4_status dsv4_reserve_workspace(dsv4_runtime *runtime, int32_t device_id,
                                   void *stream, uint64_t bytes,
                                   dsv4_error **error) {
  return guarded(error, scopeOf(runtime), [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    Result<Driver *> driver = Driver::get();
    if (!driver)
      return driver.status();
    Loaded device;
    device.driver = *driver;
    device.device = device_id;
    Result<void *> context = (*driver)->primaryContext(device_id);
    if (!context)
      return context.status();
    device.context = *context;
    ContextScope scope(device);
    if (Status status = scope.status(); !status)
      return status;
    if (Status status = checkStream(device, stream); !status)
      return status;
    if (bytes == 0)
      return Status();
    return runtime->state->workspaces
        .get(*runtime->state, /*program=*/nullptr, **driver, device_id, stream,
             bytes)
        .status();
  });
}
