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
// names the source of byte i. With bit 3 of the nibble, byte i is eight times
// the upper bit of that source.
__device__ __forceinline__ unsigned permute_bytes(unsigned a, unsigned b,
                                                  unsigned selector) {
  unsigned bytes;
  asm("prmt.b32 %0, %1, %2, %3;"
      : "=r"(bytes)
      : "r"(a), "r"(b), "r"(selector));
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
__device__ __forceinline__ float div_f32(float a, float b) {
  return __fdiv_rn(a, b);
}

// a * b + c, rounded once.
__device__ __forceinline__ float fma_f32(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}

// Rounded to nearest.
__device__ __forceinline__ float sqrt_f32(float a) { return __fsqrt_rn(a); }

// The same from 2^-100 on, without the branch for what is less: several roots at
// once overlap.
__device__ __forceinline__ float sqrt_large_f32(float a) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(a));
  const float root = __fmul_rn(a, inverse);
  const float corrected =
      __fmaf_rn(__fmaf_rn(-root, root, a), __fmul_rn(0.5f, inverse), root);
  return a == as_float(0x7F800000u) ? a : corrected;
}

// Within 2 units in the last place, where b is from 2^-126 to 2^126.
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

// Of four values a bit each: whether it is not below the least.
__device__ __forceinline__ unsigned reach_f32(const float *values, float least) {
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
// The same of pairs of bf16, where a NaN loses and where it wins.
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

//===----------------------------------------------------------------------===//
// Other lanes: groups of `Lanes` lanes, a power of two, from a multiple of it on
//===----------------------------------------------------------------------===//

template <int Lanes> __device__ __forceinline__ unsigned lane_group() {
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
// The word of lane `lane` of the `Width` neighbours that this one is among.
template <int Lanes, int Width, typename Word>
__device__ __forceinline__ Word from_lane(Word word, int lane) {
  return __shfl_sync(lane_group<Lanes>(), word, lane, Width);
}

// The sum of the values of this lane and those below it in the warp.
__device__ __forceinline__ unsigned sum_up_to_lane(unsigned value) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 o;\n\t"
               "shfl.sync.up.b32 o|p, %0, 1, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
               "shfl.sync.up.b32 o|p, %0, 2, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
               "shfl.sync.up.b32 o|p, %0, 4, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
               "shfl.sync.up.b32 o|p, %0, 8, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t"
               "shfl.sync.up.b32 o|p, %0, 16, 0, -1;\n\t@p add.u32 %0, %0, o;\n\t}"
               : "+r"(value));
  return value;
}

