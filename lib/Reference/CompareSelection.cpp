//===- CompareSelection.cpp - A selection from bounded scores -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareText.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace dsv4::reference;
using llvm::ArrayRef;

namespace {

/// What the key of an element may be, so that larger keys come first.
struct Candidate {
  enum class Kind { Number, NaN, Unknown };

  Candidate(BoundedValue key, int32_t index, const SelectionOracle &oracle)
      : order(oracle.tiesHigh ? -index : index) {
    if (std::isinf(key.bound)) {
      kind = Kind::Unknown;
      return;
    }
    if (std::isnan(key.exact)) {
      kind = Kind::NaN;
      precedence = oracle.nanFirst ? 1 : -1;
      return;
    }
    double value = oracle.smallest ? -key.exact : key.exact;
    lower = value - key.bound;
    upper = value + key.bound;
    isExact = key.bound == 0;
  }

  Kind kind = Kind::Number;
  int precedence = 0; ///< Of its kind, if it is known; the highest comes first.
  int32_t order;      ///< Among equal keys; the lowest comes first.
  double lower = 0, upper = 0;
  bool isExact = false;
};

/// A rank of a row where it is wrong, and why.
struct Fault {
  int64_t rank;
  std::string text;
};

class RowComparison {
public:
  RowComparison(const SelectionOracle &oracle, int64_t row,
                ArrayRef<int32_t> indices)
      : oracle(oracle), row(row), indices(indices),
        count(std::clamp<int64_t>(oracle.counts[row], 0, oracle.columns)),
        chosen(std::min(oracle.k, count)) {}

  std::optional<Fault> findFault() const {
    for (auto check :
         {&RowComparison::findBadIndex, &RowComparison::findDuplicate,
          &RowComparison::findLeftOut, &RowComparison::findDisorder})
      if (std::optional<Fault> fault = (this->*check)())
        return fault;
    return std::nullopt;
  }

private:
  std::optional<Fault> findBadIndex() const;
  std::optional<Fault> findDuplicate() const;
  std::optional<Fault> findLeftOut() const;
  std::optional<Fault> findDisorder() const;

  Candidate getCandidate(int64_t index) const {
    return {oracle.keys[row * oracle.columns + index], int32_t(index), oracle};
  }
  /// "index 4 with score 0.5 ± 0.01".
  std::string describe(int64_t index) const {
    return "index " + std::to_string(index) + " with score " +
           toText(oracle.keys[row * oracle.columns + index]);
  }

  const SelectionOracle &oracle;
  int64_t row;
  ArrayRef<int32_t> indices;
  int64_t count;  ///< Elements to choose from.
  int64_t chosen; ///< Ranks that are not padding.
};

} // namespace

/// Whether `a` comes before `b` whatever their keys are within their bounds.
static bool certainlyPrecedes(const Candidate &a, const Candidate &b) {
  using Kind = Candidate::Kind;
  if (a.kind == Kind::Unknown || b.kind == Kind::Unknown)
    return false;
  if (a.kind != b.kind)
    return a.precedence > b.precedence;
  if (a.kind == Kind::NaN)
    return a.order < b.order;
  if (a.lower != b.upper)
    return a.lower > b.upper;
  return a.isExact && b.isExact && a.order < b.order;
}

/// Whether more candidates certainly precede `a` than `b`.
static bool isWorse(const Candidate &a, const Candidate &b) {
  using Kind = Candidate::Kind;
  if (a.kind != b.kind)
    return a.kind != Kind::Unknown &&
           (b.kind == Kind::Unknown || a.precedence < b.precedence);
  if (a.kind == Kind::Number && a.upper != b.upper)
    return a.upper < b.upper;
  if (a.isExact != b.isExact)
    return a.isExact;
  return a.order > b.order;
}

