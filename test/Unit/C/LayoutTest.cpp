//===- LayoutTest.cpp - dsv4.h as C++, as C and beside DLPack -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layout.h"

#include <gtest/gtest.h>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>

static_assert(sizeof(dsv4_dltensor) == sizeof(DLTensor));
static_assert(offsetof(dsv4_dltensor, device_type) ==
              offsetof(DLTensor, device));
static_assert(offsetof(dsv4_dltensor, ndim) == offsetof(DLTensor, ndim));
static_assert(offsetof(dsv4_dltensor, type) == offsetof(DLTensor, dtype));
static_assert(offsetof(dsv4_dltensor, shape) == offsetof(DLTensor, shape));
static_assert(offsetof(dsv4_dltensor, strides) == offsetof(DLTensor, strides));
static_assert(offsetof(dsv4_dltensor, byte_offset) ==
              offsetof(DLTensor, byte_offset));
static_assert(int(DSV4_DEVICE_CPU) == kDLCPU);
static_assert(int(DSV4_DEVICE_CUDA) == kDLCUDA);
static_assert(int(DSV4_TYPE_FLOAT) == kDLFloat);
static_assert(int(DSV4_TYPE_BFLOAT) == kDLBfloat);
#endif

extern "C" dsv4_tensor dsv4LayoutTensor(void);

TEST(Layout, InitialisersOfCAndCxx) {
  const dsv4_tensor fromC = dsv4LayoutTensor();
  const dsv4_tensor fromCxx = DSV4_INIT(dsv4_tensor);
  EXPECT_EQ(fromC.size, sizeof(dsv4_tensor));
  EXPECT_EQ(fromCxx.size, fromC.size);
  EXPECT_EQ(fromC.data, nullptr);
  EXPECT_EQ(fromCxx.device_type, DSV4_DEVICE_UNKNOWN);
}
