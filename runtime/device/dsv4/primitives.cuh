//===- primitives.cuh - What the machine does -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that is inline PTX or a CUDA builtin, one small function each. The
// other files of the library are plain C++ over these names; the host target
// has its own file with the same names and meanings.
//
// `to` and `from` of memory functions are addresses in global memory, aligned
// to the number of bytes in the name. Registers are 32-bit words, little
// endian.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

// The same 32 bits seen as another type.
__device__ __forceinline__ float as_float(unsigned bits) {
  return __uint_as_float(bits);
}
__device__ __forceinline__ unsigned as_unsigned(float value) {
  return __float_as_uint(value);
}

// Four bytes chosen from the eight bytes b:a; nibble i of `selector` (0..7)
// names the source of byte i. Bit 3 of a nibble must be 0.
__device__ __forceinline__ unsigned permute_bytes(unsigned a, unsigned b,
                                                  unsigned selector) {
  return __byte_perm(a, b, selector);
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
__device__ __forceinline__ float div_f32(float a, float b) {
  return __fdiv_rn(a, b);
}

// a * b + c, rounded once.
__device__ __forceinline__ float fma_f32(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}

// A NaN loses against a number.
__device__ __forceinline__ float min_f32(float a, float b) {
  return fminf(a, b);
}
__device__ __forceinline__ float max_f32(float a, float b) {
  return fmaxf(a, b);
}

//===----------------------------------------------------------------------===//
// Read-only loads: the memory must not change while the kernel runs. Volatile,
// so that none moves above wait_for_predecessors().
//===----------------------------------------------------------------------===//

// 16 bytes into to[0..3], 8 into to[0..1], 4 into to[0].
__device__ __forceinline__ void ld_nc_16(unsigned *to, const void *from) {
  asm volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from));
}
__device__ __forceinline__ void ld_nc_8(unsigned *to, const void *from) {
  asm volatile("ld.global.nc.v2.b32 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "l"(from));
}
__device__ __forceinline__ void ld_nc_4(unsigned *to, const void *from) {
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(to[0]) : "l"(from));
}

// 2 or 1 bytes, zero-extended.
__device__ __forceinline__ unsigned ld_nc_2(const void *from) {
  unsigned bits;
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=r"(bits) : "l"(from));
  return bits;
}
__device__ __forceinline__ unsigned ld_nc_1(const void *from) {
  unsigned bits;
  asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(bits) : "l"(from));
  return bits;
}

// The same for data whose lines should leave the L2 cache after all others: the
// lines then evicted are those just written, which memory takes better in
// order.
struct evict_last {};

__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ void ld_nc_16(unsigned *to, const void *from,
                                         evict_last) {
  asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_nc_8(unsigned *to, const void *from,
                                        evict_last) {
  asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(to[0]), "=r"(to[1])
               : "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_nc_4(unsigned *to, const void *from,
                                        evict_last) {
  asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;"
               : "=r"(to[0])
               : "l"(from), "l"(evict_last_policy()));
}

//===----------------------------------------------------------------------===//
// Stores, and streaming stores (`cs`: evicted from the cache first)
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void st_16(void *to, const unsigned *from) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}
__device__ __forceinline__ void st_8(void *to, const unsigned *from) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(from[0]),
               "r"(from[1])
               : "memory");
}
__device__ __forceinline__ void st_4(void *to, const unsigned *from) {
  asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(from[0]) : "memory");
}

// The low 2 or 1 bytes of `bits`.
__device__ __forceinline__ void st_2(void *to, unsigned bits) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
}
__device__ __forceinline__ void st_1(void *to, unsigned bits) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
}

__device__ __forceinline__ void st_cs_16(void *to, const unsigned *from) {
  asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}
__device__ __forceinline__ void st_cs_8(void *to, const unsigned *from) {
  asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(from[0]),
               "r"(from[1])
               : "memory");
}
__device__ __forceinline__ void st_cs_4(void *to, const unsigned *from) {
  asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(to), "r"(from[0]) : "memory");
}
__device__ __forceinline__ void st_cs_2(void *to, unsigned bits) {
  asm volatile("st.global.cs.u16 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
}
__device__ __forceinline__ void st_cs_1(void *to, unsigned bits) {
  asm volatile("st.global.cs.u8 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
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

// Two floats -> two bf16, round to nearest even; NaN -> 0x7FFF.
__device__ __forceinline__ unsigned cvt_bf16x2_f32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Two E4M3 (low 16 bits) -> two f16, exact; NaN -> NaN. Only where
// `has_cvt_e4m3`.
#if __CUDA_ARCH__ >= 890
inline constexpr bool has_cvt_e4m3 = true;
#else
inline constexpr bool has_cvt_e4m3 = false;
#endif
__device__ __forceinline__ unsigned cvt_f16x2_e4m3x2(unsigned pair) {
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)pair));
  return halves;
}

// Two E2M1 (low 8 bits) -> two f16, exact; two UE8M0 (low 16 bits) -> two bf16,
// exact, 0xFF -> NaN. Only where `has_cvt_fp4`: the a and f targets from
// sm_100.
#if __CUDA_ARCH__ >= 1000 && (defined(__CUDA_ARCH_SPECIFIC__) ||               \
                              defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
inline constexpr bool has_cvt_fp4 = true;
#else
inline constexpr bool has_cvt_fp4 = false;
#endif
__device__ __forceinline__ unsigned cvt_f16x2_e2m1x2(unsigned pair) {
  unsigned halves;
  asm("{\n\t.reg .b8 b;\n\tcvt.u8.u32 b, %1;\n\tcvt.rn.f16x2.e2m1x2 %0, b;\n\t}"
      : "=r"(halves)
      : "r"(pair));
  return halves;
}
__device__ __forceinline__ unsigned cvt_bf16x2_ue8m0x2(unsigned pair) {
  unsigned halves;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;"
      : "=r"(halves)
      : "h"((unsigned short)pair));
  return halves;
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch (sm_90+; nothing below)
//===----------------------------------------------------------------------===//

// Waits until the kernels this launch depends on are complete and their writes
// visible.
__device__ __forceinline__ void wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the kernel behind this one start (its own wait still holds until this
// one is complete).
__device__ __forceinline__ void launch_successors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

} // namespace dsv4
