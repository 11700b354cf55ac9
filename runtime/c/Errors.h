//===- Errors.h - Statuses as C errors --------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_ERRORS_H
#define DSV4_RUNTIME_C_ERRORS_H

#include "dsv4.h"

#include "dsv4-runtime/Program.h"
#include "dsv4-runtime/Status.h"

#include <atomic>
#include <new>

namespace dsv4::c {

using rt::Code;
using rt::Result;
using rt::Status;

/// What an error may be about: whom to count it for, and the names of
/// arguments.
struct ErrorScope {
  std::atomic<uint64_t> *errors = nullptr;
  const rt::ProgramInfo *program = nullptr;
};

/// Keeps the error as the thread's last one, and gives the caller a copy if
/// `error` is not null. Returns its class. Never throws.
[[gnu::cold]] dsv4_status report(const Status &status, const ErrorScope &scope,
                                 dsv4_error **error) noexcept;
[[gnu::cold]] dsv4_status reportException(const ErrorScope &scope,
                                          dsv4_error **error) noexcept;

/// Runs the body of an exported function, which returns a Status.
template <typename F>
dsv4_status guarded(dsv4_error **error, const ErrorScope &scope,
                    F &&body) noexcept {
  if (error)
    *error = nullptr;
  try {
    Status status = body();
    if (__builtin_expect(status.ok(), true))
      return DSV4_OK;
    return report(status, scope, error);
  } catch (...) {
    return reportException(scope, error);
  }
}

inline Status invalid(const char *id, std::string message) {
  return Status(Code::InvalidArgument, std::move(message)).about(id);
}

/// The error of a parameter that must not be null.
[[gnu::cold]] Status isNull(const char *parameter);

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_ERRORS_H
