//===- OldGlibc.cpp - What tools call and glibc 2.34 lacks ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Engines run on glibc 2.34 and 2.35 (RHEL 9, Ubuntu 22.04). LLVM's and
// libstdc++'s archives were made on a newer one, and call arc4random() of 2.36.
// The linker prefers this definition, because it comes before the C library.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// Hidden, so that no other library of the process calls it.
extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random(void);

uint32_t arc4random(void) {
  uint32_t value = 0;
  ssize_t count;
  do
    count = ::getrandom(&value, sizeof(value), 0);
  while (count < 0 && errno == EINTR);
  // Nobody would notice numbers that are not random.
  if (count != ssize_t(sizeof(value)))
    std::abort();
  return value;
}
