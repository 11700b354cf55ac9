//===- DeviceCalls.cpp - How single ops are called ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses, and functions of fragments. The calls of cooperative ops are beside
// their verifiers.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

SmallVector<StringRef> cuda::getLambdaParameters(DeviceCallOpInterface call) {
  SmallVector<StringRef> names;
  for (const CallArgument &argument : call.getCallArguments())
    if (auto *lambda = std::get_if<Lambda>(&argument)) {
      if (!lambda->callback.empty())
        names.push_back(lambda->callback);
      llvm::append_range(names, lambda->outputs);
    }
  return names;
}

static VectorType getVector(Value value) {
  return cast<VectorType>(value.getType());
}
static Type getElement(Value value) {
  return getVector(value).getElementType();
}

static bool isLastOperand(OpOperand &operand) {
  return operand.getOperandNumber() + 1 == operand.getOwner()->getNumOperands();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes between vectors that start `stride` elements of `base` apart.
static int64_t getStrideBytes(int64_t stride, MemRefType base) {
  return stride * base.getElementTypeBitWidth() / 8;
}

StringRef LoadOp::getCallee() {
  return getStaged()      ? "dsv4::staged"
         : getVectors()   ? "dsv4::load_vectors"
         : getPredicate() ? "dsv4::load_if"
                          : "dsv4::load";
}
StringRef LoadOp::getHeader() {
  return getStaged() ? "window/window_reduce_online.cuh" : "core/memory.cuh";
}
SmallVector<TemplateArgument> LoadOp::getTemplateArguments() {
  SmallVector<TemplateArgument> arguments = {getValue().getType()};
  bool hasPolicy = getPolicy() != LoadPolicy::Default;
  if (getAlign() || hasPolicy)
    arguments.push_back(static_cast<int64_t>(getAlign()));
  if (hasPolicy)
    arguments.push_back(Enumerator{"dsv4", stringifyLoadPolicy(getPolicy())});
  return arguments;
}
SmallVector<CallArgument> LoadOp::getCallArguments() {
  SmallVector<CallArgument> arguments;
  if (getPredicate())
    arguments.push_back(getPredicate());
  if (getVectors())
    arguments.push_back(getVectors());
  arguments.push_back(ElementAddress{getBase(), getOffset()});
  if (getStride())
    arguments.push_back(getStrideBytes(getStride(), getBase().getType()));
  return arguments;
}
bool LoadOp::isInt32(OpOperand &operand) {
  return getVectors() && isLastOperand(operand);
}

/// The alignment that an access of `value` relies on: vectors are aligned to 16
/// bytes, scalars to their own size.
static int64_t getValueAlignment(Type value) {
  if (isa<VectorType>(value))
    return 16;
  return llvm::divideCeil(value.getIntOrFloatBitWidth(), 8);
}
/// A vector of one element is accessed as that.
static Type getAccessedType(Type value) {
  auto vector = dyn_cast<VectorType>(value);
  return vector && vector.getNumElements() == 1 ? vector.getElementType()
                                                : value;
}
int64_t LoadOp::getBufferAlignment(OpOperand &) {
  // The lanes of a warp load what is staged together.
  Type value = getValue().getType();
  return getValueAlignment(getStaged() ? value : getAccessedType(value));
}
int64_t StoreOp::getBufferAlignment(OpOperand &) {
  return getValueAlignment(getAccessedType(getValue().getType()));
}

StringRef StoreOp::getCallee() {
  bool streaming = getPolicy() == StorePolicy::Streaming;
  if (getVectors())
    return streaming ? "dsv4::store_vectors_streaming" : "dsv4::store_vectors";
  return streaming ? "dsv4::store_streaming" : "dsv4::store";
}
StringRef StoreOp::getHeader() { return "core/memory.cuh"; }
SmallVector<TemplateArgument> StoreOp::getTemplateArguments() {
  if (!getAlign())
    return {};
  return {static_cast<int64_t>(getAlign())};
}
SmallVector<CallArgument> StoreOp::getCallArguments() {
  SmallVector<CallArgument> arguments;
  if (getVectors())
    arguments.push_back(getVectors());
  arguments.push_back(ElementAddress{getBase(), getOffset()});
  arguments.push_back(getValue());
  if (getStride())
    arguments.push_back(getStrideBytes(getStride(), getBase().getType()));
  return arguments;
}
bool StoreOp::isInt32(OpOperand &operand) {
  return getVectors() && isLastOperand(operand);
}

StringRef StoreRunsOp::getCallee() { return "dsv4::store_runs"; }
StringRef StoreRunsOp::getHeader() { return "rows/runs.cuh"; }
SmallVector<TemplateArgument> StoreRunsOp::getTemplateArguments() {
  return {static_cast<int64_t>(getRun()), static_cast<int64_t>(getCount()),
          static_cast<int64_t>(getPad())};
}
SmallVector<CallArgument> StoreRunsOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {getBase(), getOffset(), getStride(),
                                         getValue(), getFirst()};
  if (getStep())
    arguments.push_back(static_cast<int64_t>(getStep()));
  return arguments;
}
bool StoreRunsOp::isInt32(OpOperand &operand) {
  return &operand == &getFirstMutable();
}
int64_t StoreRunsOp::getBufferAlignment(OpOperand &) {
  return getElement(getValue()).getIntOrFloatBitWidth() / 8;
}

