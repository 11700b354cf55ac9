//===- tensor_cores.cuh - Matrix products and their copies ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the leaves of tensor cores need beyond core/: barriers in shared memory
// that count bytes, bulk copies, and matrix products, in inline PTX,
// one small function each. Only the leaves of this folder call them. The host
// target has twins of the leaves instead.
//
// Addresses in shared memory are 32-bit words here (shared_address()), because
// that is what the instructions take.
//
// A warpgroup is four consecutive warps, the first a multiple of four. Its
// products D += A * B have 64 rows, of which each warp has 16. A lane l of a
// warp, with c = l % 4, has
//
//   of A (8-bit elements, four words of a slice of 32 columns):
//     words 0, 2: row l / 4,     columns 4c.. and 16 + 4c..
//     words 1, 3: row l / 4 + 8, the same columns
//   of D (floats): d[4j + i]     row l / 4,     column 8j + 2c + i
//                  d[4j + 2 + i] row l / 4 + 8, the same column      (i < 2)
//
// The products of a single warp (mma_*) have the same fragments.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/accesses.cuh"

namespace dsv4 {

// Whether there are products of warpgroups.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
enum : bool { has_wgmma = true };
#else
enum : bool { has_wgmma = false };
#endif
// Whether there are products of 8-bit floats.
#if __CUDA_ARCH__ >= 890
enum : bool { has_mma_f8 = true };
#else
enum : bool { has_mma_f8 = false };
#endif

enum class FloatType { e4m3, e5m2 };

//===----------------------------------------------------------------------===//
// Shared memory by address
//===----------------------------------------------------------------------===//

__device__ __forceinline__ unsigned shared_address(const void *at) {
  return (unsigned)__cvta_generic_to_shared(at);
}
__device__ __forceinline__ void ld_shared_16(unsigned *to, unsigned at) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ void ld_shared_16(float *to, unsigned at) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ void ld_shared_8(unsigned *to, unsigned at) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ unsigned ld_shared_4(unsigned at) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}
// Zero-extended.
__device__ __forceinline__ unsigned ld_shared_2(unsigned at) {
  unsigned bits;
  asm volatile("{\n\t.reg .u16 h;\n\tld.shared.u16 h, [%1];\n\t"
               "cvt.u32.u16 %0, h;\n\t}"
               : "=r"(bits)
               : "r"(at)
               : "memory");
  return bits;
}
__device__ __forceinline__ unsigned ld_shared_1(unsigned at) {
  unsigned byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(at) : "memory");
  return byte;
}
__device__ __forceinline__ void st_shared_4(unsigned at, unsigned word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
}
__device__ __forceinline__ void st_shared_8(unsigned at, unsigned low,
                                            unsigned high) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(low), "r"(high)
               : "memory");
}
__device__ __forceinline__ void
st_shared_16(unsigned at, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
}

// Keeps a word in a register, where the compiler would compute it again.
__device__ __forceinline__ void keep(unsigned &word) {
  asm volatile("" : "+r"(word));
}

// The larger ones of two pairs of 16-bit numbers.
__device__ __forceinline__ unsigned max_u16x2(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned larger;
  asm("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
#else
  const unsigned low = (a & 0xFFFF) > (b & 0xFFFF) ? a : b;
  const unsigned high = a >> 16 > b >> 16 ? a : b;
  return (low & 0xFFFF) | (high & 0xFFFF0000u);
#endif
}

// max(x, 0) of two f16; NaN stays NaN. Of accumulators in most cases:
// ptxas 13.0 would drop the products if it might move what reads them.
__device__ __forceinline__ unsigned relu_f16x2(unsigned pair) {
  unsigned result;
  asm volatile("fma.rn.relu.f16x2 %0, %1, %2, %3;"
               : "=r"(result)
               : "r"(pair), "r"(0x3C003C00u), "r"(0x80008000u));
  return result;
}

// The product of two f16, rounded once, of both halves.
__device__ __forceinline__ unsigned mul_f16x2(unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}

// Counts this warp among those that sync_warps() waits for.
__device__ __forceinline__ void arrive_at_barrier(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Bytes of magnitudes with the signs of others. One statement, because the
// compiler would move a part of it after the branch of expand_mxfp4().
__device__ __forceinline__ unsigned with_signs(unsigned magnitudes,
                                               unsigned signs) {
  unsigned bytes;
  asm("lop3.b32 %0, %1, %2, %3, 0xF8;"
      : "=r"(bytes)
      : "r"(magnitudes), "r"(signs), "n"(0x80808080));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory (sm_90+): 8 bytes each. A phase ends when `count`
// threads have arrived and all announced bytes are there. Phases alternate
// between parity 0 and 1; to wait for the parity of the previous phase is to
// wait for nothing.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void init_barrier(unsigned at, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count)
               : "memory");
}
// After the last init_barrier() of a thread, before others use the barriers.
__device__ __forceinline__ void fence_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and announces bytes of bulk copies.
__device__ __forceinline__ void arrive_expecting(unsigned barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
#endif
}
// Arrives when all earlier copy_*_if() of this thread are complete.
__device__ __forceinline__ void arrive_after_copies(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier)
               : "memory");
}
__device__ __forceinline__ void wait_for_phase(unsigned barrier, int parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .pred p;\n"
               "again:\n\t"
               "mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t"
               "@p bra done;\n\tbra again;\n"
               "done:\n\t}" ::"r"(barrier),
               "r"(parity)
               : "memory");
