//===- RandomInputs.h - Inputs that reach the corners -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs as an engine would pass them, and as it should not. The role of an
// argument follows from the operand it feeds, never from its name:
//
//   elements      every code but NaN, uniform
//   values        (of a norm, a rotation, a transform or a quantiser) rows of
//                 several magnitudes, zeros of both signs, ties, infinities
//   rotations     cosines and sines of random angles
//   positions     of that table; a few -1 or beyond it
//   scales        positive, in [2^-6, 2^6]
//   indices       about 85 % name an entry; the others are -1, from the length
//                 on, beyond the table, beyond the pool, INT32_MIN, INT32_MAX
//   page tables   permuted pages; some -1, a few beyond the pool
//   requests      rows of the table; a few -1 or beyond it
//   lengths       up to the capacity; a few 0, -5, or beyond it
//   appends       the last positions of every request, one for each token, more
//                 than a ring holds too, in any order; or slots, all different
//                 if they are `unique`; some -1 and beyond the pool
//   segments      (of an online compress) of windows that begin, continue and
//                 end; written in place, to another entry, or not at all; each
//                 entry of the state in one segment only; a few invalid ones
//   destinations  the byte 0xAB, so that unwritten bytes show
//   bytes of a page that belong to no field: 0xFF, a NaN in most formats
//   strides       as small as can be, or larger; 0 for some operands of
//                 computations; the first element aligned to no more than
//                 `align`; 0xAB between elements
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TESTING_RANDOMINPUTS_H
#define DSV4_TESTING_RANDOMINPUTS_H

#include "dsv4/Reference/Interpreter.h"

#include <map>
#include <string>

namespace dsv4::reference {

/// Memory for every binding of a Signature, in order.
struct InputSet {
  std::vector<std::vector<char>> bytes;
  std::vector<std::vector<int64_t>> shapes;
  /// Bytes along every axis, and before the first element, of bindings that
  /// have `dsv4.strides`. Both may have fewer elements than `bytes`.
  std::vector<std::vector<int64_t>> strides = {};
  std::vector<int64_t> offsets = {};

  /// The bindings, pointing into `bytes`.
  std::vector<Buffer> buffers();
  Buffer getBuffer(size_t binding);
  int64_t getOffset(size_t binding) const {
    return binding < offsets.size() ? offsets[binding] : 0;
  }
  /// Null if the binding is contiguous.
  const int64_t *getStrides(size_t binding) const {
    return binding < strides.size() && !strides[binding].empty()
               ? strides[binding].data()
               : nullptr;
  }
  /// Replaces the elements of a binding by others of the same shape, in
  /// row-major order. They need not repeat along an axis.
  void setElements(size_t binding, const rt::Binding &description,
                   std::vector<char> elements);
};

/// The byte that fills destinations.
constexpr char kPoison = char(0xAB);

/// Whether random indices, slots, positions, lengths and pages include invalid
/// ones, which a kernel must skip.
enum class Indices { All, Valid };

/// Fresh random inputs for every binding. `dims` gives the extent of every dim
/// of the Signature, named by the function or not ("kv.pages", "arg2.0"); other
/// names are ignored. With Codes::All, scales too have every bit pattern. The
/// same seed gives the same bytes on every machine.
rt::Result<InputSet>
makeRandomInputs(mlir::func::FuncOp func,
                 const std::map<std::string, int64_t> &dims, uint64_t seed,
                 Codes codes = Codes::NoNaN, Indices indices = Indices::All);

} // namespace dsv4::reference

#endif // DSV4_TESTING_RANDOMINPUTS_H
