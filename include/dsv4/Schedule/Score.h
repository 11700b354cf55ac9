//===- Score.h - Schedules of scores of keys --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_SCORE_H
#define DSV4_SCHEDULE_SCORE_H

#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/ScoreOps.h"

namespace dsv4 {

/// Why `algorithm` cannot score the keys of `op`, which is in `kernel`, or an
/// empty string.
std::string explainScores(ScoreAlgorithm algorithm, IndexScoreOp op,
                          KernelOp kernel);

/// Whether neighbouring rows have the same keys.
bool sharesKeys(IndexScoreOp op);

/// What the stages of scores by tensor cores are a multiple of.
int64_t getStageUnit(const LaunchPart &launch);

} // namespace dsv4

#endif // DSV4_SCHEDULE_SCORE_H