#endif
}
// Makes this thread's writes to shared memory visible to bulk copies and to
// products of warpgroups.
__device__ __forceinline__ void fence_for_async() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

//===----------------------------------------------------------------------===//
// Words that blocks of one launch exchange while they run. None is torn, but
// those of a vector may be of different times.
//===----------------------------------------------------------------------===//

// If the condition is false, `to` stays as it is.
__device__ __forceinline__ void ld_current_if(float (&to)[1], bool condition,
                                              const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "@p ld.relaxed.gpu.global.f32 %0, [%2];\n\t}"
               : "+f"(to[0])
               : "r"((unsigned)condition), "l"(from)
               : "memory");
}
__device__ __forceinline__ void ld_current_if(float (&to)[2], bool condition,
                                              const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "@p ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%3];\n\t}"
               : "+f"(to[0]), "+f"(to[1])
               : "r"((unsigned)condition), "l"(from)
               : "memory");
}
__device__ __forceinline__ void ld_current_if(float (&to)[4], bool condition,
                                              const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
               "@p ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%5];\n\t}"
               : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
               : "r"((unsigned)condition), "l"(from)
               : "memory");
}
__device__ __forceinline__ void st_current_16(void *to, const unsigned *from) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}
// Adds to a word, and returns what it was. What this thread has stored, and
// what it knows of, is then visible to those that add later.
__device__ __forceinline__ unsigned add_current(unsigned *to, unsigned value) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(to), "r"(value)
               : "memory");
  return before;
}

// Does nothing for about this long.
template <int Nanoseconds>
__device__ __forceinline__ void pause_thread() {
  if constexpr (Nanoseconds > 0)
    asm volatile("nanosleep.u32 %0;" ::"n"(Nanoseconds) : "memory");
}

//===----------------------------------------------------------------------===//
// Copies from global to shared memory
//===----------------------------------------------------------------------===//

// `bytes`, a multiple of 16, between addresses that are multiples of 16; the
// barrier counts them (sm_90+). With `EvictFirst` the L2 cache evicts these
// lines before all others.
template <bool EvictFirst = false>
__device__ __forceinline__ void copy_bulk(unsigned to, const void *from,
                                          int bytes, unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  if constexpr (EvictFirst) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
                 : "memory");
    return;
  }
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
#endif
}
// The same to the same address in each of the first `blocks` blocks of the
// cluster. The barrier of each counts the bytes.
__device__ __forceinline__ void
copy_bulk_to_cluster(unsigned to, const void *from, int bytes, unsigned barrier,
                     int blocks) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .b16 m;\n\tcvt.u16.u32 m, %4;\n\t"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
      "multicast::cluster [%0], [%1], %2, [%3], m;\n\t}" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "r"((1u << blocks) - 1)
      : "memory");
#endif
}
// 4, 8 or 16 bytes, both addresses aligned to them.
template <int Bytes>
__device__ __forceinline__ void copy_async(unsigned to, const void *from) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                 "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to),
                 "l"(from), "n"(Bytes)
                 : "memory");
}

// The first `there` bytes, and zeros after them. Nothing is read if there are
// none.
template <int Bytes>
__device__ __forceinline__ void copy_async_part(unsigned to, const void *from,
                                                int there) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(from), "r"(there)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to),
                 "l"(from), "n"(Bytes), "r"(there)
                 : "memory");
}

//===----------------------------------------------------------------------===//
// Registers of warpgroups (sm_90a): all threads of a warpgroup call these. A
// raise waits until registers are free.
//===----------------------------------------------------------------------===//

template <int Registers>
__device__ __forceinline__ void lower_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
template <int Registers>
__device__ __forceinline__ void raise_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}

