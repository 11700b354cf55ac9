//===- DSV4Interfaces.td - Interfaces of dsv4 ops -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_INTERFACES_TD
#define DSV4_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DSV4_RowwiseOpInterface : OpInterface<"RowwiseOpInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    An op that computes each row of its results from one row of its operands,
    independent of every other row. Kernels are formed from such ops through this
    interface alone.
  }];
  let methods = [
    InterfaceMethod<[{
      The operand whose axes, all but the last, are the row space. An op of the
      same kernel may have computed it.
    }], "::mlir::Value", "getRowOperand">,
    InterfaceMethod<[{
      The pieces a row consists of, in order. Every lane handles the same share of
      each piece, or, where the op allows it, one has a chunk less than another.
    }], "::llvm::SmallVector<::dsv4::RowPiece>", "getRowPieces">,
    InterfaceMethod<[{
      Every level of factors whose group is not the whole row.
    }], "::llvm::SmallVector<::dsv4::RowGroup>", "getRowGroups">,
    InterfaceMethod<[{
      How many elements of the row one value of result `index` stands for.
    }], "int64_t", "getResultGroup", (ins "unsigned":$index), [{}], [{ return 1; }]>,
    InterfaceMethod<[{
      How many rows of operands a row of results takes, and their elements; 0 where it is
      one, which the lanes of the row have. Otherwise the schedule needs a `team`.
    }], "::dsv4::TeamWork", "getTeamWork", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      How many elements of a row the op selects, and from how many; 0 where it does not
      select. Its operand is then read in chunks, and rows of that have no pieces.
    }], "::dsv4::Selection", "getSelection", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      The fewest neighbouring columns of a row that can be computed from the same
      columns of the operands, and from numbers of the whole row, from any multiple of them on; 0 where that takes the
      whole row.
    }], "int64_t", "getColumnUnit", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
      Whether an element of the result is computed from the same element of the row operand alone, so that
      any elements of a row can be had without the others.
    }], "bool", "isPointwise", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether an element of the result is computed from the same element of the row operand and from numbers of that
      whole row, which the lanes that have it find before any element of the result.
    }], "bool", "takesRowNumbers", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether lanes may have unequal numbers of chunks of a row: the op computes a row element by element, from numbers
      of the whole row at most.
    }], "bool", "allowsUnevenShares", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether the op takes of the row of this operand only elements whose indices it has. An op of the same kernel that can compute
      those alone does.
    }], "bool", "picksElements", (ins "::mlir::OpOperand &":$operand), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether the lowering takes this operand place by place from an op of the same kernel that selects.
    }], "bool", "acceptsPlaces", (ins "::mlir::OpOperand &":$operand), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether a kernel that uses a result of the op itself also stores it for users behind the kernel.
    }], "bool", "isStoredToo", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether the lowering takes the row of this operand from an op of the same
      kernel.
    }], "bool", "acceptsRow", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Pairs of axes of operands that have one extent.
    }], "::llvm::SmallVector<std::pair<::dsv4::TensorAxis, ::dsv4::TensorAxis>>",
      "getTiedAxes">
  ];
}

def DSV4_RowLoweringInterface : OpInterface<"RowLoweringInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How a row-wise op becomes a row program. Attached by the conversion for ops of dsv4, so that
    the dialect does not depend on its lowering.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the program of one row through `row` and returns the row of each
      result, in order.
    }], "::mlir::FailureOr<::llvm::SmallVector<::dsv4::RowValue>>", "buildRow",
      (ins "::dsv4::RowContext &":$row)>
  ];
}

def DSV4_ResultContractInterface : OpInterface<"ResultContractInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How what an op writes is compared with the oracle (`docs/Contracts.md`). A destination is an
    operand: an init, or a cache that the op writes. An op without this interface is compared
    byte by byte.
  }];
  let methods = [
    InterfaceMethod<[{
      The contract of `destination`: `exact` (the default), `ulp n`, `bounded` or `selection`. A cache
      is always `exact`.
    }], "::dsv4::ResultContract", "getContract", (ins "::mlir::OpOperand &":$destination), [{}],
      [{ return ::dsv4::ResultContract::exact(); }]>,
    InterfaceMethod<[{
      Whether the contracts also say what is right where the oracle knows the elements of
      `operand` only within bounds. Otherwise the oracle refuses such an operand.
    }], "bool", "acceptsBounds", (ins "::mlir::OpOperand &":$operand), [{}], [{ return false; }]>
  ];
}

def DSV4_ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How the oracle computes an op that is not one of dsv4. Written from the formula, one element at
    a time, in double precision, without a look at the lowering.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes every result from the operands, and gives bounds for results whose contract is
      `bounded`.
    }], "::dsv4::rt::Status", "evaluate", (ins "::dsv4::reference::Evaluation &":$evaluation)>
  ];
}

#endif // DSV4_INTERFACES_TD
