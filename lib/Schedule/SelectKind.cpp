//===- SelectKind.cpp - Candidates for selections -------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"
#include "SelectRounds.h"

using namespace mlir;
using namespace dsv4;

namespace {

class SelectEntry : public PartEntry {
public:
  StringRef getKind() const override { return SelectAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return SelectAttr::getChecked(emitError, context, algorithm, vector,
                                  vectors, blocks, load, store);
  }
  bool appliesTo(KernelOp kernel) const override {
    SelectionOpInterface selecting = getSelectingOp(kernel);
    if (!selecting || (maxK && selecting.getSelection().k > maxK))
      return false;
    CooperativeWork work = dsv4::getCooperativeWork(kernel, SelectAttr::name);
    return !maxColumns || boundColumns(kernel, work) <= maxColumns;
  }
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override;

  SelectAlgorithm algorithm = SelectAlgorithm::Stream;
  int64_t vector = 8, vectors = 1, blocks = 1;
  LoadPolicy load = LoadPolicy::Default;
  StorePolicy store = StorePolicy::Default;
  int64_t maxColumns = 0; ///< Of a row; 0: any.
  int64_t maxK = 0;       ///< Elements that are selected; 0: any.
};

struct SelectKind : ScheduleKind {
  StringRef getKey() const override { return "select"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<SelectEntry>();
    object.read<SelectAlgorithm>(
        "algorithm", entry->algorithm, symbolizeSelectAlgorithm,
        "expected 'warp', 'block', 'stream', 'grid', 'tile', 'held' or "
        "'resident'");
    object.read("vector", entry->vector);
    object.read("vectors", entry->vectors);
    object.read("blocks", entry->blocks);
    object.readNotNegative("max_columns", entry->maxColumns);
    object.readNotNegative("max_k", entry->maxK);
    readPolicies(object, entry->load, entry->store);
    return entry;
  }
};

} // namespace

void SelectEntry::addCandidates(
    KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  const bool inRounds = readsInRounds(algorithm);
  // Lists may have less room. Scores in shared memory have one vector.
  if (algorithm == SelectAlgorithm::Tile ||
      algorithm == SelectAlgorithm::Resident) {
    for (int64_t count = vectors; count >= 1; count /= 2)
      candidates.emplace_back(base).parts.push_back(SelectAttr::get(
          kernel.getContext(), algorithm, vector, count, blocks, load, store));
    return;
  }
  for (int64_t each = vector; each >= 1; each /= 2) {
    // As many elements in more vectors.
    int64_t count =
        inRounds ? std::min({vectors * (vector / each),
                             limits::kMaxSelectItems / each, kMaxVectors})
                 : 1;
    ScheduleCandidate &candidate = candidates.emplace_back(base);
    candidate.parts.push_back(SelectAttr::get(
        kernel.getContext(), algorithm, each, count, blocks, load, store));
  }
}

const ScheduleKind &dsv4::getSelectKind() {
  static const SelectKind kind;
  return kind;
}
