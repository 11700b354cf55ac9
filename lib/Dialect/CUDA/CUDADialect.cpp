//===- CUDADialect.cpp - The cuda exit dialect ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

#include "CUDADialect.cpp.inc"
#include "CUDAEnums.cpp.inc"
#include "CUDAInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "CUDAAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "CUDATypes.cpp.inc"

#define GET_OP_CLASSES
#include "CUDAAccessOps.cpp.inc"
#define GET_OP_CLASSES
#include "CUDAElementOps.cpp.inc"
#define GET_OP_CLASSES
#include "CUDASectionOps.cpp.inc"
#define GET_OP_CLASSES
#include "CUDAWindowOps.cpp.inc"
#define GET_OP_CLASSES
#include "CUDASelectOps.cpp.inc"
#define GET_OP_CLASSES
#include "CUDATileOps.cpp.inc"

void CUDADialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "CUDAAccessOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDAElementOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDASectionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDAWindowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDASelectOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDATileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CUDAScoreOps.cpp.inc"
      >();
}

void CUDADialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CUDAAttrs.cpp.inc"
      >();
}

void CUDADialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "CUDATypes.cpp.inc"
      >();
}

/// Whether `attr` is an i64 of at least 1.
static bool isCount(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 1;
}

LogicalResult CUDADialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  // By name: the dialect gpu is not needed for anything else here.
  StringRef opName = op->getName().getStringRef();
  auto expects = [&](const char *what) {
    return op->emitOpError() << "expects '" << name << "' to be " << what;
  };
  if (opName == "gpu.func" && name == kHeaderAttr) {
    auto lines = dyn_cast<ArrayAttr>(value);
    return lines && llvm::all_of(lines, llvm::IsaPred<StringAttr>)
               ? success()
               : expects("an array of strings");
  }
  if (name == kConfigAttr && isa<DeviceCallOpInterface>(op))
    return isa<StringAttr>(value) ? success() : expects("a string");
  if (opName == "gpu.func" && (name == kMinBlocksAttr || name == kClusterAttr))
    return isCount(value) ? success() : expects("an i64 of at least 1");
  if (opName == "gpu.module" && name == kTargetAttr)
    return isa<TargetAttr>(value) ? success() : expects("a #cuda.target");
  return op->emitOpError() << "cannot have the attribute '" << name << "'";
}

LogicalResult CUDADialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attr) {
  if (attr.getName() != kRangeAttr)
    return op->emitOpError() << "cannot have the argument attribute '"
                             << attr.getName().getValue() << "'";
  auto bounds = dyn_cast<DenseI64ArrayAttr>(attr.getValue());
  auto func = dyn_cast<FunctionOpInterface>(op);
  // The types of the function: its body is verified later.
  Type type = func && index < func.getNumArguments()
                  ? func.getArgumentTypes()[index]
                  : Type();
  auto fits = [&](int64_t bound) {
    return llvm::isIntN(type.getIntOrFloatBitWidth(), bound);
  };
  if (!bounds || bounds.size() != 2 || bounds[0] > bounds[1] || !type ||
      !(type.isSignlessInteger(32) || type.isSignlessInteger(64)) ||
      !fits(bounds[0]) || !fits(bounds[1]))
    return op->emitOpError()
           << "expects '" << kRangeAttr << "' of argument " << index
           << " to be array<i64: min, max> of an i32 or i64";
  return success();
}

LogicalResult ConstantOp::verify() {
  auto value = static_cast<int64_t>(getValue());
  if (getType().isInteger(32) && value != static_cast<int32_t>(value))
    return emitOpError() << "constant_c1: " << getType() << " does not hold "
                         << value;
  return success();
}
void ConstantOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                   SetIntRangeFn setRange) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(getType());
  setRange(getResult(), ConstantIntRanges::constant(
                            APInt(width, getValue(), /*isSigned=*/true)));
}

LogicalResult BoundedOp::verify() {
  auto max = static_cast<int64_t>(getMax());
  if (max < 0)
    return emitOpError() << "bounded_c1: expected 'max' not to be negative, "
                            "got "
                         << max;
  return success();
}

void BoundedOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                  SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  setRange(getResult(), ConstantIntRanges::fromSigned(APInt(width, 0),
                                                      APInt(width, getMax())));
}

unsigned cuda::getArchNumber(StringRef arch) {
  unsigned number = 0;
  if (!arch.consume_front("sm_") || arch.consumeInteger(10, number))
    return 0;
  return number;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef arch) {
  StringRef rest = arch;
  unsigned number;
  bool good = rest.consume_front("sm_") && !rest.starts_with("0") &&
              !rest.consumeInteger(10, number) &&
              (rest.empty() || rest == "a" || rest == "f");
  if (!good || number < 80 || number > 200)
    return emitError() << "target_c1: expected an architecture from \"sm_80\" "
                          "to \"sm_200\", with \"a\", \"f\" or nothing "
                          "after it, such as \"sm_90a\", got \""
                       << arch << "\"";
  return success();
}

//===----------------------------------------------------------------------===//
// expand, dequantize, swap_nibbles
//===----------------------------------------------------------------------===//

/// Whether every scale stands for whole vectors, or for equal parts of a
/// vector.
static bool covers(VectorType scales, VectorType tile) {
  if (tile.getRank() == 1)
    return scales.getRank() == 1 &&
           tile.getDimSize(0) % scales.getDimSize(0) == 0;
  if (scales.getRank() == 1)
    return tile.getDimSize(0) % scales.getDimSize(0) == 0;
  return scales.getDimSize(0) == tile.getDimSize(0) &&
         tile.getDimSize(1) % scales.getDimSize(1) == 0;
}

LogicalResult ExpandOp::verify() {
  auto tile = cast<VectorType>(getTile().getType());
  auto scales = cast<VectorType>(getScales().getType());
  if (scales.getElementType() != tile.getElementType())
    return emitOpError() << "expand_c1: element types differ: " << scales
                         << " and " << tile;
  if (!tile.getElementType().isF32())
    return emitOpError() << "expand_c1: expected scales of f32, got " << scales
                         << ": convert them before";
  if (!covers(scales, tile))
    return emitOpError() << "expand_c2: scales of " << scales
                         << " do not cover a tile of " << tile;
  return success();
}

LogicalResult DequantizeOp::verify() {
  auto tile = cast<VectorType>(getTile().getType());
  auto values = cast<VectorType>(getValues().getType());
  auto scales = cast<VectorType>(getScales().getType());
  if (tile.getShape() != values.getShape() ||
      !(tile.getElementType().isF32() || tile.getElementType().isBF16()))
    return emitOpError() << "dequantize_c1: expected f32 or bf16 elements in "
                            "the shape of "
                         << values << ", got " << tile;
  Type stored = values.getElementType();
  if (stored.getIntOrFloatBitWidth() > 16 ||
      (isa<IntegerType>(stored) && !stored.isInteger(4)))
    return emitOpError() << "dequantize_c1: expected values of floats of at "
                            "most 16 bits, or of i4, got "
                         << values;
  if (!covers(scales, tile))
    return emitOpError() << "dequantize_c2: scales of " << scales
                         << " do not cover a tile of " << tile;
  return success();
}

LogicalResult SwapNibblesOp::verify() {
  auto type = cast<VectorType>(getSource().getType());
  if (type.getElementTypeBitWidth() != 4 || type.getShape().back() % 2 != 0)
    return emitOpError()
           << "swap_nibbles_c1: expected an even number of elements "
              "of 4 bits, got "
           << type;
  return success();
}

LogicalResult NarrowOp::verify() {
  if (getSaturate() && isa<VectorType>(getSource().getType()))
    return emitOpError() << "narrow_c1: expected a scalar with 'saturate', got "
                         << getSource().getType();
  return success();
}

/// Refuses elements of 64 bits: the device library moves elements of vectors
/// within words.
static LogicalResult verifyMovable(Operation *op, StringRef clause,
                                   VectorType type) {
  if (type.getElementTypeBitWidth() <= 32)
    return success();
  return op->emitOpError() << clause
                           << ": expected elements of at most 32 bits, got "
                           << type;
}