StringRef LoadRunsOp::getCallee() {
  return getPredicate() ? "dsv4::load_runs_if" : "dsv4::load_runs";
}
StringRef LoadRunsOp::getHeader() { return "rows/runs.cuh"; }
SmallVector<TemplateArgument> LoadRunsOp::getTemplateArguments() {
  return {getValue().getType(), static_cast<int64_t>(getRun())};
}
SmallVector<CallArgument> LoadRunsOp::getCallArguments() {
  SmallVector<CallArgument> arguments;
  if (getPredicate())
    arguments.push_back(getPredicate());
  arguments.append({getBase(), getOffset(), getStride(), getFirst()});
  if (getStep())
    arguments.push_back(static_cast<int64_t>(getStep()));
  return arguments;
}
bool LoadRunsOp::isInt32(OpOperand &operand) {
  return &operand == &getFirstMutable();
}
int64_t LoadRunsOp::getBufferAlignment(OpOperand &) {
  return getElement(getValue()).getIntOrFloatBitWidth() / 8;
}

StringRef LoadWordsOp::getCallee() {
  return getPredicate() ? "dsv4::load_words_if" : "dsv4::load_words";
}
StringRef LoadWordsOp::getHeader() { return "rows/words.cuh"; }
SmallVector<TemplateArgument> LoadWordsOp::getTemplateArguments() {
  SmallVector<TemplateArgument> arguments = {getWords().getType(),
                                             static_cast<int64_t>(getLanes())};
  if (getPolicy() != LoadPolicy::Default)
    arguments.push_back(Enumerator{"dsv4", stringifyLoadPolicy(getPolicy())});
  return arguments;
}
SmallVector<CallArgument> LoadWordsOp::getCallArguments() {
  ElementAddress address{getBase(), getOffset()};
  if (getPredicate())
    return {getPredicate(), address};
  return {address};
}

StringRef RealignOp::getCallee() { return "dsv4::realign"; }
StringRef RealignOp::getHeader() { return "rows/words.cuh"; }
SmallVector<TemplateArgument> RealignOp::getTemplateArguments() {
  return {static_cast<int64_t>(getLanes())};
}
SmallVector<CallArgument> RealignOp::getCallArguments() {
  return {getWords(), ElementAddress{getBase(), getOffset()}};
}

StringRef StoreWordsOp::getCallee() {
  return getPolicy() == StorePolicy::Streaming ? "dsv4::store_words_streaming"
                                               : "dsv4::store_words";
}
StringRef StoreWordsOp::getHeader() { return "rows/words.cuh"; }
SmallVector<TemplateArgument> StoreWordsOp::getTemplateArguments() {
  return {static_cast<int64_t>(getLanes())};
}
SmallVector<CallArgument> StoreWordsOp::getCallArguments() {
  return {ElementAddress{getBase(), getOffset()}, getRow()};
}

