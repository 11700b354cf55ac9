//===- primitives.cuh - What the machine computes ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of a thread and exchanges with its neighbours, in inline PTX or
// CUDA builtins, one small function each; accesses.cuh has memory and launches.
// The other files of the library are plain C++ on top of these two. The host
// target has its own two files with the same names and meanings.
//
// Registers are 32-bit words, little endian.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

// The same 32 bits as another type.
__device__ __forceinline__ float as_float(unsigned bits) {
  return __uint_as_float(bits);
}
__device__ __forceinline__ unsigned as_unsigned(float value) {
  return __float_as_uint(value);
}

// Four bytes chosen from the eight bytes b:a; nibble i of `selector` (0..7)
// names the source of byte i. With bit 3 of the nibble, byte i is eight times
// the upper bit of that source.
__device__ __forceinline__ unsigned permute_bytes(unsigned a, unsigned b,
                                                  unsigned selector) {
  unsigned bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(selector));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Arithmetic: one rounding per operation, never contracted into an fma
//===----------------------------------------------------------------------===//

__device__ __forceinline__ float add_f32(float a, float b) {
  return __fadd_rn(a, b);
}
__device__ __forceinline__ float sub_f32(float a, float b) {
  return __fsub_rn(a, b);
}
__device__ __forceinline__ float mul_f32(float a, float b) {
  return __fmul_rn(a, b);
}
// Computed in double precision and rounded once more, which is exact: no
// quotient of two floats is so near to the middle of two others. Subnormal
// numbers, zeros and infinities then need no branch, and no subroutine, which
// takes long to compile.
__device__ __forceinline__ float div_f32(float a, float b) {
  float quotient;
  // The remainder is 0 if the quotient is exact, and NaN if it is infinite or
  // NaN, or if the divisor is infinite. Arithmetic in single precision has one
  // NaN.
  asm("{\n\t.reg .pred p;\n\t.reg .f64 x, y, r, q, e;\n\t"
      "cvt.f64.f32 x, %1;\n\tcvt.f64.f32 y, %2;\n\t"
      "rcp.approx.ftz.f64 r, y;\n\tmul.rn.f64 q, x, r;\n\t"
      "neg.f64 y, y;\n\tfma.rn.f64 x, q, y, x;\n\t"
      "fma.rn.f64 e, r, y, 0d3FF0000000000000;\n\tfma.rn.f64 r, r, e, r;\n\t"
      "setp.ne.f64 p, x, 0d0000000000000000;\n\t"
      "@p fma.rn.f64 q, x, r, q;\n\tcvt.rn.f32.f64 %0, q;\n\t"
      "setp.num.f32 p, %0, %0;\n\tselp.f32 %0, %0, 0f7FFFFFFF, p;\n\t}"
      : "=f"(quotient)
      : "f"(a), "f"(b));
  return quotient;
}

// The same in fewer registers, with a subroutine for rare cases.
__device__ __forceinline__ float div_few_registers_f32(float a, float b) {
  return __fdiv_rn(a, b);
}

// a * b + c, rounded once.
__device__ __forceinline__ float fma_f32(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}

// Rounded to nearest.
__device__ __forceinline__ float sqrt_f32(float a) { return __fsqrt_rn(a); }

// The same for values of at least 2^-100, without the branch for smaller ones,
// so that several roots overlap.
__device__ __forceinline__ float sqrt_large_f32(float a) {
  float root;
  asm("{\n\t.reg .pred p;\n\t.reg .f32 i, r, e;\n\t"
      "rsqrt.approx.ftz.f32 i, %1;\n\tmul.rn.f32 r, %1, i;\n\t"
      "mul.rn.f32 i, i, 0f3F000000;\n\tneg.f32 e, r;\n\t"
      "fma.rn.f32 e, e, r, %1;\n\tfma.rn.f32 r, e, i, r;\n\t"
      "setp.eq.f32 p, %1, 0f7F800000;\n\tselp.f32 %0, %1, r, p;\n\t}"
      : "=f"(root)
      : "f"(a));
  return root;
}

// The inverse within 1 ulp; zero if it would be subnormal.
__device__ __forceinline__ float rcp_approx_f32(float a) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(a));
  return inverse;
}

// Within 2 ulp, if b is from 2^-126 to 2^126.
__device__ __forceinline__ float div_approx_f32(float a, float b) {
  float quotient;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
  return quotient;
}

__device__ __forceinline__ float abs_f32(float a) { return fabsf(a); }

// A NaN loses against a number.
__device__ __forceinline__ float min_f32(float a, float b) {
  return fminf(a, b);
}
__device__ __forceinline__ float max_f32(float a, float b) {
  return fmaxf(a, b);
}