LogicalResult JoinOp::verify() {
  auto first = cast<VectorType>(getFirst().getType());
  auto second = cast<VectorType>(getSecond().getType());
  auto joined = cast<VectorType>(getJoined().getType());
  SmallVector<int64_t> shape = llvm::to_vector(first.getShape());
  shape[0] += second.getDimSize(0);
  if (first.getElementType() != second.getElementType() ||
      first.getShape().drop_front() != second.getShape().drop_front() ||
      joined != VectorType::get(shape, first.getElementType()))
    return emitOpError() << "join_c1: joining " << first << " and " << second
                         << " does not give " << joined;
  return first.getRank() == 1 ? verifyMovable(*this, "join_c1", first)
                              : success();
}
LogicalResult StepsOp::verify() {
  auto source = cast<VectorType>(getSource().getType());
  auto part = cast<VectorType>(getPart().getType());
  int64_t begin = getBegin();
  if (source.getElementType() != part.getElementType() ||
      source.getDimSize(1) != part.getDimSize(1) || begin < 0 ||
      begin > source.getDimSize(0) - part.getDimSize(0))
    return emitOpError() << "steps_c1: expected vectors of " << source
                         << " from vector " << begin << " on, got " << part;
  return success();
}

LogicalResult PadOp::verify() {
  auto source = cast<VectorType>(getSource().getType());
  auto padded = cast<VectorType>(getPadded().getType());
  if (source.getElementType() != padded.getElementType() ||
      padded.getDimSize(0) < source.getDimSize(0))
    return emitOpError()
           << "pad_c1: " << source << " cannot be padded to " << padded
           << ": expected the same element type and no fewer elements";
  return success();
}

LogicalResult AlternateOp::verify() {
  SmallVector<int64_t> shape =
      llvm::to_vector(cast<VectorType>(getHalf().getType()).getShape());
  shape.back() *= 2;
  if (cast<VectorType>(getSource().getType()).getShape() !=
      ArrayRef<int64_t>(shape))
    return emitOpError() << "alternate_c1: expected vectors of half as many "
                            "elements as those of "
                         << getSource().getType() << ", got "
                         << getHalf().getType();
  return success();
}

LogicalResult TransposeOp::verify() {
  int64_t rows = getRows();
  int64_t elements = cast<VectorType>(getSource().getType()).getNumElements();
  if (rows < 1 || elements % rows != 0)
    return emitOpError() << "transpose_c1: 'rows' " << rows
                         << " does not divide " << elements << " elements";
  return verifyMovable(*this, "transpose_c1",
                       cast<VectorType>(getSource().getType()));
}

//===----------------------------------------------------------------------===//
// Across the lanes of a row
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  auto source = cast<VectorType>(getSource().getType());
  auto reduced = cast<VectorType>(getReduced().getType());
  int64_t group = getGroup();
  if (!isLaneCount(getLanes()) || (source.getRank() == 1 && getLanes() != 1))
    return emitOpError() << "reduce_c2: expected a power of two of lanes, at "
                            "most 32, and 1 for a whole row";
  bool isOfNumbers =
      getKind() == ReduceKind::Sum || getKind() == ReduceKind::MaxNaN;
  if (isOfNumbers && !source.getElementType().isF32())
    return emitOpError() << "reduce_c3: expected '"
                         << stringifyReduceKind(getKind()) << "' of f32, got "
                         << source << ": convert it before";
  int64_t row = source.getNumElements() * getLanes();
  if (group < 1 || row % group != 0 ||
      (source.getRank() == 1 &&
       reduced.getShape() != ArrayRef<int64_t>(row / group)))
    return emitOpError()
           << "reduce_c1: expected a group that divides the " << row
           << " elements of the row, and one value per group, got groups of "
           << group << " and " << reduced;
  return success();
}

LogicalResult KeepVectorsOp::verify() {
  Type element = cast<VectorType>(getSource().getType()).getElementType();
  if (!element.isF32() && !getOtherwise().isPosZero())
    return emitOpError() << "keep_vectors_c1: expected 0 for elements of "
                         << element << ", got " << getOtherwiseAttr();
  return success();
}