StringRef LoadPartOp::getCallee() { return "dsv4::load_part"; }
StringRef LoadPartOp::getHeader() { return "core/memory.cuh"; }
SmallVector<TemplateArgument> LoadPartOp::getTemplateArguments() {
  return {getValue().getType()};
}
SmallVector<CallArgument> LoadPartOp::getCallArguments() {
  return {ElementAddress{getBase(), getOffset()}, getLeft()};
}
bool LoadPartOp::isInt32(OpOperand &operand) {
  return &operand == &getLeftMutable();
}

StringRef PrefetchOp::getCallee() {
  if (getL2())
    return getPredicate() ? "dsv4::prefetch_l2_if" : "dsv4::prefetch_l2";
  return getPredicate() ? "dsv4::prefetch_if" : "dsv4::prefetch";
}
StringRef PrefetchOp::getHeader() { return "core/accesses.cuh"; }
SmallVector<CallArgument> PrefetchOp::getCallArguments() {
  ElementAddress address{getBase(), getOffset()};
  if (getPredicate())
    return {getPredicate(), address};
  return {address};
}

StringRef GatherOp::getCallee() { return "dsv4::gather"; }
StringRef GatherOp::getHeader() { return "rows/gate.cuh"; }
SmallVector<CallArgument> GatherOp::getCallArguments() {
  return {ElementAddress{getBase(), getOffset()}, getIndices(),
          static_cast<int64_t>(getCount())};
}

StringRef InPoolOp::getCallee() { return "dsv4::in_pool"; }
StringRef InPoolOp::getHeader() { return "core/accesses.cuh"; }
bool InPoolOp::isInt32(OpOperand &operand) {
  return &operand == &getPagesMutable();
}

StringRef IsLastOp::getCallee() { return "dsv4::is_last"; }
StringRef IsLastOp::getHeader() { return "rows/is_last.cuh"; }
SmallVector<TemplateArgument> IsLastOp::getTemplateArguments() {
  SmallVector<TemplateArgument> arguments = {static_cast<int64_t>(getLanes())};
  if (getThreads())
    arguments.append({static_cast<int64_t>(getThreads()),
                      static_cast<int64_t>(getMaxAlone())});
  return arguments;
}
bool IsLastOp::isInt32(OpOperand &) { return true; }

StringRef SearchOp::getCallee() { return "dsv4::search"; }
StringRef SearchOp::getHeader() { return "rows/search.cuh"; }
SmallVector<TemplateArgument> SearchOp::getTemplateArguments() {
  if (!getRows())
    return {};
  return {static_cast<int64_t>(getLanes())};
}
bool SearchOp::isInt32(OpOperand &) { return true; }

bool WaitForPreviousKernelOp::waitsForPreviousKernel() { return true; }
StringRef WaitForPreviousKernelOp::getCallee() {
  return "dsv4::wait_for_previous_kernel";
}
StringRef WaitForPreviousKernelOp::getHeader() { return "core/accesses.cuh"; }

StringRef LaunchDependentsOp::getCallee() { return "dsv4::launch_dependents"; }
StringRef LaunchDependentsOp::getHeader() { return "core/accesses.cuh"; }

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

StringRef ExpandOp::getCallee() {
  return getVector(getScales()).getRank() == 1 &&
                 getVector(getTile()).getRank() == 2
             ? "dsv4::repeat"
             : "dsv4::expand";
}
StringRef ExpandOp::getHeader() { return "core/core.cuh"; }
SmallVector<TemplateArgument> ExpandOp::getTemplateArguments() {
  // One scale per element of a vector, or for several vectors.
  ArrayRef<int64_t> shape = getVector(getTile()).getShape();
  if (getVector(getScales()).getRank() == 2)
    shape = shape.take_back();
  return SmallVector<TemplateArgument>(shape.begin(), shape.end());
}

