//===- Execution.cpp - Launches on either target, and their memory --------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace dsv4;
using rt::Result;
using rt::Status;

Execution::~Execution() {
  rt::Driver *driver = session.driver();
  if (!driver)
    return;
  for (void *block : memory)
    (void)driver->release(block);
  if (stream)
    (void)driver->destroyStream(stream);
}

Status Execution::prepare() {
  rt::Driver *driver = session.driver();
  if (driver) {
    auto device = driver->device(0);
    if (!device)
      return device.status();
    deviceName = device->name;
    auto created = driver->createStream();
    if (!created)
      return created.status();
    stream = *created;
  }
  for (size_t i = 0; i < buffers.bytes.size(); ++i) {
    std::vector<char> &bytes = buffers.bytes[i];
    void *data = bytes.data();
    if (driver) {
      auto block = driver->allocate(bytes.size());
      if (!block)
        return block.status();
      memory.push_back(*block);
      data = *block;
      if (Status status =
              driver->copyToDevice(data, bytes.data(), bytes.size(), stream);
          !status)
        return status;
    }
    arguments.push_back({static_cast<char *>(data) + buffers.getOffset(i),
                         buffers.shapes[i].data(), buffers.getStrides(i)});
  }
  return prepareWorkspace();
}

Status Execution::prepareWorkspace() {
  auto bytes = program.workspaceBytes(arguments.data(), arguments.size());
  if (!bytes)
    return bytes.status();
  workspace.bytes = *bytes;
  if (*bytes == 0)
    return Status();
  rt::Driver *driver = session.driver();
  if (!driver) {
    hostWorkspace.resize(*bytes);
    workspace.data = hostWorkspace.data();
    return Status();
  }
  auto block = driver->allocate(*bytes);
  if (!block)
    return block.status();
  memory.push_back(*block);
  workspace.data = *block;
  return driver->fill(*block, 0, *bytes, stream);
}

Status Execution::launch(rt::Stream on) {
  return program.launch(on, arguments.data(), arguments.size(), workspace);
}

Status Execution::launchOnce() {
  if (Status status = launch(stream); !status)
    return status;
  rt::Driver *driver = session.driver();
  if (!driver)
    return Status();
  for (size_t i = 0; i < buffers.bytes.size(); ++i)
    if (program.info().bindings[i].written)
      if (Status status = driver->copyToHost(buffers.bytes[i].data(), memory[i],
                                             buffers.bytes[i].size(), stream);
          !status)
        return status;
  return driver->synchronize(stream);
}

Status Execution::restore(const std::map<unsigned, std::vector<char>> &bytes) {
  rt::Driver *driver = session.driver();
  for (const auto &[i, old] : bytes) {
    // On the host target arguments point to the buffers.
    std::copy(old.begin(), old.end(), buffers.bytes[i].begin());
    if (!driver)
      continue;
    if (Status status =
            driver->copyToDevice(memory[i], old.data(), old.size(), stream);
        !status)
      return status;
  }
  return driver ? driver->synchronize(stream) : Status();
}

Result<double>
Execution::timeGraph(unsigned count,
                     const std::function<Status(rt::Stream)> &body) {
  rt::Driver &driver = *session.driver();
  if (Status status = driver.beginCapture(stream); !status)
    return status;
  for (unsigned i = 0; i < count; ++i)
    if (Status status = body(stream); !status) {
      (void)driver.endCapture(stream);
      return status;
    }
  auto graph = driver.endCapture(stream);
  auto begin = driver.createEvent(), end = driver.createEvent();
  for (const Status &status : {graph.status(), begin.status(), end.status()})
    if (!status)
      return status;
  Status status = driver.replay(*graph, stream); // Warms up.
  for (auto step : {0, 1, 2}) {
    if (!status)
      break;
    status = step == 0   ? driver.record(*begin, stream)
             : step == 1 ? driver.replay(*graph, stream)
                         : driver.record(*end, stream);
  }
  if (!status)
    return status;
  auto milliseconds = driver.elapsedMilliseconds(*begin, *end);
  (void)driver.destroyEvent(*begin);
  (void)driver.destroyEvent(*end);
  (void)driver.destroyGraph(*graph);
  if (!milliseconds)
    return milliseconds.status();
  return *milliseconds * 1e-3 / count;
}

Result<double> Execution::time(unsigned count) {
  if (session.driver())
    return timeGraph(count, [&](rt::Stream on) { return launch(on); });
  auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < count; ++i)
    if (Status status = launch(nullptr); !status)
      return status;
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  return passed.count() / count;
}

Result<double> Execution::timeCopy(double bytes) {
  size_t half = std::max<size_t>(static_cast<size_t>(bytes / 2), 16);
  rt::Driver *driver = session.driver();
  if (!driver) {
    std::vector<char> from(half, 1), to(half);
    auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), half);
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    return 2.0 * half / passed.count();
  }
  auto from = driver->allocate(half), to = driver->allocate(half);
  for (const Status &status : {from.status(), to.status()})
    if (!status)
      return status;
  auto seconds = timeGraph(20, [&](rt::Stream on) {
    return driver->copyOnDevice(*to, *from, half, on);
  });
  (void)driver->release(*from);
  (void)driver->release(*to);
  if (!seconds)
    return seconds.status();
  return 2.0 * half / *seconds;
}
