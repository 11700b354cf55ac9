//===- Structs.h - Structs of other versions of the header ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every struct of dsv4.h begins with its size, and only grows at its end.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_STRUCTS_H
#define DSV4_RUNTIME_C_STRUCTS_H

#include "Errors.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace dsv4::c {

/// No struct will ever be larger; a size beyond it was not initialised.
constexpr uint32_t MaxStructBytes = 4096;

/// The size of a struct in the first version of the header that has it. To be
/// specialised for those that grow.
template <typename T>
constexpr uint32_t FirstSize = sizeof(T);
template <>
constexpr uint32_t FirstSize<dsv4_compile_options> =
    offsetof(dsv4_compile_options, should_stop);
template <>
constexpr uint32_t FirstSize<dsv4_counters> =
    offsetof(dsv4_counters, disk_hits);

template <typename T>
[[gnu::cold]] Status wrongSize(const char *name, uint32_t size) {
  return invalid("struct.size", std::string(name) + ": its size is " +
                                    std::to_string(size) + ", expected " +
                                    std::to_string(sizeof(T)) +
                                    ": initialise it with DSV4_INIT");
}

/// Whether a struct of some version of the header may have this size. Elements
/// of an array of them are aligned, too.
template <typename T>
bool isSize(uint32_t size) {
  return size >= FirstSize<T> && size <= MaxStructBytes &&
         size % alignof(T) == 0;
}

/// Checks a field that later versions may use.
inline Status checkReserved(uint32_t reserved, const char *name) {
  if (__builtin_expect(reserved == 0, true))
    return Status();
  return invalid("struct.newer", std::string(name) + ": reserved bytes are " +
                                     std::to_string(reserved) +
                                     ", expected 0: initialise it with "
                                     "DSV4_INIT");
}

/// Checks the size of a struct, and that what this library does not know of it
/// is zero.
template <typename T>
Status checkStruct(const T *given, const char *name) {
  const uint32_t size = given->size;
  if (__builtin_expect(size == sizeof(T), true))
    return Status();
  if (!isSize<T>(size))
    return wrongSize<T>(name, size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (uint32_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return invalid("struct.newer",
                     std::string(name) + ": byte " + std::to_string(i) +
                         " is not zero, and this library knows " +
                         std::to_string(sizeof(T)) +
                         " bytes of it: update the library, or leave newer "
                         "fields zero");
  return Status();
}

/// Copies what both sides know; the rest of `out` is zero.
template <typename T>
Status readStruct(const T *given, const char *name, T &out) {
  if (Status status = checkStruct(given, name); !status)
    return status;
  std::memset(static_cast<void *>(&out), 0, sizeof(T));
  std::memcpy(static_cast<void *>(&out), given,
              std::min<size_t>(given->size, sizeof(T)));
  return Status();
}

/// Fills in the caller's struct as far as it goes; what this library does not
/// know becomes zero. Its size stays.
template <typename T>
Status writeStruct(T *given, const char *name, const T &value) {
  if (!given)
    return isNull(name);
  const uint32_t size = given->size;
  if (!isSize<T>(size))
    return wrongSize<T>(name, size);
  std::memset(static_cast<void *>(given), 0, size);
  std::memcpy(static_cast<void *>(given), &value,
              std::min<size_t>(size, sizeof(T)));
  given->size = size;
  return Status();
}

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_STRUCTS_H
