//===- Launches.cpp - Whether launches have equal results -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include "dsv4/Reference/Compare.h"
#include "dsv4/Reference/Interpreter.h"

using namespace mlir;
using namespace dsv4;

reference::InputSet dsv4::makeComparable(func::FuncOp func,
                                         const Signature &signature,
                                         const reference::InputSet &results) {
  reference::InputSet comparable = results;
  reference::sortUnordered(func, signature, comparable.buffers());
  return comparable;
}

std::string dsv4::explainLaunch(const Signature &signature,
                                reference::InputSet &first,
                                reference::InputSet &again) {
  for (auto [i, binding] : llvm::enumerate(signature.bindings)) {
    if (!binding.written || first.bytes[i] == again.bytes[i])
      continue;
    reference::Buffer buffer = again.getBuffer(i);
    std::string why = reference::compareExact(
        {binding.name, buffer.shape}, reference::pack(binding, buffer),
        reference::pack(binding, first.getBuffer(i)),
        rt::getByteSize(binding.storage));
    return why.empty() ? "'" + binding.name + "' differs between its rows"
                       : why;
  }
  return "";
}
