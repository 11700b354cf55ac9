//===- Strides.cpp - Checks of the strides of arguments -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strides are those of the memory that a caller has. What a kernel cannot
// address, and what would let two threads write one element, is refused before
// the launch.
//
//===----------------------------------------------------------------------===//

#include "Strides.h"

#include <algorithm>

using namespace dsv4::rt;

Status dsv4::rt::wrongArgument(const ProgramInfo &program, size_t index,
                               const char *id, std::string what) {
  return Status(Code::InvalidArgument,
                "argument '" + program.bindings[index].name + "': " + what)
      .about(id, int(index));
}

bool dsv4::rt::mayOverflow(const Binding &binding,
                           const std::vector<Dim> &dims) {
  int64_t bytes = getByteSize(binding.storage);
  for (const Extent &extent : binding.shape) {
    int64_t max = extent.dim < 0 ? extent.constant : dims[extent.dim].max;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(max, 1), &bytes))
      return true;
  }
  return false;
}

namespace {
/// The check of one argument.
class StrideCheck {
public:
  StrideCheck(const ProgramInfo &program, size_t index,
              const Argument &argument, int64_t *dims)
      : program(program), index(index), binding(program.bindings[index]),
        argument(argument), dims(dims), rank(binding.shape.size()),
        size(getByteSize(binding.storage)) {}

  Status run();

private:
  /// Fills `strides`, with contiguous ones where none are given.
  Status readStrides();
  Status checkAxis(size_t axis);
  Status checkDim(size_t axis, const Dim &dim);
  /// Checks that offsets fit 63 bits, and that no two elements of a destination
  /// share bytes.
  Status checkSpan();
  [[gnu::cold, gnu::noinline]] Status overlaps(size_t axis, int64_t span) const;
  [[gnu::cold, gnu::noinline]] Status spansTooMuch(size_t axis) const;

  /// Whether no address depends on the stride of an axis.
  bool isFree(size_t axis) const {
    return isEmpty || argument.shape[axis] == 1;
  }
  [[gnu::cold, gnu::noinline]] Status wrong(size_t axis,
                                            const std::string &expected) const;

  const ProgramInfo &program;
  size_t index;
  const Binding &binding;
  const Argument &argument;
  int64_t *dims;
  size_t rank;
  int64_t size;
  bool isEmpty = false;
  int64_t rowBytes = 0; ///< Of elements along the last axis.
  int64_t contiguous[MaxRank], strides[MaxRank];
};
} // namespace

Status StrideCheck::wrong(size_t axis, const std::string &expected) const {
  return wrongArgument(program, index, "argument.stride",
                       "stride " + std::to_string(axis) + " is " +
                           std::to_string(strides[axis]) + " bytes" +
                           (argument.strides ? "" : " (contiguous)") +
                           ", expected " + expected);
}

Status StrideCheck::readStrides() {
  for (size_t axis = 0; axis < rank; ++axis)
    isEmpty |= argument.shape[axis] == 0;
  int64_t bytes = size;
  for (size_t axis = rank; axis-- > 0;) {
    contiguous[axis] = bytes;
    strides[axis] = argument.strides ? argument.strides[axis] : bytes;
    // Strides of its own need not be those of the whole.
    if (__builtin_mul_overflow(
            bytes, std::max<int64_t>(argument.shape[axis], 1), &bytes)) {
      bytes = INT64_MAX / 2;
      if ((!argument.strides || binding.strides.empty()) && !isEmpty)
        return wrongArgument(program, index, "argument.overflow",
                             "its extents are more than 2^63 - 1 "
                             "bytes: pass smaller ones");
    }
  }
  return Status();
}

Status StrideCheck::checkDim(size_t axis, const Dim &dim) {
  const int64_t stride = strides[axis], unit = size * dim.multiple;
  if (isFree(axis)) {
    dims[&dim - program.dims.data()] = 0;
    return Status();
  }
  if (stride % unit != 0)
    return wrong(axis, "a multiple of " + std::to_string(unit) +
                           (dim.multiple == 1
                                ? ", the bytes of an element"
                                : ": pass memory whose rows are aligned so, or "
                                  "compile with a smaller 'align' in "
                                  "'dsv4.strides'"));
  if (stride / size < dim.min)
    return wrong(axis, "at least " + std::to_string(dim.min * size) +
                           ", the bytes of a page");
  if (stride / size > dim.max)
    return wrong(axis, "at most " + std::to_string(dim.max * size));
  dims[&dim - program.dims.data()] = stride / size;
  return Status();
}

