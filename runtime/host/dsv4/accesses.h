//===- accesses.h - Memory, clusters and launches, on a CPU -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of the device library's accesses.cuh with the same meaning.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_ACCESSES_H
#define DSV4_HOST_ACCESSES_H

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void add_shared(unsigned *array, unsigned at,
                                           unsigned value) {
  array[at] += value;
}
__device__ __forceinline__ void st_shared_8_if(bool condition,
                                               unsigned long long *array,
                                               unsigned at, unsigned low,
                                               unsigned high) {
  if (condition)
    array[at] = (unsigned long long)high << 32 | low;
}
__device__ __forceinline__ void append_shared_8(unsigned bits,
                                                unsigned long long *array,
                                                unsigned &at, int column,
                                                const float *values) {
  for (int i = 0; i < 4; ++i)
    if (bits >> i & 1)
      st_shared_8_if(true, array, at++, (unsigned)(column + i),
                     as_unsigned(values[i]));
}
__device__ __forceinline__ void place_shared_8(unsigned long long *array,
                                               unsigned *slots, unsigned bin,
                                               unsigned limit, unsigned low,
                                               unsigned high) {
  if (bin < limit)
    st_shared_8_if(true, array, slots[bin]++, low, high);
}
__device__ __forceinline__ unsigned
fetch_add_shared(unsigned *array, unsigned at, unsigned value) {
  array[at] += value;
  return array[at] - value;
}

//===----------------------------------------------------------------------===//
// Memory. A GPU faults where an address is not aligned to the width of the
// access; so does this, before the bytes are touched.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void read_bytes(void *to, const void *from,
                                           unsigned bytes) {
  if ((size_t)from % bytes)
    dsv4_host::state.calls->misaligned("load", from, bytes);
  __builtin_memcpy(to, from, bytes);
}
__device__ __forceinline__ void write_bytes(void *to, const void *from,
                                            unsigned bytes) {
  if ((size_t)to % bytes)
    dsv4_host::state.calls->misaligned("store", to, bytes);
  __builtin_memcpy(to, from, bytes);
}

__device__ __forceinline__ void
read_bytes_if(void *to, bool condition, const void *from, unsigned bytes) {
  if (condition)
    read_bytes(to, from, bytes);
  else
    __builtin_memset(to, 0, bytes);
}

// Cache policies mean nothing here.
struct evict_normal {};
struct evict_last {};
struct always {
  constexpr operator bool() const { return true; }
};
__device__ __forceinline__ unsigned long long evict_last_policy() { return 0; }
template <typename Policy>
__device__ __forceinline__ void ld_16(unsigned *to, bool condition,
                                      const void *from, Policy) {
  read_bytes_if(to, condition, from, 16);
}
template <typename Policy>
__device__ __forceinline__ void ld_8(unsigned *to, bool condition,
                                     const void *from, Policy) {
  read_bytes_if(to, condition, from, 8);
}
template <typename Policy>
__device__ __forceinline__ void ld_4(unsigned *to, bool condition,
                                     const void *from, Policy) {
  read_bytes_if(to, condition, from, 4);
}
__device__ __forceinline__ void ld_16_part(unsigned *to, int left,
                                           const void *from) {
  for (int i = 0; i < 4; ++i)
    ld_4(&to[i], i < left, static_cast<const unsigned *>(from) + i, 0);
}
template <typename Policy>
__device__ __forceinline__ unsigned ld_2(bool condition, const void *from,
                                         Policy) {
  unsigned short bits;
  read_bytes_if(&bits, condition, from, 2);
  return bits;
}
template <typename Policy>
__device__ __forceinline__ unsigned ld_1(bool condition, const void *from,
                                         Policy) {
  unsigned char bits;
  read_bytes_if(&bits, condition, from, 1);
  return bits;
}

// Copies are there at once.
__device__ __forceinline__ char *dynamic_shared() {
  return static_cast<char *>(dsv4_host::state.dynamicShared);
}
__device__ __forceinline__ void copy_16_if(bool condition, void *to,
                                           const void *from) {
  if (!condition)
    return;
  unsigned words[4];
  read_bytes(words, from, 16);
  write_bytes(to, words, 16);
}
__device__ __forceinline__ void commit_copies() {}
template <int Left>
__device__ __forceinline__ void wait_for_copies() {}