//===----------------------------------------------------------------------===//
// Products of warpgroups (sm_90a). Asynchronous: begin_products(), products,
// commit_products(), wait_for_products(). In between, neither A nor D may be
// touched.
//===----------------------------------------------------------------------===//

// Keeps accesses to accumulators on their side of this point. Without it,
// ptxas serialises the products.
template <int N>
__device__ __forceinline__ void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    asm volatile("" : "+f"(d[i])::"memory");
}
template <int N>
__device__ __forceinline__ void pin(unsigned (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    asm volatile("" : "+r"(d[i])::"memory");
}
// A of products that are complete here. Without it, the compiler might use its
// registers for something else as soon as the products have begun.
template <int N>
__device__ __forceinline__ void hold(const unsigned (&a)[N][4]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    asm volatile("" ::"r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3])
                 : "memory");
}
__device__ __forceinline__ void begin_products() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void commit_products() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Until all groups but the last `Left` are complete.
template <int Left>
__device__ __forceinline__ void wait_for_products() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
#endif
}

// B in shared memory: rows of 128 bytes, in groups of eight rows that are
// aligned to 1024 bytes; 16-byte unit u of row r lies at unit u ^ (r % 8).
// swizzled_rows_at() is the low word of their descriptor, in which one slice of
// 32 bytes further along K is 2 more. swizzled_rows() completes such a word,
// for each product: additions of 64 bits would be two instructions.
__device__ __forceinline__ unsigned swizzled_rows_at(unsigned shared_address) {
  return (shared_address >> 4 & 0x3FFF) | 1u << 16;
}
__device__ __forceinline__ unsigned long long swizzled_rows(unsigned word) {
  return word | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Four of the accumulators as operands; `C` is their constraint.
#define DSV4_WGMMA_D4(C, i) C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3])
#define DSV4_WGMMA_AB                                                          \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
// With 4, 8, 16 or 32 of them. `Flags` is what follows the predicate.
#define DSV4_WGMMA_4(Shape, Flags, C)                                          \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %9, 0;\n\t"               \
               "wgmma.mma_async.sync.aligned." Shape " "                       \
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, " Flags ";\n\t}"    \
               : DSV4_WGMMA_D4(C, 0)                                           \
               : DSV4_WGMMA_AB)
#define DSV4_WGMMA_8(Shape, Flags, C)                                          \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %13, 0;\n\t"              \
               "wgmma.mma_async.sync.aligned." Shape " "                       \
               "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, "              \
               "%11}, %12, p, " Flags ";\n\t}"                                 \
               : DSV4_WGMMA_D4(C, 0), DSV4_WGMMA_D4(C, 4)                      \
               : DSV4_WGMMA_AB)
#define DSV4_WGMMA_16(Shape, Flags, C)                                         \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %21, 0;\n\t"              \
               "wgmma.mma_async.sync.aligned." Shape " "                       \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "           \
               "%12, %13, %14, %15}, {%16, %17, %18, %19}, %20, p, " Flags     \
               ";\n\t}"                                                        \
               : DSV4_WGMMA_D4(C, 0), DSV4_WGMMA_D4(C, 4),                     \
                 DSV4_WGMMA_D4(C, 8), DSV4_WGMMA_D4(C, 12)                     \
               : DSV4_WGMMA_AB)
#define DSV4_WGMMA_32(Shape, Flags, C)                                         \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %37, 0;\n\t"              \
               "wgmma.mma_async.sync.aligned." Shape " "                       \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "           \
               "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "            \
               "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "           \
               "{%32, %33, %34, %35}, %36, p, " Flags ";\n\t}"                 \
               : DSV4_WGMMA_D4(C, 0), DSV4_WGMMA_D4(C, 4),                     \
                 DSV4_WGMMA_D4(C, 8), DSV4_WGMMA_D4(C, 12),                    \
                 DSV4_WGMMA_D4(C, 16), DSV4_WGMMA_D4(C, 20),                   \
                 DSV4_WGMMA_D4(C, 24), DSV4_WGMMA_D4(C, 28)                    \
               : DSV4_WGMMA_AB)
#endif

