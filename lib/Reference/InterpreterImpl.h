//===- InterpreterImpl.h - What interpreted ops share ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_REFERENCE_INTERPRETERIMPL_H
#define DSV4_LIB_REFERENCE_INTERPRETERIMPL_H

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Reference/Check.h"
#include "dsv4/Reference/Evaluation.h"
#include "dsv4/Reference/Interpreter.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace dsv4::reference {

inline rt::Status invalid(const llvm::Twine &message) {
  return {rt::Code::InvalidArgument, message.str()};
}

/// "[4, 512]".
std::string showShape(llvm::ArrayRef<int64_t> shape);

/// The sum of neighbours, then of neighbouring sums; an unpaired value moves up
/// a level as it is.
float sumTree(llvm::SmallVector<float> level);

/// The element of a tensor of `shape`, counted in scales, that has the scale of
/// a row and a group, of `groups` groups; none if the tensor has no such row.
std::optional<int64_t> findScale(ScaleLayout layout,
                                 llvm::ArrayRef<int64_t> shape, int64_t groups,
                                 int64_t row, int64_t group);

/// Numbers of one format, side by side in memory.
struct Elements {
  char *bytes = nullptr;
  Format format = Format::F32;
  bool highFirst = false;
  /// Element s of `extent` is stored at (s mod n) * (extent / n) + s / n.
  int64_t interleave = 1;
  int64_t extent = 0;

  uint32_t code(int64_t index) const;
  /// Only of results and of caches that are written.
  void setCode(int64_t index, uint32_t code) const;
  double value(int64_t index) const { return decode(format, code(index)); }
  float f32(int64_t index) const { return float(value(index)); }
  /// Stores `value` rounded to the format; a NaN is the canonical one.
  void round(int64_t index, float value) const {
    setCode(index, encode(format, value));
  }

private:
  int64_t storedIndex(int64_t index) const;
};

/// A value: the row-major elements of a tensor. `shape` counts elements, not
/// bytes, of packed pairs too.
struct Tensor {
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  char *data = nullptr;
  /// Where the data is, unless a caller's buffer holds it.
  std::shared_ptr<std::vector<char>> owned = nullptr;

  int64_t size() const { return llvm::product_of(shape, int64_t(1)); }
  /// Rows along the last axis.
  int64_t rows() const {
    return llvm::product_of(llvm::ArrayRef<int64_t>(shape).drop_back(),
                            int64_t(1));
  }
  int64_t bytes() const {
    unsigned width = element.getIntOrFloatBitWidth();
    return width == 4 ? size() / 2 : size() * ((width + 7) / 8);
  }
  /// An element of i16, i32, ui32 (by its bits) or i64.
  int64_t integer(int64_t at) const {
    if (element.isInteger(16)) {
      int16_t value;
      std::memcpy(&value, data + at * sizeof(value), sizeof(value));
      return value;
    }
    if (element.isInteger(64)) {
      int64_t value;
      std::memcpy(&value, data + at * sizeof(value), sizeof(value));
      return value;
    }
    int32_t value;
    std::memcpy(&value, data + at * sizeof(value), sizeof(value));
    return value;
  }
  /// The same as an index: what i32 does not hold is none.
  int32_t index(int64_t at) const {
    int64_t value = integer(at);
    return llvm::isInt<32>(value) ? int32_t(value) : -1;
  }
  /// The same as a length: what i32 does not hold is the nearest that it does.
  int32_t length(int64_t at) const {
    return int32_t(std::clamp<int64_t>(integer(at), INT32_MIN, INT32_MAX));
  }
  /// Only of results.
  void setIndex(int64_t at, int32_t index) const {
    int64_t value = index;
    // Little endian: the low half is an i32.
    int64_t width = element.getIntOrFloatBitWidth() / 8;
    std::memcpy(data + at * width, &value, width);
  }
  Elements elements(bool highFirst = false) const {
    return {data, *getFormat(element), highFirst};
  }
};

/// The ops of dsv4 that the oracle knows, and the method of Interpreter that
/// computes each, in a file of the op or of its kind.
#define DSV4_REFERENCE_OPS(each)                                               \
  each(AddRowsOp, addRows) each(CompressOp, compress)                          \
      each(CompressPlanOp, listWindows) each(ConcatRowsOp, concatRows)         \
          each(DequantizeOp, dequantize) each(GateOp, score)                   \
              each(HadamardOp, transform) each(IndexScoreOp, scoreKeys)        \
                  each(LookupOp, lookUp) each(MapIndicesOp, mapIndices) each(  \
                      PadRowsOp, padRows) each(PagedAppendOp, append)          \
                      each(PagedGatherOp, gather) each(QuantizeOp, quantize)   \
                          each(RMSNormOp, normalize) each(RopeOp, rotate)      \
                              each(RouterLogitsOp, multiplyRows)               \
                                  each(RouteWeightsOp, weigh)                  \
                                      each(ScaleWeightsOp, scaleWeights)       \
                                          each(TopkOp, choose)                 \
                                              each(ValidLensOp, countEntries)

