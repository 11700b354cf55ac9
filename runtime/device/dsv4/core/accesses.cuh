//===- accesses.cuh - Memory, clusters and launches -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory accesses and communication between blocks: inline PTX and CUDA
// builtins, one small function each, as in primitives.cuh.
//
// `to` and `from` of memory functions are addresses in global memory, aligned
// to the number of bytes in the name. Registers are 32-bit words, little
// endian.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/primitives.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Element `at` of an array in shared memory. In PTX, because the compiler would
// branch where a predicate suffices, and would add up the lanes of a warp
// before an atomic, which is longer and seldom faster.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void add_shared(unsigned *array, unsigned at,
                                           unsigned value) {
  asm volatile(
      "{\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
      "cvta.to.shared.u64 l, %0;\n\tcvt.u32.u64 a, l;\n\t"
      "mad.lo.u32 a, %1, 4, a;\n\tred.shared.add.u32 [a], %2;\n\t}" ::"l"(
          array),
      "r"(at), "r"(value)
      : "memory");
}
__device__ __forceinline__ void st_shared_8_if(bool condition,
                                               unsigned long long *array,
                                               unsigned at, unsigned low,
                                               unsigned high) {
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
      "setp.ne.b32 p, %0, 0;\n\tcvta.to.shared.u64 l, %1;\n\t"
      "cvt.u32.u64 a, l;\n\tmad.lo.u32 a, %2, 8, a;\n\t"
      "@p st.shared.v2.b32 [a], {%3, %4};\n\t}" ::"r"((unsigned)condition),
      "l"(array), "r"(at), "r"(low), "r"(high)
      : "memory");
}
// If the bin is below the limit: stores to slot slots[bin], and increments it.
__device__ __forceinline__ void place_shared_8(unsigned long long *array,
                                               unsigned *slots, unsigned bin,
                                               unsigned limit, unsigned low,
                                               unsigned high) {
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a, s;\n\t"
      "setp.lt.u32 p, %2, %3;\n\t"
      "cvta.to.shared.u64 l, %1;\n\tcvt.u32.u64 a, l;\n\t"
      "mad.lo.u32 a, %2, 4, a;\n\t@p atom.shared.add.u32 s, [a], 1;\n\t"
      "cvta.to.shared.u64 l, %0;\n\tcvt.u32.u64 a, l;\n\t"
      "mad.lo.u32 a, s, 8, a;\n\t"
      "@p st.shared.v2.b32 [a], {%4, %5};\n\t}" ::"l"(array),
      "l"(slots), "r"(bin), "r"(limit), "r"(low), "r"(high)
      : "memory");
}
// Appends those of four values from `column` on whose bit is set, with their
// columns, at element `at`; `at` is then after them.
__device__ __forceinline__ void append_shared_8(unsigned bits,
                                                unsigned long long *array,
                                                unsigned &at, int column,
                                                const float *values) {
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a, b, c;\n\t"
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
// Returns the previous value.
__device__ __forceinline__ unsigned
fetch_add_shared(unsigned *array, unsigned at, unsigned value) {
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
// Loads. None moves above wait_for_previous_kernel(), nor above an earlier
// store: the compiler keeps the order of volatile accesses, and ptxas that of
// loads that are not read-only (it does move `ld.global.nc` above the wait). If
// the condition is false, nothing is read and every bit is zero; a condition
// known to be true costs nothing.
//===----------------------------------------------------------------------===//

// The L2 cache policy of loaded lines: the default, or evicted after all
// others. Then just-written lines are evicted in order, which suits the memory
// better.
struct evict_normal {};
struct evict_last {};
// A condition known to be true. The frequent loads of 16 bytes are then one
// statement, which takes the compiler less time.
struct always {
  __device__ __forceinline__ constexpr operator bool() const { return true; }
};

// 16 bytes into to[0..3], 8 into to[0..1], 4 into to[0].
__device__ __forceinline__ void ld_16(unsigned *to, bool condition,
                                      const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%5];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_16(unsigned *to, always, const void *from,
                                      evict_normal) {
  asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from));
}
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                     const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "@p ld.global.v2.b32 {%0, %1}, [%3];\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(from));
}
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                     const void *from, evict_normal) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.b32 %0, [%2];\n\t}"
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
               "@p ld.global.u16 %0, [%2];\n\t}"
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
               "@p ld.global.u8 %0, [%2];\n\t}"
               : "=&r"(bits)
               : "r"((unsigned)condition), "l"(from));
  return bits;
}