// D (+)= A * B for one slice of K; without `add`, the previous D does not
// count. N = 32 or 64 columns.
template <FloatType A, FloatType B>
__device__ __forceinline__ void wgmma(float (&d)[16], const unsigned (&a)[4],
                                      unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (A == FloatType::e5m2 && B == FloatType::e4m3)
    DSV4_WGMMA_16("m64n32k32.f32.e5m2.e4m3", "1, 1", "+f");
  else if constexpr (A == FloatType::e5m2)
    DSV4_WGMMA_16("m64n32k32.f32.e5m2.e5m2", "1, 1", "+f");
  else if constexpr (B == FloatType::e4m3)
    DSV4_WGMMA_16("m64n32k32.f32.e4m3.e4m3", "1, 1", "+f");
  else
    DSV4_WGMMA_16("m64n32k32.f32.e4m3.e5m2", "1, 1", "+f");
#endif
}
template <FloatType A, FloatType B>
__device__ __forceinline__ void wgmma(float (&d)[32], const unsigned (&a)[4],
                                      unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (A == FloatType::e5m2 && B == FloatType::e4m3)
    DSV4_WGMMA_32("m64n64k32.f32.e5m2.e4m3", "1, 1", "+f");
  else if constexpr (A == FloatType::e5m2)
    DSV4_WGMMA_32("m64n64k32.f32.e5m2.e5m2", "1, 1", "+f");
  else if constexpr (B == FloatType::e4m3)
    DSV4_WGMMA_32("m64n64k32.f32.e4m3.e4m3", "1, 1", "+f");
  else
    DSV4_WGMMA_32("m64n64k32.f32.e4m3.e5m2", "1, 1", "+f");
#endif
}

// The same for 16 columns of A in f16, of which fragments are as those of
// mma_f16(), and N = 8, 32 or 64. A row of B has 64 elements.
__device__ __forceinline__ void wgmma_f16(float (&d)[4], const unsigned (&a)[4],
                                          unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_4("m64n8k16.f32.f16.f16", "1, 1, 0", "+f");
#endif
}
__device__ __forceinline__ void wgmma_f16(float (&d)[16],
                                          const unsigned (&a)[4],
                                          unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_16("m64n32k16.f32.f16.f16", "1, 1, 0", "+f");
#endif
}
__device__ __forceinline__ void wgmma_f16(float (&d)[32],
                                          const unsigned (&a)[4],
                                          unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_32("m64n64k16.f32.f16.f16", "1, 1, 0", "+f");
#endif
}

// The same in bf16.
__device__ __forceinline__ void wgmma_bf16(float (&d)[16],
                                           const unsigned (&a)[4],
                                           unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_16("m64n32k16.f32.bf16.bf16", "1, 1, 0", "+f");
#endif
}

// D in f16, rounded after every slice of K: pairs of columns that are
// neighbours, d[2i] of row l / 4 and d[2i + 1] of row l / 4 + 8.
__device__ __forceinline__ void wgmma_to_f16(unsigned (&d)[8],
                                             const unsigned (&a)[4],
                                             unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_8("m64n32k32.f16.e5m2.e4m3", "1, 1", "+r");
#endif
}
__device__ __forceinline__ void wgmma_to_f16(unsigned (&d)[16],
                                             const unsigned (&a)[4],
                                             unsigned long long b, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  DSV4_WGMMA_16("m64n64k32.f16.e5m2.e4m3", "1, 1", "+r");
#endif
}

#undef DSV4_WGMMA_4
#undef DSV4_WGMMA_8
#undef DSV4_WGMMA_16
#undef DSV4_WGMMA_32
#undef DSV4_WGMMA_AB
#undef DSV4_WGMMA_D4

//===----------------------------------------------------------------------===//
// Products of one warp: 16 rows of A, 8 columns of B
//===----------------------------------------------------------------------===//

// 32 columns of A in 8-bit floats (sm_89+). A lane has of B, with column l / 4:
// b0 rows 4c.., b1 rows 16 + 4c...
template <FloatType A, FloatType B>
__device__ __forceinline__ void mma_f8(float (&d)[4], const unsigned (&a)[4],
                                       unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 890
#define DSV4_MMA(A, B)                                                         \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." A "." B ".f32 "        \
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                \
               "{%0, %1, %2, %3};"                                             \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (A == FloatType::e5m2 && B == FloatType::e4m3)
    DSV4_MMA("e5m2", "e4m3");
  else if constexpr (A == FloatType::e5m2)
    DSV4_MMA("e5m2", "e5m2");
  else if constexpr (B == FloatType::e4m3)
    DSV4_MMA("e4m3", "e4m3");
  else
    DSV4_MMA("e4m3", "e5m2");
#undef DSV4_MMA
#endif
}
// 16 columns of A in f16: a[0], a[2] columns 2c.. and 8 + 2c.. of row l / 4,
// a[1], a[3] those of row l / 4 + 8; b0 rows 2c.., b1 rows 8 + 2c...
__device__ __forceinline__ void mma_f16(float (&d)[4], const unsigned (&a)[4],
                                        unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same in bf16.
__device__ __forceinline__ void mma_bf16(float (&d)[4], const unsigned (&a)[4],
                                         unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

} // namespace dsv4
