//===- RowLowerings.cpp - Registration of the lowerings of dsv4 ops -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Passes.h"

using namespace mlir;
using namespace dsv4;

void dsv4::registerRowLowerings(DialectRegistry &registry) {
#define DSV4_ATTACH_LOWERING(Name) attach##Name##Lowering(registry);
  DSV4_ROW_LOWERINGS(DSV4_ATTACH_LOWERING)
#undef DSV4_ATTACH_LOWERING
}
