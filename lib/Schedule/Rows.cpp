//===- Rows.cpp - Rows to lanes -------------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "dsv4/Dialect/DSV4.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// Steps of a section: what lanes hold of one is for their registers, too.
static constexpr int64_t kMaxSection = limits::kMaxSectionElements;

LogicalResult RowsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t lanes, int64_t vector, LoadPolicy,
                               StorePolicy, int64_t section) {
  if (lanes < 1 || lanes > limits::kWarp || !llvm::isPowerOf2_64(lanes))
    return emitError() << "schedule_rows_c1: expected 'lanes' to be a power of "
                          "two between 1 and 32, got "
                       << lanes;
  bool hasWholeSegments = vector == 0 && lanes == 1;
  if (!hasWholeSegments && (vector < 1 || vector > 32 ||
                            (section == 0 && !llvm::isPowerOf2_64(vector))))
    return emitError() << "schedule_rows_c2: expected 'vector' to be a power "
                          "of two between 1 and 32, or 0 if 'lanes' is 1, got "
                       << vector;
  if (section < 0 || section > kMaxSection)
    return emitError() << "schedule_rows_c4: expected 'section' between 0 and "
                       << kMaxSection << ", got " << section;
  if (section * vector > limits::kMaxSectionElements)
    return emitError() << "schedule_rows_c4: expected a 'section' of at most "
                       << limits::kMaxSectionElements
                       << " elements per lane, got " << section
                       << " vectors of " << vector;
  if (hasWholeSegments && section != 0)
    return emitError() << "schedule_rows_c4: expected 'section' to be 0, as "
                          "'vector' is, got "
                       << section;
  return success();
}

std::optional<RowMapping> RowsAttr::getRowMapping() const {
  return RowMapping{getLanes(),        getVector(),  getLoad(),
                    getStore(),        getSection(),
                    /*isGeneral=*/true};
}

PartGeometry RowsAttr::getGeometry(const LaunchPart &launch) const {
  return {/*rowsPerBlock=*/launch.threads / getLanes(), /*blocksPerRow=*/1,
          /*maxCluster=*/1};
}

std::string RowsAttr::describe(const LaunchPart &) const {
  if (getVector() == 0)
    return "1 lane per row, which holds whole segments";
  std::string line =
      llvm::formatv("{0} lanes per row, vectors of {1} {2}", getLanes(),
                    getVector(), getVector() == 1 ? "element" : "elements");
  if (getSection())
    line += llvm::formatv(", rows read twice, then by sections of {0} elements",
                          getSection() * getLanes() * getVector());
  return line;
}

/// Why the groups of one op do not match vectors and steps.
static std::string explainGroups(RowwiseOpInterface op, int64_t vector,
                                 int64_t step) {
  auto nested = [](int64_t a, int64_t b) { return a % b == 0 || b % a == 0; };
  for (ScaleGroup group : cast<RowLayoutOpInterface>(*op).getScaleGroups()) {
    if (!nested(group.extent, vector) || !nested(group.extent, step))
      return llvm::formatv("schedule_rows_c3: groups of {0} elements do not "
                           "match vectors of {1} and steps of {2}",
                           group.extent, vector, step);
    if (group.inVector && (vector < group.extent || step == group.extent))
      return llvm::formatv(
          "schedule_rows_c3: {0} consecutive elements belong together: "
          "expected a 'vector' of at least as many, and steps of more",
          group.extent);
    // Lanes that have all scales of a row take them in any order.
    bool hasAll = group.extent > 1 && group.extent % step == 0;
    if (group.interleave > 1 && !hasAll &&
        (step != group.extent * group.interleave || vector > group.extent))
      return llvm::formatv("schedule_rows_c3: scales interleaved by {0} need "
                           "steps of {1} elements, or of a divisor of {2}, "
                           "not {3}",
                           group.interleave, group.extent * group.interleave,
                           group.extent, step);
  }
  return "";
}

