//===- Fork.cpp - What a child of fork() must not inherit -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Fork.h"

#include <pthread.h>

std::atomic<unsigned> dsv4::rt::forks{0};

/// Registered when the library is loaded: a lazy registration could itself be
/// under way when another thread forks.
[[maybe_unused]] static const int registered =
    ::pthread_atfork(nullptr, nullptr, [] { ++dsv4::rt::forks; });
