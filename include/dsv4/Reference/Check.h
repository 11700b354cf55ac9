//===- Check.h - A launch against the oracle, by contract -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only comparison of `dsv4-run --check`, the tests and the fuzzers: every
// destination by the contract that its op declares.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_CHECK_H
#define DSV4_REFERENCE_CHECK_H

#include "dsv4/Reference/Compare.h"
#include "dsv4/Reference/Contract.h"
#include "dsv4/Reference/Interpreter.h"

#include <map>
#include <memory>

namespace dsv4::reference {

/// Data of the oracle about a tensor beyond its bytes, as its contract needs.
struct Knowledge {
  /// Of `bounded`: every element.
  std::shared_ptr<std::vector<BoundedValue>> bounds;
  /// Of `selection`: the scores, and the number of this destination of the
  /// selecting op.
  std::shared_ptr<const SelectionOracle> selection;
  enum class Part { Indices, Values, Slots } part = Part::Indices;
};

/// How one binding that a function writes is compared.
struct Expectation {
  unsigned binding;
  ResultContract contract;
  Knowledge knowledge = {};
  /// Of its elements; of a tensor whose contract is not `exact`.
  std::optional<Format> format = std::nullopt;
};

/// What the oracle expects of a function.
struct Expected {
  mlir::func::FuncOp func;
  Signature signature;
  /// The oracle's results; they point to the memory it was given.
  std::vector<Buffer> buffers;
  /// In the order of their bindings, without destinations that only another op
  /// reads, whose contents are not specified.
  std::vector<Expectation> destinations;

  /// Name and contract of the destinations that are not compared exactly.
  std::map<std::string, std::string> describeContracts() const;
};

/// Executes `func` as interpret() does, and returns how its destinations are
/// compared.
rt::Result<Expected> evaluate(mlir::func::FuncOp func,
                              llvm::ArrayRef<Buffer> buffers);

/// The first destination in `got`, one buffer per binding, that violates its
/// contract, or "". Sorts selections without an order in `got` first.
std::string explainDifference(const Expected &expected,
                              llvm::ArrayRef<Buffer> got);

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_CHECK_H