Status StrideCheck::checkAxis(size_t axis) {
  const int64_t stride = strides[axis];
  if (!isFree(axis) && stride < 0)
    return wrong(axis, "none that is negative: pass the elements in their "
                       "order");
  if (axis + 1 == rank && axis >= binding.strides.size())
    return isFree(axis) || stride == size
               ? Status()
               : wrong(axis, std::to_string(size) +
                                 ": the elements of a row must follow each "
                                 "other");
  if (!binding.strides.empty() && binding.strides[axis].dim >= 0)
    return checkDim(axis, program.dims[size_t(binding.strides[axis].dim)]);
  const int64_t expected = binding.strides.empty()
                               ? contiguous[axis]
                               : binding.strides[axis].constant;
  if (isFree(axis) || stride == expected)
    return Status();
  return wrong(axis, std::to_string(expected) +
                         (binding.strides.empty()
                              ? " (contiguous): compile the program with "
                                "'dsv4.strides' of this argument, or pass a "
                                "contiguous copy"
                              : ", which the program was compiled for"));
}

Status StrideCheck::overlaps(size_t axis, int64_t span) const {
  const std::string why = ": the program writes this argument, so its elements "
                          "must not overlap";
  const Extent &stride = binding.strides[axis];
  if (stride.dim < 0 || span / size <= program.dims[size_t(stride.dim)].max)
    return wrong(axis, "at least " + std::to_string(span) +
                           (span == rowBytes ? ", the bytes of a row" : "") +
                           why);
  // No stride of this axis would do, so others have to be smaller.
  return wrong(axis, "at least " + std::to_string(span) +
                         ", which is more than a stride can be, so the other "
                         "strides are too large" +
                         why);
}

Status StrideCheck::checkSpan() {
  // Rows are whole. Of the other axes, smallest first: each must step over all
  // elements of those before it.
  size_t axes[MaxRank], count = 0;
  const bool hasRows = binding.strides.size() < rank;
  for (size_t axis = 0; axis + hasRows < rank; ++axis)
    if (!isFree(axis))
      axes[count++] = axis;
  // By insertion: there are few, and most are in descending order.
  for (size_t i = 1; i < count; ++i)
    for (size_t j = i; j > 0 && strides[axes[j]] < strides[axes[j - 1]]; --j)
      std::swap(axes[j], axes[j - 1]);
  rowBytes = size;
  if (hasRows &&
      __builtin_mul_overflow(size, argument.shape[rank - 1], &rowBytes))
    return spansTooMuch(rank - 1);
  int64_t span = rowBytes;
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = axes[i];
    if (binding.written && !binding.strides.empty() && strides[axis] < span)
      return overlaps(axis, span);
    int64_t bytes;
    if (__builtin_mul_overflow(strides[axis], argument.shape[axis] - 1,
                               &bytes) ||
        __builtin_add_overflow(span, bytes, &span))
      return spansTooMuch(axis);
  }
  return Status();
}

Status StrideCheck::spansTooMuch(size_t axis) const {
  return wrong(axis, "less: its " + std::to_string(argument.shape[axis]) +
                         " elements span more than 2^63 - 1 bytes");
}

Status StrideCheck::run() {
  if (rank == 0)
    return Status();
  if (Status status = readStrides(); !status)
    return status;
  for (size_t axis = 0; axis < rank; ++axis)
    if (Status status = checkAxis(axis); !status)
      return status;
  return isEmpty ? Status() : checkSpan();
}

Status dsv4::rt::checkStrides(const ProgramInfo &program, size_t index,
                              const Argument &argument, int64_t *dims) {
  return StrideCheck(program, index, argument, dims).run();
}
