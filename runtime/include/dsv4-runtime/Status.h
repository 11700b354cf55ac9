//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No exception leaves the runtime. A message is one line. It names the wrong
// operand or file, and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_STATUS_H
#define DSV4_RUNTIME_STATUS_H

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dsv4::rt {

enum class Code {
  Ok,
  InvalidArgument, ///< The caller's operands or options are wrong.
  TypeMismatch,    ///< The element type or memory of an operand is wrong.
  Unavailable,     ///< No driver, no NVRTC, no system compiler, no such device.
  CompileFailed,   ///< A pass, NVRTC, ptxas or the host compiler refused.
  LoadFailed,      ///< The driver or the loader refused the image.
  LaunchFailed,    ///< The device reported an error.
  CorruptEntry,    ///< Bytes are no entry of this version, or are damaged.
  NotPrepared,     ///< It would have to compile, load or allocate now.
};

/// `text` in one line that a terminal can show: '?' for control characters,
/// those that UTF-8 writes with two bytes (U+0080 to U+009F) among them.
std::string toOneLine(std::string text);

/// Success is a null pointer, so that a launch pays nothing for it.
class [[nodiscard]] Status {
public:
  Status() = default;
  /// A message is one line of at most 4096 bytes that a terminal can show,
  /// whatever names and paths of strangers are in it.
  Status(Code code, std::string message);
  Status(Status &&) = default;
  Status &operator=(Status &&) = default;
  Status(const Status &other)
      : failure(other.failure ? std::make_unique<Failure>(*other.failure)
                              : nullptr) {}
  Status &operator=(const Status &other) { return *this = Status(other); }

  bool ok() const { return !failure; }
  explicit operator bool() const { return ok(); }
  Code code() const { return failure ? failure->code : Code::Ok; }
  const std::string &message() const;

  /// For code that handles errors: an id that never changes, the index of the
  /// argument that is wrong, and the result of the driver.
  Status &&about(const char *id, int argument = -1, int driver = 0) &&;
  /// Empty if it has none.
  const char *id() const { return failure ? failure->id : ""; }
  /// Or -1.
  int argument() const { return failure ? failure->argument : -1; }
  int driverResult() const { return failure ? failure->driver : 0; }

private:
  struct Failure {
    Code code;
    std::string message;
    const char *id = "";
    int argument = -1;
    int driver = 0;
  };
  std::unique_ptr<Failure> failure;
};

/// A value, or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {}
  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return failure; }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }
  T take() { return std::move(*held); }

private:
  std::optional<T> held;
  Status failure;
};

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_STATUS_H