StringRef SwapNibblesOp::getCallee() { return "dsv4::swap_nibbles"; }
StringRef SwapNibblesOp::getHeader() { return "core/core.cuh"; }

StringRef OneNaNOp::getCallee() { return "dsv4::one_nan"; }
StringRef OneNaNOp::getHeader() { return "rows/rows.cuh"; }

StringRef NarrowOp::getCallee() {
  return getSaturate() ? "dsv4::saturate" : "dsv4::narrow";
}
StringRef NarrowOp::getHeader() { return "core/integers.cuh"; }

StringRef JoinOp::getCallee() {
  return getVector(getJoined()).getRank() == 1 ? "dsv4::join_vectors"
                                               : "dsv4::join";
}
StringRef JoinOp::getHeader() { return "rows/rows.cuh"; }

StringRef StepsOp::getCallee() { return "dsv4::steps"; }
StringRef StepsOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<TemplateArgument> StepsOp::getTemplateArguments() {
  return {static_cast<int64_t>(getBegin()), getVector(getPart()).getDimSize(0)};
}

StringRef KeepVectorsOp::getCallee() { return "dsv4::keep_vectors"; }
StringRef KeepVectorsOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<CallArgument> KeepVectorsOp::getCallArguments() {
  return {getSource(), getVectors(), getOtherwise()};
}
bool KeepVectorsOp::isInt32(OpOperand &) { return true; }

StringRef ColumnsOp::getCallee() { return "dsv4::columns"; }
StringRef ColumnsOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<TemplateArgument> ColumnsOp::getTemplateArguments() {
  return {static_cast<int64_t>(getLanes())};
}
bool ColumnsOp::isInt32(OpOperand &) { return true; }

StringRef ElementOp::getCallee() { return "dsv4::pick"; }
StringRef ElementOp::getHeader() { return "rows/gate.cuh"; }
bool ElementOp::isInt32(OpOperand &) { return true; }

StringRef PadOp::getCallee() { return "dsv4::pad"; }
StringRef PadOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<TemplateArgument> PadOp::getTemplateArguments() {
  return {getVector(getPadded()).getDimSize(0)};
}

StringRef AlternateOp::getCallee() {
  return getOdd() ? "dsv4::odds" : "dsv4::evens";
}
StringRef AlternateOp::getHeader() { return "rows/rows.cuh"; }

StringRef TransposeOp::getCallee() { return "dsv4::transpose"; }
StringRef TransposeOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<TemplateArgument> TransposeOp::getTemplateArguments() {
  return {static_cast<int64_t>(getRows())};
}

StringRef SequenceOp::getCallee() { return "dsv4::sequence"; }
StringRef SequenceOp::getHeader() { return "rows/gate.cuh"; }
SmallVector<TemplateArgument> SequenceOp::getTemplateArguments() {
  return {getNumbers().getType()};
}
SmallVector<CallArgument> SequenceOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {getStart(), getStep(), getFirst()};
  if (getStride())
    arguments.push_back(static_cast<int64_t>(getStride()));
  return arguments;
}
bool SequenceOp::isInt32(OpOperand &) { return true; }

StringRef SpliceOp::getCallee() { return "dsv4::splice"; }
StringRef SpliceOp::getHeader() { return "rows/gate.cuh"; }
SmallVector<CallArgument> SpliceOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {
      getHead(), static_cast<int64_t>(getCount()), getTail(), getFirst()};
  if (getStride())
    arguments.push_back(static_cast<int64_t>(getStride()));
  return arguments;
}
bool SpliceOp::isInt32(OpOperand &) { return true; }

