//===- InputMaker.h - Fills the arguments of a function ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TESTING_INPUTMAKER_H
#define DSV4_LIB_TESTING_INPUTMAKER_H

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/RecordLayout.h"
#include "dsv4/Testing/RandomInputs.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>

namespace dsv4::reference {

/// More than this is taken for a mistake.
constexpr int64_t kMaxBytes = int64_t(1) << 36;

/// Whether the system would give so much.
bool hasMemory(int64_t bytes);

/// What an argument is for.
enum class Role {
  None,
  Ragged, ///< Where requests, or their pages, begin, or how many rows they
          ///< have.
  Lengths,
  PageStarts, ///< Where the pages of requests begin.
  Starts,
  Ends,
  Offsets,
  PageColumns, ///< Where the pages of a row begin in a table.
  Requests,
  Table,
  Indices,
  Positions,
  Scales,
  Values,
  Weights,
  Angles,
  Scores,
  Logits,
  Matrix,  ///< Of which logits are sums of products.
  Routing, ///< Experts, or what they are looked up by.
  ValidRows,
  Plan,
  WorkList, ///< Of tokens and requests, from which a plan is made.
  State,
  Output
};

struct Use {
  Role role = Role::None;
  /// The op, of a role that only its operands have: one of these at most.
  PagedGatherOp gather = nullptr;
  PagedAppendOp append = nullptr;
  RopeOp rope = nullptr;
  CompressOp compress = nullptr;
  CompressPlanOp plan = nullptr;
  TopkOp topk = nullptr;
  IndexScoreOp score = nullptr;
  RouterLogitsOp router = nullptr;
  LookupOp lookup = nullptr;
  MapIndicesOp map = nullptr;
  RouteWeightsOp weights = nullptr;
  /// Of rows that count: a tensor with one row for each of them.
  mlir::Value rows = nullptr;
};

/// What `op` says of an operand that it reads.
Use getScoreUse(IndexScoreOp op, mlir::OpOperand &operand);

/// A slice of an argument, and the argument that stands for it while it is
/// filled.
struct SeparateSlice {
  mlir::tensor::ExtractSliceOp op;
  mlir::BlockArgument argument;
};

/// Gives every slice of an argument an argument of its own, after all others:
/// so its contents follow from what reads it.
llvm::SmallVector<SeparateSlice> separateSlices(mlir::func::FuncOp func);

class InputMaker {
public:
  /// `dims` has the extents, and may have run-time strides.
  InputMaker(mlir::func::FuncOp func, const Signature &signature,
             const std::map<std::string, int64_t> &dims, uint64_t seed,
             Codes codes, Indices indices);

  rt::Status allocate();
  void fill();
  /// Puts what `slices` hold, which are arguments, where the slices are, and
  /// drops them.
  rt::Status joinSlices(llvm::ArrayRef<SeparateSlice> slices);
  /// Moves the elements of arguments with strides to where these lead.
  void spread();
  InputSet take() { return std::move(set); }

private:
  void findUses();
  void fillArgument(mlir::BlockArgument argument);
  void fillField(FieldAttr field, Role role,
                 const RecordLayout::Position &position, int64_t pages,
                 int64_t slots, std::vector<char> &bytes, Random &random) const;
  void fillCache(mlir::BlockArgument cache, Random &random);
  void fillTensor(mlir::BlockArgument argument, Random &random);
  std::optional<int64_t> findGivenStride(rt::Extent stride) const;
  rt::Status checkGivenStrides() const;
  int64_t getAlignment(unsigned argument, const rt::Binding &binding) const;
  std::vector<int64_t> makeStrides(unsigned binding, int64_t align,
                                   bool mayRepeat, Random &random) const;

  // What is computed with.
  void fillWeights(mlir::BlockArgument argument, Random &random);
  void fillValues(mlir::BlockArgument argument, Random &random);
  void fillAngles(mlir::BlockArgument argument, Random &random);
  void fillPositions(unsigned argument, Random &random);