/// Whether `a` certainly precedes more candidates than `b`.
static bool isBetter(const Candidate &a, const Candidate &b) {
  using Kind = Candidate::Kind;
  if (a.kind != b.kind)
    return a.kind != Kind::Unknown &&
           (b.kind == Kind::Unknown || a.precedence > b.precedence);
  if (a.kind == Kind::Number && a.lower != b.lower)
    return a.lower > b.lower;
  if (a.isExact != b.isExact)
    return a.isExact;
  return a.order < b.order;
}

std::optional<Fault> RowComparison::findBadIndex() const {
  for (int64_t rank = 0; rank < oracle.k; ++rank) {
    int32_t index = indices[rank];
    if (rank >= chosen) {
      if (index != -1)
        return Fault{rank, "got index " + std::to_string(index) +
                               ", expected padding (-1): the row has " +
                               std::to_string(count) + " elements"};
      continue;
    }
    if (index < 0 || index >= count)
      return Fault{rank, "got index " + std::to_string(index) +
                             ", expected one of the " + std::to_string(count) +
                             " elements of the row"};
  }
  return std::nullopt;
}

std::optional<Fault> RowComparison::findDuplicate() const {
  std::vector<int64_t> ranks(count, -1);
  for (int64_t rank = 0; rank < chosen; ++rank) {
    int64_t &first = ranks[indices[rank]];
    if (first >= 0)
      return Fault{rank, "got index " + std::to_string(indices[rank]) +
                             " again, which is at rank " +
                             std::to_string(first) + "; expected each once"};
    first = rank;
  }
  return std::nullopt;
}

std::optional<Fault> RowComparison::findLeftOut() const {
  if (chosen == 0 || chosen == count)
    return std::nullopt;
  std::vector<bool> isChosen(count);
  int64_t worst = 0;
  for (int64_t rank = 0; rank < chosen; ++rank) {
    isChosen[indices[rank]] = true;
    if (isWorse(getCandidate(indices[rank]), getCandidate(indices[worst])))
      worst = rank;
  }
  int64_t best = -1;
  for (int64_t index = 0; index < count; ++index)
    if (!isChosen[index] &&
        (best < 0 || isBetter(getCandidate(index), getCandidate(best))))
      best = index;
  if (!certainlyPrecedes(getCandidate(best), getCandidate(indices[worst])))
    return std::nullopt;
  return Fault{worst, "got " + describe(indices[worst]) + ", expected " +
                          describe(best) + ", which is left out"};
}

std::optional<Fault> RowComparison::findDisorder() const {
  bool byIndex = oracle.order == SelectionOracle::Order::IndexAscending;
  if (oracle.order == SelectionOracle::Order::Unordered) {
    // Only a row that is selected whole has an order.
    if (chosen < count)
      return std::nullopt;
    byIndex = true;
  }
  int64_t worst = 0; // Of the ranks before.
  for (int64_t rank = 1; rank < chosen; ++rank) {
    if (byIndex) {
      if (indices[rank] < indices[rank - 1])
        return Fault{rank, "got index " + std::to_string(indices[rank]) +
                               " after index " +
                               std::to_string(indices[rank - 1]) +
                               ", expected ascending indices"};
      continue;
    }
    Candidate current = getCandidate(indices[rank]);
    if (certainlyPrecedes(current, getCandidate(indices[worst])))
      return Fault{rank, "got " + describe(indices[rank]) +
                             ", expected it before " +
                             describe(indices[worst]) + " at rank " +
                             std::to_string(worst)};
    if (isWorse(current, getCandidate(indices[worst])))
      worst = rank;
  }
  return std::nullopt;
}

/// Why `oracle` and a destination do not fit, or "".
static std::string explainCount(const Destination &destination, size_t elements,
                                const SelectionOracle &oracle) {
  size_t rows = oracle.counts.size();
  if (std::string why =
          explainSize(destination, elements * sizeof(int32_t),
                      countElements(destination.shape) * sizeof(int32_t));
      !why.empty())
    return why;
  if (elements == rows * oracle.k &&
      oracle.keys.size() == rows * oracle.columns)
    return "";
  return "'" + destination.name.str() + "' has " + std::to_string(elements) +
         " elements, but the oracle has " + std::to_string(rows) + " rows of " +
         std::to_string(oracle.k) + " with " +
         std::to_string(oracle.keys.size()) + " scores";
}

