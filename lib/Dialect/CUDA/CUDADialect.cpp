//===- CUDADialect.cpp - The cuda exit dialect -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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

#define GET_OP_CLASSES
#include "CUDAOps.cpp.inc"

void CUDADialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "CUDAOps.cpp.inc"
      >();
}

void CUDADialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CUDAAttrs.cpp.inc"
      >();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef arch) {
  StringRef rest = arch;
  unsigned number;
  bool good = rest.consume_front("sm_") && !rest.consumeInteger(10, number) &&
              (rest.empty() || rest == "a" || rest == "f");
  if (!good)
    return emitError() << "target_c1: expected an architecture such as "
                          "\"sm_90a\", got \""
                       << arch << "\"";
  return success();
}

//===----------------------------------------------------------------------===//
// load, store
//===----------------------------------------------------------------------===//

/// Clauses 1 to 3 of load and store.
static LogicalResult verifyAccess(Operation *op, StringRef prefix, Type value,
                                  MemRefType base, int64_t stride,
                                  int64_t align) {
  auto vector = dyn_cast<VectorType>(value);
  if (!vector && (value != base.getElementType() || stride != 0))
    return op->emitOpError()
           << prefix
           << "_c1: a scalar has the element type of the base "
              "and no stride";
  if (vector && vector.getRank() == 2 && vector.getDimSize(0) > 1 &&
      stride <= 0)
    return op->emitOpError()
           << prefix << "_c2: a tile of " << vector.getDimSize(0)
           << " chunks needs a positive stride";
  if (align < 0 || (align > 0 && !llvm::isPowerOf2_64(align)))
    return op->emitOpError() << prefix
                             << "_c3: expected an alignment that is a power of "
                                "two, got "
                             << align;
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, "load", getValue().getType(),
                      cast<MemRefType>(getBase().getType()), getStride(),
                      getAlign());
}
StringRef LoadOp::getCallee() {
  return getPredicate() ? "dsv4::load_if" : "dsv4::load";
}
StringRef LoadOp::getHeader() { return "memory.cuh"; }

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, "store", getValue().getType(),
                      cast<MemRefType>(getBase().getType()), getStride(),
                      getAlign());
}
StringRef StoreOp::getCallee() {
  return getPolicy() == StorePolicy::Streaming ? "dsv4::store_streaming"
                                               : "dsv4::store";
}
StringRef StoreOp::getHeader() { return "memory.cuh"; }

//===----------------------------------------------------------------------===//
// expand, dequantize, swap_nibbles
//===----------------------------------------------------------------------===//

/// Whether every factor stands for whole chunks, or for equal parts of a chunk.
static bool covers(VectorType factors, VectorType tile) {
  if (factors.getRank() == 1)
    return tile.getDimSize(0) % factors.getDimSize(0) == 0;
  return factors.getDimSize(0) == tile.getDimSize(0) &&
         tile.getDimSize(1) % factors.getDimSize(1) == 0;
}

LogicalResult ExpandOp::verify() {
  auto tile = cast<VectorType>(getTile().getType());
  auto factors = cast<VectorType>(getFactors().getType());
  if (factors.getElementType() != tile.getElementType())
    return emitOpError() << "expand_c1: element types differ";
  if (!covers(factors, tile))
    return emitOpError() << "expand_c2: factors of " << factors
                         << " do not cover a tile of " << tile;
  return success();
}
StringRef ExpandOp::getCallee() {
  return cast<VectorType>(getFactors().getType()).getRank() == 1
             ? "dsv4::repeat"
             : "dsv4::expand";
}
StringRef ExpandOp::getHeader() { return "core.cuh"; }

LogicalResult DequantizeOp::verify() {
  auto tile = cast<VectorType>(getTile().getType());
  auto values = cast<VectorType>(getValues().getType());
  auto factors = cast<VectorType>(getFactors().getType());
  if (tile.getShape() != values.getShape() ||
      !(tile.getElementType().isF32() || tile.getElementType().isBF16()))
    return emitOpError() << "dequantize_c1: expected f32 or bf16 elements in "
                            "the shape of "
                         << values << ", got " << tile;
  if (!covers(factors, tile))
    return emitOpError() << "dequantize_c2: factors of " << factors
                         << " do not cover a tile of " << tile;
  return success();
}
StringRef DequantizeOp::getCallee() { return "dsv4::dequantize"; }
StringRef DequantizeOp::getHeader() { return "convert.cuh"; }

LogicalResult SwapNibblesOp::verify() {
  auto type = cast<VectorType>(getSource().getType());
  if (type.getElementTypeBitWidth() != 4 || type.getShape().back() % 2 != 0)
    return emitOpError()
           << "swap_nibbles_c1: expected an even number of elements "
              "of 4 bits, got "
           << type;
  return success();
}
StringRef SwapNibblesOp::getCallee() { return "dsv4::swap_nibbles"; }
StringRef SwapNibblesOp::getHeader() { return "core.cuh"; }

