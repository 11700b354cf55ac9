//===- Workloads.cpp - What all workloads share ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "dsv4/InitAll.h"
#include "dsv4/Reference/Check.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::bench;

Workload::Workload(Device &device, std::string name, std::string layout,
                   std::string source)
    : name(name), compileName(std::move(name)), layout(std::move(layout)),
      source(std::move(source)), device(device) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module =
      parseSourceString<ModuleOp>(this->source, ParserConfig(context.get()));
  if (!module)
    check(rt::Status(rt::Code::InvalidArgument, "a program does not parse"));
  // The same data whatever ran before.
  device.restartDraws();
}

Workload::~Workload() = default;

func::FuncOp Workload::getFunction() {
  return *module->getOps<func::FuncOp>().begin();
}

rt::Result<const rt::LoadedProgram *>
Workload::compile(const std::string &schedule, int64_t size) {
  CompileOptions with = options;
  with.schedule = schedule;
  if (!sizeDim.empty())
    with.dims.merge(selectDims(getFunction(), {{sizeDim, size}}));
  return device.session.compile(source, name + ".mlir", with);
}

std::vector<char> Workload::download(const char *from, size_t bytes) {
  std::vector<char> data(bytes);
  device.download(data.data(), from, bytes);
  return data;
}

std::vector<CachePart> Workload::getCacheParts() {
  Signature signature = take(reference::readSignature(getFunction()));
  std::vector<CachePart> parts;
  for (const rt::Binding &binding : signature.bindings) {
    if (binding.name != "cache" && binding.name.rfind("cache.", 0) != 0)
      continue;
    CachePart part = {{}, 1};
    for (size_t axis = 1; axis < binding.shape.size(); ++axis) {
      part.pageShape.push_back(binding.shape[axis].constant);
      part.pageBytes *= binding.shape[axis].constant;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string Workload::verify(const rt::LoadedProgram &program, int64_t size,
                             unsigned slice, unsigned count) {
  std::mt19937_64 random(size + slice);
  std::vector<int64_t> rows;
  const int64_t all = this->rows(size);
  for (int64_t i = 0; i < std::min<int64_t>(count, all); ++i)
    rows.push_back(count < all ? random() % all : i);
  Excerpt excerpt = extract(size, slice, rows);
  if (excerpt.results.empty())
    return "";
  // What is not written, or written beside its place, shows.
  constexpr uint8_t poison = 0xAB;
  for (const Excerpt::Result &result : excerpt.results) {
    check(
        device.driver.fill(result.device, poison, result.bytes, device.stream));
    std::memset(excerpt.data[result.binding].data() + result.offset, poison,
                result.bytes);
  }
  Arguments launched = arguments(size, slice);
  check(launched.launch(program, device.stream,
                        device.workspace(launched.workspaceBytes(program))));
  device.finish();

  std::vector<reference::Buffer> buffers;
  for (size_t i = 0; i < excerpt.data.size(); ++i)
    buffers.push_back({excerpt.shapes[i], excerpt.data[i].data()});
  auto oracle = reference::evaluate(getFunction(), buffers);
  check(oracle.status());
  // What the launch has left, in an excerpt of its own.
  std::vector<std::vector<char>> found(excerpt.data.size());
  for (const Excerpt::Result &result : excerpt.results) {
    std::vector<char> &data = found[result.binding];
    if (data.empty())
      data = excerpt.data[result.binding];
    device.download(data.data() + result.offset, result.device, result.bytes);
    buffers[result.binding].data = data.data();
  }
  return reference::explainDifference(*oracle, buffers);
}

std::vector<float> bench::makeAngles(int64_t positions) {
  std::vector<float> angles(positions * 64);
  for (int64_t at = 0; at < positions; ++at)
    for (int64_t pair = 0; pair < 32; ++pair) {
      double angle = at * std::pow(10000.0, -pair / 32.0);
      angles[at * 64 + pair] = std::cos(angle);
      angles[at * 64 + 32 + pair] = std::sin(angle);
    }
  return angles;
}
