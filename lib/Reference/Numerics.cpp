//===- Numerics.cpp - Number formats from their definitions ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Numerics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace dsv4::reference;

static_assert(std::numeric_limits<float>::is_iec559 &&
                  std::numeric_limits<double>::is_iec559,
              "the oracle needs IEEE 754 fp32 and fp64");

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

namespace {

/// The fields of a binary floating-point format, from the top bit down: sign
/// (unless unsigned), exponent, mantissa.
struct Fields {
  int exponentBits;
  int mantissaBits;
  int bias;
  uint32_t largest; ///< Code of the largest finite value, sign bit clear.
  bool infinities;  ///< The code after `largest` is infinity, then come NaNs.
  bool saturates;   ///< Encoding goes to `largest` where IEEE goes to infinity.
};

} // namespace

/// Not for E8M0FNU and integers, which have neither sign bit nor subnormals.
static Fields fieldsOf(Format format) {
  switch (format) {
  case Format::F32:
    return {8, 23, 127, 0x7F7FFFFF, true, false};
  case Format::BF16:
    return {8, 7, 127, 0x7F7F, true, false};
  case Format::F16:
    return {5, 10, 15, 0x7BFF, true, false};
  case Format::E5M2:
    return {5, 2, 15, 0x7B, true, true};
  case Format::E4M3FN:
    return {4, 3, 7, 0x7E, false, true};
  case Format::E2M1:
    return {2, 1, 1, 0x7, false, true};
  case Format::E8M0FNU:
  case Format::Int4:
  case Format::Int8:
  case Format::Int32:
    break;
  }
  assert(false && "a format without sign, exponent and mantissa");
  return {};
}

unsigned dsv4::reference::bitWidth(Format format) {
  switch (format) {
  case Format::F32:
  case Format::Int32:
    return 32;
  case Format::BF16:
  case Format::F16:
    return 16;
  case Format::E5M2:
  case Format::E4M3FN:
  case Format::E8M0FNU:
  case Format::Int8:
    return 8;
  case Format::E2M1:
  case Format::Int4:
    return 4;
  }
  assert(false && "unknown format");
  return 0;
}