  // Of gathers.
  void fillRagged(unsigned argument, Random &random);
  llvm::ArrayRef<int64_t> getRowShape(PagedGatherOp op) const;
  int64_t getRequests(PagedGatherOp op) const;
  int64_t findRequest(PagedGatherOp op, int64_t row) const;
  int64_t findPage(PagedGatherOp op, int64_t request, int64_t page) const;
  void fillStarts(unsigned argument, int64_t end, Random &random);
  void fillLengths(unsigned argument, Random &random);
  void fillRequests(unsigned argument, Random &random);
  void fillTable(unsigned argument, Random &random);
  void fillIndices(unsigned argument, Random &random);
  /// Turns slots into the byte offsets of their first fields.
  void toBytes(unsigned argument, CacheType cache, Random &random);

  // Of appends.
  int64_t getRequests(PagedAppendOp op) const;
  void fillAppendLengths(unsigned argument, Random &random);
  void fillAppendRequests(unsigned argument, Random &random);
  void fillAppendTable(unsigned argument, Random &random);
  void fillRingPositions(unsigned argument, Random &random);
  void fillSlots(unsigned argument, Random &random);
  void fillPageStarts(unsigned argument, Random &random);
  void fillPagedPositions(unsigned argument, Random &random);
  /// Pages that the table has for a request.
  int64_t getPagesOf(PagedAppendOp op, int64_t request) const;

  // Of compress.
  /// [w, request, position, token].
  using PlanRow = std::array<int64_t, 4>;
  void fillPlan(unsigned argument, Random &random);
  void fillStateTable(unsigned argument, Random &random);
  void fillScores(mlir::BlockArgument argument, Random &random);
  std::vector<PlanRow> makeWindows(CompressOp op, int64_t tokens,
                                   int64_t entries, Random &random) const;
  /// [position, count, token, from, to].
  using Segment = std::array<int64_t, 5>;
  void fillSegments(unsigned argument, Random &random);
  std::vector<Segment> makeSegments(CompressOp op, int64_t tokens,
                                    int64_t entries, Random &random) const;
  int64_t getRequests(CompressOp op) const;
  int64_t getMaxPositions(CompressOp op) const;

  // Of compress_plan.
  /// What a launch has of each request: the first token and the first entry,
  /// and beyond the last one; the position of the first token.
  struct Launch {
    std::vector<int64_t> starts, entryStarts, firsts;
  };
  int64_t countListTokens(CompressPlanOp op) const;
  Launch makeLaunch(CompressPlanOp op) const;
  void fillListTokens(CompressPlanOp op, unsigned argument, Random &random);
  void fillListRequests(CompressPlanOp op, unsigned argument, Random &random);
  void fillListTable(CompressPlanOp op, unsigned argument, Random &random);
  void fillListStates(CompressPlanOp op, unsigned argument, Random &random);
  void fillWorkList(unsigned argument, Random &random);

  // Of topk.
  void fillKeys(mlir::BlockArgument argument, Random &random);
  int64_t getSelectedColumns(TopkOp op) const;
  int64_t getSelectedRows(TopkOp op) const;
  void fillSelectedLengths(unsigned argument, Random &random);
  void fillSelectedStarts(unsigned argument, Random &random);
  void fillSelectedEnds(unsigned argument, Random &random);
  void fillSelectedOffsets(unsigned argument, Random &random);
  void fillSelectedPageStarts(unsigned argument, Random &random);
  void fillSelectedRequests(unsigned argument, Random &random);
  void fillSelectedTable(unsigned argument, Random &random);

  // Of scores of keys.
  int64_t getScoredColumns(IndexScoreOp op) const;
  int64_t getScoredRequests(IndexScoreOp op) const;
  int64_t getScoredKeys(IndexScoreOp op) const;
  void fillScoreLengths(unsigned argument, Random &random);
  void fillScoreStarts(unsigned argument, Random &random);
  void fillScoreEnds(unsigned argument, Random &random);
  void fillScoreRequests(unsigned argument, Random &random);
  void fillScoreTable(unsigned argument, Random &random);

