//===- RowsKind.cpp - Candidates of lanes and vectors ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace dsv4;

/// The words of a row, which is worked on as bf16 or wider, that a lane should
/// have: more leave no registers for the rest.
static constexpr int64_t kMaxWordsOfLane = 64;
/// The maximum number of steps per section of rows that a warp cannot hold:
/// this many vectors are in flight at a time.
static constexpr int64_t kMaxSectionSteps = 4;
/// The same in elements of a lane, where sections need not divide the row.
static constexpr int64_t kMaxAnySection = 32;
/// The vector of rows that are long for a warp: with more, ptxas does not keep
/// them in registers.
static constexpr int64_t kMaxLongVector = 8;
/// Registers that a lane needs beside its words of the row, about.
static constexpr int64_t kOtherRegisters = 32;
/// Bits that an element has in registers, at least.
static constexpr int64_t kMinRegisterBits = 16;
/// What a step of the lanes of a row should have at least, in bits, where it is
/// a small part of the row: less is not a whole sector of memory. What a vector
/// should have then: a masked tail costs less than as many small accesses.
static constexpr int64_t kMinStepBits = 256, kMinVectorBits = 64, kFewSteps = 8;
/// The vector of the widest candidates: interleaved scales may need steps that
/// an entry does not reach.
static constexpr int64_t kWideVector = 16;

static auto getRowwiseOps(KernelOp kernel) {
  return kernel.getBody().front().getOps<RowwiseOpInterface>();
}

/// The maximum bits of a row that an op of the kernel works on in registers, if
/// an element takes at least `minBits` of them.
static int64_t getRowBits(KernelOp kernel, int64_t minBits) {
  int64_t max = 0;
  for (RowwiseOpInterface op : getRowwiseOps(kernel)) {
    if (!holdsFragments(op))
      continue;
    int64_t bits = 0;
    for (RowSegment segment : cast<RowLayoutOpInterface>(*op).getRowSegments())
      bits += segment.extent * std::max(segment.bits, minBits);
    max = std::max(max, bits);
  }
  return max;
}

/// The columns of the kernel's rows, if its lanes may have unequal numbers of
/// vectors of each; else nothing.
static SmallVector<int64_t> getUnevenColumns(KernelOp kernel) {
  SmallVector<int64_t> columns;
  for (RowwiseOpInterface op : getRowwiseOps(kernel)) {
    if (!holdsFragments(op))
      continue;
    if (!cast<RowLayoutOpInterface>(*op).allowsMaskedTail())
      return {};
    for (RowSegment segment : cast<RowLayoutOpInterface>(*op).getRowSegments())
      columns.push_back(segment.extent);
  }
  return columns;
}

namespace {

/// What lanes and vectors are chosen by.
struct RowProblem {
  int64_t rowBits = 0;
  int64_t maxLanes, maxVector;
  /// Of rows of which lanes may have unequal numbers of vectors.
  SmallVector<int64_t> columns;
  /// Whether elements are found by index, one after another in a lane.
  bool gathers = false;

  bool isLong(int64_t lanes) const {
    return rowBits > 32 * lanes * kMaxWordsOfLane;
  }
};

class RowsEntry : public PartEntry {
public:
  StringRef getKind() const override { return RowsAttr::name; }
  Attribute getPart(EmitError emitError, MLIRContext *context) const override {
    return RowsAttr::getChecked(emitError, context, lanes, vector, load, store,
                                /*section=*/int64_t(0));
  }
  bool appliesTo(KernelOp kernel) const override;
  void
  addCandidates(KernelOp kernel, const ScheduleCandidate &base,
                SmallVectorImpl<ScheduleCandidate> &candidates) const override;
  std::shared_ptr<const PartEntry> widen(LaunchPart &) const override {
    auto wide = std::make_shared<RowsEntry>(*this);
    wide->lanes = limits::kWarp;
    wide->vector = std::max(vector, kWideVector);
    wide->isLastResort = true;
    return wide;
  }

  int64_t lanes = 8, vector = 8;
  LoadPolicy load = LoadPolicy::Default;
  StorePolicy store = StorePolicy::Default;
  int64_t bits = 0;     ///< Of a stored element of the first segment; 0: any.
  bool grouped = false; ///< For scales that stand for less than a row.
  /// Whether a lane may hold a whole row where nothing else fits.
  bool isLastResort = false;
};

struct RowsKind : ScheduleKind {
  StringRef getKey() const override { return "rows"; }
  std::shared_ptr<const PartEntry> read(TableObject &object) const override {
    auto entry = std::make_shared<RowsEntry>();
    object.read("lanes", entry->lanes);
    object.read("vector", entry->vector);
    object.readNotNegative("bits", entry->bits);
    object.read("grouped", entry->grouped);
    readPolicies(object, entry->load, entry->store);
    return entry;
  }
};

} // namespace

