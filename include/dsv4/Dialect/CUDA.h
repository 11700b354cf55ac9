//===- CUDA.h - The cuda exit dialect ---------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ops. Generic code includes Base.h or ElementOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_CUDA_H
#define DSV4_DIALECT_CUDA_H

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/CUDA/SectionOps.h"
#include "dsv4/Dialect/CUDA/SelectOps.h"
#include "dsv4/Dialect/CUDA/TileOps.h"
#include "dsv4/Dialect/CUDA/WindowOps.h"

#endif // DSV4_DIALECT_CUDA_H
