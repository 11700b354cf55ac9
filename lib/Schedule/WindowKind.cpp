//===- WindowKind.cpp - Candidates for windows ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// Elements of the reduced rows of a block, at most: shared memory has room for
/// the sums of a window beside them.
static constexpr int64_t kMaxReducedElements = 8192;
/// Threads that blocks of a multiprocessor have where they are reduced for want
/// of work: the tables' demands are made for as many.
static constexpr int64_t kUsualResidentThreads = 1024;

namespace {

class WindowEntry : public PartEntry {
public:
  StringRef getKind() const override { return WindowAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return WindowAttr::getChecked(emitError, context, elements, rows);
  }
  bool appliesTo(KernelOp kernel) const override {
    CooperativeWork work = dsv4::getCooperativeWork(kernel, WindowAttr::name);
    return work && work.rows >= minMembers && work.elements >= minChannels;
  }
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override;
  /// Odd rows may need a thread for every element.
  std::shared_ptr<const PartEntry> widen(LaunchPart &launch) const override {
    launch.threads = limits::kMaxThreads;
    return std::make_shared<WindowEntry>(*this);
  }

  int64_t elements = 1, rows = 1;
  int64_t minMembers = 0;  ///< Rows of a window.
  int64_t minChannels = 0; ///< Elements of such a row.
};

struct WindowKind : ScheduleKind {
  StringRef getKey() const override { return "window"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<WindowEntry>();
    object.read("elements", entry->elements);
    object.read("rows", entry->rows);
    object.readNotNegative("min_members", entry->minMembers);
    object.readNotNegative("min_channels", entry->minChannels);
    return entry;
  }
};

} // namespace

void WindowEntry::addCandidates(
    KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  CooperativeWork work = dsv4::getCooperativeWork(kernel, WindowAttr::name);
  LaunchPart launch = base.launch;
  int64_t each = std::gcd(work.elements, elements);
  // More would have nothing to do.
  launch.cluster = std::gcd(work.elements / each, launch.cluster);
  if (work.elements > each * launch.cluster * launch.threads)
    launch.cluster = 1;
  auto shape = WindowAttr::get(kernel.getContext(), each, /*rows=*/1);
  launch.threads = std::min<int64_t>(
      launch.threads,
      llvm::alignTo(
          shape.getUsefulThreads(work.rows, work.elements / launch.cluster),
          limits::kWarp));
  launch.minBlocks =
      std::min(launch.minBlocks, kUsualResidentThreads / launch.threads);
  int64_t lanes = 1;
  for (Attribute part : base.parts)
    if (auto mapping = cast<ScheduleInterface>(part).getRowMapping())
      lanes = mapping->lanes;
  int64_t maxRows =
      std::max<int64_t>(std::min(rows, kMaxReducedElements / work.elements), 1);
  ScheduleCandidate &candidate = candidates.emplace_back(base);
  candidate.launch = launch;
  candidate.parts.push_back(WindowAttr::get(
      kernel.getContext(), each, std::min(maxRows, launch.threads / lanes)));
}

const ScheduleKind &dsv4::getWindowKind() {
  static const WindowKind kind;
  return kind;
}
