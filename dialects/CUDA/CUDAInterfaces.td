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

    The methods read only attributes and types of the op, without any analysis. So the
    printer has one path for all calls.
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
      The members of the config type, if the call has more than three template arguments.
      The config is then the only one. `cuda-prepare-for-emission` names it (`cuda.config`).
    }], "::std::optional<::dsv4::cuda::CallConfig>", "getConfig", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Arguments in their order: the operands, unless the op says otherwise.",
      "::llvm::SmallVector<::dsv4::cuda::CallArgument>", "getCallArguments", (ins), [{}],
      [{
        ::llvm::SmallVector<::dsv4::cuda::CallArgument> arguments;
        for (::mlir::Value operand : $_op->getOperands())
          arguments.push_back(operand);
        return arguments;
      }]>,
    InterfaceMethod<[{
      Whether it waits for the kernels that this launch depends on: no access to memory may move
      before it.
    }], "bool", "waitsForPreviousKernel", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      The argument of a region of the op that gets what another of its regions ends in; null if
      none does.
    }], "::mlir::Value", "getReceiver", (ins "::mlir::OpOperand &":$yielded), [{}],
      [{ return {}; }]>
  ];
}

def CUDA_IndexWidthOpInterface : OpInterface<"IndexWidthOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op with index operands or regions, where `cuda-legalize` needs more than the ranges
    of values to give an index its width.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether an index operand is an `int` whatever its range, because the runtime refuses
      larger extents.
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
    An op that uses dynamic shared memory. The launch plan has the maximum over all ops: memory
    that ops use one after another may overlap, and memory that they use together has been
    planned side by side.
  }];
  let methods = [
    InterfaceMethod<"Bytes of it, counted from its beginning, that must be there.",
      "int64_t", "getSharedBytes">
  ];
}

def CUDA_BufferAccessOpInterface : OpInterface<"BufferAccessOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that relies on a buffer being aligned to more than its elements. The launch plan requires
    the largest alignment of all accesses to the buffer. It derives from the memory effects of the
    ops whether the kernel reads or writes the buffer.
  }];
  let methods = [
    InterfaceMethod<"The alignment in bytes, a power of two, that the op relies on for `memory`.",
      "int64_t", "getBufferAlignment", (ins "::mlir::OpOperand &":$memory)>
  ];
}

def CUDA_BlockCooperativeOpInterface : OpInterface<"BlockCooperativeOpInterface"> {
  let cppNamespace = "::dsv4::cuda";
  let description = [{
    An op that all threads of a block may do together. `dsv4-merge-kernels` lets threads that a
    part of a launch does not need leave at once, unless the part has such an op.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether all threads of the block reach the op together. None of them may leave before it.
    }], "bool", "isBlockCooperative">
  ];
}

#endif // CUDA_INTERFACES_TD
