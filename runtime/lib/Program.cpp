//===- Program.cpp - What a compiled program is ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Program.h"

#include <algorithm>

using namespace dsv4::rt;

static Status invalid(const std::string &message) {
  return Status(Code::InvalidArgument, message);
}

PlanNames ProgramInfo::planNames() const {
  PlanNames names;
  for (const Dim &dim : dims)
    names.extents.push_back(dim.name);
  for (const Binding &binding : bindings)
    names.bindings.push_back(binding.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

static Status validateExtents(const std::vector<Extent> &extents,
                              const std::vector<Dim> &dims, bool areStrides,
                              const std::string &owner) {
  if (extents.size() > MaxRank)
    return invalid(owner + " has more than " + std::to_string(MaxRank) +
                   " extents");
  for (const Extent &extent : extents) {
    if (extent.dim >= 0 && size_t(extent.dim) >= dims.size())
      return invalid(owner + ": dim " + std::to_string(extent.dim) +
                     " does not exist");
    if (extent.dim >= 0 && dims[size_t(extent.dim)].isStride != areStrides)
      return invalid(owner + ": dim '" + dims[size_t(extent.dim)].name +
                     (areStrides ? "' is an extent: expected a stride"
                                 : "' is a stride: expected an extent"));
    if (extent.dim < 0 && extent.constant < 0)
      return invalid(owner +
                     (areStrides ? ": negative stride" : ": negative extent"));
  }
  return Status();
}

static Status validateDim(const Dim &dim, size_t index,
                          const std::vector<Binding> &bindings) {
  std::string owner = "program: dim '" + dim.name + "'";
  if (dim.binding < 0 || size_t(dim.binding) >= bindings.size())
    return invalid(owner + ": binding " + std::to_string(dim.binding) +
                   " does not exist");
  const Binding &binding = bindings[size_t(dim.binding)];
  const std::vector<Extent> &numbers =
      dim.isStride ? binding.strides : binding.shape;
  if (dim.axis < 0 || size_t(dim.axis) >= numbers.size())
    return invalid(owner + ": axis " + std::to_string(dim.axis) +
                   " does not exist");
  if (numbers[size_t(dim.axis)].dim != int(index))
    return invalid(owner + " is read from an axis of another " +
                   (dim.isStride ? "stride" : "extent"));
  if (dim.max < 0)
    return invalid(owner + " has a negative maximum");
  // In bytes, a stride fits 63 bits.
  if (dim.isStride && dim.max > INT32_MAX)
    return invalid(owner + ": a stride is at most 2^31 - 1");
  if (dim.min < 0 || dim.min > dim.max || (dim.min > 0 && !dim.isStride))
    return invalid(owner + ": expected a minimum of 0, or of a stride one up "
                           "to its maximum");
  // In bytes, that of a stride fits 63 bits, too.
  if (dim.multiple < 1 || (dim.multiple & (dim.multiple - 1)) ||
      (dim.isStride && dim.multiple > INT32_MAX))
    return invalid(owner + ": multiple must be a power of two" +
                   (dim.isStride ? " up to 2^30" : ""));
  return Status();
}

static Status validateKernel(const KernelInfo &kernel,
                             const ProgramInfo &info) {
  std::string owner = "program: kernel '" + kernel.symbol + "'";
  if (kernel.symbol.empty() || kernel.symbol.find('\0') != std::string::npos)
    return invalid(owner + " has no usable symbol");
  if (Status status =
          kernel.plan.validate(info.dims.size(), info.bindings.size());
      !status)
    return invalid(owner + ": " + status.message());
  using Kind = Parameter::Kind;
  for (const Parameter &parameter : kernel.plan.parameters) {
    const bool isScalar = parameter.kind == Kind::Scalar;
    if (!isScalar && parameter.kind != Kind::Buffer &&
        parameter.kind != Kind::TensorMap)
      continue;
    const Binding &binding = info.bindings[size_t(parameter.binding)];
    if (binding.scalar != isScalar)
      return invalid(owner + ": '" + binding.name + "' is " +
                     (isScalar ? "no scalar: pass it as a buffer"
                               : "a scalar: pass it as one"));
  }
  return Status();
}

static Status validateBinding(const Binding &binding, size_t index,
                              const std::vector<Dim> &dims) {
  std::string owner = "program: binding '" + binding.name + "'";
  if (Status status =
          validateExtents(binding.shape, dims, /*areStrides=*/false, owner);
      !status)
    return status;
  if (Status status =
          validateExtents(binding.strides, dims, /*areStrides=*/true, owner);
      !status)
    return status;
  if (!binding.strides.empty() &&
      binding.strides.size() + 1 != binding.shape.size() &&
      !(binding.strides.size() == 1 && binding.shape.size() == 1))
    return invalid(owner + ": expected a stride for every axis but the last, "
                           "or for an only one");
  for (size_t axis = 0; axis < binding.strides.size(); ++axis)
    if (int number = binding.strides[axis].dim; number >= 0)
      if (const Dim &dim = dims[size_t(number)];
          dim.binding != int(index) || dim.axis != int(axis))
        return invalid(owner + ": dim '" + dim.name +
                       "' is the stride of another axis");
  if (binding.scalar &&
      (!binding.shape.empty() || binding.written ||
       binding.storage == Storage::U8 || binding.storage == Storage::U16))
    return invalid(owner + ": a scalar is one i32, i64 or f32 that is not "
                           "written");
  return Status();
}

/// Launch plans are text, so what they refer to has a name of its own.
static Status validateNames(const std::vector<std::string> &names,
                            const char *what) {
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  for (const std::string &name : sorted)
    if (!isPlanName(name))
      return invalid(std::string("program: ") + what + " '" + name +
                     "': expected a letter or '_', then letters, digits, '_' "
                     "and '.'");
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return invalid(std::string("program: two ") + what + "s have the name '" +
                   *twice + "'");
  return Status();
}

Status ProgramInfo::validate() const {
  if (target != "cuda" && target != "host")
    return invalid("program: target '" + target +
                   "' is neither 'cuda' nor 'host'");
  if (arch.empty())
    return invalid("program: arch is empty");
  if (bindings.size() > MaxBindings || dims.size() > MaxDims ||
      kernels.size() > MaxKernels)
    return invalid("program: too many bindings, dims or kernels");
  const PlanNames names = planNames();
  if (Status status = validateNames(names.extents, "dim"); !status)
    return status;
  if (Status status = validateNames(names.bindings, "binding"); !status)
    return status;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (Status status = validateBinding(bindings[i], i, dims); !status)
      return status;
  for (size_t i = 0; i < dims.size(); ++i)
    if (Status status = validateDim(dims[i], i, bindings); !status)
      return status;
  for (const KernelInfo &kernel : kernels)
    if (Status status = validateKernel(kernel, *this); !status)
      return status;
  return Status();
}
