//===- BoundLaunch.cpp - A launch that is packed once ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/BoundLaunch.h"

#include "LoadedKernel.h"

using namespace dsv4::rt;

/// A kernel with all that its launch needs. It never moves once bound: `config`
/// points at `attribute`, and `parameters` into `values`.
struct BoundLaunch::Step {
  const LoadedProgram::Kernel *kernel = nullptr;
  bool runs = false;
  LaunchShape shape;
  std::vector<ParameterValue> values;
  std::vector<void *> parameters;
  cuda::LaunchConfig config = {};
  cuda::LaunchAttribute attribute = {};
};

BoundLaunch::BoundLaunch(const LoadedProgram &program)
    : program(program), steps(program.kernels.size()),
      buffers(program.program.bindings.size()) {
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    step.kernel = &program.kernels[i];
    const auto &parameters = step.kernel->info->plan.parameters;
    step.values.resize(parameters.size());
    step.parameters.resize(parameters.size());
    for (size_t j = 0; j < parameters.size(); ++j) {
      void **slot = &step.values[j].pointer;
      if (parameters[j].kind == Parameter::Kind::Buffer)
        buffers[size_t(parameters[j].binding)].uses.push_back({slot});
      else if (parameters[j].kind == Parameter::Kind::Workspace)
        workspaceUses.push_back(slot);
    }
  }
}

BoundLaunch::~BoundLaunch() = default;

Status BoundLaunch::checkAlignment(size_t binding, const void *data) const {
  const auto address = reinterpret_cast<uintptr_t>(data);
  for (const Use &use : buffers[binding].uses)
    if (__builtin_expect(
            (address + uintptr_t(use.offset)) & (use.alignment - 1), false))
      return misaligned(program.program, binding,
                        address + uintptr_t(use.offset), use.alignment,
                        use.offset);
  return Status();
}

Status BoundLaunch::bind(const Argument *arguments, size_t count) {
  int64_t dims[MaxDims];
  LaunchShapes all;
  LaunchShape *shapes = all.each;
  uint64_t bytes;
  if (Status status = program.checkShapes(arguments, count, dims); !status)
    return status;
  if (Status status = program.evaluatePlans(dims, shapes, bytes); !status)
    return status;
  const std::vector<Binding> &bindings = program.program.bindings;
  if (Status status = program.checkBuffers(arguments, dims, shapes); !status)
    return status;
  for (size_t i = 0; i < count; ++i)
    if (bindings[i].scalar && !arguments[i].data)
      return nullArgument(program.program, i);

  // Nothing fails from here on.
  needed = bytes;
  missing = 0;
  for (size_t i = 0; i < count; ++i) {
    Buffer &buffer = buffers[i];
    buffer.data = arguments[i].data;
    buffer.mayBeNull = isEmpty(bindings[i], arguments[i]);
    missing += !buffer.data && !buffer.mayBeNull;
  }
  const LaunchInputs inputs = {dims, program.multiprocessors};
  placeUses(inputs, shapes);
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    step.runs = shapes[i].runs;
    step.shape = shapes[i];
    if (!step.runs)
      continue;
    const LaunchPlan &plan = step.kernel->info->plan;
    packParameters(plan, inputs, arguments, workspace.data, step.values.data(),
                   step.parameters.data());
    configure(plan, step.shape, step.config, step.attribute);
  }
  return Status();
}

/// Finds where kernels begin to access each argument, and its alignment there.
void BoundLaunch::placeUses(const LaunchInputs &inputs,
                            const LaunchShape *shapes) {
  size_t next[MaxBindings] = {};
  for (size_t i = 0; i < steps.size(); ++i)
    for (const Parameter &parameter : steps[i].kernel->info->plan.parameters) {
      if (parameter.kind != Parameter::Kind::Buffer)
        continue;
      const auto binding = size_t(parameter.binding);
      Use &use = buffers[binding].uses[next[binding]++];
      use.offset = 0;
      use.alignment = 1;
      if (!shapes[i].runs || buffers[binding].mayBeNull)
        continue;
      use.alignment = parameter.alignment;
      (void)parameter.offset.evaluate(inputs, use.offset); // checkBuffer() did.
    }
}

Status BoundLaunch::setData(size_t binding, void *data) {
  Buffer &buffer = buffers[binding];
  if (Status status = checkAlignment(binding, data); !status)
    return status;
  if (!buffer.mayBeNull)
    missing += size_t(!data) - size_t(!buffer.data);
  buffer.data = data;
  for (const Use &use : buffer.uses)
    *use.slot = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(data) +
                                         uintptr_t(use.offset));
  return Status();
}

void BoundLaunch::setWorkspace(Workspace given) {
  workspace = given;
  for (void **use : workspaceUses)
    *use = workspace.data;
}

Status BoundLaunch::notReady() const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].data && !buffers[i].mayBeNull)
      return nullArgument(program.program, i);
  return wrongWorkspace(program.program, needed, workspace);
}

Status BoundLaunch::launch(Stream stream) {
  if (__builtin_expect(missing != 0 || !suffices(workspace, needed), false))
    return notReady();
  for (Step &step : steps) {
    if (!step.runs)
      continue;
    if (step.kernel->host) {
      Status status = step.kernel->host->launch(
          step.shape.grid, step.kernel->info->plan.block,
          step.shape.sharedBytes, step.parameters.data());
      if (!status)
        return status;
      continue;
    }
    step.config.stream = static_cast<cuda::CUstream>(stream);
    int result = program.driver->api().launchKernelEx(
        &step.config, step.kernel->function, step.parameters.data(), nullptr);
    if (__builtin_expect(result != 0, false))
      return launchFailed(*program.driver, *step.kernel->info, result);
  }
  return Status();
}