// One bit for each of four values: whether it is not below the bound.
__device__ __forceinline__ unsigned reach_f32(const float *values,
                                              float least) {
  unsigned bits;
  asm("{\n\t.reg .u32 a, b, c, d;\n\t"
      "set.ge.u32.f32 a, %1, %5;\n\tset.ge.u32.f32 b, %2, %5;\n\t"
      "set.ge.u32.f32 c, %3, %5;\n\tset.ge.u32.f32 d, %4, %5;\n\t"
      "and.b32 a, a, 1;\n\tlop3.b32 a, b, 2, a, 0xEA;\n\t"
      "lop3.b32 a, c, 4, a, 0xEA;\n\tlop3.b32 %0, d, 8, a, 0xEA;\n\t}"
      : "=r"(bits)
      : "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3]),
        "f"(least));
  return bits;
}

// The larger one, NaN if one is NaN.
__device__ __forceinline__ float max_nan_f32(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
// The same for pairs of bf16. In the first a NaN loses, in the second it wins.
__device__ __forceinline__ unsigned max_bf16x2(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
__device__ __forceinline__ unsigned max_nan_bf16x2(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}

// The same for pairs of f16.
__device__ __forceinline__ unsigned max_f16x2(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
__device__ __forceinline__ unsigned max_nan_f16x2(unsigned a, unsigned b) {
  unsigned larger;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}

//===----------------------------------------------------------------------===//
// Exchanges between lanes: groups of `Lanes` lanes, an aligned power of two
//===----------------------------------------------------------------------===//

template <int Lanes>
__device__ __forceinline__ unsigned lane_group() {
  return Lanes == 32
             ? 0xFFFFFFFFu
             : ((1u << Lanes % 32) - 1) << (threadIdx.x % 32 / Lanes * Lanes);
}
// The word of the lane whose number differs in the bit `distance`. All lanes of
// the group take part.
template <int Lanes, typename Word>
__device__ __forceinline__ Word exchange(Word word, int distance) {
  return __shfl_xor_sync(lane_group<Lanes>(), word, distance);
}
// The word of lane `lane` among the `Width` neighbours that include this lane.
template <int Lanes, int Width, typename Word>
__device__ __forceinline__ Word from_lane(Word word, int lane) {
  return __shfl_sync(lane_group<Lanes>(), word, lane, Width);
}

// The sum of the values of this lane and those below it in the warp.
__device__ __forceinline__ unsigned sum_up_to_lane(unsigned value) {
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u32 o;\n\t"
      "shfl.sync.up.b32 o|p, %0, 1, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
      "shfl.sync.up.b32 o|p, %0, 2, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
      "shfl.sync.up.b32 o|p, %0, 4, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
      "shfl.sync.up.b32 o|p, %0, 8, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
      "shfl.sync.up.b32 o|p, %0, 16, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t}"
      : "+r"(value));
  return value;
}

//===----------------------------------------------------------------------===//
// Conversions. `x2` is a pair: the first value in the low half.
//===----------------------------------------------------------------------===//

// Two f16 -> two floats, exact.
__device__ __forceinline__ void cvt_f32_f16x2(float &low, float &high,
                                              unsigned pair) {
  asm("{\n\t.reg .b16 l, h;\n\tmov.b32 {l, h}, %2;\n\tcvt.f32.f16 %0, "
      "l;\n\tcvt.f32.f16 %1, h;\n\t}"
      : "=f"(low), "=f"(high)
      : "r"(pair));
}

// The ordinal of a float, rounded to f16 towards zero, counted from infinity
// downwards, without its `Shift` low bits. Both zeros have one ordinal, and NaN
// comes after all numbers. One block of PTX, because a kernel has it for every
// element of a thread.
template <int Shift>
__device__ __forceinline__ unsigned ordinal_rz_f16(float value) {
  unsigned ordinal;
  asm("{\n\t.reg .b32 s;\n\t.reg .f32 f, z;\n\t"
      "mov.f32 z, 0f00000000;\n\tadd.rn.f32 f, %1, z;\n\t"
      "cvt.rz.f16x2.f32 %0, f, z;\n\t"
      "shr.s32 s, %0, 31;\n\tor.b32 s, s, 0x80000000;\n\txor.b32 %0, %0, s;\n\t"
      "sub.u32 %0, 0xFC00FFFF, %0;\n\tshr.u32 %0, %0, %2;\n\t}"
      : "=&r"(ordinal)
      : "f"(value), "n"(16 + Shift));
  return ordinal;
}

// Replaces all but the first `count` of four floats by NaN.
__device__ __forceinline__ void keep_first_4(float *values, int count) {
  asm("{\n\t.reg .pred p;\n\t"
      "setp.gt.s32 p, %4, 0;\n\tselp.f32 %0, %0, 0f7FFFFFFF, p;\n\t"
      "setp.gt.s32 p, %4, 1;\n\tselp.f32 %1, %1, 0f7FFFFFFF, p;\n\t"
      "setp.gt.s32 p, %4, 2;\n\tselp.f32 %2, %2, 0f7FFFFFFF, p;\n\t"
      "setp.gt.s32 p, %4, 3;\n\tselp.f32 %3, %3, 0f7FFFFFFF, p;\n\t}"
      : "+f"(values[0]), "+f"(values[1]), "+f"(values[2]), "+f"(values[3])
      : "r"(count));
}

// Two floats -> two bf16, round to nearest even; NaN -> 0x7FFF.
__device__ __forceinline__ unsigned cvt_bf16x2_f32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Two floats -> two f16, round to nearest even; what is too large becomes
// infinity, NaN 0x7FFF.
__device__ __forceinline__ unsigned cvt_f16x2_f32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// The product of two bf16, rounded once, of both halves; NaN -> 0x7FFF.
__device__ __forceinline__ unsigned mul_bf16x2(unsigned a, unsigned b) {
  unsigned product;
#if __CUDA_ARCH__ >= 900
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
#else
  // Adding -0 changes no product, not even one that is -0.
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(product)
      : "r"(a), "r"(b), "r"(0x80008000u));
#endif
  return product;
}

// 0xFFFF for each half of a that is greater than that of b, or not less, or if
// one is NaN.
#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ unsigned gtu_bf16x2(unsigned a, unsigned b) {
  unsigned mask;
  asm("set.gtu.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
  return mask;
}
__device__ __forceinline__ unsigned geu_bf16x2(unsigned a, unsigned b) {
  unsigned mask;
  asm("set.geu.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(a), "r"(b));
  return mask;
}
#else
__device__ __forceinline__ unsigned gtu_bf16x2(unsigned a, unsigned b) {
  return (as_float(a << 16) <= as_float(b << 16) ? 0u : 0xFFFFu) |
         (as_float(a & 0xFFFF0000u) <= as_float(b & 0xFFFF0000u) ? 0u
                                                                 : 0xFFFF0000u);
}
__device__ __forceinline__ unsigned geu_bf16x2(unsigned a, unsigned b) {
  return (as_float(a << 16) < as_float(b << 16) ? 0u : 0xFFFFu) |
         (as_float(a & 0xFFFF0000u) < as_float(b & 0xFFFF0000u) ? 0u
                                                                : 0xFFFF0000u);
}
#endif

// Four E4M3 -> four floats, or two pairs of bf16; exact, NaN -> NaN. Only where
// `has_cvt_e4m3`. The upper half is shifted down: after a `mov.b32 {a, b}` of
// a word that it knows to be 0, ptxas 13.0 converts the constant 8.
#if __CUDA_ARCH__ >= 890
enum : bool { has_cvt_e4m3 = true };
#else
enum : bool { has_cvt_e4m3 = false };
#endif
__device__ __forceinline__ void cvt_f32_e4m3x4(float *to, unsigned word) {
  asm("{\n\t.reg .b16 a, b, c, d;\n\t.reg .b32 l, h;\n\t"
      "shr.b32 h, %4, 16;\n\t"
      "cvt.u16.u32 a, %4;\n\tcvt.u16.u32 b, h;\n\t"
      "cvt.rn.f16x2.e4m3x2 l, a;\n\tcvt.rn.f16x2.e4m3x2 h, b;\n\t"
      "mov.b32 {a, b}, l;\n\tmov.b32 {c, d}, h;\n\t"
      "cvt.f32.f16 %0, a;\n\tcvt.f32.f16 %1, b;\n\t"
      "cvt.f32.f16 %2, c;\n\tcvt.f32.f16 %3, d;\n\t}"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
      : "r"(word));
}
__device__ __forceinline__ void cvt_bf16_e4m3x4(unsigned *to, unsigned word) {
  asm("{\n\t.reg .b16 a, b, c, d;\n\t.reg .b32 l, h;\n\t"
      ".reg .f32 w, x, y, z;\n\t"
      "shr.b32 h, %2, 16;\n\t"
      "cvt.u16.u32 a, %2;\n\tcvt.u16.u32 b, h;\n\t"
      "cvt.rn.f16x2.e4m3x2 l, a;\n\tcvt.rn.f16x2.e4m3x2 h, b;\n\t"
      "mov.b32 {a, b}, l;\n\tmov.b32 {c, d}, h;\n\t"
      "cvt.f32.f16 w, a;\n\tcvt.f32.f16 x, b;\n\t"
      "cvt.f32.f16 y, c;\n\tcvt.f32.f16 z, d;\n\t"
      "cvt.rn.bf16x2.f32 %0, x, w;\n\tcvt.rn.bf16x2.f32 %1, z, y;\n\t}"
      : "=r"(to[0]), "=r"(to[1])
      : "r"(word));
}

// Two floats -> two E4M3 in the low 16 bits, to nearest even, saturating; NaN
// -> 0x7F. Only where `has_cvt_e4m3`.
__device__ __forceinline__ unsigned cvt_e4m3x2_f32(float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(high), "f"(low));
  return pair;
}

// Two E2M1 (low 8 bits) -> two f16, exact. Only where `has_cvt_fp4`: the a and
// f targets from sm_100.
#if __CUDA_ARCH__ >= 1000 && (defined(__CUDA_ARCH_SPECIFIC__) ||               \
                              defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
enum : bool { has_cvt_fp4 = true };
#else
enum : bool { has_cvt_fp4 = false };
#endif
__device__ __forceinline__ unsigned cvt_f16x2_e2m1x2(unsigned pair) {
  unsigned halves;
  asm("{\n\t.reg .b8 b;\n\tcvt.u8.u32 b, %1;\n\tcvt.rn.f16x2.e2m1x2 %0, b;\n\t}"
      : "=r"(halves)
      : "r"(pair));
  return halves;
}

// Two floats -> two E2M1 in the low 8 bits, to nearest even, saturating; NaN ->
// 7. Only where `has_cvt_fp4`.
__device__ __forceinline__ unsigned cvt_e2m1x2_f32(float low, float high) {
  unsigned pair;
  asm("{\n\t.reg .b8 b;\n\tcvt.rn.satfinite.e2m1x2.f32 b, %1, %2;\n\t"
      "cvt.u32.u8 %0, b;\n\t}"
      : "=r"(pair)
      : "f"(high), "f"(low));
  return pair;
}

// Four UE8M0 -> four floats, exact; 0xFF -> NaN.
__device__ __forceinline__ void cvt_f32_ue8m0x4(float *to, unsigned word) {
  if constexpr (has_cvt_fp4) {
    asm("{\n\t.reg .b16 a, b;\n\t.reg .b32 l, h;\n\t"
        "shr.b32 h, %4, 16;\n\t"
        "cvt.u16.u32 a, %4;\n\tcvt.u16.u32 b, h;\n\t"
        "cvt.rn.bf16x2.ue8m0x2 l, a;\n\tcvt.rn.bf16x2.ue8m0x2 h, b;\n\t"
        "shl.b32 %0, l, 16;\n\tand.b32 %1, l, 0xFFFF0000;\n\t"
        "shl.b32 %2, h, 16;\n\tand.b32 %3, h, 0xFFFF0000;\n\t}"
        : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
        : "r"(word));
  } else {
    // The code is the exponent field of a float, except for 0, which stands for
    // 2^-127, a subnormal, and 0xFF, which stands for NaN. The field 0xFF is
    // infinity, and infinity * 0 is NaN.
    asm("{\n\t.reg .b32 a, b, c, d;\n\t.reg .f32 w, x, y, z;\n\t"
        "shl.b32 a, %4, 23;\n\tshl.b32 b, %4, 15;\n\t"
        "shl.b32 c, %4, 7;\n\tshr.b32 d, %4, 1;\n\t"
        "and.b32 a, a, 0x7F800000;\n\tand.b32 b, b, 0x7F800000;\n\t"
        "and.b32 c, c, 0x7F800000;\n\tand.b32 d, d, 0x7F800000;\n\t"
        "mov.b32 w, a;\n\tmov.b32 x, b;\n\t"
        "mov.b32 y, c;\n\tmov.b32 z, d;\n\t"
        "max.f32 w, w, 0f00400000;\n\tmax.f32 x, x, 0f00400000;\n\t"
        "max.f32 y, y, 0f00400000;\n\tmax.f32 z, z, 0f00400000;\n\t"
        "fma.rn.f32 %0, w, 0f00000000, w;\n\t"
        "fma.rn.f32 %1, x, 0f00000000, x;\n\t"
        "fma.rn.f32 %2, y, 0f00000000, y;\n\t"
        "fma.rn.f32 %3, z, 0f00000000, z;\n\t}"
        : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
        : "r"(word));
  }
}

} // namespace dsv4
