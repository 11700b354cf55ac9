//===- ThreadOrder.cpp - The order in which a block's threads run ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadOrder.h"

#include <charconv>

namespace dsv4::rt {

Result<ThreadSchedule> parseThreadOrder(const std::string &text) {
  if (text == "forward")
    return ThreadSchedule{ThreadOrder::Forward, 0};
  if (text == "reverse")
    return ThreadSchedule{ThreadOrder::Reverse, 0};

  const std::string prefix = "random:";
  if (text.compare(0, prefix.size(), prefix) == 0) {
    ThreadSchedule schedule{ThreadOrder::Random, 0};
    const char *begin = text.data() + prefix.size();
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(begin, end, schedule.seed);
    if (error == std::errc() && stop == end)
      return schedule;
  }
  return Status(Code::InvalidArgument,
                "thread order '" + text +
                    "': expected forward, reverse or random:SEED with a "
                    "decimal SEED below 2^64");
}

std::string toString(const ThreadSchedule &schedule) {
  switch (schedule.order) {
  case ThreadOrder::Forward:
    return "forward";
  case ThreadOrder::Reverse:
    return "reverse";
  case ThreadOrder::Random:
    break;
  }
  return "random:" + std::to_string(schedule.seed);
}

} // namespace dsv4::rt
