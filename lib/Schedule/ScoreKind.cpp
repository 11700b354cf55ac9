//===- ScoreKind.cpp - Candidates for scores of keys ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

using namespace mlir;
using namespace dsv4;

namespace {

class ScoreEntry : public PartEntry {
public:
  StringRef getKind() const override { return ScoreAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return ScoreAttr::getChecked(emitError, context, columns, rows);
  }
  bool appliesTo(KernelOp kernel) const override {
    return bool(dsv4::getCooperativeWork(kernel, ScoreAttr::name));
  }
  /// Fewer rows need less shared memory.
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override {
    for (int64_t each = rows; each >= 1; each /= 2) {
      candidates.push_back(base);
      candidates.back().parts.push_back(
          ScoreAttr::get(kernel.getContext(), columns, each));
    }
  }

  int64_t columns = 128, rows = 1;
};

struct ScoreKind : ScheduleKind {
  StringRef getKey() const override { return "score"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<ScoreEntry>();
    object.read("columns", entry->columns);
    object.read("rows", entry->rows);
    return entry;
  }
};

} // namespace

const ScheduleKind &dsv4::getScoreKind() {
  static const ScoreKind kind;
  return kind;
}
