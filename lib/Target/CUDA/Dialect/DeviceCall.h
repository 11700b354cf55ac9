//===- DeviceCall.h - Text of device calls ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TARGET_CUDA_DIALECT_DEVICECALL_H
#define DSV4_LIB_TARGET_CUDA_DIALECT_DEVICECALL_H

#include "dsv4/Dialect/CUDA/ElementOps.h"
#include "dsv4/Target/CUDA/ModuleTranslation.h"

namespace dsv4 {

/// The call that `op` says it is.
mlir::FailureOr<Spelling> spellDeviceCall(cuda::DeviceCallOpInterface op,
                                          ModuleTranslation &text);

/// base[offset]
mlir::FailureOr<std::string> spellElement(const cuda::ElementAddress &address,
                                          ModuleTranslation &text);

} // namespace dsv4

#endif // DSV4_LIB_TARGET_CUDA_DIALECT_DEVICECALL_H
