//===- Status.cpp - Errors as values --------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-runtime/Status.h"

using namespace dsv4::rt;

std::string dsv4::rt::toOneLine(std::string text) {
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

Status::Status(Code code, std::string message) {
  // Whoever reports success has nothing to say.
  if (code == Code::Ok)
    return;
  failure = std::make_unique<Failure>();
  failure->code = code;
  failure->message = toOneLine(std::move(message));
  constexpr size_t maxBytes = 4096;
  if (failure->message.size() > maxBytes)
    failure->message.replace(maxBytes - 3, std::string::npos, "...");
}

const std::string &Status::message() const {
  static const std::string none;
  return failure ? failure->message : none;
}

Status &&Status::about(const char *id, int argument, int driver) && {
  if (failure) {
    failure->id = id;
    failure->argument = argument;
    failure->driver = driver;
  }
  return std::move(*this);
}
