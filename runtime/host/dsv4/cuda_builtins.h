//===- cuda_builtins.h - The words of CUDA C++, on a CPU --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builtins of the CUDA compiler that emitted source uses without a header:
// declaration specifiers, thread indices, barriers, warp collectives and
// atomics. Pasted after abi.h; includes nothing, because each standard header
// costs more than a whole kernel does. One system thread runs one launch of an
// image at a time, so plain variables serve as registers, shared memory and
// targets of atomics.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_CUDA_BUILTINS_H
#define DSV4_HOST_CUDA_BUILTINS_H

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

// One block runs at a time, so its shared memory can be static; what the other
// blocks of its cluster have in theirs is kept beside. It is all there is in
// .bss, to be overwritten between blocks, because on a GPU it starts with what
// others left there. (A section of its own would not have the variables of
// templates; kernels have no zeroed variables of the device.) `used`, because
// the compiler must not conclude from a kernel's own stores what values a
// variable can have.
#define __shared__ static __attribute__((used))

typedef __SIZE_TYPE__ size_t;

// Of this image, as the linker names them.
extern "C" __attribute__((visibility("hidden"))) unsigned char __bss_start[];
extern "C" __attribute__((visibility("hidden"))) unsigned char _end[];

namespace dsv4_host {

// The dot keeps the section apart from the symbols of kernels.
__attribute__((section(".dsv4_state"))) static State state;

// Parameter types follow from the kernel's own, so that one entry serves all.
template <typename... Types>
struct List {};

template <typename Kernel, typename... Values>
inline void callWith(Kernel *kernel, List<>, void **, Values... values) {
  kernel(values...);
}
template <typename Kernel, typename Type, typename... Types, typename... Values>
inline void callWith(Kernel *kernel, List<Type, Types...>, void **params,
                     Values... values) {
  Type value;
  __builtin_memcpy(&value, *params, sizeof(Type));
  callWith(kernel, List<Types...>(), params + 1, values..., value);
}
template <typename... Types>
inline void call(void (*kernel)(Types...), void **params) {
  callWith(kernel, List<Types...>(), params);
}

template <typename Type>
inline unsigned long long toBits(Type value) {
  static_assert(sizeof(Type) <= 8, "a lane exchanges at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(Type));
  return bits;
}
template <typename Type>
inline Type fromBits(unsigned long long bits) {
  Type value;
  __builtin_memcpy(&value, &bits, sizeof(Type));
  return value;
}

/// The value that `source` brought, as the shuffles read it.
template <typename Type>
inline Type shuffle(const char *name, unsigned mask, Type value, int width,
                    int (*source)(int lane, int operand, int width),
                    int operand) {
  const WarpValues *warp = state.calls->exchange(name, mask, toBits(value));
  int from = source((int)warp->lane, operand, width);
  if (!(warp->present >> from & 1))
    state.calls->absentLane(name, (unsigned)from);
  return fromBits<Type>(warp->values[from]);
}

// The source lane of each shuffle; out of the segment of `width` lanes it is
// the reader itself. `width` is a power of two, at most 32.
inline int sourceIndexed(int lane, int operand, int width) {
  return (lane & ~(width - 1)) | (operand & (width - 1));
}
inline int sourceUp(int lane, int operand, int width) {
  return (lane & (width - 1)) < operand ? lane : lane - operand;
}
inline int sourceDown(int lane, int operand, int width) {
  return (lane & (width - 1)) + operand >= width ? lane : lane + operand;
}
inline int sourceXor(int lane, int operand, int width) {
  int from = lane ^ operand;
  return from >= (lane & ~(width - 1)) + width ? lane : from;
}

/// Folds the values of all lanes that took part, lowest lane first.
template <typename Type, typename Fold>
inline Type reduce(const char *name, unsigned mask, Type value, Fold fold) {
  const WarpValues *warp = state.calls->exchange(name, mask, toBits(value));
  int first = __builtin_ctz(warp->present);
  Type result = fromBits<Type>(warp->values[first]);
  for (int lane = first + 1; lane < (int)warp_size; ++lane)
    if (warp->present >> lane & 1)
      result = fold(result, fromBits<Type>(warp->values[lane]));
  return result;
}

/// A bit for each lane that took part with a true predicate.
inline unsigned ballot(const char *name, unsigned mask, bool predicate) {
  const WarpValues *warp = state.calls->exchange(name, mask, predicate);
  unsigned set = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (warp->present >> lane & 1)
      set |= (unsigned)warp->values[lane] << lane;
  return set;
}

} // namespace dsv4_host

extern "C" {
extern __attribute__((visibility("default")))
const dsv4_host::Image dsv4_host_image;
const dsv4_host::Image dsv4_host_image = {dsv4_host::abi_version,
                                          &dsv4_host::state, __bss_start, _end};
}

#define threadIdx (dsv4_host::state.threadIdx)
#define blockIdx (dsv4_host::state.blockIdx)
#define blockDim (dsv4_host::state.blockDim)
#define gridDim (dsv4_host::state.gridDim)
#define warpSize 32

inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

inline void __syncthreads() {
  dsv4_host::state.calls->barrier("__syncthreads", 0, 0, 0);
}
inline int __syncthreads_count(int predicate) {
  return (int)dsv4_host::state.calls->barrier("__syncthreads_count", 0, 0,
                                              predicate != 0);
}
inline int __syncthreads_or(int predicate) {
  return dsv4_host::state.calls->barrier("__syncthreads_or", 0, 0,
                                         predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate) {
  return dsv4_host::state.calls->barrier("__syncthreads_and", 0, 0,
                                         predicate == 0) == 0;
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
  dsv4_host::state.calls->exchange("__syncwarp", mask, 0);
}
// Fibers see each other's writes at once.
inline void __threadfence() {}
inline void __threadfence_block() {}

//===----------------------------------------------------------------------===//
// Warp collectives
//===----------------------------------------------------------------------===//

template <typename Type>
inline Type __shfl_sync(unsigned mask, Type value, int lane, int width = 32) {
  return dsv4_host::shuffle("__shfl_sync", mask, value, width,
                            dsv4_host::sourceIndexed, lane);
}
template <typename Type>
inline Type __shfl_up_sync(unsigned mask, Type value, unsigned delta,
                           int width = 32) {
  return dsv4_host::shuffle("__shfl_up_sync", mask, value, width,
                            dsv4_host::sourceUp, (int)delta);
}
template <typename Type>
inline Type __shfl_down_sync(unsigned mask, Type value, unsigned delta,
                             int width = 32) {
  return dsv4_host::shuffle("__shfl_down_sync", mask, value, width,
                            dsv4_host::sourceDown, (int)delta);
}
template <typename Type>
inline Type __shfl_xor_sync(unsigned mask, Type value, int lanes,
                            int width = 32) {
  return dsv4_host::shuffle("__shfl_xor_sync", mask, value, width,
                            dsv4_host::sourceXor, lanes);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return dsv4_host::ballot("__ballot_sync", mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return dsv4_host::ballot("__any_sync", mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return dsv4_host::ballot("__all_sync", mask, predicate == 0) == 0;
}
template <typename Type>
inline unsigned __match_any_sync(unsigned mask, Type value) {
  const dsv4_host::WarpValues *warp = dsv4_host::state.calls->exchange(
      "__match_any_sync", mask, dsv4_host::toBits(value));
  unsigned same = 0;
  for (unsigned lane = 0; lane < dsv4_host::warp_size; ++lane)
    if ((warp->present >> lane & 1) &&
        warp->values[lane] == warp->values[warp->lane])
      same |= 1u << lane;
  return same;
}

template <typename Type>
inline Type __reduce_add_sync(unsigned mask, Type value) {
  return dsv4_host::reduce(
      "__reduce_add_sync", mask, value,
      [](Type a, Type b) { return (Type)((unsigned)a + (unsigned)b); });
}
template <typename Type>
inline Type __reduce_min_sync(unsigned mask, Type value) {
  return dsv4_host::reduce("__reduce_min_sync", mask, value,
                           [](Type a, Type b) { return b < a ? b : a; });
}
template <typename Type>
inline Type __reduce_max_sync(unsigned mask, Type value) {
  return dsv4_host::reduce("__reduce_max_sync", mask, value,
                           [](Type a, Type b) { return a < b ? b : a; });
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return dsv4_host::reduce("__reduce_and_sync", mask, value,
                           [](unsigned a, unsigned b) { return a & b; });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return dsv4_host::reduce("__reduce_or_sync", mask, value,
                           [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return dsv4_host::reduce("__reduce_xor_sync", mask, value,
                           [](unsigned a, unsigned b) { return a ^ b; });
}

//===----------------------------------------------------------------------===//
// Atomics: a fiber is never interrupted between the read and the write
//===----------------------------------------------------------------------===//

namespace dsv4_host {
template <typename Type>
struct Same {
  using type = Type;
};
/// The second operand of an atomic takes the type of the memory.
template <typename Type>
using SameAs = typename Same<Type>::type;

template <typename Type, typename Combine>
inline Type atomic(Type *at, Combine combine) {
  if ((size_t)at % sizeof(Type))
    state.calls->misaligned("atomic", at, sizeof(Type));
  Type old = *at;
  *at = combine(old);
  return old;
}
} // namespace dsv4_host

template <typename Type>
inline Type atomicAdd(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at, [=](Type old) { return (Type)(old + value); });
}
template <>
inline int atomicAdd<int>(int *at, int value) {
  return dsv4_host::atomic(
      at, [=](int old) { return (int)((unsigned)old + (unsigned)value); });
}
template <typename Type>
inline Type atomicSub(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(
      at, [=](Type old) { return (Type)((unsigned)old - (unsigned)value); });
}
template <typename Type>
inline Type atomicMin(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at,
                           [=](Type old) { return value < old ? value : old; });
}
template <typename Type>
inline Type atomicMax(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at,
                           [=](Type old) { return old < value ? value : old; });
}
template <typename Type>
inline Type atomicAnd(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at, [=](Type old) { return (Type)(old & value); });
}
template <typename Type>
inline Type atomicOr(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at, [=](Type old) { return (Type)(old | value); });
}
template <typename Type>
inline Type atomicXor(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at, [=](Type old) { return (Type)(old ^ value); });
}
template <typename Type>
inline Type atomicExch(Type *at, dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(at, [=](Type) { return value; });
}
template <typename Type>
inline Type atomicCAS(Type *at, dsv4_host::SameAs<Type> expected,
                      dsv4_host::SameAs<Type> value) {
  return dsv4_host::atomic(
      at, [=](Type old) { return old == expected ? value : old; });
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

inline float __uint_as_float(unsigned bits) {
  return dsv4_host::fromBits<float>(bits);
}
inline unsigned __float_as_uint(float value) {
  return (unsigned)dsv4_host::toBits(value);
}
inline float __int_as_float(int bits) {
  return dsv4_host::fromBits<float>((unsigned)bits);
}
inline int __float_as_int(float value) {
  return (int)(unsigned)dsv4_host::toBits(value);
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) {
  return __builtin_popcountll(bits);
}
inline int __clz(int bits) { return bits ? __builtin_clz((unsigned)bits) : 32; }
inline int __clzll(long long bits) {
  return bits ? __builtin_clzll((unsigned long long)bits) : 64;
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline unsigned __brev(unsigned bits) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i)
    reversed |= (bits >> i & 1) << (31 - i);
  return reversed;
}
inline unsigned __activemask() {
  const unsigned thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return 1u << thread % 32;
}

#endif // DSV4_HOST_CUDA_BUILTINS_H