/// Runs the ops of one function, in order.
class Interpreter {
public:
  Interpreter(mlir::func::FuncOp func, const Signature &signature,
              llvm::ArrayRef<Buffer> buffers)
      : func(func), signature(signature), buffers(buffers) {}

  rt::Status run();
  /// How what run() has written is compared.
  std::vector<Expectation> takeExpectations() {
    return std::move(expectations);
  }
  /// See findSharedEntries.
  std::vector<std::string> describeSharedEntries();
  /// See findOutOfRangeIndices.
  std::vector<std::string> describeOutOfRange();

private:
  friend class Evaluation;

  /// An entry that may be read or written.
  struct Entry {
    int64_t page, slot;
  };
  /// A token that a window reads: its row begins at element `begin`, that of
  /// the bias, if one is added, at element `bias` (else -1).
  struct WindowToken {
    Elements values, scores;
    int64_t begin, bias;
  };

  /// Tokens of one window, from its row `begin` on.
  struct Segment {
    int64_t begin, count, token;
    bool ends; ///< The window.
    std::optional<Entry> from, to;
  };

  /// A window, and `last`, the token that ends it.
  struct ListRow {
    int64_t w, request, position, token, last;
  };
  /// Tokens that the launch has of one window, w.
  struct ListSegment {
    int64_t w, request, position, count, token;
  };

  rt::Status checkRanks() const;
  rt::Status checkBinding(unsigned index) const;
  /// Makes arguments and slices of them values.
  rt::Status bindArguments();
  rt::Status takeSlice(mlir::tensor::ExtractSliceOp op);
  rt::Status checkOperands(mlir::Operation *op) const;
  rt::Status execute(mlir::Operation *op);
  rt::Status evaluateUserOp(ReferenceInterface op);
  /// Whether all that the contracts of an op need is known.
  rt::Status checkContracts(mlir::Operation *op) const;
  /// Whether a right value may be another than the oracle's.
  bool isInexact(mlir::Value value) const;
  rt::Status writeDestinations();
  /// Fills `expectations`; `written` has the value of each binding, or null.
  rt::Status expectDestinations(llvm::ArrayRef<mlir::Value> written);

#define DSV4_DECLARE_METHOD(Op, method) rt::Status method(Op op);
  DSV4_REFERENCE_OPS(DSV4_DECLARE_METHOD)
#undef DSV4_DECLARE_METHOD
  rt::Status roundRows(QuantizeOp op,
                       llvm::function_ref<double(double)> compute);
  rt::Status castRows(QuantizeOp op);
  rt::Status scaleByGiven(QuantizeOp op);

  /// Whether row `row` is one of the first of `validRows` and not `padding`,
  /// where they are given.
  bool countsRow(mlir::Value validRows, mlir::Value padding, int64_t row) const;
  /// A result for j * rows + row in column j.
  void numberTokenExperts(mlir::Value result, llvm::ArrayRef<int64_t> shape);
  /// The elements of a row that one may choose: columns
  /// [start, start + count).
  struct Candidates {
    int64_t start, count;
  };
  Candidates findCandidates(TopkOp op, int64_t row) const;
  /// The bias of a row, of a selection that has one.
  Elements findBias(TopkOp op, int64_t row) const;
  /// The keys of a row of scores: the first one, and their number.
  Candidates findKeys(IndexScoreOp op, int64_t row, int64_t columns) const;
  /// Where a key of a row is in the cache, if anything may be read there.
  std::optional<Entry> findEntry(IndexScoreOp op, int64_t row,
                                 int64_t key) const;
  rt::Status checkScores(IndexScoreOp op, int64_t columns) const;
  void keepScores(IndexScoreOp op, Elements to,
                  llvm::MutableArrayRef<BoundedValue> bounds) const;
  /// Makes known what a selection from bounded scores is compared by.
  void expectSelection(TopkOp op);
  /// Indices of the chosen elements of a row, in index order where the op asks
  /// for none.
  std::vector<int32_t> chooseElements(TopkOp op, int64_t row) const;
  int64_t findTableRow(TopkOp op, int64_t row) const;
  int32_t findSlot(TopkOp op, int64_t row, int64_t index) const;

  /// What a row of a gather is for.
  struct Gathered {
    bool exists;      ///< Otherwise the row stays as it was.
    int64_t position; ///< Or index.
    int64_t request;
  };
  rt::Status checkGather(PagedGatherOp op, llvm::ArrayRef<int64_t> rows) const;
  Gathered findIndexedRow(PagedGatherOp op, int64_t row) const;
  Gathered findRaggedRow(PagedGatherOp op, int64_t row,
                         int64_t perRequest) const;
  /// Where a row leads, if anything may be read there.
  std::optional<Entry> findEntry(PagedGatherOp op, const Gathered &row) const;
  /// The same, perhaps in a page beyond those of the cache.
  std::optional<Entry> findNamedEntry(PagedGatherOp op,
                                      const Gathered &row) const;
  /// The entry whose first field is at a byte offset, perhaps in no page.
  std::optional<Entry> findEntryAtByte(CacheType cache, int64_t offset) const;
  Elements orderScales(DequantizeOp op, const Tensor &scales,
                       std::vector<char> &ordered) const;
  /// The physical page of a logical one, -1 where there is none.
  int64_t findPage(PagedGatherOp op, int64_t request, int64_t page) const;
  void gatherRow(PagedGatherOp op, Entry entry, char *row) const;
  /// Copies a field of an entry.
  void copyField(PagedGatherOp op, FieldAttr field, Entry entry,
                 char *row) const;

