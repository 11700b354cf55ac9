//===- LaunchPlan.h - How a kernel is launched ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made once, when kernels are outlined, and evaluated by the runtime before
// each launch. A plan has extents, without their meaning. The library uses
// neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LAUNCHPLAN_H
#define DSV4_RUNTIME_LAUNCHPLAN_H

#include "dsv4-runtime/Expression.h"

#include <array>

namespace dsv4::rt {

constexpr unsigned MaxParameters = 128;
/// Alignment of a workspace, in bytes.
constexpr unsigned WorkspaceAlignment = 16;
constexpr uint32_t MaxBufferAlignment = 4096;

// The limits of CUDA on every architecture, along x, y and z.
constexpr std::array<int64_t, 3> MaxGrid = {0x7FFFFFFF, 65535, 65535};
constexpr std::array<uint32_t, 3> MaxBlock = {1024, 1024, 64};
constexpr uint64_t MaxThreadsOfBlock = 1024;
constexpr uint64_t MaxBlocksOfCluster = 16;

struct Dim3 {
  constexpr Dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1)
      : x(x), y(y), z(z) {}
  uint32_t operator[](unsigned axis) const {
    return axis == 0 ? x : axis == 1 ? y : z;
  }
  /// Of extents within the limits above.
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool is1D() const { return y == 1 && z == 1; }
  bool operator==(const Dim3 &other) const {
    return x == other.x && y == other.y && z == other.z;
  }
  uint32_t x, y, z;
};

/// A parameter of a kernel. As text:
///
///   read(cache, 16) | write(out, 16) | update(state, 4)   a buffer: what the
///             kernel does with it, and the alignment in bytes that it counts
///             on
///   read(qkv + 2048, 16) | read(q + 1024 * decodes, 16, decodes <= tokens)
///             a buffer from some byte on, and what must hold of the extents
///             for it to be part of the argument
///   i32(tokens * topk) | i64(pages)   an expression over extents
///   scalar(scale)       a number that the caller passes
///   workspace           memory that the blocks of the launch share
///   tensor_map(cache)   reserved: readers take it, no runtime can launch it
struct Parameter {
  enum class Kind : uint8_t {
    Buffer,
    Int32,
    Int64,
    Scalar,
    Workspace,
    TensorMap
  };
  Kind kind = Kind::Workspace;
  int binding = 0;                    ///< Of a buffer, scalar or tensor map.
  bool reads = false, writes = false; ///< A buffer; one of them at least.
  uint32_t alignment = 1;             ///< Of a buffer, where it begins.
  Expression offset;                  ///< Of a buffer, in bytes.
  Condition within; ///< Of a buffer; a launch is an error unless it holds.
  Expression value; ///< Of an Int32 or Int64.

  static Parameter buffer(int binding, bool reads, bool writes,
                          uint32_t alignment);
  static Parameter int32(Expression value);
  static Parameter int64(Expression value);
  static Parameter scalar(int binding);
  static Parameter workspace() { return Parameter(); }
  static Parameter tensorMap(int binding);

  std::string print(const PlanNames &names) const;
  static Result<Parameter> parse(std::string_view text, const PlanNames &names);
};

/// The shape of a launch for given extents.
struct LaunchShape {
  bool runs = false; ///< If not, the rest has no meaning.
  Dim3 grid;
  uint32_t sharedBytes = 0;
  uint64_t workspaceBytes = 0;
};

struct LaunchPlan {
  /// The launch is skipped unless this holds, so a program may have
  /// alternatives. It is also skipped if its grid has an extent of 0.
  Condition condition;
  /// Conditions that the compiler relied on; a launch is an error unless they
  /// hold.
  Condition requirements;
  std::array<Expression, 3> grid = {1, 1, 1}; ///< Blocks.
  Dim3 block;                                 ///< Threads of a block.
  Dim3 cluster;           ///< Blocks of a cluster; it divides the grid.
  Expression sharedBytes; ///< Dynamic shared memory of a block.
  bool programmaticLaunch = false; ///< Stream order relaxed (PDL).
  /// Memory that the blocks of the launch share: all zero before it and after
  /// it. A kernel has a parameter for it if and only if this is not "0".
  Expression workspaceBytes;
  std::vector<Parameter> parameters;

  /// Checks the plan as far as possible without extents, for a program with
  /// `extents` extents and `bindings` bindings.
  Status validate(size_t extents, size_t bindings) const;

  /// Evaluates the plan. An error if a value overflows or exceeds a limit of
  /// CUDA, or if the requirements do not hold; `names` are for its message.
  /// Allocates nothing otherwise.
  Status evaluate(const LaunchInputs &inputs, const PlanNames &names,
                  LaunchShape &shape) const;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LAUNCHPLAN_H