bool RowsEntry::appliesTo(KernelOp kernel) const {
  RowwiseOpInterface first = *getRowwiseOps(kernel).begin();
  if (grouped && cast<RowLayoutOpInterface>(*first).getScaleGroups().empty())
    return false;
  SmallVector<RowSegment> segments =
      cast<RowLayoutOpInterface>(*first).getRowSegments();
  return !bits || segments.empty() || bits == segments.front().bits;
}

namespace {
/// How lanes have a row.
struct LaneMapping {
  int64_t lanes, vector, section = 0;
};
} // namespace

/// Sections of rows that the lanes of a warp cannot hold.
static void listSections(const RowProblem &problem, int64_t columns,
                         SmallVectorImpl<LaneMapping> &mappings) {
  constexpr int64_t lanes = limits::kWarp;
  for (int64_t vector = std::min(problem.maxVector, kMaxLongVector);
       vector >= 1; vector /= 2)
    for (int64_t section = kMaxSectionSteps; section >= 1; section /= 2)
      if (columns % (lanes * vector * section) == 0)
        mappings.push_back({lanes, vector, section});
}

/// How many lanes have how many elements of a vector, in the order they are to
/// be tried: of a row that is too long for few lanes, rather small vectors.
static SmallVector<LaneMapping> listMappings(const RowProblem &problem) {
  SmallVector<LaneMapping> mappings;
  ArrayRef<int64_t> columns = problem.columns;
  int64_t max = columns.empty() ? 0 : *llvm::max_element(columns);
  auto lanesFor = [&](int64_t vector) {
    return std::min<int64_t>(limits::kWarp,
                             llvm::PowerOf2Ceil(llvm::divideCeil(max, vector)));
  };
  if (problem.gathers && max > 0)
    mappings.push_back({lanesFor(1), 1});
  auto isGood = [&](int64_t lanes, int64_t vector) {
    int64_t step = lanes * vector;
    if (columns.empty())
      return true;
    if (!llvm::all_equal(columns) || max % step != 0)
      return false;
    int64_t bits = problem.rowBits / max; // Of an element.
    bool isWide = step * bits >= kMinStepBits &&
                  (lanes < limits::kWarp || vector * bits >= kMinVectorBits);
    return max <= kFewSteps * step || isWide;
  };
  if (problem.isLong(limits::kWarp) && max > 0 && llvm::all_equal(columns))
    listSections(problem, max, mappings);
  for (int64_t vector = problem.maxVector; vector >= 1; vector /= 2)
    for (int64_t lanes = problem.maxLanes; lanes >= 1; lanes /= 2)
      if (!problem.isLong(lanes) && isGood(lanes, vector))
        mappings.push_back({lanes, vector});
  // Unequal ones cost a comparison each: where no others will do.
  for (int64_t vector = problem.maxVector; max > 0 && vector >= 1; vector /= 2)
    mappings.push_back({lanesFor(vector), vector});
  // Where no such lanes divide the row.
  for (int64_t lanes = problem.maxLanes; lanes >= 1; lanes /= 2)
    for (int64_t vector = std::min(problem.maxVector, kMaxLongVector);
         vector >= 1; vector /= 2)
      if (problem.isLong(lanes))
        mappings.push_back({lanes, vector});
  return mappings;
}

/// The smallest vector with whole groups of all scales that a vector can have,
/// and whole bytes.
static int64_t getGroupVector(KernelOp kernel) {
  int64_t vector = 1;
  for (RowwiseOpInterface op : getRowwiseOps(kernel)) {
    if (!holdsFragments(op))
      continue;
    auto layout = cast<RowLayoutOpInterface>(*op);
    for (ScaleGroup group : layout.getScaleGroups())
      if (0 < group.extent && group.extent <= limits::kWarp)
        vector = std::lcm(vector, group.extent);
    for (RowSegment segment : layout.getRowSegments())
      vector = std::lcm(vector, segment.bits < 8 ? 8 / segment.bits : 1);
  }
  return vector;
}

/// Sections of rows that no lanes can hold, whatever divides them.
static void listAnySections(KernelOp kernel,
                            SmallVectorImpl<LaneMapping> &mappings) {
  SmallVector<int64_t> vectors;
  for (int64_t vector = kMaxLongVector; vector >= 1; vector /= 2)
    vectors.push_back(vector);
  int64_t ofGroups = getGroupVector(kernel);
  for (int64_t times = 4; times >= 1; times /= 2)
    if (ofGroups * times <= limits::kWarp)
      vectors.push_back(ofGroups * times);
  for (int64_t vector : vectors)
    for (int64_t section =
             llvm::bit_floor(static_cast<uint64_t>(kMaxAnySection / vector));
         section >= 1; section /= 2)
      mappings.push_back({limits::kWarp, vector, section});
}

