//===- Selection.h - What is selected of rows -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op that selects answers through SelectionOpInterface: the part
// #dsv4.select asks it, and nothing else does.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_SELECTION_H
#define DSV4_DIALECT_SELECTION_H

#include <cstdint>

namespace dsv4 {

/// What an op selects from each row of the source of its cooperative work.
struct Selection {
  int64_t k = 0; ///< Elements that are selected.
  /// Groups of elements, some of which are chosen first; 0: none.
  int64_t groups = 0;
  /// Ranks after those of the elements, which hold something else; 0: none.
  int64_t others = 0;
};

} // namespace dsv4

#endif // DSV4_DIALECT_SELECTION_H
