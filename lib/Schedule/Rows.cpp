//===- Rows.cpp - Rows to lanes -------------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "dsv4/Dialect/DSV4.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

/// Steps of a section: what lanes hold of one is for their registers, too.
static constexpr int64_t kMaxSection = 64;

LogicalResult RowsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t lanes, int64_t vector, LoadPolicy,
                               StorePolicy, int64_t section) {
  if (lanes < 1 || lanes > limits::kWarp || !llvm::isPowerOf2_64(lanes))
    return emitError() << "schedule_rows_c1: expected 'lanes' to be a power of "
                          "two between 1 and 32, got "
                       << lanes;
  bool hasWholeSegments = vector == 0 && lanes == 1;
  if (!hasWholeSegments &&
      (vector < 1 || vector > 32 || !llvm::isPowerOf2_64(vector)))
    return emitError() << "schedule_rows_c2: expected 'vector' to be a power "
                          "of two between 1 and 32, or 0 if 'lanes' is 1, got "
                       << vector;
  if (section < 0 || section > kMaxSection)
    return emitError() << "schedule_rows_c4: expected 'section' between 0 and "
                       << kMaxSection << ", got " << section;
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

/// Why rows of `op` cannot be computed by sections of `section` elements.
static std::string explainSections(RowwiseOpInterface op, int64_t section) {
  auto layout = cast<RowLayoutOpInterface>(*op);
  if (!layout.allowsMaskedTail())
    return llvm::formatv("schedule_rows_c4: '{0}' does not compute a row "
                         "element by element; expected 'section = 0'",
                         op->getName());
  for (RowSegment segment : layout.getRowSegments())
    if (segment.extent % section != 0)
      return llvm::formatv("schedule_rows_c4: sections of {0} elements do not "
                           "divide the {1} elements of a row of '{2}'; "
                           "expected a smaller 'section'",
                           section, segment.extent, op->getName());
  return "";
}

/// Why the rows of `op` are not for steps of `rows`, or an empty string.
static std::string explainRows(RowsAttr rows, RowwiseOpInterface op) {
  int64_t vector = rows.getVector(), step = rows.getLanes() * vector;
  auto layout = cast<RowLayoutOpInterface>(*op);
  for (RowSegment segment : layout.getRowSegments()) {
    int64_t divisor = layout.allowsMaskedTail() ? vector : step;
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
  if (std::string why = explainGroups(op, vector, step); !why.empty())
    return why;
  return rows.getSection() ? explainSections(op, rows.getSection() * step) : "";
}

std::string RowsAttr::explainMisfit(Operation *kernel,
                                    const LaunchPart &) const {
  // A lane that holds all of a row needs nothing of its neighbours.
  if (getVector() == 0)
    return "";
  for (auto op : kernel->getRegion(0).front().getOps<RowwiseOpInterface>())
    if (holdsFragments(op))
      if (std::string why = explainRows(*this, op); !why.empty())
        return nameOp(why, op);
  return "";
}
