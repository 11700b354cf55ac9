//===- LaunchChecks.cpp - The checks of a launch and their errors ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What arguments must be before a kernel is launched on them.
//
//===----------------------------------------------------------------------===//

#include "LoadedKernel.h"
#include "Strides.h"

#include <algorithm>

using namespace dsv4::rt;

//===----------------------------------------------------------------------===//
// Errors of a launch; out of line, so that the path without one stays short.
//===----------------------------------------------------------------------===//

[[gnu::cold, gnu::noinline]] static Status
wrongExtent(const ProgramInfo &program, size_t binding, size_t axis,
            int64_t value, int64_t expected) {
  const Binding &at = program.bindings[binding];
  std::string text = "extent " + std::to_string(axis) + " is " +
                     std::to_string(value) + ", expected " +
                     std::to_string(expected);
  int index = at.shape[axis].dim;
  if (index >= 0) {
    const Dim &dim = program.dims[size_t(index)];
    text += " (dim '" + dim.name + "', from extent " +
            std::to_string(dim.axis) + " of '" +
            program.bindings[size_t(dim.binding)].name + "')";
  }
  return wrongArgument(program, binding, "argument.extent", text);
}

[[gnu::cold, gnu::noinline]] static Status
dimOutOfRange(const ProgramInfo &program, const Dim &dim, int64_t value) {
  return wrongArgument(
      program, size_t(dim.binding), "argument.extent",
      "extent " + std::to_string(dim.axis) + " (dim '" + dim.name + "') is " +
          std::to_string(value) + ", compiled for 0 to " +
          std::to_string(dim.max) +
          (dim.multiple > 1 ? ", multiples of " + std::to_string(dim.multiple)
                            : ""));
}

Status dsv4::rt::misaligned(const ProgramInfo &program, size_t index,
                            uintptr_t address, uint32_t alignment,
                            int64_t offset) {
  const Binding &binding = program.bindings[index];
  std::string text = "is at an address aligned to " +
                     std::to_string(address & (~address + 1)) + " bytes" +
                     (offset ? " at byte " + std::to_string(offset) +
                                   ", where a slice of it begins"
                             : "") +
                     ", expected " + std::to_string(alignment) +
                     ": pass memory that is aligned so";
  // An element has to be aligned to its own size in any program.
  if (int64_t(alignment) > getByteSize(binding.storage))
    text += binding.strides.empty()
                ? ", or compile with 'dsv4.strides' of this argument, and a "
                  "smaller 'align' in it"
                : ", or compile with a smaller 'align' in 'dsv4.strides'";
  return wrongArgument(program, index, "argument.alignment", text);
}

/// The number of which `bound <= dim` makes a dim a multiple, or 0: `bound` is
/// ceildiv(dim, number) * number.
static int64_t getMultiple(const Expression &bound, const ProgramInfo &program,
                           const LaunchInputs &inputs, size_t index) {
  // One that is a multiple of the number, and not 0, is at least the number.
  int64_t dims[MaxDims], number = 0;
  std::copy_n(inputs.extents, program.dims.size(), dims);
  dims[index] = 1;
  if (bound.evaluate({dims, inputs.multiprocessors}, number) != Fault::None ||
      number < 1)
    return 0;
  const Expression multiple =
      Expression::ceilDiv(Expression::extent(unsigned(index)), number) *
      Expression(number);
  return bound == multiple ? number : 0;
}

/// That a dim is less than `bound`.
[[gnu::cold, gnu::noinline]] static Status
dimTooSmall(const ProgramInfo &program, const PlanNames &names,
            const LaunchInputs &inputs, const Expression &bound, size_t index) {
  const Dim &dim = program.dims[index];
  // Dims that are strides count elements.
  const char *unit = dim.isStride ? " elements" : "";
  std::string text = (dim.isStride ? "stride " : "extent ") +
                     std::to_string(dim.axis) + " (dim '" + dim.name +
                     "') is " + std::to_string(inputs.extents[index]) + unit +
                     ", expected ";
  if (int64_t number = getMultiple(bound, program, inputs, index)) {
    text += "a multiple of " + std::to_string(number) + unit;
  } else {
    int64_t least = 0;
    (void)bound.evaluate(inputs, least);
    text += "at least " + std::to_string(least) + unit +
            (bound.isConstant() ? "" : ", " + bound.print(names));
  }
  return wrongArgument(program, size_t(dim.binding),
                       dim.isStride ? "argument.stride" : "argument.extent",
                       text);
}

[[gnu::cold, gnu::noinline]] static Status wrongPlan(const ProgramInfo &program,
                                                     const PlanNames &names,
                                                     const LaunchInputs &inputs,
                                                     const KernelInfo &kernel,
                                                     const Status &status) {
  bool holds = true;
  const Comparison *failed = nullptr;
  Fault fault = kernel.plan.requirements.evaluate(inputs, holds, failed);
  // A dim that another one bounds: that of an argument is wrong.
  if (fault == Fault::None && !holds && failed->op == Comparison::Op::Le)
    for (size_t i = 0; i < program.dims.size(); ++i)
      if (failed->rhs == Expression::extent(unsigned(i)))
        return dimTooSmall(program, names, inputs, failed->lhs, i);
  return Status(status.code(),
                "kernel '" + kernel.symbol + "': " + status.message())
      .about("launch.plan");
}

