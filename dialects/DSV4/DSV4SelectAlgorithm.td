//===- DSV4SelectAlgorithm.td - How rows are selected from -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one word for an algorithm of top-k, from the schedule to the device call.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SELECT_ALGORITHM_TD
#define DSV4_SELECT_ALGORITHM_TD

include "mlir/IR/EnumAttr.td"

def DSV4_SelectAlgorithm : I32EnumAttr<"SelectAlgorithm", "which threads select from a row", [
    I32EnumAttrCase<"Warp", 0, "warp">,
    I32EnumAttrCase<"Block", 1, "block">,
    I32EnumAttrCase<"Stream", 2, "stream">,
    I32EnumAttrCase<"Grid", 3, "grid">,
    I32EnumAttrCase<"Tile", 4, "tile">,
    I32EnumAttrCase<"Held", 5, "held">,
    I32EnumAttrCase<"Resident", 6, "resident">
  ]> {
  let cppNamespace = "::dsv4";
}

#endif // DSV4_SELECT_ALGORITHM_TD
