//===- ScoreKind.cpp - Candidates for scores of keys ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

#include "dsv4/Schedule/Score.h"

using namespace mlir;
using namespace dsv4;

namespace {

class ScoreEntry : public PartEntry {
public:
  StringRef getKind() const override { return ScoreAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return ScoreAttr::getChecked(emitError, context, algorithm, rows, tiles,
                                 stages, slots, persistent);
  }
  bool appliesTo(KernelOp kernel) const override;
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override;

  ScoreAlgorithm algorithm = ScoreAlgorithm::Plain;
  int64_t rows = 1, tiles = 0, stages = 0, slots = 0;
  bool persistent = false;
  std::vector<std::string> keys; ///< Formats; none: all.
};

struct ScoreKind : ScheduleKind {
  StringRef getKey() const override { return "score"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<ScoreEntry>();
    object.read<ScoreAlgorithm>("algorithm", entry->algorithm,
                                symbolizeScoreAlgorithm,
                                "expected 'plain' or 'mma'");
    object.read("rows", entry->rows);
    object.read("tiles", entry->tiles);
    object.read("stages", entry->stages);
    object.read("slots", entry->slots);
    object.read("persistent", entry->persistent);
    object.read("keys", entry->keys);
    return entry;
  }
};

} // namespace

/// A selection needs all keys of a row in one block or cluster. Which units of
/// a GPU score a key must not depend on the number of rows: their results
/// differ.
bool ScoreEntry::appliesTo(KernelOp kernel) const {
  auto ops = kernel.getBody().front().getOps<IndexScoreOp>();
  if (ops.empty())
    return false;
  IndexScoreOp op = *ops.begin();
  if (!keys.empty() && !llvm::is_contained(keys, op.getKeyFormat()))
    return false;
  if (persistent && getSelectingOp(kernel))
    return false;
  return explainScores(algorithm, op, kernel).empty() &&
         (rows == 1 || algorithm == ScoreAlgorithm::Plain || sharesKeys(op));
}

/// Fewer rows and steps need less shared memory.
void ScoreEntry::addCandidates(
    KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  // Without tensor cores there are no stages.
  int64_t unit = getStageUnit(base.launch);
  int64_t minStages = algorithm == ScoreAlgorithm::Mma ? unit : 0;
  for (int64_t each = rows; each >= 1; each /= 2)
    for (int64_t some = stages; some >= minStages; some -= unit) {
      candidates.push_back(base);
      candidates.back().parts.push_back(
          ScoreAttr::get(kernel.getContext(), algorithm, each, tiles, some,
                         slots, persistent));
    }
}

const ScheduleKind &dsv4::getScoreKind() {
  static const ScoreKind kind;
  return kind;
}
