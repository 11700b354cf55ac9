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
    An op that is printed as one call:

    ```c++
    callee<template arguments>(arguments)
    callee<Config>(arguments)
    ```

    The op answers from its attributes and types, so the printer has one path for all
    calls. What the op answers needs no analysis and is never discovered from text.
  }];
  let methods = [
    InterfaceMethod<[{
      Qualified name of the callee, or the parameter of the enclosing lambda that is called.
    }], "::llvm::StringRef", "getCallee">,
    InterfaceMethod<"The file of the device library that defines the callee.",
      "::llvm::StringRef", "getHeader">,
    InterfaceMethod<"Template arguments in their order: at most three.",
      "::llvm::SmallVector<::dsv4::cuda::TemplateArgument>", "getTemplateArguments", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
      The members of the type that is the only template argument, of a call that has
      more than three. `cuda-prepare-for-emission` names the type (`cuda.config`).
    }], "::std::optional<::dsv4::cuda::CallConfig>", "getConfig", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Arguments in their order: the operands, unless the op says otherwise.",
      "::llvm::SmallVector<::dsv4::cuda::CallArgument>", "getCallArguments", (ins), [{}],
      [{
        ::llvm::SmallVector<::dsv4::cuda::CallArgument> arguments;
        for (::mlir::Value operand : $_op->getOperands())
          arguments.push_back(operand);
        return arguments;
      }]>
  ];
}

def CUDA_IndexWidthOpInterface : OpInterface<"IndexWidthOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that has index operands or regions, and of which `cuda-legalize` must know more
    than the ranges of values to give an index its width.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether an index operand is an `int` whatever its range: the runtime refuses extents
      beyond.
    }], "bool", "isInt32", (ins "::mlir::OpOperand &":$operand), [{}],
      [{ return false; }]>,
    InterfaceMethod<"How offsets in a region of the op are added up.",
      "::dsv4::cuda::OffsetSum", "getOffsetSum", (ins "::mlir::Region &":$region), [{}],
      [{ return ::dsv4::cuda::OffsetSum::Range; }]>
  ];
}

def CUDA_SharedMemoryOpInterface : OpInterface<"SharedMemoryOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that uses dynamic shared memory. The launch plan has as much as the op that
    needs most: what ops use one after another may overlap, and what they use together
    the compiler has planned side by side.
  }];
  let methods = [
    InterfaceMethod<"Bytes of it, counted from its beginning, that must be there.",
      "int64_t", "getSharedBytes">
  ];
}

def CUDA_BufferAccessOpInterface : OpInterface<"BufferAccessOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that counts on a buffer to be aligned to more than its elements are. The launch plan
    requires of a buffer the largest alignment of its accesses, and takes from the memory effects
    of the ops whether the kernel reads or writes it.
  }];
  let methods = [
    InterfaceMethod<"The alignment in bytes, a power of two, that the op counts on for `memory`.",
      "int64_t", "getBufferAlignment", (ins "::mlir::OpOperand &":$memory)>
  ];
}

#endif // CUDA_INTERFACES_TD