/// Whether what lanes hold of a row without sections, all of which is unrolled,
/// is within the bounds of a kernel that is compiled quickly.
static bool isWithinBounds(KernelOp kernel, const LaneMapping &mapping) {
  int64_t vector = mapping.vector;
  int64_t step = mapping.lanes * std::max<int64_t>(vector, 1);
  for (RowwiseOpInterface op : getRowwiseOps(kernel)) {
    if (!holdsFragments(op))
      continue;
    auto layout = cast<RowLayoutOpInterface>(*op);
    int64_t row = 0, held = 0;
    for (RowSegment segment : layout.getRowSegments()) {
      row += segment.extent;
      held += vector ? llvm::divideCeil(segment.extent, step) * vector
                     : segment.extent;
    }
    if (held > limits::kMaxHeldElements)
      return false;
    for (ScaleGroup group : layout.getScaleGroups()) {
      bool isHeldByAll = vector == 0 || group.extent >= step;
      if (!group.inVector &&
          (isHeldByAll ? row : held) / group.extent > limits::kMaxHeldGroups)
        return false;
    }
  }
  return true;
}

/// Whether lanes have a part each of all scales that are interleaved, rather
/// than all of them: a step has as many groups as the interleave.
static bool dealsInterleaved(KernelOp kernel, const LaneMapping &mapping) {
  int64_t step = mapping.lanes * mapping.vector;
  auto deals = [&](const ScaleGroup &group) {
    return group.interleave <= 1 || step == group.extent * group.interleave;
  };
  return llvm::all_of(getRowwiseOps(kernel), [&](RowwiseOpInterface op) {
    return !holdsFragments(op) ||
           llvm::all_of(cast<RowLayoutOpInterface>(*op).getScaleGroups(),
                        deals);
  });
}

void RowsEntry::addCandidates(
    KernelOp kernel, const ScheduleCandidate &base,
    SmallVectorImpl<ScheduleCandidate> &candidates) const {
  RowProblem problem;
  problem.maxLanes = lanes;
  problem.maxVector = vector;
  problem.columns = getUnevenColumns(kernel);
  problem.gathers = llvm::any_of(getRowwiseOps(kernel), isReadByIndex);
  LaunchPart launch = base.launch;
  // Lanes that hold what all threads have made together need few registers.
  const bool isCooperative = bool(dsv4::getCooperativeWork(kernel));
  if (!isCooperative) {
    problem.rowBits = getRowBits(kernel, kMinRegisterBits);
    while (problem.maxLanes < limits::kWarp && problem.isLong(problem.maxLanes))
      problem.maxLanes *= 2;
    // Of a lane of the widest mapping, for elements as they are stored.
    int64_t registers = llvm::divideCeil(getRowBits(kernel, /*minBits=*/1),
                                         32 * problem.maxLanes);
    if (launch.minBlocks &&
        registers > limits::kRegisters / (launch.minBlocks * launch.threads) -
                        kOtherRegisters)
      launch.minBlocks = 0;
  }
  SmallVector<LaneMapping> mappings, rest;
  if (vector != 0)
    for (LaneMapping mapping : listMappings(problem)) {
      if (dealsInterleaved(kernel, mapping))
        mappings.push_back(mapping);
      else if (mapping.lanes > 1) // One lane takes whole segments instead.
        rest.push_back(mapping);
    }
  if (isLastResort)
    llvm::append_range(mappings, rest);
  if (vector == 0 || isLastResort)
    mappings.push_back({/*lanes=*/1, /*vector=*/0});
  if (isLastResort && !isCooperative)
    listAnySections(kernel, mappings);
  // What more threads compute together has no sections. Of other rows that
  // sections do not fit either, all is unrolled as the very last choice.
  auto isBounded = [&](const LaneMapping &mapping) {
    return isCooperative || mapping.section != 0 ||
           isWithinBounds(kernel, mapping);
  };
  auto unbounded =
      std::stable_partition(mappings.begin(), mappings.end(), isBounded);
  if (!isLastResort)
    mappings.erase(unbounded, mappings.end());
  for (LaneMapping mapping : mappings) {
    ScheduleCandidate &candidate = candidates.emplace_back(base);
    candidate.launch = launch;
    if (isLastResort && mapping.vector == 0 && !isCooperative) {
      // A lane takes all registers that it can have for its row.
      candidate.launch.threads = limits::kWarp;
      candidate.launch.minBlocks = 0;
    }
    candidate.parts.push_back(RowsAttr::get(kernel.getContext(), mapping.lanes,
                                            mapping.vector, load, store,
                                            mapping.section));
  }
}

const ScheduleKind &dsv4::getRowsKind() {
  static const RowsKind kind;
  return kind;
}