// The first `left` words of 16 bytes, the others zero; the address is a
// multiple of 4 bytes. One block of PTX, because the parts would take as long
// to compile as a kernel.
__device__ __forceinline__ void ld_16_part(unsigned *to, int left,
                                           const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .b64 a;\n\t"
               "and.b64 a, %5, 15;\n\tsetp.eq.s64 p, a, 0;\n\t"
               "setp.gt.and.s32 p, %4, 3, p;\n\t"
               "@!p bra part;\n\t"
               "ld.global.v4.b32 {%0, %1, %2, %3}, [%5];\n\t"
               "bra done;\n"
               "part:\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "mov.b32 %2, 0;\n\tmov.b32 %3, 0;\n\t"
               "setp.gt.s32 p, %4, 0;\n\t@p ld.global.b32 %0, [%5];\n\t"
               "setp.gt.s32 p, %4, 1;\n\t@p ld.global.b32 %1, [%5+4];\n\t"
               "setp.gt.s32 p, %4, 2;\n\t@p ld.global.b32 %2, [%5+8];\n\t"
               "setp.gt.s32 p, %4, 3;\n\t@p ld.global.b32 %3, [%5+12];\n"
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
      "@p ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%5], %6;\n\t}"
      : "=&r"(to[0]), "=&r"(to[1]), "=&r"(to[2]), "=&r"(to[3])
      : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                     const void *from, evict_last) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %2, 0;\n\t"
               "mov.b32 %0, 0;\n\tmov.b32 %1, 0;\n\t"
               "@p ld.global.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4;\n\t}"
               : "=&r"(to[0]), "=&r"(to[1])
               : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                     const void *from, evict_last) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %1, 0;\n\t"
               "mov.b32 %0, 0;\n\t"
               "@p ld.global.L2::cache_hint.b32 %0, [%2], %3;\n\t}"
               : "=&r"(to[0])
               : "r"((unsigned)condition), "l"(from), "l"(evict_last_policy()));
}

// Brings the line of an address into the L1 cache.
__device__ __forceinline__ void prefetch(const void *at) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
}
__device__ __forceinline__ void prefetch_if(bool condition, const void *at) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %0, 0;\n\t"
               "@p prefetch.global.L1 [%1];\n\t}" ::"r"((unsigned)condition),
               "l"(at));
}

// The same, into the L2 cache.
__device__ __forceinline__ void prefetch_l2(const void *at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}
__device__ __forceinline__ void prefetch_l2_if(bool condition, const void *at) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %0, 0;\n\t"
               "@p prefetch.global.L2 [%1];\n\t}" ::"r"((unsigned)condition),
               "l"(at));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies to shared memory, complete after wait_for_copies()
//===----------------------------------------------------------------------===//

// The dynamic shared memory of the block, aligned to 16 bytes.
__device__ __forceinline__ char *dynamic_shared() {
  extern __shared__ __align__(16) char memory[];
  return memory;
}
// 16 bytes from global to shared memory, both aligned to 16 bytes. Bypasses the
// L1 cache, because no other thread of the block needs them.
__device__ __forceinline__ void copy_16_if(bool condition, void *to,
                                           const void *from) {
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u64 l;\n\t.reg .u32 a;\n\t"
               "setp.ne.b32 p, %0, 0;\n\t"
               "cvta.to.shared.u64 l, %1;\n\tcvt.u32.u64 a, l;\n\t"
               "@p cp.async.cg.shared.global [a], [%2], 16;\n\t}" ::"r"(
                   (unsigned)condition),
               "l"(to), "l"(from)
               : "memory");
}
// The copies of this thread since the last commit become a group.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until all groups of this thread but the last `Left` are complete. They
// are visible to this thread only.
template <int Left>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
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
// Checks
//===----------------------------------------------------------------------===//