void dsv4::reference::removeOffsets(llvm::MutableArrayRef<int32_t> indices,
                                    const SelectionOracle &oracle) {
  if (oracle.offsets.empty())
    return;
  for (size_t at = 0; at < indices.size(); ++at)
    if (indices[at] != -1 && at / oracle.k < oracle.offsets.size())
      // The sum was stored in two's complement.
      indices[at] = static_cast<int32_t>(static_cast<uint32_t>(indices[at]) -
                                         oracle.offsets[at / oracle.k]);
}

std::string dsv4::reference::compareSelection(const Destination &destination,
                                              ArrayRef<int32_t> indices,
                                              const SelectionOracle &oracle) {
  if (std::string why = explainCount(destination, indices.size(), oracle);
      !why.empty())
    return why;
  int64_t rows = oracle.counts.size(), different = 0, at = 0;
  std::string text;
  for (int64_t row = 0; row < rows; ++row) {
    RowComparison comparison(oracle, row,
                             indices.slice(row * oracle.k, oracle.k));
    std::optional<Fault> fault = comparison.findFault();
    if (!fault || different++ > 0)
      continue;
    at = row * oracle.k + fault->rank;
    text = fault->text;
  }
  if (different == 0)
    return "";
  return "'" + destination.name.str() + "' differs in " +
         std::to_string(different) + " of " + std::to_string(rows) +
         " rows, first at " + toPosition(destination.shape, at) + ": " + text;
}

/// Calls `element` with the row and the index at each rank, -1 for padding.
/// Says which index names no element, if one does.
static std::string
forEachSelected(const Destination &destination, ArrayRef<int32_t> indices,
                const SelectionOracle &oracle,
                llvm::function_ref<void(int64_t row, int32_t index)> element) {
  if (std::string why = explainCount(destination, indices.size(), oracle);
      !why.empty())
    return why;
  for (size_t at = 0; at < indices.size(); ++at) {
    if (indices[at] < -1 || indices[at] >= oracle.columns)
      return "'" + destination.name.str() + "' at " +
             toPosition(destination.shape, at) + " belongs to index " +
             std::to_string(indices[at]) + ", which is not between -1 and " +
             std::to_string(oracle.columns - 1);
    element(at / oracle.k, indices[at]);
  }
  return "";
}

std::string dsv4::reference::compareSelectedValues(
    const Destination &destination, Format format, ArrayRef<char> got,
    ArrayRef<int32_t> indices, const SelectionOracle &oracle) {
  double last = std::numeric_limits<double>::infinity();
  BoundedValue padding{oracle.smallest ? last : -last, 0};
  std::vector<BoundedValue> expected;
  std::string why = forEachSelected(
      destination, indices, oracle, [&](int64_t row, int32_t index) {
        expected.push_back(index < 0 ? padding : oracle.getScore(row, index));
      });
  return why.empty() ? compareBounded(destination, format, got, expected) : why;
}

std::string dsv4::reference::compareSelectedSlots(
    const Destination &destination, ArrayRef<char> got,
    ArrayRef<int32_t> indices, const SelectionOracle &oracle) {
  if (oracle.slots.size() != oracle.keys.size())
    return "'" + destination.name.str() + "' has slots, but the oracle has " +
           std::to_string(oracle.slots.size()) + " for " +
           std::to_string(oracle.keys.size()) + " scores";
  std::vector<int32_t> expected;
  std::string why = forEachSelected(
      destination, indices, oracle, [&](int64_t row, int32_t index) {
        expected.push_back(
            index < 0 ? -1 : oracle.slots[row * oracle.columns + index]);
      });
  if (!why.empty())
    return why;
  return compareExact(
      destination, got,
      ArrayRef<char>(reinterpret_cast<const char *>(expected.data()),
                     expected.size() * sizeof(int32_t)),
      sizeof(int32_t));
}
