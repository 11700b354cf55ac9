//===- CUDAInterfaces.td - Interfaces of cuda ops -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_INTERFACES_TD
#define CUDA_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CUDA_DeviceCallOpInterface : OpInterface<"DeviceCallOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that is a call of a device library function. What a call needs is
    declared here, and never discovered from text.
  }];
  let methods = [
    InterfaceMethod<"Qualified name of the callee.", "::llvm::StringRef", "getCallee">,
    InterfaceMethod<"The library file that defines it.", "::llvm::StringRef", "getHeader">
  ];
}

#endif // CUDA_INTERFACES_TD
