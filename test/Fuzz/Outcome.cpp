//===- Outcome.cpp - What is an error, and what is none -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

using namespace dsv4::fuzz;

Outcome dsv4::fuzz::refusedWith(llvm::StringRef message) {
  if (message.empty())
    return broken("refused without a message");
  if (message.contains('\n'))
    return broken("a message of several lines: " + message.str());
  if (message.contains("please report"))
    return broken("failed without an error: " + message.str());
  return refused();
}
