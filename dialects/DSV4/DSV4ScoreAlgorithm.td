//===- DSV4ScoreAlgorithm.td - How keys are scored -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one word for how keys are scored, from the schedule to the device call.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCORE_ALGORITHM_TD
#define DSV4_SCORE_ALGORITHM_TD

include "mlir/IR/EnumAttr.td"

def DSV4_ScoreAlgorithm : I32EnumAttr<"ScoreAlgorithm", "which units of a GPU score keys", [
    I32EnumAttrCase<"Plain", 0, "plain">,
    I32EnumAttrCase<"Mma", 1, "mma">
  ]> {
  let cppNamespace = "::dsv4";
}

#endif // DSV4_SCORE_ALGORITHM_TD