/// Why groups of scales of `op` cannot be computed by sections of `section`
/// elements, which lanes have in vectors of `vector`. Groups that are longer
/// than a section are computed one after another.
static std::string explainSectionGroups(RowwiseOpInterface op, int64_t vector,
                                        int64_t step, int64_t section,
                                        int64_t &longGroup) {
  auto layout = cast<RowLayoutOpInterface>(*op);
  auto isWhole = [&](RowSegment segment) {
    return segment.extent % section == 0;
  };
  // Segments that are computed differently are joined as whole rows.
  if (layout.getRowSegments().size() > 1 && !layout.allowsMaskedTail())
    return llvm::formatv("schedule_rows_c4: '{0}' does not compute all of a "
                         "row in one way; expected 'section = 0'",
                         op->getName());
  bool dividesRow = llvm::all_of(layout.getRowSegments(), isWhole);
  for (ScaleGroup group : layout.getScaleGroups()) {
    if (group.interleave > 1)
      return llvm::formatv("schedule_rows_c4: scales of '{0}' are interleaved "
                           "by {1}; expected 'section = 0'",
                           op->getName(), group.interleave);
    if (vector % group.extent == 0)
      continue;
    if (group.inVector)
      return llvm::formatv(
          "schedule_rows_c3: {0} consecutive elements belong together: "
          "expected a 'vector' of a multiple of that",
          group.extent);
    bool isLong = group.extent > section && group.extent % vector == 0 &&
                  (longGroup == 0 || longGroup == group.extent);
    bool nests = (group.extent % step == 0 || step % group.extent == 0) &&
                 group.extent % vector == 0 && section % group.extent == 0;
    if (isLong)
      longGroup = group.extent;
    else if (!nests || !dividesRow)
      return llvm::formatv("schedule_rows_c4: groups of {0} elements do not "
                           "match vectors of {1} and sections of {2}",
                           group.extent, vector, section);
  }
  // Long groups have sections of their own, which may end within others.
  for (ScaleGroup group : layout.getScaleGroups())
    if (longGroup != 0 && group.extent != longGroup &&
        vector % group.extent != 0)
      return llvm::formatv("schedule_rows_c4: groups of {0} elements do not "
                           "match sections of groups of {1}",
                           group.extent, longGroup);
  return "";
}

/// Why the rows of `op` are not for steps of `rows`, or an empty string.
static std::string explainRows(RowsAttr rows, RowwiseOpInterface op,
                               int64_t &longGroup) {
  int64_t vector = rows.getVector(), step = rows.getLanes() * vector;
  auto layout = cast<RowLayoutOpInterface>(*op);
  // Each segment has sections of its own, so only groups need whole vectors.
  auto isAlone = [&](RowSegment segment) {
    return rows.getSection() &&
           llvm::all_of(layout.getScaleGroups(), [&](ScaleGroup group) {
             return group.inVector && segment.extent % group.extent != 0;
           });
  };
  for (RowSegment segment : layout.getRowSegments()) {
    int64_t common = std::gcd(vector, segment.extent);
    if (isAlone(segment) && common * segment.bits % 8 == 0)
      continue;
    bool isMasked = rows.getSection() || layout.allowsMaskedTail();
    int64_t divisor = isMasked ? vector : step;
    if (segment.extent % divisor != 0)
      return llvm::formatv("schedule_rows_c3: {0} = {1} does not divide the "
                           "{2} elements of a field of '{3}'; expected one "
                           "that does",
                           divisor == step ? "lanes * vector" : "vector",
                           divisor, segment.extent, op->getName());
    if (vector * segment.bits % 8 != 0)
      return llvm::formatv("schedule_rows_c3: a vector of {0} elements of "
                           "{1} bits is not a whole number of bytes",
                           vector, segment.bits);
  }
  if (rows.getSection())
    return explainSectionGroups(op, vector, step, rows.getSection() * step,
                                longGroup);
  return explainGroups(op, vector, step);
}

std::string RowsAttr::explainMisfit(Operation *kernel,
                                    const LaunchPart &) const {
  int64_t longGroup = 0;
  for (auto op : kernel->getRegion(0).front().getOps<RowwiseOpInterface>()) {
    if (!holdsFragments(op))
      continue;
    // A lane that holds all of a row needs nothing of its neighbours.
    if (getVector() == 0)
      continue;
    if (std::string why = explainRows(*this, op, longGroup); !why.empty())
      return nameOp(why, op);
  }
  return "";
}
