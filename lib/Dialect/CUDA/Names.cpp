//===- Names.cpp - Names in the emitted text ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values carry theirs in their locations. What a user calls a function,
// argument or dim becomes an identifier that both compilers accept.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

StringRef dsv4::getEmittedName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getEmittedName(part); !name.empty())
        return name;
  return "";
}

Location dsv4::stripNames(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return stripNames(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return FusedLoc::get(loc.getContext(),
                         llvm::map_to_vector(fused.getLocations(), stripNames));
  return loc;
}

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

/// Keywords, and what else the emitted text and its preludes reserve.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> reserved = {
      "alignas",       "alignof",      "and",
      "and_eq",        "asm",          "auto",
      "bitand",        "bitor",        "bool",
      "break",         "case",         "catch",
      "char",          "char16_t",     "char32_t",
      "char8_t",       "class",        "co_await",
      "co_return",     "co_yield",     "compl",
      "concept",       "const",        "const_cast",
      "consteval",     "constexpr",    "constinit",
      "continue",      "decltype",     "default",
      "delete",        "do",           "double",
      "dynamic_cast",  "else",         "enum",
      "explicit",      "export",       "extern",
      "false",         "float",        "for",
      "friend",        "goto",         "if",
      "inline",        "int",          "long",
      "mutable",       "namespace",    "new",
      "noexcept",      "not",          "not_eq",
      "nullptr",       "operator",     "or",
      "or_eq",         "private",      "protected",
      "public",        "register",     "reinterpret_cast",
      "requires",      "return",       "short",
      "signed",        "sizeof",       "static",
      "static_assert", "static_cast",  "std",
      "struct",        "switch",       "template",
      "this",          "thread_local", "throw",
      "true",          "try",          "typedef",
      "typeid",        "typename",     "union",
      "unsigned",      "using",        "virtual",
      "void",          "volatile",     "wchar_t",
      "while",         "xor",          "xor_eq",
      "dsv4",          "threadIdx",    "blockIdx",
      "blockDim",      "gridDim",      "warpSize"};
  return reserved.contains(name);
}

/// Functions, types and macros that both targets have without any include.
static bool isPredeclared(StringRef name) {
  static const llvm::StringSet<> library = {
      "abort",    "abs",     "assert",    "atexit",  "atof",     "atoi",
      "bsearch",  "calloc",  "clock",     "clock64", "clock_t",  "dim3",
      "div",      "exit",    "fprintf",   "fputc",   "fputs",    "free",
      "fwrite",   "getenv",  "isalnum",   "isalpha", "isdigit",  "isspace",
      "labs",     "llabs",   "llmax",     "llmin",   "main",     "malloc",
      "max",      "memchr",  "memcmp",    "memcpy",  "memmove",  "memset",
      "min",      "printf",  "ptrdiff_t", "putchar", "puts",     "qsort",
      "rand",     "realloc", "signal",    "size_t",  "snprintf", "sprintf",
      "srand",    "strcat",  "strchr",    "strcmp",  "strcpy",   "strlen",
      "strncmp",  "strncpy", "system",    "time",    "tolower",  "toupper",
      "ullmax",   "ullmin",  "umax",      "umin",    "vprintf",  "EOF",
      "INFINITY", "NAN",     "NULL",      "linux",   "unix"};
  // With f and l behind them, too.
  static const llvm::StringSet<> mathematics = {
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
  static const llvm::StringSet<> vectors = {
      "char", "uchar", "short",    "ushort",    "int",   "uint",
      "long", "ulong", "longlong", "ulonglong", "float", "double"};
  static constexpr StringRef families[] = {
      "atomic", "cudaRound", "cyl_bessel_", "va_",
      "CUDART", "NV_IF_",    "dsv4_host",   "DSV4_HOST"};
  if (llvm::any_of(families,
                   [&](StringRef family) { return name.starts_with(family); }))
    return true;
  StringRef shorter = name.drop_back();
  return library.contains(name) || mathematics.contains(name) ||
         (mathematics.contains(shorter) &&
          (name.back() == 'f' || name.back() == 'l')) ||
         (vectors.contains(shorter) && llvm::isDigit(name.back()));
}

std::string dsv4::toIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()) || text.front() == '_' ||
      isReserved(text) || isPredeclared(text))
    text = "v_" + text;
  return text;
}