//===----------------------------------------------------------------------===//
// Programmatic dependent launch
//===----------------------------------------------------------------------===//

StringRef WaitForPredecessorsOp::getCallee() {
  return "dsv4::wait_for_predecessors";
}
StringRef WaitForPredecessorsOp::getHeader() { return "primitives.cuh"; }

StringRef LaunchSuccessorsOp::getCallee() { return "dsv4::launch_successors"; }
StringRef LaunchSuccessorsOp::getHeader() { return "primitives.cuh"; }

StringRef dsv4::getEmittedName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getEmittedName(part); !name.empty())
        return name;
  return "";
}

/// Functions, types and macros that both targets have without any include.
static bool isPredeclared(StringRef name) {
  static const llvm::StringSet<> library = {
      "abort",   "abs",     "assert",   "atexit",  "atof",     "atoi",
      "bsearch", "calloc",  "clock",    "dim3",    "div",      "exit",
      "fprintf", "fputc",   "fputs",    "free",    "fwrite",   "getenv",
      "isalnum", "isalpha", "isdigit",  "isspace", "labs",     "llabs",
      "main",    "malloc",  "max",      "memchr",  "memcmp",   "memcpy",
      "memmove", "memset",  "min",      "printf",  "putchar",  "puts",
      "qsort",   "rand",    "realloc",  "signal",  "snprintf", "sprintf",
      "srand",   "strcat",  "strchr",   "strcmp",  "strcpy",   "strlen",
      "strncmp", "strncpy", "system",   "time",    "tolower",  "toupper",
      "vprintf", "EOF",     "INFINITY", "NAN",     "NULL",     "linux",
      "unix"};
  // With f and l behind them, too.
  static const llvm::StringSet<> mathematics = {
      "acos",    "acosh",     "asin",      "asinh",    "atan",    "atan2",
      "atanh",   "cbrt",      "ceil",      "copysign", "cos",     "cosh",
      "cospi",   "erf",       "erfc",      "erfcinv",  "erfcx",   "erfinv",
      "exp",     "exp10",     "exp2",      "expm1",    "fabs",    "fdim",
      "fdivide", "floor",     "fma",       "fmax",     "fmin",    "fmod",
      "frexp",   "hypot",     "ilogb",     "j0",       "j1",      "jn",
      "ldexp",   "lgamma",    "llrint",    "llround",  "log",     "log10",
      "log1p",   "log2",      "logb",      "lrint",    "lround",  "modf",
      "nan",     "nearbyint", "nextafter", "norm",     "norm3d",  "norm4d",
      "pow",     "rcbrt",     "remainder", "remquo",   "rhypot",  "rint",
      "rnorm",   "round",     "rsqrt",     "saturate", "scalbln", "scalbn",
      "sin",     "sincos",    "sincospi",  "sinh",     "sinpi",   "sqrt",
      "tan",     "tanh",      "tgamma",    "trunc",    "y0",      "y1",
      "yn"};
  static const llvm::StringSet<> vectors = {
      "char", "uchar", "short",    "ushort",    "int",   "uint",
      "long", "ulong", "longlong", "ulonglong", "float", "double"};
  StringRef shorter = name.drop_back();
  return library.contains(name) || mathematics.contains(name) ||
         (mathematics.contains(shorter) &&
          (name.back() == 'f' || name.back() == 'l')) ||
         (vectors.contains(shorter) && llvm::isDigit(name.back()));
}

std::string dsv4::toIdentifier(StringRef name) {
  // Keywords, and what else the emitted text and its preludes reserve.
  static const llvm::StringSet<> reserved = {
      "alignas",   "alignof",  "and",      "asm",      "auto",      "bitand",
      "bitor",     "bool",     "break",    "case",     "catch",     "char",
      "class",     "compl",    "concept",  "const",    "consteval", "constexpr",
      "constinit", "continue", "decltype", "default",  "delete",    "do",
      "double",    "else",     "enum",     "explicit", "export",    "extern",
      "false",     "float",    "for",      "friend",   "goto",      "if",
      "inline",    "int",      "long",     "mutable",  "namespace", "new",
      "noexcept",  "not",      "nullptr",  "operator", "or",        "private",
      "protected", "public",   "register", "requires", "return",    "short",
      "signed",    "sizeof",   "static",   "struct",   "switch",    "template",
      "this",      "throw",    "true",     "try",      "typedef",   "typeid",
      "typename",  "union",    "unsigned", "using",    "virtual",   "void",
      "volatile",  "while",    "xor",      "dsv4",     "threadIdx", "blockIdx",
      "blockDim",  "gridDim",  "warpSize"};

  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()) || text.front() == '_' ||
      reserved.contains(text) || isPredeclared(text))
    text = "v_" + text;
  return text;
}

Location dsv4::stripNames(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return stripNames(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return FusedLoc::get(loc.getContext(),
                         llvm::map_to_vector(fused.getLocations(), stripNames));
  return loc;
}