//===----------------------------------------------------------------------===//
// Element `at` of an array in shared memory. As PTX, because the compiler branches
// where a predicate serves, and adds up the lanes of a warp in front of an atomic,
// which is longer and seldom faster.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void add_shared(unsigned *array, unsigned at,
                                           unsigned value) {
  asm volatile("{\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
               "cvta.to.shared.u64 l, %0;\n\tcvt.u32.u64 a, l;\n\t"
               "mad.lo.u32 a, %1, 4, a;\n\tred.shared.add.u32 [a], %2;\n\t}" ::
                   "l"(array),
               "r"(at), "r"(value)
               : "memory");
}
__device__ __forceinline__ void st_shared_8_if(bool condition,
                                               unsigned long long *array,
                                               unsigned at, unsigned low,
                                               unsigned high) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
               "setp.ne.b32 p, %0, 0;\n\tcvta.to.shared.u64 l, %1;\n\t"
               "cvt.u32.u64 a, l;\n\tmad.lo.u32 a, %2, 8, a;\n\t"
               "@p st.shared.v2.b32 [a], {%3, %4};\n\t}" ::"r"(
                   (unsigned)condition),
               "l"(array), "r"(at), "r"(low), "r"(high)
               : "memory");
}
// Where the bin is below the limit: to places[bin], which is then the one behind.
__device__ __forceinline__ void
place_shared_8(unsigned long long *array, unsigned *places, unsigned bin,
               unsigned limit, unsigned low, unsigned high) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a, s;\n\t"
               "setp.lt.u32 p, %2, %3;\n\t"
               "cvta.to.shared.u64 l, %1;\n\tcvt.u32.u64 a, l;\n\t"
               "mad.lo.u32 a, %2, 4, a;\n\t@p atom.shared.add.u32 s, [a], 1;\n\t"
               "cvta.to.shared.u64 l, %0;\n\tcvt.u32.u64 a, l;\n\t"
               "mad.lo.u32 a, s, 8, a;\n\t"
               "@p st.shared.v2.b32 [a], {%4, %5};\n\t}" ::"l"(array),
               "l"(places), "r"(bin), "r"(limit), "r"(low), "r"(high)
               : "memory");
}
// Of four values from column on those whose bit is set, with their columns, from
// element `at` on; `at` is then behind them.
__device__ __forceinline__ void append_shared_8(unsigned bits,
                                                unsigned long long *array,
                                                unsigned &at, int column,
                                                const float *values) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a, b, c;\n\t"
               "cvta.to.shared.u64 l, %2;\n\tcvt.u32.u64 a, l;\n\t"
               "mad.lo.u32 a, %0, 8, a;\n\t"
               "and.b32 b, %1, 1;\n\tsetp.ne.u32 p, b, 0;\n\t"
               "@p st.shared.v2.b32 [a], {%3, %4};\n\t@p add.u32 a, a, 8;\n\t"
               "and.b32 b, %1, 2;\n\tsetp.ne.u32 p, b, 0;\n\tadd.u32 c, %3, 1;\n\t"
               "@p st.shared.v2.b32 [a], {c, %5};\n\t@p add.u32 a, a, 8;\n\t"
               "and.b32 b, %1, 4;\n\tsetp.ne.u32 p, b, 0;\n\tadd.u32 c, %3, 2;\n\t"
               "@p st.shared.v2.b32 [a], {c, %6};\n\t@p add.u32 a, a, 8;\n\t"
               "and.b32 b, %1, 8;\n\tsetp.ne.u32 p, b, 0;\n\tadd.u32 c, %3, 3;\n\t"
               "@p st.shared.v2.b32 [a], {c, %7};\n\t"
               "popc.b32 b, %1;\n\tadd.u32 %0, %0, b;\n\t}"
               : "+r"(at)
               : "r"(bits), "l"(array), "r"(column), "r"(as_unsigned(values[0])),
                 "r"(as_unsigned(values[1])), "r"(as_unsigned(values[2])),
                 "r"(as_unsigned(values[3]))
               : "memory");
}
// The value before.
__device__ __forceinline__ unsigned fetch_add_shared(unsigned *array, unsigned at,
                                                     unsigned value) {
  unsigned before;
  asm volatile("{\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
               "cvta.to.shared.u64 l, %1;\n\tcvt.u32.u64 a, l;\n\t"
               "mad.lo.u32 a, %2, 4, a;\n\t"
               "atom.shared.add.u32 %0, [a], %3;\n\t}"
               : "=r"(before)
               : "l"(array), "r"(at), "r"(value)
               : "memory");
  return before;
}

//===----------------------------------------------------------------------===//
// Loads. Volatile, so that none moves above wait_for_predecessors(), nor above a
// store in front of it. Where the condition is false nothing is read and every
// bit is zero; a condition known to be true costs nothing.
//===----------------------------------------------------------------------===//

// What becomes of the lines in the L2 cache: nothing special, or they leave it
// after all others. The lines then evicted are those just written, which memory
// takes better in order. Both are read-only: the memory must not change while
// the kernel runs. With `coherent` the kernel may write it.
struct evict_normal {};
struct evict_last {};
struct coherent {};