/// That a slice is not part of its argument.
[[gnu::cold, gnu::noinline]] static Status
beyondArgument(const ProgramInfo &program, size_t index, Fault fault,
               const Comparison *failed, const LaunchInputs &inputs,
               const PlanNames &names) {
  if (fault != Fault::None)
    return wrongArgument(program, index, "argument.overflow",
                         "the end of a slice of it is 2^63 or more: pass "
                         "smaller extents");
  int64_t end = 0, extent = 0;
  (void)failed->lhs.evaluate(inputs, end);
  (void)failed->rhs.evaluate(inputs, extent);
  return wrongArgument(program, index, "argument.extent",
                       "a slice of it needs " + failed->print(names) +
                           ", but ends at " + std::to_string(end) + " of " +
                           std::to_string(extent) + ": pass a larger argument");
}

[[gnu::cold, gnu::noinline]] static Status
tooMuchShared(const KernelInfo &kernel, uint32_t needed, uint32_t most) {
  return Status(Code::InvalidArgument,
                "kernel '" + kernel.symbol + "' needs " +
                    std::to_string(needed) +
                    " bytes of dynamic shared memory for these shapes, "
                    "expected at most " +
                    std::to_string(most))
      .about("launch.shared_memory");
}

Status dsv4::rt::nullArgument(const ProgramInfo &program, size_t index) {
  return wrongArgument(program, index, "argument.null",
                       program.bindings[index].scalar
                           ? "is null: pass the address of its value"
                           : "is null but not empty");
}

Status dsv4::rt::wrongWorkspace(const ProgramInfo &program, uint64_t needed,
                                const Workspace &workspace) {
  std::string text = "program '" + program.name + "' needs a workspace of " +
                     std::to_string(needed) + " bytes for these shapes, ";
  if (!workspace.data)
    text += "got none: pass memory that was once set to zero";
  else if (workspace.bytes < needed)
    text += "got " + std::to_string(workspace.bytes);
  else
    text += "aligned to " + std::to_string(WorkspaceAlignment);
  return Status(Code::InvalidArgument, text).about("workspace");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

Status LoadedProgram::checkShapes(const Argument *arguments, size_t count,
                                  int64_t *dims) const {
  size_t expected = program.bindings.size();
  if (count != expected || (expected && !arguments))
    return Status(Code::InvalidArgument,
                  "program '" + program.name + "' takes " +
                      std::to_string(expected) + " arguments, got " +
                      std::to_string(arguments ? count : 0))
        .about("argument.count");
  for (size_t i = 0; i < expected; ++i)
    if (!arguments[i].shape && !program.bindings[i].shape.empty())
      return wrongArgument(program, i, "argument.null", "has no shape");

  for (size_t i = 0; i < program.dims.size(); ++i) {
    const Dim &dim = program.dims[i];
    if (dim.isStride)
      continue;
    dims[i] = arguments[dim.binding].shape[dim.axis];
    if (dims[i] < 0 || dims[i] > dim.max || dims[i] & (dim.multiple - 1))
      return dimOutOfRange(program, dim, dims[i]);
  }

  for (size_t i = 0; i < expected; ++i) {
    const Binding &binding = program.bindings[i];
    for (size_t axis = 0; axis < binding.shape.size(); ++axis) {
      const Extent &extent = binding.shape[axis];
      int64_t required = extent.dim < 0 ? extent.constant : dims[extent.dim];
      int64_t value = arguments[i].shape[axis];
      if (value != required)
        return wrongExtent(program, i, axis, value, required);
    }
    if (arguments[i].strides || needsStrideCheck[i])
      if (Status status = checkStrides(program, i, arguments[i], dims); !status)
        return status;
  }
  return Status();
}

/// Checks that a buffer is part of its argument, and aligned as its kernel
/// requires.
Status LoadedProgram::checkBuffer(const Parameter &parameter,
                                  const Argument &argument,
                                  const LaunchInputs &inputs) const {
  const size_t index = size_t(parameter.binding);
  int64_t offset = 0;
  if (!parameter.offset.isConstant(0) ||
      !parameter.within.comparisons.empty()) {
    bool holds;
    const Comparison *failed = nullptr;
    Fault fault = parameter.within.evaluate(inputs, holds, failed);
    if (fault != Fault::None || !holds)
      return beyondArgument(program, index, fault, failed, inputs, names);
    fault = parameter.offset.evaluate(inputs, offset);
    if (fault != Fault::None)
      return beyondArgument(program, index, fault, nullptr, inputs, names);
  }
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(argument.data) + uintptr_t(offset);
  if ((address & (parameter.alignment - 1)) &&
      !isEmpty(program.bindings[index], argument))
    return misaligned(program, index, address, parameter.alignment, offset);
  return Status();
}

Status LoadedProgram::checkBuffers(const Argument *arguments,
                                   const int64_t *dims,
                                   const LaunchShape *shapes) const {
  const LaunchInputs inputs = {dims, multiprocessors};
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!shapes[i].runs)
      continue;
    for (const Parameter &parameter : kernels[i].info->plan.parameters)
      if (parameter.kind == Parameter::Kind::Buffer)
        if (Status status =
                checkBuffer(parameter, arguments[parameter.binding], inputs);
            !status)
          return status;
  }
  return Status();
}

Status LoadedProgram::evaluatePlans(const int64_t *dims, LaunchShape *shapes,
                                    uint64_t &workspaceBytes) const {
  const LaunchInputs inputs = {dims, multiprocessors};
  // Kernels run one after another, so they share one workspace.
  workspaceBytes = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Kernel &kernel = kernels[i];
    if (Status status = kernel.info->plan.evaluate(inputs, names, shapes[i]);
        !status)
      return wrongPlan(program, names, inputs, *kernel.info, status);
    if (shapes[i].sharedBytes > kernel.maxSharedBytes)
      return tooMuchShared(*kernel.info, shapes[i].sharedBytes,
                           kernel.maxSharedBytes);
    workspaceBytes = std::max(workspaceBytes, shapes[i].workspaceBytes);
  }
  return Status();
}
