//===- Check.h - A launch against the oracle, by contract -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `dsv4-run --check`, the tests and the fuzzers compare with, and nothing
// else: every destination by the contract that its op declares.
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

/// What the oracle knows of a tensor that no bytes say, as its contract needs.
struct Knowledge {
  /// Of `bounded`: every element.
  std::shared_ptr<std::vector<BoundedValue>> bounds;
  /// Of `selection`: what was selected from, and which of the selecting op's
  /// destinations this is.
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
  /// As the oracle left them; they point to the memory it was given.
  std::vector<Buffer> buffers;
  /// In the order of their bindings. Destinations that only another op reads
  /// are not among them: what is left there is not specified.
  std::vector<Expectation> destinations;

  /// Name and contract of the destinations that are not compared exactly.
  std::map<std::string, std::string> describeContracts() const;
};

/// Executes `func` as interpret() does, and says how what it writes is
/// compared.
rt::Result<Expected> evaluate(mlir::func::FuncOp func,
                              llvm::ArrayRef<Buffer> buffers);

/// The first destination in `got`, one buffer per binding, that is not as its
/// contract says, or "". What was selected without an order is put in order in
/// `got` first.
std::string explainDifference(const Expected &expected,
                              llvm::ArrayRef<Buffer> got);

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_CHECK_H
