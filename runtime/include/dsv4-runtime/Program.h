//===- Program.h - What a compiled program is -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between the compiler, which writes a ProgramInfo, and the
// runtime, which loads and launches from it alone. A program is one function of
// the source: named bindings (the buffers a caller passes), named dims (extents
// found in the shapes of those buffers) and the kernels to launch, in order.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_PROGRAM_H
#define DSV4_RUNTIME_PROGRAM_H

#include "dsv4-runtime/LaunchPlan.h"
#include "dsv4-runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dsv4::rt {

/// Bounds that let a launch pack everything on the stack; a program beyond them
/// is refused when it is read or loaded.
constexpr unsigned MaxBindings = 64;
constexpr unsigned MaxRank = 8;
constexpr unsigned MaxDims = 64;
constexpr unsigned MaxKernels = 64;

/// Storage types as they cross the border: small floats travel as the unsigned
/// integer of their width, packed 4-bit elements as bytes, i1 as a byte.
enum class Storage { U8, U16, I32, F32, I64 };

/// Bytes of one element.
inline int64_t getByteSize(Storage storage) {
  switch (storage) {
  case Storage::U8:
    return 1;
  case Storage::U16:
    return 2;
  case Storage::I32:
  case Storage::F32:
    return 4;
  case Storage::I64:
    return 8;
  }
  return 1;
}

/// One axis of a binding: a constant, or the index of a dim.
struct Extent {
  int64_t constant = -1; ///< Used when `dim` < 0.
  int dim = -1;          ///< Index into ProgramInfo::dims.
};

/// What the caller passes for one argument: a buffer in device memory, or a
/// scalar. Elements along the last axis of a buffer follow each other.
struct Binding {
  std::string name;          ///< "indices", "cache", "cache.nope".
  Storage storage;           ///< Type of one stored element.
  std::string element;       ///< What it means: "i32", "bf16", "f8E4M3FN", …
  std::vector<Extent> shape; ///< In stored elements (an FP4 row of 512 is 256).
  bool written = false;      ///< A destination: every element may be written.
  /// One number, passed by value: it has no shape, and its storage is I32, I64
  /// or F32.
  bool scalar = false;
  /// Bytes from one element to its neighbour along every axis but the last, or
  /// along an only axis; or a dim that counts elements. None: contiguous, in
  /// row-major order.
  std::vector<Extent> strides = {};
};

/// A named number of a launch: a run-time extent, read from one axis of one
/// binding, while every other axis of that name must agree; or a stride of one
/// axis, in elements of that binding.
struct Dim {
  std::string name;
  int binding = 0;
  int axis = 0;
  int64_t max = INT32_MAX; ///< The compiler relied on min <= value <= max,
  int64_t multiple = 1;    ///< and on a multiple of this power of two.
  bool isStride = false;
  int64_t min = 0; ///< Of a stride of pages: the bytes of one. Else 0.
};

/// One kernel, and how it is launched. The plan refers to dims by their index.
struct KernelInfo {
  std::string symbol;
  std::string schedule; ///< Canonical text, for people.
  LaunchPlan plan;
  uint32_t registers = 0; ///< Per thread, as ptxas reports; 0: unknown.
  uint32_t spillBytes = 0;
};

struct ProgramInfo {
  std::string name;   ///< Entry function.
  std::string target; ///< "cuda" or "host".
  std::string arch;   ///< "sm_90a"; on the host it selects schedules.
  std::vector<Binding> bindings;
  std::vector<Dim> dims;
  std::vector<KernelInfo> kernels;

  /// The names of dims and bindings in the texts of launch plans.
  PlanNames planNames() const;

  /// Canonical JSON: fixed key order, no white space.
  std::string toJSON() const;

  /// Reads the output of toJSON. Other text, or a program that validate()
  /// refuses, is InvalidArgument.
  static Result<ProgramInfo> fromJSON(const std::string &text);

  /// Checks every index and range, so that loading and launching need not.
  Status validate() const;
};

/// A program and the machine code of its kernels, in order (one cubin each, or
/// one shared object each for the host target).
struct CompiledProgram {
  ProgramInfo info;
  std::vector<std::string> images;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_PROGRAM_H
