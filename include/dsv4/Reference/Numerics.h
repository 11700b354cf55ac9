//===- Numerics.h - Number formats from their definitions -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle's arithmetic: each storage format straight from its definition, in
// double precision, where every value of every format and every product of two
// fp32 numbers is exact. It shares no code with the compiler, the device
// library or LLVM's APFloat, so that agreement with them is evidence.
//
// A code is the bit pattern of one element, right-aligned; values are unitless.
//
//   format    bits  sign exponent mantissa  bias  largest   specials
//   F32        32     1     8        23      127  ~3.4e38   infinities, NaN
//   BF16       16     1     8         7      127  ~3.4e38   infinities, NaN
//   F16        16     1     5        10       15  65504     infinities, NaN
//   E5M2        8     1     5         2       15  57344     infinities, NaN
//   E4M3FN      8     1     4         3        7  448       NaN: 0x7F, 0xFF
//   E8M0FNU     8     0     8         0      127  2^127     NaN: 0xFF; no zero
//   E2M1        4     1     2         1        1  6         none
//   Int4        4     two's complement             7 (-8)    none
//   Int8        8     two's complement           127 (-128)  none
//   Int32      32     bits that are only copied
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_NUMERICS_H
#define DSV4_REFERENCE_NUMERICS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dsv4::reference {

enum class Format {
  F32,
  BF16,
  F16,
  E5M2,
  E4M3FN,
  E8M0FNU,
  E2M1,
  Int4,
  Int8,
  Int32
};

/// Width of one element in bits: 4, 8, 16 or 32.
unsigned bitWidth(Format format);

/// The code of the largest finite value.
uint32_t largestFinite(Format format);

//===----------------------------------------------------------------------===//
// Decoding: code -> value
//===----------------------------------------------------------------------===//

/// The value of `code`, exact; infinities and NaN as themselves, -0 as -0.
/// `code` must fit the format's width.
double decode(Format format, uint32_t code);

double decodeF32(uint32_t code);
double decodeBF16(uint16_t code);
double decodeF16(uint16_t code);
double decodeE5M2(uint8_t code);
double decodeE4M3FN(uint8_t code);
/// 2^(code - 127); 0xFF is NaN. There is no zero and no sign.
double decodeE8M0FNU(uint8_t code);
/// One nibble, 0 to 15.
double decodeE2M1(uint8_t nibble);
/// One nibble, 0 to 15, as two's complement: -8 to 7.
double decodeInt4(uint8_t nibble);

/// The code of element `index` of elements that lie side by side: two 4-bit
/// ones per byte, the even index in the low nibble.
uint32_t loadCode(Format format, const char *bytes, int64_t index);

//===----------------------------------------------------------------------===//
// Encoding: value -> code
//===----------------------------------------------------------------------===//

enum class Rounding {
  NearestEven, ///< To nearest, ties to the even significand.
  NearestDown, ///< To nearest, ties towards zero.
  Up,          ///< Away from zero: a scale never shrinks.
};

/// The code of `value` after one rounding.
///
/// - Above the largest finite value: F32, BF16 and F16 go to infinity as IEEE
///   754 says; all others saturate, infinities included, to the largest finite
///   value of that sign.
/// - NaN: the canonical NaN 0x7F..F (E8M0FNU: 0xFF). E2M1 has none and gives
/// its
///   largest value, 0x7, as the conversion instruction does; integers give 0.
/// - The sign of zero is kept, except by integers and E8M0FNU.
/// - E8M0FNU: everything below 2^-127, zero and negative values included, is
/// code
///   0. A significand has one bit there, so every tie goes to the larger power.
uint32_t encode(Format format, double value,
                Rounding rounding = Rounding::NearestEven);

/// Nearest fp32, ties to even: the language's own conversion.
float roundToF32(double value);

/// fp32 operations, rounded once to nearest even. They go through double: its
/// 53 bits are enough for that second rounding to change nothing (>= 2 * 24 +
/// 2), and no compiler can fuse two of them.
float addF32(float a, float b);
float subF32(float a, float b);
float mulF32(float a, float b);
float divF32(float a, float b);
float sqrtF32(float value);

/// exp of x <= 0 (or NaN) by a polynomial for 2^f with |f| <= 1/2, of the same
/// bits everywhere; 0 below -87.
float expF32(float x);

/// The functions of dsv4.gate.
float sqrtSoftplusF32(float x);
float sigmoidF32(float x);

/// fp32 -> BF16, ties to even; overflow to infinity; every NaN is 0x7FFF.
uint16_t encodeBF16(float value);
/// Saturates to +-448.
uint8_t encodeE4M3FN(double value, Rounding rounding = Rounding::NearestEven);
/// Saturates to +-6; a nibble.
uint8_t encodeE2M1(double value, Rounding rounding = Rounding::NearestEven);
/// Saturates to [2^-127, 2^127].
uint8_t encodeE8M0FNU(double value, Rounding rounding = Rounding::NearestEven);

//===----------------------------------------------------------------------===//
// Dequantisation
//===----------------------------------------------------------------------===//

/// The written rule for a scaled element read as BF16:
///
///   v = element; for each scale, in order: v = fp32(v * scale); BF16(v)
///
/// with both roundings to nearest, ties to even. The product is exact before
/// its rounding. Any NaN gives 0x7FFF; overflow gives infinity at the step
/// where it happens. `element` must be a value of fp32 (every format's values
/// are).
uint16_t scaledToBF16(double element, llvm::ArrayRef<float> scales);

//===----------------------------------------------------------------------===//
// Random data
//===----------------------------------------------------------------------===//

/// SplitMix64. The same seed gives the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  /// Uniform over all 64-bit numbers.
  uint64_t next();
  /// Uniform over [0, bound), without bias; `bound` must be positive.
  uint64_t below(uint64_t bound);
  /// Uniform over the multiples of 2^-53 in [0, 1).
  double unit();

private:
  uint64_t state;
};

/// Which codes random elements may have.
enum class Codes {
  Finite, ///< No infinity, no NaN.
  NoNaN,  ///< Infinities too, where the format has them.
  All,    ///< Every bit pattern.
};

// Each of the following returns `count` elements as they lie in memory: 16 and
// 32 bits wide little-endian; two 4-bit elements to a byte, the even index in
// the low nibble (an odd count leaves the last high nibble zero).

/// Elements whose codes are uniform over those allowed.
std::vector<uint8_t> randomElements(Format format, size_t count, Random &random,
                                    Codes codes = Codes::Finite);

/// Elements nearest to reals uniform over [-limit, limit).
std::vector<uint8_t> randomReals(Format format, size_t count, Random &random,
                                 double limit = 4);

/// Positive scales with codes uniform over the values in [2^minExponent,
/// 2^maxExponent], which is cut to the format's own range. Exponents are those
/// of two; |exponent| <= 1000.
std::vector<uint8_t> randomScales(Format format, size_t count, Random &random,
                                  int minExponent = -6, int maxExponent = 6);

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_NUMERICS_H
