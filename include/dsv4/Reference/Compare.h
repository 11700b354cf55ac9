//===- Compare.h - Comparisons by contract ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One comparator per contract (docs/Contracts.md), on memory: no MLIR, no
// compiler. Each returns "" if the destination is right, else a line that names
// the destination, the position of the first difference, the value, the
// expected value and the bound.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_COMPARE_H
#define DSV4_REFERENCE_COMPARE_H

#include "dsv4/Reference/Numerics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dsv4::reference {

/// A destination as messages name it: row-major elements of that shape.
struct Destination {
  llvm::StringRef name;
  llvm::ArrayRef<int64_t> shape;
};

//===----------------------------------------------------------------------===//
// exact
//===----------------------------------------------------------------------===//

/// The same bytes. Counts and shows elements of `width` bytes.
std::string compareExact(const Destination &destination,
                         llvm::ArrayRef<char> got,
                         llvm::ArrayRef<char> expected, unsigned width);

//===----------------------------------------------------------------------===//
// ulp n
//===----------------------------------------------------------------------===//

/// Whether elements of a format have an order of values, as `ulp n` and
/// `bounded` need: all but integers.
bool isFloatingPoint(Format format);

/// Steps between two codes in the list of the values of a floating-point
/// format: +0 and -0 are one value, an infinity is one step beyond the largest
/// finite value. A NaN is 0 steps from every NaN; from anything else there are
/// none.
std::optional<uint64_t> countUlps(Format format, uint32_t a, uint32_t b);

/// At most `count` steps for each element. 4-bit elements are two per byte, the
/// even index in the low nibble.
std::string compareUlps(const Destination &destination, Format format,
                        llvm::ArrayRef<char> got, llvm::ArrayRef<char> expected,
                        uint64_t count);

//===----------------------------------------------------------------------===//
// bounded
//===----------------------------------------------------------------------===//

/// An exact value, and the largest allowed distance from it. With an infinite
/// bound every value is right.
struct BoundedValue {
  double exact = 0;
  double bound = 0;
};

/// Whether `got`, a value of `format`, is right: |got - exact| <= bound. A NaN
/// is right where `exact` is NaN, and nothing else is. An infinity is right
/// where `exact` is that infinity, or where a value within the bound rounds to
/// it. +0 and -0 are equal. A bound that is negative or NaN makes everything
/// wrong.
bool isWithin(Format format, double got, const BoundedValue &expected);

std::string compareBounded(const Destination &destination, Format format,
                           llvm::ArrayRef<char> got,
                           llvm::ArrayRef<BoundedValue> expected);

//===----------------------------------------------------------------------===//
// selection
//===----------------------------------------------------------------------===//

/// A selection from scores with known bounds.
struct SelectionOracle {
  enum class Order { Sorted, IndexAscending, Unordered };

  int64_t k = 0;       ///< Extent of a row of the destinations.
  int64_t columns = 0; ///< Scores per row.
  bool smallest = false;
  /// Whether the higher of two indices with equal keys comes first.
  bool tiesHigh = false;
  /// Whether a NaN comes before every number, or after.
  bool nanFirst = false;
  Order order = Order::Unordered;
  /// Candidates of each row: its first elements.
  std::vector<int64_t> counts;
  /// The keys that decide, `columns` per row.
  std::vector<BoundedValue> keys;
  /// The scores themselves, if the keys are something else (a sum with a bias);
  /// else empty.
  std::vector<BoundedValue> scores;
  /// The slot of each element in a cache; empty if not needed.
  std::vector<int32_t> slots;
  /// What is added to the stored indices of each row; empty: nothing.
  std::vector<int64_t> offsets;

  BoundedValue getScore(int64_t row, int64_t index) const {
    return (scores.empty() ? keys : scores)[row * columns + index];
  }
};

/// Takes the offsets of rows from indices as they are stored.
void removeOffsets(llvm::MutableArrayRef<int32_t> indices,
                   const SelectionOracle &oracle);

/// `indices`, without offsets, are right if they are the exact selection (a
/// larger key first, then the lower index, or the higher one) of keys that are
/// each within their bounds:
///
/// - the first min(k, count) of a row are different, and below its count; the
///   others are padding, -1;
/// - the lower bound of a left-out element is not above the upper bound of a
/// chosen one; keys with a bound of 0 are compared exactly, index included;
/// - the order is that of some such keys, or of the indices.
std::string compareSelection(const Destination &destination,
                             llvm::ArrayRef<int32_t> indices,
                             const SelectionOracle &oracle);

/// `got` are the scores of `indices`, which compareSelection accepts, within
/// their bounds; padding is the infinity that comes last.
std::string compareSelectedValues(const Destination &destination, Format format,
                                  llvm::ArrayRef<char> got,
                                  llvm::ArrayRef<int32_t> indices,
                                  const SelectionOracle &oracle);

/// `got` are the slots of `indices`, exactly; padding is -1.
std::string compareSelectedSlots(const Destination &destination,
                                 llvm::ArrayRef<char> got,
                                 llvm::ArrayRef<int32_t> indices,
                                 const SelectionOracle &oracle);

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_COMPARE_H
