//===- Overlaps.cpp - Arguments that share memory -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <utility>

using namespace dsv4::c;
namespace rt = dsv4::rt;
using dsv4::rt::Argument;
using dsv4::rt::Binding;
using dsv4::rt::ProgramInfo;

namespace {
/// The bytes of an argument: blocks without gaps, repeated at strides.
struct Span {
  struct Level {
    int64_t stride; ///< Bytes from one repetition to the next.
    int64_t inner;  ///< Bytes from the begin to the end of one.
  };
  uintptr_t begin, end;      ///< Equal: nothing to compare.
  size_t count;              ///< Of levels.
  Level levels[rt::MaxRank]; ///< By stride, the smallest first.
};
} // namespace

/// The span of an argument; empty if it has no elements, or extents or strides
/// that the launch will refuse.
static void getSpan(const Binding &binding, const Argument &argument,
                    Span &span) {
  span.begin = span.end = 0;
  span.count = 0;
  if (binding.scalar || !argument.data)
    return;
  std::pair<int64_t, int64_t> axes[rt::MaxRank]; // Stride, extent.
  size_t rank = 0;
  int64_t bytes = rt::getByteSize(binding.storage), contiguous = bytes;
  for (size_t axis = binding.shape.size(); axis-- > 0;) {
    const int64_t extent = argument.shape[axis];
    const int64_t stride =
        argument.strides ? argument.strides[axis] : contiguous;
    if (extent <= 0 || __builtin_mul_overflow(contiguous, extent, &contiguous))
      return;
    if (extent == 1)
      continue;
    if (stride < 0)
      return;
    axes[rank++] = {stride, extent};
  }
  // By insertion: there are few, and most are in order.
  for (size_t i = 1; i < rank; ++i)
    for (size_t j = i; j > 0 && axes[j].first < axes[j - 1].first; --j)
      std::swap(axes[j], axes[j - 1]);
  for (size_t i = 0; i < rank; ++i) {
    const auto [stride, extent] = axes[i];
    int64_t reach;
    if (span.count > 0 || stride != bytes)
      span.levels[span.count++] = {stride, bytes};
    if (__builtin_mul_overflow(stride, extent - 1, &reach) ||
        __builtin_add_overflow(bytes, reach, &bytes))
      return;
  }
  const auto begin = reinterpret_cast<uintptr_t>(argument.data);
  uintptr_t end;
  if (!__builtin_add_overflow(begin, uintptr_t(bytes), &end)) {
    span.begin = begin;
    span.end = end;
  }
  return;
}

/// Whether repetitions of `innerA` bytes from a and of `innerB` bytes from b
/// are apart, when both repeat at `stride`.
static bool areApart(uintptr_t a, int64_t innerA, uintptr_t b, int64_t innerB,
                     int64_t stride) {
  if (innerA >= stride || innerB >= stride)
    return false;
  const uintptr_t period = uintptr_t(stride);
  // The distance from a repetition of a to the next one of b.
  const uintptr_t forward =
      b >= a ? (b - a) % period : (period - (a - b) % period) % period;
  return int64_t(forward) >= innerA && int64_t(forward) + innerB <= stride;
}

/// Whether two spans have bytes in common; no, if that is not known.
static bool overlap(const Span &a, const Span &b) {
  if (a.begin >= b.end || b.begin >= a.end)
    return false;
  // A span without gaps may lie in a gap of the other.
  const Span &shape = a.count ? a : b;
  const bool bothRepeat = a.count && b.count;
  if (bothRepeat && a.count != b.count)
    return false;
  for (size_t i = 0; i < shape.count; ++i) {
    const int64_t stride = shape.levels[i].stride;
    if (bothRepeat && b.levels[i].stride != stride)
      return false;
    // Larger strides must not shift one against the other.
    bool areMultiples = stride > 0;
    for (size_t j = i + 1; areMultiples && j < shape.count; ++j)
      areMultiples = shape.levels[j].stride % stride == 0;
    const int64_t innerA =
        a.count ? a.levels[i].inner : int64_t(a.end - a.begin);
    const int64_t innerB =
        b.count ? b.levels[i].inner : int64_t(b.end - b.begin);
    if (areMultiples && areApart(a.begin, innerA, b.begin, innerB, stride))
      return false;
  }
  return true;
}

Status dsv4::c::checkOverlaps(const ProgramInfo &program,
                              const Argument *arguments) {
  Span spans[rt::MaxBindings];
  const size_t count = program.bindings.size();
  for (size_t i = 0; i < count; ++i)
    getSpan(program.bindings[i], arguments[i], spans[i]);
  for (size_t i = 0; i < count; ++i) {
    if (!program.bindings[i].written || spans[i].begin == spans[i].end)
      continue;
    for (size_t j = 0; j < count; ++j) {
      // Two destinations are compared once.
      if (j == i || (program.bindings[j].written && j < i) ||
          !overlap(spans[i], spans[j]))
        continue;
      const std::string &name = program.bindings[i].name;
      return Status(Code::InvalidArgument,
                    "argument '" + name + "' shares memory with '" +
                        program.bindings[j].name +
                        "', and the program writes '" + name +
                        "': pass memory of its own")
          .about("argument.overlap", int(i));
    }
  }
  return Status();
}
