//===- Errors.cpp - Statuses as C errors ----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

#include <cstring>
#include <memory>

using namespace dsv4::c;

namespace {
/// A dsv4_error with the texts that it points at.
struct ErrorObject : dsv4_error {
  explicit ErrorObject(const dsv4_error &base) : dsv4_error(base) {}

  std::string messageText, argumentText;
};

/// For when there is no memory for another; it is never freed.
const dsv4_error &outOfMemory() {
  static const dsv4_error error = {
      sizeof(dsv4_error),
      DSV4_ERROR_UNAVAILABLE,
      "memory",
      "out of memory: free some host memory and call again",
      nullptr,
      -1,
      0};
  return error;
}

thread_local std::unique_ptr<ErrorObject> lastError;
thread_local bool lastIsOutOfMemory = false;
} // namespace

static dsv4_status getClass(Code code) {
  switch (code) {
  case Code::Ok:
    return DSV4_OK;
  case Code::InvalidArgument:
    return DSV4_ERROR_INVALID_ARGUMENT;
  case Code::TypeMismatch:
    return DSV4_ERROR_TYPE_MISMATCH;
  case Code::Unavailable:
    return DSV4_ERROR_UNAVAILABLE;
  case Code::CompileFailed:
    return DSV4_ERROR_COMPILE_FAILED;
  case Code::LoadFailed:
    return DSV4_ERROR_LOAD_FAILED;
  case Code::LaunchFailed:
    return DSV4_ERROR_LAUNCH_FAILED;
  case Code::CorruptEntry:
    return DSV4_ERROR_CORRUPT_ENTRY;
  case Code::NotPrepared:
    return DSV4_ERROR_NOT_PREPARED;
  }
  return DSV4_ERROR_INVALID_ARGUMENT;
}

/// The id of an error that has no other.
static const char *defaultId(dsv4_status status) {
  static constexpr const char *ids[] = {
      "ok",          "argument",      "argument.type", "unavailable", "compile",
      "load.failed", "launch.failed", "entry.corrupt", "not_prepared"};
  return ids[status];
}

static std::unique_ptr<ErrorObject> makeError(const Status &status,
                                              const ErrorScope &scope) {
  dsv4_error base = {};
  base.size = sizeof(dsv4_error);
  base.status = getClass(status.code());
  base.id = *status.id() ? status.id() : defaultId(base.status);
  base.argument_index = status.argument();
  base.driver_result = status.driverResult();
  auto object = std::make_unique<ErrorObject>(base);
  object->messageText = status.message();
  object->message = object->messageText.c_str();
  const int index = status.argument();
  if (scope.program && index >= 0 &&
      size_t(index) < scope.program->bindings.size()) {
    object->argumentText = scope.program->bindings[size_t(index)].name;
    object->argument = object->argumentText.c_str();
  }
  return object;
}

/// The caller's copy may be the one that is never freed.
static dsv4_error *copyOf(const ErrorObject &error) {
  auto copy = std::make_unique<ErrorObject>(error);
  copy->message = copy->messageText.c_str();
  if (copy->argument)
    copy->argument = copy->argumentText.c_str();
  return copy.release();
}

dsv4_status dsv4::c::report(const Status &status, const ErrorScope &scope,
                            dsv4_error **error) noexcept {
  if (scope.errors)
    scope.errors->fetch_add(1, std::memory_order_relaxed);
  try {
    lastError = makeError(status, scope);
    lastIsOutOfMemory = false;
    if (error)
      *error = copyOf(*lastError);
    return lastError->status;
  } catch (...) {
    return reportException({nullptr, nullptr}, error);
  }
}

dsv4_status dsv4::c::reportException(const ErrorScope &scope,
                                     dsv4_error **error) noexcept {
  // Nothing here throws anything but bad_alloc and what containers throw when
  // a size is absurd.
  if (scope.errors)
    scope.errors->fetch_add(1, std::memory_order_relaxed);
  lastIsOutOfMemory = true;
  if (error)
    *error = const_cast<dsv4_error *>(&outOfMemory());
  return outOfMemory().status;
}

Status dsv4::c::isNull(const char *parameter) {
  return invalid("null", std::string("'") + parameter +
                             "' is null: expected an address");
}

//===----------------------------------------------------------------------===//
// Exported
//===----------------------------------------------------------------------===//

const char *dsv4_status_name(dsv4_status status) {
  static constexpr const char *names[] = {"ok",
                                          "invalid argument",
                                          "type mismatch",
                                          "unavailable",
                                          "compile failed",
                                          "load failed",
                                          "launch failed",
                                          "corrupt entry",
                                          "not prepared"};
  return status >= 0 && status <= DSV4_ERROR_NOT_PREPARED ? names[status]
                                                          : "unknown status";
}

void dsv4_error_destroy(dsv4_error *error) {
  if (error && error != &outOfMemory())
    delete static_cast<ErrorObject *>(error);
}

const dsv4_error *dsv4_last_error(void) {
  return lastIsOutOfMemory ? &outOfMemory() : lastError.get();
}

uint32_t dsv4_version(void) { return DSV4_VERSION; }
uint32_t dsv4_abi(void) { return DSV4_ABI; }