__device__ __forceinline__ void st_16(void *to, const unsigned *from) {
  write_bytes(to, from, 16);
}
__device__ __forceinline__ void st_8(void *to, const unsigned *from) {
  write_bytes(to, from, 8);
}
__device__ __forceinline__ void st_4(void *to, const unsigned *from) {
  write_bytes(to, from, 4);
}
__device__ __forceinline__ void st_2(void *to, unsigned bits) {
  const unsigned short low = (unsigned short)bits;
  write_bytes(to, &low, 2);
}
__device__ __forceinline__ void st_1(void *to, unsigned bits) {
  const unsigned char low = (unsigned char)bits;
  write_bytes(to, &low, 1);
}

// How long a line stays in a cache has no meaning here.
__device__ __forceinline__ void st_cs_16(void *to, const unsigned *from) {
  st_16(to, from);
}
__device__ __forceinline__ void st_cs_8(void *to, const unsigned *from) {
  st_8(to, from);
}
__device__ __forceinline__ void st_cs_4(void *to, const unsigned *from) {
  st_4(to, from);
}
__device__ __forceinline__ void st_cs_2(void *to, unsigned bits) {
  st_2(to, bits);
}
__device__ __forceinline__ void st_cs_1(void *to, unsigned bits) {
  st_1(to, bits);
}

__device__ __forceinline__ void prefetch(const void *) {}
__device__ __forceinline__ void prefetch_if(bool, const void *) {}
__device__ __forceinline__ void prefetch_l2(const void *) {}
__device__ __forceinline__ void prefetch_l2_if(bool, const void *) {}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

template <typename Page>
__device__ __forceinline__ bool in_pool(bool condition, Page page, int pages) {
  if (condition && page >= pages)
    dsv4_host::state.calls->beyondPool((long long)page, pages);
  return condition && page < pages;
}

//===----------------------------------------------------------------------===//
// Thread block clusters
//===----------------------------------------------------------------------===//

template <typename T>
__device__ __forceinline__ T *in_block(T *own, int rank, dsv4_host::Use use) {
  return static_cast<T *>(
      dsv4_host::state.calls->inBlock(own, (unsigned)rank, use));
}
template <int Size, typename T>
__device__ __forceinline__ T *in_first_block(T *own) {
  return Size > 1 ? in_block(own, 0, dsv4_host::Use::WriteLater) : own;
}
template <int Size>
__device__ __forceinline__ int cluster_rank() {
  return Size > 1 ? (int)(blockIdx.x % Size) : 0;
}
__device__ __forceinline__ void ld_cluster_8_if(unsigned *to, bool condition,
                                                const unsigned long long *array,
                                                unsigned at, int rank) {
  const unsigned long long value =
      condition ? *in_block(array + at, rank, dsv4_host::Use::Read) : 0;
  to[0] = (unsigned)value;
  to[1] = (unsigned)(value >> 32);
}
__device__ __forceinline__ unsigned ld_cluster_4(const unsigned *own,
                                                 int rank) {
  return *in_block(own, rank, dsv4_host::Use::Read);
}
__device__ __forceinline__ unsigned long long ld_cluster_8(const unsigned *own,
                                                           int rank) {
  const unsigned *pair = in_block(own, rank, dsv4_host::Use::Read);
  return (unsigned long long)pair[1] << 32 | pair[0];
}
__device__ __forceinline__ void place_cluster_8(unsigned long long *array,
                                                unsigned *next, unsigned bin,
                                                unsigned last, unsigned end,
                                                unsigned low, unsigned high) {
  if (bin < end)
    *in_block(array + next[bin == last]++, 0, dsv4_host::Use::Write) =
        (unsigned long long)high << 32 | low;
}
template <int Size>
__device__ __forceinline__ void cluster_arrive() {
  if (Size > 1)
    dsv4_host::state.calls->clusterArrive(/*shows_writes=*/true);
}
template <int Size>
__device__ __forceinline__ void cluster_arrive_own() {
  if (Size > 1)
    dsv4_host::state.calls->clusterArrive(/*shows_writes=*/false);
}
template <int Size>
__device__ __forceinline__ void cluster_arrive_relaxed() {
  cluster_arrive_own<Size>();
}
template <int Size>
__device__ __forceinline__ void cluster_wait() {
  if (Size > 1)
    dsv4_host::state.calls->clusterWait();
  else
    __syncthreads();
}

//===----------------------------------------------------------------------===//
// Warps of a block that wait for each other without the others
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void sync_warps(int id, int threads) {
  dsv4_host::state.calls->barrier("sync_warps", id, threads, 0);
}

//===----------------------------------------------------------------------===//
// Programmatic dependent launch: launches run one after another
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void wait_for_previous_kernel() {}
__device__ __forceinline__ void launch_dependents() {}

} // namespace dsv4

#endif // DSV4_HOST_ACCESSES_H