// 16 bytes into to[0..3], 8 into to[0..1], 4 into to[0].
__device__ __forceinline__ void ld_16(unsigned *to, bool condition,
                                         const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "@p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                        const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "@p ld.global.nc.v2.b32 {%0, %1}, [%3];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                        const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.nc.b32 %0, [%2];\n\t}"
               : "=&r"(to[0])
               : "r"((unsigned)condition), "l"(from));
}

// 2 or 1 bytes, zero-extended.
template <typename Policy>
__device__ __forceinline__ unsigned ld_2(bool condition, const void *from,
                                         Policy) {
  unsigned bits;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.nc.u16 %0, [%2];\n\t}"
               : "=&r"(bits)
               : "r"((unsigned)condition), "l"(from));
  return bits;
}
template <typename Policy>
__device__ __forceinline__ unsigned ld_1(bool condition, const void *from,
                                         Policy) {
  unsigned bits;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.nc.u8 %0, [%2];\n\t}"
               : "=&r"(bits)
               : "r"((unsigned)condition), "l"(from));
  return bits;
}

// The first `left` words of 16 bytes, the others zero, from a multiple of 4 bytes.
// As one piece of PTX: the compiler takes as long for the parts as for a kernel.
__device__ __forceinline__ void ld_16_part(unsigned *to, int left,
                                           const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .b64 a;\n\t"
               "and.b64 a, %5, 15;\n\tsetp.eq.s64 p, a, 0;\n\t"
               "setp.gt.and.s32 p, %4, 3, p;\n\t"
               "@!p bra part;\n\t"
               "ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5];\n\t"
               "bra done;\n"
               "part:\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "setp.gt.s32 p, %4, 0;\n\t@p ld.global.nc.b32 %0, [%5];\n\t"
               "setp.gt.s32 p, %4, 1;\n\t@p ld.global.nc.b32 %1, [%5+4];\n\t"
               "setp.gt.s32 p, %4, 2;\n\t@p ld.global.nc.b32 %2, [%5+8];\n\t"
               "setp.gt.s32 p, %4, 3;\n\t@p ld.global.nc.b32 %3, [%5+12];\n"
               "done:\n\t}"
               : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
               : "r"(left), "l"(from));
}

__device__ __forceinline__ unsigned long long evict_last_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ void ld_16(unsigned *to, bool condition,
                                         const void *from, evict_last) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
      "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
      "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
      "@p ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%5], %6;\n\t}"
      : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
      : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                        const void *from, evict_last) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "@p ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4;\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                        const void *from, evict_last) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.nc.L2::cache_hint.b32 %0, [%2], %3;\n\t}"
               : "=&r"(to[0])
               : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}

__device__ __forceinline__ void ld_16(unsigned *to, bool condition,
                                      const void *from, coherent) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%5];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                     const void *from, coherent) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "@p ld.global.v2.b32 {%0, %1}, [%3];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                     const void *from, coherent) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.b32 %0, [%2];\n\t}"
               : "=&r"(to[0])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ unsigned ld_2(bool condition, const void *from,
                                         coherent) {
  unsigned bits;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.u16 %0, [%2];\n\t}"
               : "=&r"(bits)
               : "r"((unsigned)condition), "l"(from));
  return bits;
}
__device__ __forceinline__ unsigned ld_1(bool condition, const void *from,
                                         coherent) {
  unsigned bits;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.u8 %0, [%2];\n\t}"
               : "=&r"(bits)
               : "r"((unsigned)condition), "l"(from));
  return bits;
}

// Brings the line of an address into the cache of the multiprocessor.
__device__ __forceinline__ void prefetch(const void *at) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
}
__device__ __forceinline__ void prefetch_if(bool condition, const void *at) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %0, 0;\n\t"
               "@p prefetch.global.L1 [%1];\n\t}" ::"r"((unsigned)condition),
               "l"(at));
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

