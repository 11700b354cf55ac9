//===- Identifiers.cpp - Names and text in emitted source -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace dsv4;
using llvm::StringRef;

/// Keywords, and what else the emitted text and its preludes reserve.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> reserved = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
      "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
      "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof",
      "static", "static_assert", "static_cast", "std", "struct", "switch",
      "template", "this", "thread_local", "throw", "true", "try", "typedef",
      "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
      "volatile", "wchar_t", "while", "xor", "xor_eq",
      // What CUDA C++ and the device library bring along.
      "dsv4", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"};
  return reserved.contains(name);
}

/// Functions, types and macros of C and CUDA that both targets have without any
/// include.
static constexpr StringRef kLibraryNames[] = {"abort",
                                              "abs",
                                              "assert",
                                              "atexit",
                                              "atof",
                                              "atoi",
                                              "bsearch",
                                              "calloc",
                                              "clock",
                                              "clock64",
                                              "clock_t",
                                              "dim3",
                                              "div",
                                              "exit",
                                              "fprintf",
                                              "fputc",
                                              "fputs",
                                              "free",
                                              "fwrite",
                                              "getenv",
                                              "isalnum",
                                              "isalpha",
                                              "isdigit",
                                              "isspace",
                                              "labs",
                                              "llabs",
                                              "llmax",
                                              "llmin",
                                              "main",
                                              "malloc",
                                              "max",
                                              "memchr",
                                              "memcmp",
                                              "memcpy",
                                              "memmove",
                                              "memset",
                                              "min",
                                              "printf",
                                              "ptrdiff_t",
                                              "putchar",
                                              "puts",
                                              "qsort",
                                              "rand",
                                              "realloc",
                                              "signal",
                                              "size_t",
                                              "snprintf",
                                              "sprintf",
                                              "srand",
                                              "strcat",
                                              "strchr",
                                              "strcmp",
                                              "strcpy",
                                              "strlen",
                                              "strncmp",
                                              "strncpy",
                                              "system",
                                              "time",
                                              "tolower",
                                              "toupper",
                                              "ullmax",
                                              "ullmin",
                                              "umax",
                                              "umin",
                                              "vprintf",
                                              "EOF",
                                              "INFINITY",
                                              "NAN",
                                              "NULL",
                                              "linux",
                                              "unix",
                                              "WARP_SZ",
                                              "A7",
                                              "MAJOR_VERSION",
                                              "MINOR_VERSION",
                                              "PATCH_LEVEL",
                                              "libraryPropertyType"};

/// Functions of <math.h>; each is also reserved with the suffix f or l.
static constexpr StringRef kMathematicsNames[] = {
    "acos",     "acosh",      "asin",      "asinh",    "atan",      "atan2",
    "atanh",    "cbrt",       "ceil",      "copysign", "cos",       "cosh",
    "cospi",    "erf",        "erfc",      "erfcinv",  "erfcx",     "erfinv",
    "exp",      "exp10",      "exp2",      "expm1",    "fabs",      "fdim",
    "fdivide",  "floor",      "fma",       "fmax",     "fmin",      "fmod",
    "frexp",    "hypot",      "ilogb",     "j0",       "j1",        "jn",
    "ldexp",    "lgamma",     "llrint",    "llround",  "log",       "log10",
    "log1p",    "log2",       "logb",      "lrint",    "lround",    "modf",
    "nan",      "nearbyint",  "nextafter", "norm",     "norm3d",    "norm4d",
    "normcdf",  "normcdfinv", "pow",       "rcbrt",    "remainder", "remquo",
    "rhypot",   "rint",       "rnorm",     "rnorm3d",  "rnorm4d",   "round",
    "rsqrt",    "saturate",   "scalbln",   "scalbn",   "sin",       "sincos",
    "sincospi", "sinh",       "sinpi",     "sqrt",     "tan",       "tanh",
    "tgamma",   "trunc",      "y0",        "y1",       "yn"};

/// Element types of CUDA's vector types; a digit follows.
static constexpr StringRef kVectorTypes[] = {
    "char", "uchar", "short",    "ushort",    "int",   "uint",
    "long", "ulong", "longlong", "ulonglong", "float", "double"};

/// Functions, types and macros that both targets have without any include, and
/// kernel names that NVRTC cannot compile: WARP_SZ is a constant of PTX, and
/// NVRTC 13.0 crashes on any kernel that is called A7.
static bool isPredeclared(StringRef name) {
  static const llvm::StringSet<> library(llvm::from_range, kLibraryNames);
  static const llvm::StringSet<> mathematics(llvm::from_range,
                                             kMathematicsNames);
  static const llvm::StringSet<> vectors(llvm::from_range, kVectorTypes);
  // "cudaError_t", "CUDA_R_16F"; but not "cuda_gather".
  if (name.starts_with("cuda") && name.size() > 4 && llvm::isUpper(name[4]))
    return true;
  static constexpr StringRef families[] = {
      "atomic", "cyl_bessel_", "va_",       "CUDA",     "CU_",
      "CUuuid", "NV_",         "dsv4_host", "DSV4_HOST"};
  if (llvm::any_of(families,
                   [&](StringRef family) { return name.starts_with(family); }))
    return true;
  StringRef shorter = name.drop_back();
  return library.contains(name) || mathematics.contains(name) ||
         (mathematics.contains(shorter) &&
          (name.back() == 'f' || name.back() == 'l')) ||
         (vectors.contains(shorter) && llvm::isDigit(name.back()));
}

bool dsv4::isEmittableIdentifier(StringRef name) {
  auto isWordCharacter = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && name.size() <= kMaxIdentifierLength &&
         llvm::isAlpha(name.front()) && llvm::all_of(name, isWordCharacter) &&
         !isReserved(name) && !isPredeclared(name);
}

std::string dsv4::toIdentifier(StringRef name) {
  std::string text;
  for (char c : name.take_front(kMaxIdentifierLength))
    text += llvm::isAlnum(c) ? c : '_';
  if (isEmittableIdentifier(text))
    return text;
  // Nothing that begins so is taken.
  text.insert(0, "v_");
  text.resize(std::min(text.size(), kMaxIdentifierLength));
  return text;
}

/// Longest text from IR in a comment or literal.
static constexpr size_t kMaxTextLength = 1000;

/// `text` with '_' for every byte that is not printable ASCII or is in
/// `special`. A backslash would join lines; so would a trigraph, for a compiler
/// that is asked to know them.
static std::string keepPrintable(StringRef text, StringRef special) {
  std::string shown;
  for (char c : text.take_front(kMaxTextLength)) {
    bool isTrigraph = c == '?' && !shown.empty() && shown.back() == '?';
    bool isKept = llvm::isPrint(c) && !special.contains(c) && !isTrigraph;
    shown += isKept ? c : '_';
  }
  return shown;
}

std::string dsv4::toCommentText(StringRef text) {
  return keepPrintable(text, "\\");
}

std::string dsv4::toStringLiteral(StringRef text) {
  return "\"" + keepPrintable(text, "\\\"") + "\"";
}