  // Of routers.
  void fillLogits(mlir::BlockArgument argument, Random &random);
  void fillMatrix(mlir::BlockArgument argument, Random &random);
  void fillRouting(mlir::BlockArgument argument, Use use, Random &random);
  void fillBelow(unsigned argument, int64_t bound, Random &random);
  void fillExperts(unsigned argument, RouteWeightsOp op, Random &random);
  void fillValidRows(unsigned argument, Random &random);

  unsigned getBinding(mlir::Value value) const {
    return signature
        .firstBinding[mlir::cast<mlir::BlockArgument>(value).getArgNumber()];
  }
  llvm::ArrayRef<int64_t> getShape(mlir::Value value) const {
    return set.shapes[getBinding(value)];
  }
  // Integers of a tensor of i32 or i64.
  int64_t getWidth(unsigned argument) const;
  int64_t getCount(unsigned argument) const {
    unsigned binding = signature.firstBinding[argument];
    return set.bytes[binding].size() / getWidth(argument);
  }
  int32_t load(mlir::Value value, int64_t at) const;
  void store(unsigned argument, int64_t at, int64_t value);
  int64_t widen(unsigned argument, int64_t at, int64_t value) const;
  template <typename Make>
  void fillWithEdges(unsigned argument, uint64_t spread,
                     llvm::ArrayRef<int64_t> edges, Random &random,
                     Make makeValid);
  template <typename Make>
  void spoil(int64_t count, uint64_t kinds, uint64_t spread, Random &random,
             Make make) const;
  std::vector<uint8_t> makeElements(mlir::Type type, Role role, size_t count,
                                    Random &random) const;

  int64_t getPages(mlir::TypedValue<CacheType> cache) const;
  int64_t getCapacity(PagedGatherOp op) const;
  bool isMapped(PagedGatherOp op, int64_t token, int64_t index) const;
  int64_t getLength(PagedGatherOp op, int64_t token) const;
  int64_t makeGoodIndex(PagedGatherOp op, int64_t token, Random &random) const;
  int64_t makeBadIndex(PagedGatherOp op, int64_t token, uint64_t kind,
                       Random &random) const;

  mlir::func::FuncOp func;
  const Signature &signature;
  const std::map<std::string, int64_t> &dims;
  Codes codes;
  Indices indices;
  llvm::SmallVector<Use> uses;       ///< Of every argument.
  llvm::SmallVector<uint64_t> seeds; ///< Of every argument.
  InputSet set;
};

/// The code of a number that bf16 holds, in a format that may not: the largest
/// one where only those are allowed that are finite.
uint32_t encodeAs(Format format, double value, Codes codes);

/// The numbers below `count`, in random order.
std::vector<int32_t> shuffle(int64_t count, Random &random);

/// From this many on, a tensor of lengths or requests has one of each bad kind.
constexpr int64_t kEnoughForAll = 32;

/// Unless all are to be valid, calls `make` with a kind below `kinds` for about
/// one in `spread` of `count` elements, and at least once for every kind where
/// there are enough.
template <typename Make>
void InputMaker::spoil(int64_t count, uint64_t kinds, uint64_t spread,
                       Random &random, Make make) const {
  if (indices == Indices::Valid)
    return;
  for (int64_t i = 0; i < count; ++i)
    if (random.below(spread) == 0)
      make(i, random.below(kinds));
  if (count < kEnoughForAll)
    return;
  uint64_t start = random.below(count);
  for (uint64_t kind = 0; kind < kinds; ++kind)
    make((start + kind * 7) % count, kind);
}

/// Fills integers with what `makeValid` returns or, unless all are to be valid,
/// about one in `spread` with one of `edges`.
template <typename Make>
void InputMaker::fillWithEdges(unsigned argument, uint64_t spread,
                               llvm::ArrayRef<int64_t> edges, Random &random,
                               Make makeValid) {
  for (int64_t i = 0; i < getCount(argument); ++i)
    store(argument, i,
          random.below(spread) || indices == Indices::Valid
              ? makeValid()
              : edges[random.below(edges.size())]);
}

} // namespace dsv4::reference

#endif // DSV4_LIB_TESTING_INPUTMAKER_H