StringRef WhereValidOp::getCallee() { return "dsv4::where_valid"; }
StringRef WhereValidOp::getHeader() { return "rows/gate.cuh"; }
/// The one number that all values are, which a function takes instead of them.
static std::optional<APFloat> findNumber(WhereValidOp op) {
  SplatElementsAttr number;
  if (!matchPattern(op.getValues(), m_Constant(&number)) ||
      !number.getElementType().isF32() || !op.getOtherwise().isPosZero())
    return std::nullopt;
  return number.getSplatValue<APFloat>();
}
SmallVector<TemplateArgument> WhereValidOp::getTemplateArguments() {
  // A number does not say of which fragment it is.
  if (findNumber(*this))
    return {getValues().getType()};
  return {};
}
SmallVector<CallArgument> WhereValidOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {getValues(), getIndices(),
                                         static_cast<int64_t>(getCount())};
  if (auto number = findNumber(*this))
    arguments.front() = *number;
  if (!getOtherwise().isPosZero())
    arguments.push_back(getOtherwise());
  return arguments;
}

StringRef ActivationOp::getCallee() {
  switch (getKind()) {
  case ActivationKind::SqrtSoftplus:
    return "dsv4::sqrt_softplus";
  case ActivationKind::Sigmoid:
    return "dsv4::sigmoid";
  case ActivationKind::Exp:
    return "dsv4::exp";
  case ActivationKind::NaNToZero:
    return "dsv4::nan_to_zero";
  }
  llvm_unreachable("all kinds are above");
}
StringRef ActivationOp::getHeader() { return "rows/gate.cuh"; }

//===----------------------------------------------------------------------===//
// Across the lanes of a row
//===----------------------------------------------------------------------===//

StringRef ReduceOp::getCallee() {
  switch (getKind()) {
  case ReduceKind::Sum:
    return "dsv4::sum";
  case ReduceKind::MaxAbs:
    return "dsv4::max_abs";
  case ReduceKind::MaxAbsNaN:
    return "dsv4::max_abs_nan";
  case ReduceKind::MaxNaN:
    return "dsv4::max_nan";
  }
  llvm_unreachable("all kinds are above");
}
StringRef ReduceOp::getHeader() {
  return getKind() == ReduceKind::MaxNaN ? "rows/gate.cuh" : "rows/rows.cuh";
}
SmallVector<TemplateArgument> ReduceOp::getTemplateArguments() {
  return {static_cast<int64_t>(getLanes()), static_cast<int64_t>(getGroup())};
}

StringRef HadamardOp::getCallee() { return "dsv4::hadamard"; }
StringRef HadamardOp::getHeader() { return "rows/rows.cuh"; }
SmallVector<TemplateArgument> HadamardOp::getTemplateArguments() {
  return {static_cast<int64_t>(getLanes())};
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

StringRef DequantizeOp::getCallee() { return "dsv4::dequantize"; }
StringRef DequantizeOp::getHeader() { return "rows/convert.cuh"; }
SmallVector<TemplateArgument> DequantizeOp::getTemplateArguments() {
  return {getElement(getTile())};
}

/// The type of quantised values, and how they differ from the nearest ones.
static SmallVector<TemplateArgument> getEncoding(Type element, bool tiesDown,
                                                 bool dropsNegativeZero) {
  SmallVector<TemplateArgument> arguments = {element};
  if (tiesDown || dropsNegativeZero)
    arguments.push_back(
        Enumerator{"dsv4", tiesDown ? "ties_down" : "ties_even"});
  if (dropsNegativeZero)
    arguments.push_back(Enumerator{"dsv4", "drop_negative_zero"});
  return arguments;
}

StringRef EncodeOp::getCallee() {
  return getUp() ? "dsv4::encode_up" : "dsv4::encode";
}
StringRef EncodeOp::getHeader() { return "rows/encode.cuh"; }
SmallVector<TemplateArgument> EncodeOp::getTemplateArguments() {
  return getEncoding(getElement(getPayload()), getTiesDown(),
                     getDropNegativeZero());
}

StringRef QuantizeOp::getCallee() { return "dsv4::quantize"; }
StringRef QuantizeOp::getHeader() { return "rows/encode.cuh"; }
SmallVector<TemplateArgument> QuantizeOp::getTemplateArguments() {
  return getEncoding(getElement(getPayload()), getTiesDown(),
                     getDropNegativeZero());
}