LogicalResult WhereValidOp::verify() {
  if (!getElementTypeOrSelf(getValues()).isF32() && !getOtherwise().isPosZero())
    return emitOpError() << "where_valid_c1: expected no 'otherwise' for "
                            "values of i32, got "
                         << getOtherwiseAttr();
  return success();
}

LogicalResult HadamardOp::verify() {
  int64_t elements = cast<VectorType>(getSource().getType()).getNumElements();
  if (!isLaneCount(getLanes()) || !llvm::isPowerOf2_64(elements))
    return emitOpError() << "hadamard_c1: expected a power of two of elements "
                            "and of lanes, got "
                         << elements << " and " << getLanes();
  return success();
}

bool IsLastOp::isBlockCooperative() { return getThreads() != 0; }

LogicalResult IsLastOp::verify() {
  if (!isLaneCount(getLanes()))
    return emitOpError() << "is_last_c1: expected a power of two of lanes, at "
                            "most 32";
  if (static_cast<int64_t>(getThreads()) < 0 || getThreads() % 32 != 0)
    return emitOpError() << "is_last_c2: expected 0 or a multiple of 32 for "
                            "'threads', got "
                         << getThreads();
  if ((getThreads() > 0) != (getMaxAlone() > 0) ||
      static_cast<int64_t>(getMaxAlone()) < 0 ||
      static_cast<int64_t>(getMaxAlone()) > INT32_MAX)
    return emitOpError() << "is_last_c2: expected a positive 'max_alone' with "
                            "'threads', and 0 without, got "
                         << getMaxAlone();
  if ((getThreads() > 0) != bool(getRows()))
    return emitOpError() << "is_last_c2: expected 'rows' with 'threads', and "
                            "not without";
  return success();
}

LogicalResult SearchOp::verify() {
  if (!isLaneCount(getLanes()))
    return emitOpError() << "search_c1: expected a power of two of lanes, at "
                            "most 32, got "
                         << getLanes();
  if (!getRows() && getLanes() != 1)
    return emitOpError() << "search_c2: expected 'rows' for the lanes of a "
                            "row, got "
                         << getLanes() << " lanes without";
  return success();
}

// It is below the count, or 0.
void SearchOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  constexpr unsigned width = 32;
  setRange(getFound(),
           ConstantIntRanges::range(APInt::getZero(width),
                                    APInt(width, INT32_MAX - 1), true));
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

LogicalResult EncodeOp::verify() {
  Type element = cast<VectorType>(getPayload().getType()).getElementType();
  bool e8m0 = isa<Float8E8M0FNUType>(element);
  bool e2m1 = isa<Float4E2M1FNType>(element);
  if (!e8m0 && !e2m1 && !isa<Float8E4M3FNType>(element))
    return emitOpError() << "encode_c1: expected a payload of f8E4M3FN, "
                            "f4E2M1FN or f8E8M0FNU, got "
                         << element;
  if ((e8m0 && !getUp()) || (e2m1 && getUp()))
    return emitOpError() << "encode_c1: " << element << " is "
                         << (e8m0 ? "only rounded up: add 'up'"
                                  : "never rounded up: remove 'up'");
  if (!e2m1 && (getTiesDown() || getDropNegativeZero()))
    return emitOpError()
           << "encode_c2: " << element
           << " has neither 'ties_down' nor 'drop_negative_zero': remove them";
  return success();
}

LogicalResult QuantizeOp::verify() {
  auto codes = cast<VectorType>(getPayload().getType());
  auto values = cast<VectorType>(getValues().getType());
  auto scales = cast<VectorType>(getScales().getType());
  bool e2m1 = isa<Float4E2M1FNType>(codes.getElementType());
  if (codes.getShape() != values.getShape() ||
      !(e2m1 || isa<Float8E4M3FNType>(codes.getElementType())) ||
      (!e2m1 && (getTiesDown() || getDropNegativeZero())))
    return emitOpError()
           << "quantize_c1: expected f8E4M3FN, or f4E2M1FN with or without "
              "'ties_down' and 'drop_negative_zero', in the shape of "
           << values << ", got " << codes;
  if (!covers(scales, values))
    return emitOpError() << "quantize_c2: scales of " << scales
                         << " do not cover a tile of " << values;
  return success();
}
