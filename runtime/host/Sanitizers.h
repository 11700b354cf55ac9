//===- Sanitizers.h - What this process is built with -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_SANITIZERS_H
#define DSV4_HOST_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define DSV4_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DSV4_ADDRESS_SANITIZER 1
#endif
#endif

namespace dsv4::rt {

#ifdef DSV4_ADDRESS_SANITIZER
inline constexpr bool addressSanitizerIsOn = true;
#else
inline constexpr bool addressSanitizerIsOn = false;
#endif

} // namespace dsv4::rt

#endif // DSV4_HOST_SANITIZERS_H
