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
    An op of a row program that `dsv4-distribute-rows` can give to threads. The pass
    knows no op but through this interface. A fragment is what one thread holds of a
    value; `Distribution` says which one, and makes those of operands.
  }];
  let methods = [
    InterfaceMethod<[{
      What the op needs of an operand that is a row, for the elements `at` of its
      result: the same elements, accessed as the result is, unless it says otherwise.
    }], "::dsv4::row::Demand", "getDemand",
      (ins "::mlir::OpOperand &":$operand, "::dsv4::row::Footprint":$at,
           "const ::dsv4::Distribution &":$distribution), [{}],
      [{ return {at}; }]>,
    InterfaceMethod<[{
      Which threads do the op together: those that hold the row, or more.
    }], "::dsv4::row::Scope", "getScope", (ins "::dsv4::ScheduleAttr":$schedule), [{}],
      [{ return ::dsv4::row::Scope::Lanes; }]>,
    InterfaceMethod<[{
      The fragment of a result that covers the elements `at`. Loads of its operands have
      been placed.
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
    An op of a row program whose one result, a row of f32, the threads of a block compute
    together, for several rows at a time and in an order of their own (`docs/TileSources.md`).
    Nobody can ask for one column of it. `row.select` takes such a row as tiles: its device
    call runs the source once, and the source hands over fragments.
  }];
  let methods = [
    InterfaceMethod<"Rows and columns that the threads have at a time, and who has them.",
      "::dsv4::row::TileShape", "getTileShape",
      (ins "const ::dsv4::Distribution &":$distribution)>,
    InterfaceMethod<[{
      What a block needs for it, beside what the consumer of the tiles needs.
    }], "::dsv4::row::TileResources", "getTileResources",
      (ins "const ::dsv4::Distribution &":$distribution)>,
    InterfaceMethod<[{
      Emits the device call that computes the rows `getFirstRow()` to `getRowCount()` - 1, at
      most as many as a tile has. It gives fragments to `consume`, a `!cuda.callable`, by the
      protocol of `select/topk_tiles.cuh`. `memory` is its part of the shared memory; null
      where it needs none. Scalars come from `getScalar()`: they are one for all rows.
    }], "::llvm::LogicalResult", "emitSource",
      (ins "::dsv4::Distribution &":$distribution, "::mlir::Value":$consume,
           "::mlir::Value":$memory)>
  ];
}

#endif // ROW_INTERFACES_TD
