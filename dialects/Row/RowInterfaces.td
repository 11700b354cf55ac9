//===- RowInterfaces.td - Interfaces of row ops -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_INTERFACES_TD
#define ROW_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Row_DistributableOpInterface : OpInterface<"DistributableOpInterface"> {
  let cppNamespace = "::dsv4::row";
  let description = [{
    An op of a row program that `dsv4-distribute-rows` can map to threads. The pass uses
    ops only through this interface. A fragment is the part of a value that one thread
    holds. `Distribution` determines the fragment, and makes the fragments of operands.
  }];
  let methods = [
    InterfaceMethod<[{
      The elements of a row operand that the op needs for the elements `at` of its
      result. By default the same elements, accessed like the result.
    }], "::dsv4::row::Demand", "getDemand",
      (ins "::mlir::OpOperand &":$operand, "::dsv4::row::Footprint":$at,
           "const ::dsv4::Distribution &":$distribution), [{}],
      [{ return {at}; }]>,
    InterfaceMethod<[{
      The threads that run the op together: those that hold the row, or more.
    }], "::dsv4::row::Scope", "getScope", (ins "::dsv4::ScheduleAttr":$schedule), [{}],
      [{ return ::dsv4::row::Scope::Lanes; }]>,
    InterfaceMethod<[{
      Emits the fragment of a result that covers the elements `at`. The loads of its
      operands exist already.
    }], "::mlir::FailureOr<::mlir::Value>", "materialize",
      (ins "::dsv4::Distribution &":$distribution, "::mlir::OpResult":$result,
           "::dsv4::row::Footprint":$at)>,
    InterfaceMethod<[{
      Emits an op without results, or the part of a cooperative op that all of its
      threads run.
    }], "::llvm::LogicalResult", "distribute", (ins "::dsv4::Distribution &":$distribution), [{}],
      [{ return ::llvm::success(); }]>
  ];
}

def Row_TileSourceOpInterface : OpInterface<"TileSourceOpInterface"> {
  let cppNamespace = "::dsv4::row";
  let description = [{
    An op of a row program with one result, a row of f32. The threads of a block compute
    several such rows together, in an order of their own (`docs/TileSources.md`). No op can
    request a single column. `row.select` consumes such a row as tiles: its device call runs
    the source once, and the source passes fragments to it.
  }];
  let methods = [
    InterfaceMethod<"Rows and columns that the threads have at a time, and who has them.",
      "::dsv4::row::TileShape", "getTileShape",
      (ins "const ::dsv4::Distribution &":$distribution)>,
    InterfaceMethod<[{
      The resources that a block needs for the source, beside those of the consumer.
    }], "::dsv4::row::TileResources", "getTileResources",
      (ins "const ::dsv4::Distribution &":$distribution)>,
    InterfaceMethod<[{
      Emits the device call that computes the rows `getFirstRow()` to `getRowCount()` - 1, at
      most as many as a tile has. The call passes fragments to `consume`, a `!cuda.callable`,
      by the protocol of `select/topk_tiles.cuh`. `memory` is its part of the shared memory,
      or null if it needs none. Scalars come from `getScalar()`: all rows share them.
    }], "::llvm::LogicalResult", "emitSource",
      (ins "::dsv4::Distribution &":$distribution, "::mlir::Value":$consume,
           "::mlir::Value":$memory)>,
    InterfaceMethod<[{
      Whether the device call itself waits for the previous kernel, and lets dependent kernels
      start: before that it may only prefetch into L2.
    }], "bool", "waitsForPreviousKernel",
      (ins "const ::dsv4::Distribution &":$distribution), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether the source can hand whole rows to the lanes of warps instead, which then have them
      as other rows in registers: `emitRows`.
    }], "bool", "handsOverRows", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Emits the device call that computes all rows of the kernel by all of its blocks, and passes
      each of them to `consume`, on all lanes of one warp, in vectors of `vector` elements.
    }], "::llvm::LogicalResult", "emitRows",
      (ins "::dsv4::Distribution &":$distribution, "::mlir::Value":$consume,
           "::mlir::Value":$memory, "int64_t":$vector), [{}], [{ return ::llvm::failure(); }]>
  ];
}

#endif // ROW_INTERFACES_TD