// Whether the condition holds and the page exists. With DSV4_CHECKED, and on
// the host target, a page beyond the pool is reported.
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

// The copy of the shared variable `own` in the first block of the cluster.
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

// The rank of this block among the Size blocks of its cluster.
template <int Size>
__device__ __forceinline__ int cluster_rank() {
  return Size > 1 ? (int)(blockIdx.x % Size) : 0;
}

// Element `at` of the shared array in block `rank` of the cluster, in two
// words. Nothing is read if the condition is false.
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
// The word at `own` in block `rank` of the cluster, or the two words.
__device__ __forceinline__ unsigned ld_cluster_4(const unsigned *own,
                                                 int rank) {
  unsigned value = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .u32 a;\n\t"
               "mapa.shared::cluster.u32 a, %1, %2;\n\t"
               "ld.shared::cluster.u32 %0, [a];\n\t}"
               : "=r"(value)
               : "r"((unsigned)__cvta_generic_to_shared(own)), "r"(rank));
#endif
  return value;
}
__device__ __forceinline__ unsigned long long ld_cluster_8(const unsigned *own,
                                                           int rank) {
  unsigned long long value = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .u32 a;\n\t"
               "mapa.shared::cluster.u32 a, %1, %2;\n\t"
               "ld.shared::cluster.u64 %0, [a];\n\t}"
               : "=l"(value)
               : "r"((unsigned)__cvta_generic_to_shared(own)), "r"(rank));
#endif
  return value;
}
// If bin < end: stores to the next slot of the array of the first block.
// `next[1]` counts slots of the bin `last`, `next[0]` those of other bins.
__device__ __forceinline__ void place_cluster_8(unsigned long long *array,
                                                unsigned *next, unsigned bin,
                                                unsigned last, unsigned end,
                                                unsigned low, unsigned high) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 a, b;\n\t"
               "setp.lt.u32 p, %2, %4;\n\t"
               "set.eq.u32.u32 b, %2, %3;\n\tmad.lo.u32 a, b, -4, %1;\n\t"
               "@p atom.shared.add.u32 b, [a], 1;\n\t"
               "mad.lo.u32 a, b, 8, %0;\n\t"
               "mapa.shared::cluster.u32 a, a, 0;\n\t"
               "@p st.shared::cluster.v2.b32 [a], {%5, %6};\n\t}" ::"r"(
                   (unsigned)__cvta_generic_to_shared(array)),
               "r"((unsigned)__cvta_generic_to_shared(next)), "r"(bin),
               "r"(last), "r"(end), "r"(low), "r"(high)
               : "memory");
#endif
}

// All threads of the cluster arrive, then wait for each other. Writes before it
// are visible after it. Needed before the first access to another block's
// memory, too, because that block must have started.
template <int Size>
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1)
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}
// After this, other blocks may read what the threads of this block have written
// to its own shared memory. Nothing else is ordered, neither writes to other
// blocks' memory nor reads of it. Memory that was read may be overwritten only
// after cluster_arrive(), whose fence covers all memory and takes longer.
template <int Size>
__device__ __forceinline__ void cluster_arrive_own() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1)
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;\n\t"
                 "barrier.cluster.arrive.relaxed.aligned;" ::
                     : "memory");
#endif
}
// For blocks that wrote nothing that others read: orders no accesses.
template <int Size>
__device__ __forceinline__ void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1)
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
template <int Size>
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Size > 1) {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    return;
  }
#endif
  __syncthreads();
}

//===----------------------------------------------------------------------===//
// Warps of a block that wait for each other without the others
//===----------------------------------------------------------------------===//

// Waits until `threads` threads, whole warps, are at barrier `id` (1 to 15) of
// the block. Each then sees what the others wrote to shared memory before.
__device__ __forceinline__ void sync_warps(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch (sm_90+; nothing below)
//===----------------------------------------------------------------------===//

// Waits until the kernels this launch depends on are complete and their writes
// visible.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel start. The wait of that kernel still ends only when this
// one is complete.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

} // namespace dsv4
