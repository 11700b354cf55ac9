//===- RouterKind.cpp - Candidates for logits of experts ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"
#include "Router.h"

using namespace mlir;
using namespace dsv4;

namespace {

class RouterEntry : public PartEntry {
public:
  StringRef getKind() const override { return RouterAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return RouterAttr::getChecked(emitError, context, form, rows, experts,
                                  slices, step, stages, int64_t(1), multicast);
  }
  /// What is selected from is held.
  bool appliesTo(KernelOp kernel) const override {
    return !kernel.getBody().front().getOps<RouterLogitsOp>().empty() &&
           (form == RouterForm::Rows || !getSelectingOp(kernel));
  }
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override;

  RouterForm form = RouterForm::Tiles;
  int64_t rows = 0, experts = 0, slices = 0, step = 0, stages = 0;
  bool multicast = false;

private:
  void addRows(RouterLogitsOp op, KernelOp kernel,
               const ScheduleCandidate &base,
               SmallVectorImpl<ScheduleCandidate> &candidates) const;
  void addTiles(RouterLogitsOp op, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const;
};

struct RouterKind : ScheduleKind {
  StringRef getKey() const override { return "router"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<RouterEntry>();
    object.read<RouterForm>("form", entry->form, symbolizeRouterForm,
                            "expected 'rows' or 'tiles'");
    object.read("rows", entry->rows);
    object.read("experts", entry->experts);
    object.read("slices", entry->slices);
    object.read("step", entry->step);
    object.read("stages", entry->stages);
    object.read("multicast", entry->multicast);
    return entry;
  }
};

} // namespace

/// The number of blocks follows from the op.
static void add(RouterLogitsOp op, ScheduleCandidate candidate, RouterAttr part,
                SmallVectorImpl<ScheduleCandidate> &candidates) {
  candidate.parts.push_back(RouterAttr::get(
      op.getContext(), part.getForm(), part.getRows(), part.getExperts(),
      part.getSlices(), part.getStep(), part.getStages(),
      part.countBlocks(op.getExperts(), op.getDepth()), part.getMulticast()));
  candidates.push_back(std::move(candidate));
}

/// Blocks of f32 weights, at a time, that a multiprocessor has registers for.
static constexpr int64_t kMaxWideBlocks = 2;

/// The largest cluster that divides the blocks along the experts, and fewer
/// rows, which need less shared memory.
void RouterEntry::addRows(
    RouterLogitsOp op, KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  constexpr int64_t unit = kRouterProductRows;
  for (int64_t each = rows; each >= unit; each = each / (2 * unit) * unit) {
    ScheduleCandidate candidate = base;
    if (op.hasWideWeights())
      candidate.launch.minBlocks =
          std::min(candidate.launch.minBlocks, kMaxWideBlocks);
    RouterAttr part =
        RouterAttr::get(op.getContext(), form, each, experts, slices, step,
                        stages, /*blocks=*/1, /*multicast=*/false);
    int64_t along = part.countExpertBlocks(op.getExperts());
    while (along % candidate.launch.cluster != 0)
      --candidate.launch.cluster;
    if (multicast && candidate.launch.cluster > 1 && canMulticast(op, kernel))
      add(op, candidate,
          RouterAttr::get(op.getContext(), form, each, experts, slices, step,
                          stages, /*blocks=*/1, multicast),
          candidates);
    add(op, candidate, part, candidates);
  }
}

/// Fewer and shorter steps need less shared memory.
void RouterEntry::addTiles(
    RouterLogitsOp op, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  for (int64_t each = step; each >= kMinRouterStep; each /= 2)
    for (int64_t some = stages; some >= kMinRouterStages; --some)
      add(op, base,
          RouterAttr::get(op.getContext(), form, rows, experts, slices, each,
                          some, /*blocks=*/1, multicast),
          candidates);
}

void RouterEntry::addCandidates(
    KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  for (auto op : kernel.getBody().front().getOps<RouterLogitsOp>())
    return form == RouterForm::Rows ? addRows(op, kernel, base, candidates)
                                    : addTiles(op, base, candidates);
}

const ScheduleKind &dsv4::getRouterKind() {
  static const RouterKind kind;
  return kind;
}
