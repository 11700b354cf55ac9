//===- IndexFormats.h - Formats of index keys and queries -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clause index_score_c1, which ops of two levels have. The names are those of
// the device library (IndexFormat).
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_INDEXFORMATS_H
#define DSV4_DIALECT_INDEXFORMATS_H

#include "mlir/IR/Operation.h"

namespace dsv4 {

/// Refuses names of formats that there are not, and scales that a format does
/// not have, or lacks.
template <typename ScoreOp>
llvm::LogicalResult verifyIndexFormats(ScoreOp op) {
  llvm::StringRef query = op.getQueryFormat(), key = op.getKeyFormat();
  auto isFormat = [](llvm::StringRef name) {
    return name == "e4m3" || name == "mxfp4" || name == "nvfp4" ||
           name == "bf16";
  };
  if (isFormat(query) && isFormat(key) &&
      bool(op.getScales()) == (query == "mxfp4") &&
      bool(op.getKeyScales()) != (key == "bf16"))
    return llvm::success();
  return op.emitOpError() << "index_score_c1: expected formats \"e4m3\", "
                             "\"mxfp4\", \"nvfp4\" or \"bf16\" and their "
                             "scales, got \""
                          << query << "\" "
                          << (op.getScales() ? "with" : "without")
                          << " 'scales' and \"" << key << "\" "
                          << (op.getKeyScales() ? "with" : "without")
                          << " 'key_scales'";
}

} // namespace dsv4

#endif // DSV4_DIALECT_INDEXFORMATS_H