  /// The entry of `cache`, the state or that of scores, for a position, not
  /// negative, of a request.
  std::optional<Entry> findEntry(CompressOp op, mlir::Value cache,
                                 mlir::Value pageTable, int64_t request,
                                 int64_t position) const;
  /// Row `row` of the window of an entry, if there is that token.
  std::optional<WindowToken> findToken(CompressOp op, int64_t entry,
                                       int64_t row) const;
  void compressRow(CompressOp op, int64_t entry, const Elements &out) const;

  std::optional<int64_t> findElement(mlir::Value value, int64_t at) const;
  /// The slot of an entry in the compressed cache.
  std::optional<int64_t> findListSlot(CompressPlanOp op, int64_t w,
                                      int64_t request, int64_t last) const;
  /// The request of a row, or a negative number.
  int64_t findListRequest(CompressPlanOp op, int64_t row) const;
  /// What a row of a work list stands for, if it is a window, but for its slot.
  std::optional<ListRow> findListRow(CompressPlanOp op, int64_t row) const;
  /// The same of a segment.
  std::optional<ListSegment> findListSegment(CompressPlanOp op,
                                             int64_t row) const;
  /// A row of the plan, followed by its position and its slot.
  llvm::SmallVector<int64_t> listRow(CompressPlanOp op, int64_t row) const;
  llvm::SmallVector<int64_t> listSegment(CompressPlanOp op, int64_t row) const;

  std::optional<Entry> findStateEntry(CompressOp op, int64_t index) const;
  /// What a row of the plan stands for, if it is a segment.
  std::optional<Segment> findSegment(CompressOp op, int64_t row) const;
  void compressSegment(CompressOp op, int64_t row, const Elements &out) const;

  /// Where row `token` goes, if it is kept.
  std::optional<Entry> findEntry(PagedAppendOp op, int64_t token) const;
  std::optional<Entry> findRingEntry(PagedAppendOp op, int64_t token,
                                     int64_t position) const;
  std::optional<Entry> findPagedEntry(PagedAppendOp op, int64_t token,
                                      int64_t position) const;
  rt::Status checkAppend(PagedAppendOp op) const;
  std::string describeSharedEntry(PagedAppendOp op) const;
  std::string describeSharedEntry(CompressOp op) const;
  void appendRow(PagedAppendOp op, int64_t token, Entry entry) const;
  void clearPad(mlir::BlockArgument cache, FieldAttr field, Entry entry) const;

  /// The request of a row, of which `starts` has the first row of each, and
  /// with `hasEnd` the end of the last one: the one that halving finds.
  int64_t findRequest(mlir::Value starts, bool hasEnd, int64_t row) const;

  /// Whether all that an op reads are arguments or slices.
  bool isKnown(mlir::Operation *op) const;
  void checkStarts(mlir::Operation *op, llvm::StringRef operand,
                   mlir::Value starts, int64_t end, llvm::StringRef what,
                   std::vector<std::string> &lines) const;
  // A line for each operand with indices out of range.
  void checkRange(PagedGatherOp op, std::vector<std::string> &lines) const;
  void checkRange(PagedAppendOp op, std::vector<std::string> &lines) const;
  void checkRange(CompressPlanOp op, std::vector<std::string> &lines) const;
  void checkRange(TopkOp op, std::vector<std::string> &lines) const;

  /// The elements of a field of an entry.
  Elements locate(mlir::BlockArgument cache, FieldAttr field,
                  Entry entry) const;
  int64_t getPages(mlir::BlockArgument cache) const;
  const Buffer &getFieldBuffer(mlir::BlockArgument cache,
                               FieldAttr field) const;

  /// Checks the shape of an operand; a tensor without contents has the shape
  /// that its op gives it.
  rt::Status checkShape(mlir::Operation *op, llvm::StringRef operand,
                        mlir::Value value,
                        llvm::ArrayRef<int64_t> expected) const;
  /// A fresh value of that shape, zeros, for a result that overwrites a
  /// destination.
  Tensor &makeResult(mlir::Value result, llvm::ArrayRef<int64_t> shape);
  /// The function argument that holds `value` in the end, if any does.
  mlir::BlockArgument getDestination(mlir::Value value) const;

  mlir::func::FuncOp func;
  const Signature &signature;
  llvm::ArrayRef<Buffer> buffers;
  /// Values of all tensors that were computed or passed.
  llvm::DenseMap<mlir::Value, Tensor> values;
  /// Of those that are not compared exactly.
  llvm::DenseMap<mlir::Value, Knowledge> knowledge;
  std::vector<Expectation> expectations;
};

} // namespace dsv4::reference

#endif // DSV4_LIB_REFERENCE_INTERPRETERIMPL_H