uint32_t dsv4::reference::largestFinite(Format format) {
  if (format == Format::E8M0FNU)
    return 0xFE;
  if (format == Format::Int4)
    return 0x7;
  if (format == Format::Int8)
    return 0x7F;
  return fieldsOf(format).largest;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

uint32_t dsv4::reference::loadCode(Format format, const char *bytes,
                                   int64_t index) {
  unsigned width = bitWidth(format);
  if (width == 4)
    return uint8_t(bytes[index / 2]) >> (index % 2 * 4) & 0xF;
  uint32_t code = 0;
  std::memcpy(&code, bytes + index * (width / 8), width / 8);
  return code;
}

double dsv4::reference::decode(Format format, uint32_t code) {
  assert(uint64_t(code) >> bitWidth(format) == 0 && "code too wide");
  if (format == Format::Int4)
    return code < 8 ? double(code) : double(code) - 16;
  if (format == Format::Int8)
    return double(int8_t(code));
  if (format == Format::E8M0FNU)
    return code == 0xFF ? kNaN : std::ldexp(1.0, int(code) - 127);

  Fields fields = fieldsOf(format);
  uint32_t signBit = uint32_t(1) << (fields.exponentBits + fields.mantissaBits);
  double sign = code & signBit ? -1 : 1;
  uint32_t magnitude = code & (signBit - 1);
  if (magnitude > fields.largest)
    return fields.infinities && magnitude == fields.largest + 1
               ? sign * kInfinity
               : kNaN;

  uint32_t hidden = uint32_t(1) << fields.mantissaBits;
  uint32_t mantissa = magnitude & (hidden - 1);
  int exponent = int(magnitude >> fields.mantissaBits);
  if (exponent == 0) // A subnormal: no hidden bit, the minimum exponent.
    exponent = 1;
  else
    mantissa |= hidden;
  return sign * std::ldexp(double(mantissa),
                           exponent - fields.bias - fields.mantissaBits);
}

double dsv4::reference::decodeF32(uint32_t code) {
  return decode(Format::F32, code);
}
double dsv4::reference::decodeBF16(uint16_t code) {
  return decode(Format::BF16, code);
}
double dsv4::reference::decodeF16(uint16_t code) {
  return decode(Format::F16, code);
}
double dsv4::reference::decodeE5M2(uint8_t code) {
  return decode(Format::E5M2, code);
}
double dsv4::reference::decodeE4M3FN(uint8_t code) {
  return decode(Format::E4M3FN, code);
}
double dsv4::reference::decodeE8M0FNU(uint8_t code) {
  return decode(Format::E8M0FNU, code);
}
double dsv4::reference::decodeE2M1(uint8_t nibble) {
  return decode(Format::E2M1, nibble);
}
double dsv4::reference::decodeInt4(uint8_t nibble) {
  return decode(Format::Int4, nibble);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Rounds `value`, not negative and below 2^52, to an integer. Every step is
/// exact; std::nearbyint would depend on the rounding mode.
static uint32_t roundToInteger(double value, Rounding rounding) {
  double below = std::floor(value);
  double rest = value - below;
  uint32_t integer = uint32_t(below);
  bool tieUp = rounding == Rounding::NearestEven && integer % 2 == 1;
  bool up = rounding == Rounding::Up ? rest > 0
                                     : rest > 0.5 || (rest == 0.5 && tieUp);
  return integer + up;
}

/// Two's complement of `bits` bits, saturating.
static uint32_t encodeInteger(double value, unsigned bits, Rounding rounding) {
  if (std::isnan(value))
    return 0;
  bool negative = value < 0;
  double limit = std::ldexp(1.0, bits - 1);
  double magnitude = std::min(std::fabs(value), negative ? limit : limit - 1);
  uint32_t integer = roundToInteger(magnitude, rounding);
  uint32_t range = uint32_t(1) << bits;
  return (negative ? range - integer : integer) & (range - 1);
}

static uint32_t encodePowerOfTwo(double value, Rounding rounding) {
  if (std::isnan(value))
    return 0xFF;
  if (value <= std::ldexp(1.0, -127))
    return 0;
  if (value >= std::ldexp(1.0, 127))
    return 0xFE;
  int exponent = std::ilogb(value);
  // The significand, in [1, 2), becomes 1 or 2.
  uint32_t significand = roundToInteger(std::ldexp(value, -exponent), rounding);
  return uint32_t(exponent + 127) + significand - 1;
}

uint32_t dsv4::reference::encode(Format format, double value,
                                 Rounding rounding) {
  if (format == Format::Int4 || format == Format::Int8)
    return encodeInteger(value, bitWidth(format), rounding);
  if (format == Format::E8M0FNU)
    return encodePowerOfTwo(value, rounding);

  Fields fields = fieldsOf(format);
  uint32_t signBit = uint32_t(1) << (fields.exponentBits + fields.mantissaBits);
  if (std::isnan(value))
    return signBit - 1;
  uint32_t sign = std::signbit(value) ? signBit : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;

  uint32_t beyond = fields.saturates ? fields.largest : fields.largest + 1;
  if (std::isinf(magnitude))
    return sign | beyond;

  // Measured in units in the last place of its binade (of the smallest one for
  // a subnormal), a value is an integer plus the part that rounding decides.
  // Codes are consecutive across binades, so a carry lands on the right code.
  int min = 1 - fields.bias;
  int exponent = std::max(std::ilogb(magnitude), min);
  if (exponent > 128) // 2^129 is beyond every format.
    return sign | beyond;
  uint32_t units = roundToInteger(
      std::ldexp(magnitude, fields.mantissaBits - exponent), rounding);
  uint32_t code = (uint32_t(exponent - min) << fields.mantissaBits) + units;
  return sign | (code > fields.largest ? beyond : code);
}

float dsv4::reference::roundToF32(double value) { return float(value); }

float dsv4::reference::addF32(float a, float b) {
  return roundToF32(double(a) + double(b));
}
float dsv4::reference::subF32(float a, float b) {
  return roundToF32(double(a) - double(b));
}
float dsv4::reference::mulF32(float a, float b) {
  return roundToF32(double(a) * double(b));
}
float dsv4::reference::divF32(float a, float b) {
  return roundToF32(double(a) / double(b));
}
float dsv4::reference::sqrtF32(float value) {
  return roundToF32(std::sqrt(double(value)));
}

float dsv4::reference::expF32(float x) {
  assert(!(x > 0) && "the power is made for weights of at most 1");
  if (std::isnan(x))
    return std::numeric_limits<float>::quiet_NaN();
  if (x < -87)
    return 0;
  constexpr float kLog2E = 0x1.715476p+0f;
  // What is left of an integer after 1.5 * 2^23 is added and taken away.
  constexpr float kInteger = 12582912.0f;
  float k = std::fmaf(x, kLog2E, kInteger) - kInteger;
  float f = std::fmaf(x, kLog2E, -k);
  float p = std::fmaf(f, 0x1.5bba14p-10f, 0x1.3cea88p-7f);
  p = std::fmaf(p, f, 0x1.c6b752p-5f);
  p = std::fmaf(p, f, 0x1.ebf9bcp-3f);
  p = std::fmaf(p, f, 0x1.62e42ap-1f);
  p = std::fmaf(p, f, 1.0f);
  return mulF32(p, std::ldexp(1.0f, int(k)));
}

uint16_t dsv4::reference::encodeBF16(float value) {
  return uint16_t(encode(Format::BF16, value));
}
uint8_t dsv4::reference::encodeE4M3FN(double value, Rounding rounding) {
  return uint8_t(encode(Format::E4M3FN, value, rounding));
}
uint8_t dsv4::reference::encodeE2M1(double value, Rounding rounding) {
  return uint8_t(encode(Format::E2M1, value, rounding));
}
uint8_t dsv4::reference::encodeE8M0FNU(double value, Rounding rounding) {
  return uint8_t(encode(Format::E8M0FNU, value, rounding));
}

//===----------------------------------------------------------------------===//
// Dequantisation
//===----------------------------------------------------------------------===//

uint16_t dsv4::reference::scaledToBF16(double element,
                                       llvm::ArrayRef<float> scales) {
  assert((std::isnan(element) || double(float(element)) == element) &&
         "element is not a value of fp32");
  float value = float(element);
  for (float scale : scales)
    value = roundToF32(double(value) * double(scale)); // 24 + 24 bits: exact.
  return encodeBF16(value);
}

//===----------------------------------------------------------------------===//
// Random data
//===----------------------------------------------------------------------===//

uint64_t Random::next() {
  state += 0x9E3779B97F4A7C15;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

uint64_t Random::below(uint64_t bound) {
  assert(bound > 0 && "an empty range");
  // The first 2^64 mod `bound` numbers would make small remainders likelier.
  uint64_t excess = (0 - bound) % bound;
  uint64_t number;
  do
    number = next();
  while (number < excess);
  return number % bound;
}

double Random::unit() { return std::ldexp(double(next() >> 11), -53); }

/// Stores `count` codes made by `make`, packed as the header says.
template <typename MakeCode>
static std::vector<uint8_t> packCodes(Format format, size_t count,
                                      MakeCode make) {
  unsigned width = bitWidth(format);
  std::vector<uint8_t> bytes;
  if (width == 4) {
    bytes.assign(count / 2 + count % 2, 0);
    for (size_t i = 0; i < count; ++i)
      bytes[i / 2] |= uint8_t(make() << (i % 2 * 4));
    return bytes;
  }
  bytes.reserve(count * (width / 8));
  for (size_t i = 0; i < count; ++i) {
    uint32_t code = make();
    for (unsigned bit = 0; bit < width; bit += 8)
      bytes.push_back(uint8_t(code >> bit));
  }
  return bytes;
}

std::vector<uint8_t> dsv4::reference::randomElements(Format format,
                                                     size_t count,
                                                     Random &random,
                                                     Codes codes) {
  unsigned drop = 64 - bitWidth(format);
  auto allowed = [&](uint32_t code) {
    if (codes == Codes::All)
      return true;
    double value = decode(format, code);
    return !std::isnan(value) &&
           (codes == Codes::NoNaN || std::isfinite(value));
  };
  return packCodes(format, count, [&] {
    uint32_t code;
    do
      code = uint32_t(random.next() >> drop);
    while (!allowed(code));
    return code;
  });
}

std::vector<uint8_t> dsv4::reference::randomReals(Format format, size_t count,
                                                  Random &random,
                                                  double limit) {
  return packCodes(format, count, [&] {
    // 2u - 1 is exact, so a fused multiply-add cannot change it.
    return encode(format, limit * (2 * random.unit() - 1));
  });
}

std::vector<uint8_t> dsv4::reference::randomScales(Format format, size_t count,
                                                   Random &random,
                                                   int minExponent,
                                                   int maxExponent) {
  assert(minExponent <= maxExponent && "an empty range of scales");
  uint32_t last = largestFinite(format);
  // Positive codes ascend with their values; code 0 is zero, except in E8M0FNU.
  uint32_t first = format == Format::E8M0FNU ? 0 : 1;
  auto nearest = [&](int exponent) {
    uint32_t code = encode(format, std::ldexp(1.0, exponent));
    return std::min(std::max(code, first), last);
  };
  uint32_t low = nearest(minExponent), high = nearest(maxExponent);
  return packCodes(format, count, [&] {
    return low + uint32_t(random.below(uint64_t(high) - low + 1));
  });
}
