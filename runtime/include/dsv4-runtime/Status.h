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
inline std::string toOneLine(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    bool isC1 = byte == 0xC2 && i + 1 < text.size() &&
                static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (isC1)
      text[i + 1] = '?';
    if (isC1 || byte < ' ' || byte == 0x7F)
      text[i] = byte == '\n' ? ' ' : '?';
  }
  return text;
}

class [[nodiscard]] Status {
public:
  Status() = default;
  /// A message is one line of at most 4096 bytes that a terminal can show,
  /// whatever names and paths of strangers are in it.
  Status(Code code, std::string message)
      : failure(code), text(toOneLine(std::move(message))) {
    constexpr size_t maxBytes = 4096;
    if (text.size() > maxBytes)
      text.replace(maxBytes - 3, std::string::npos, "...");
  }
  bool ok() const { return failure == Code::Ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return failure; }
  const std::string &message() const { return text; }

  /// For code that handles errors: an id that never changes, the index of the
  /// argument that is wrong, and the result of the driver.
  Status &&about(const char *id, int argument = -1, int driver = 0) && {
    name = id;
    index = argument;
    result = driver;
    return std::move(*this);
  }
  const char *id() const { return name; } ///< Empty if it has none.
  int argument() const { return index; }  ///< Or -1.
  int driverResult() const { return result; }

private:
  Code failure = Code::Ok;
  int index = -1;
  int result = 0;
  const char *name = "";
  std::string text;
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