// Two floats -> two f16, towards zero.
__device__ __forceinline__ unsigned cvt_rz_f16x2_f32(float low, float high) {
  unsigned pair;
  asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Two floats -> two bf16, round to nearest even; NaN -> 0x7FFF.
__device__ __forceinline__ unsigned cvt_bf16x2_f32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
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

// 0xFFFF where the half of a is greater than that of b, or not less, or where
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
// `has_cvt_e4m3`. The upper half is shifted down: behind a `mov.b32 {a, b}` of a
// word that it knows to be 0, ptxas 13.0 converts the constant 8.
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

// Two floats -> two E4M3 in the low 16 bits, to nearest even, saturating; NaN ->
// 0x7F. Only where `has_cvt_e4m3`.
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
    // The code is the exponent field of a float, but for 0, which stands for
    // 2^-127, a subnormal, and 0xFF, which stands for NaN and would be
    // infinity: infinity * 0 is NaN.
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

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

// Whether the condition holds and there is the page. Compiled with DSV4_CHECKED,
// and on the host target, a page beyond the pool is told.
template <typename Page>
__device__ __forceinline__ bool in_pool(bool condition, Page page, int pages) {
#ifdef DSV4_CHECKED
  if (condition && page >= pages)
    printf("dsv4: an entry in page %lld of a pool of %d pages is not written\n",
           (long long)page, pages);
#endif
  return condition && page < pages;
}

//===----------------------------------------------------------------------===//
// Thread block clusters along x (sm_90+). Of Size 1: a block by itself.
//===----------------------------------------------------------------------===//

// What is divided into Size parts: those this block works for.
struct ClusterParts {
  int begin, end;
};
template <int Size> __device__ __forceinline__ ClusterParts cluster_parts() {
  const int rank = Size > 1 ? blockIdx.x % Size : 0;
  return {rank, rank + 1};
}

// The shared variable at `own`, as the first block of the cluster has it.
template <int Size, typename T>
__device__ __forceinline__ T *in_first_block(T *own) {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1) {
    T *to;
    asm("mapa.u64 %0, %1, 0;" : "=l"(to) : "l"(own));
    return to;
  }
#endif
  return own;
}

// The place of this block among the Size blocks of its cluster, and how many of
// them work for parts.
template <int Size> __device__ __forceinline__ int cluster_rank() {
  return Size > 1 ? (int)(blockIdx.x % Size) : 0;
}
template <int Size> __device__ constexpr int cluster_workers() { return Size; }

// Element `at` of the shared array as block `rank` of the cluster has it, in two
// words; nothing is read where the condition is false.
__device__ __forceinline__ void ld_cluster_8_if(unsigned *to, bool condition,
                                                const unsigned long long *array,
                                                unsigned at, int rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u64 s;\n\t.reg .u32 a;\n\t"
               "setp.ne.b32 p, %2, 0;\n\tmov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "cvta.to.shared.u64 s, %3;\n\tcvt.u32.u64 a, s;\n\t"
               "mad.lo.u32 a, %4, 8, a;\n\t"
               "mapa.shared::cluster.u32 a, a, %5;\n\t"
               "@p ld.shared::cluster.v2.b32 {%0, %1}, [a];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(array), "r"(at), "r"(rank));
#endif
}
__device__ __forceinline__ void st_cluster_4(unsigned *own, int rank,
                                             unsigned value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .u64 s;\n\t.reg .u32 a;\n\t"
               "cvta.to.shared.u64 s, %0;\n\tcvt.u32.u64 a, s;\n\t"
               "mapa.shared::cluster.u32 a, a, %1;\n\t"
               "st.shared::cluster.u32 [a], %2;\n\t}" ::"l"(own),
               "r"(rank), "r"(value)
               : "memory");
#endif
}

// All threads of the cluster arrive, then wait for each other; what was written
// before is visible behind. Before the first access to another block's memory,
// too: that block must have started.
template <int Size> __device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1)
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}
// Where nothing was written that others read: no access waits for another.
template <int Size> __device__ __forceinline__ void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1)
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
template <int Size> __device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1) {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
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
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

} // namespace dsv4
