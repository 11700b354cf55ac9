//===- ElementMap.h - Which thread holds which element ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map of row distribution, as a pure function. Element e of a row is at
//
//   e = (((step * blocks + block) * warps + warp) * lanes + lane) * vector + v,
//
// so neighbouring elements fill a vector first, then lanes, warps, blocks and
// steps. That order is also the order in which a reduction pairs elements, axis
// by axis. If all extents but that of steps are powers of two, it pairs by the
// bits of e, whatever the extents are: how many warps or blocks hold a row
// changes no result.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TRANSFORMS_ELEMENTMAP_H
#define DSV4_TRANSFORMS_ELEMENTMAP_H

#include "dsv4/Schedule/Limits.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace dsv4 {

/// The axes of threads, the one that neighbouring elements fill first comes
/// first.
enum class ThreadAxis { Lane, Warp, Block };

/// Where an element of a row is.
struct ElementPosition {
  int64_t step = 0, block = 0, warp = 0, lane = 0, vector = 0;
};

/// Which of the values that stand for `group` neighbouring elements each a
/// thread holds. Thread t has its first one at `t / holders * thread`.
struct ValueStrides {
  /// Values between those of neighbouring threads, or sets of holders.
  int64_t thread = 0;
  /// Neighbouring threads that hold the same values. The first owns them.
  int64_t holders = 1;
  /// Values between those of neighbouring steps.
  int64_t step = 0;
};

/// Which thread holds which element of a row: the extents of all axes but
/// steps, of which a row has as many as it needs.
///
/// Without a vector one thread holds a row, each segment of it as one vector,
/// and all values that stand for several elements.
struct ElementMap {
  int64_t blocks = 1, warps = 1, lanes = 1, vector = 1;

  /// Of `threads` threads of `blocks` blocks.
  static ElementMap ofThreads(int64_t threads, int64_t vector,
                              int64_t blocks = 1) {
    blocks = std::gcd(threads, blocks);
    int64_t lanes = std::gcd(threads / blocks, limits::kWarp);
    return {blocks, threads / blocks / lanes, lanes, vector};
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// Threads that hold a row, which are numbered as they follow each other.
  int64_t getThreads() const { return blocks * warps * lanes; }
  int64_t getThread(const ElementPosition &at) const {
    return (at.block * warps + at.warp) * lanes + at.lane;
  }
  /// Elements that the threads have in one step.
  int64_t getStep() const { return getThreads() * vector; }
  int64_t getElement(const ElementPosition &at) const {
    return (at.step * getThreads() + getThread(at)) * vector + at.vector;
  }
  /// Who owns an element: the only position that has it.
  ElementPosition locate(int64_t element) const {
    ElementPosition at;
    auto take = [&](int64_t extent) {
      int64_t index = element % extent;
      element /= extent;
      return index;
    };
    at.vector = take(vector);
    at.lane = take(lanes);
    at.warp = take(warps);
    at.block = take(blocks);
    at.step = element;
    return at;
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  bool hasWholeSegments() const { return vector == 0; }
  /// Steps of a row, the last one rounded up.
  int64_t getSteps(int64_t row) const {
    return hasWholeSegments() ? 1 : (row + getStep() - 1) / getStep();
  }
  /// Whether some threads have a vector less than others.
  bool isUneven(int64_t row) const {
    return !hasWholeSegments() && row % getStep() != 0;
  }
  /// Threads that have a vector in the last step: the first ones.
  int64_t getLastThreads(int64_t row) const {
    return getThread(locate(row - 1)) + 1;
  }

  //===--------------------------------------------------------------------===//
  // Values that stand for several elements
  //===--------------------------------------------------------------------===//

  /// Whether one value is for the row, or for whole steps of it, so that every
  /// thread holds all values.
  bool isHeldByAll(int64_t row, int64_t group) const {
    return group == row || group >= getStep();
  }
  /// Values that a thread holds in one step.
  int64_t getValuesPerVector(int64_t group) const {
    return std::max<int64_t>(1, vector / group);
  }
  /// Where they are, unless every thread holds all values.
  ValueStrides getStrides(int64_t group) const {
    return {getValuesPerVector(group),
            std::max<int64_t>(1, group / std::max<int64_t>(1, vector)),
            getStep() / group};
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  int64_t getExtent(ThreadAxis axis) const {
    return axis == ThreadAxis::Lane   ? lanes
           : axis == ThreadAxis::Warp ? warps
                                      : blocks;
  }
  /// The axes over which `group` neighbouring elements are spread, in the order
  /// in which a reduction of them goes through: it pairs elements of a vector
  /// before these, and steps after them.
  llvm::SmallVector<ThreadAxis, 3> getSpreadAxes(int64_t group) const {
    llvm::SmallVector<ThreadAxis, 3> axes;
    int64_t inner = vector;
    for (ThreadAxis axis :
         {ThreadAxis::Lane, ThreadAxis::Warp, ThreadAxis::Block}) {
      if (getExtent(axis) > 1 && group > inner)
        axes.push_back(axis);
      inner *= getExtent(axis);
    }
    return axes;
  }
};

} // namespace dsv4

#endif // DSV4_TRANSFORMS_ELEMENTMAP_H
