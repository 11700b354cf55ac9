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
    An op that computes each row of its results from one row of its operands, independent of every
    other row. Such an op has `RowLayoutOpInterface` and `FusionOpInterface`, too. Kernels are
    formed from these interfaces alone.
  }];
  let methods = [
    InterfaceMethod<[{
      The operand whose axes, all but the last, are the iteration space. An op of the same kernel
      may have computed it.
    }], "::mlir::Value", "getRowOperand">,
    InterfaceMethod<[{
      The extents of the iteration space. Ops of one kernel have equal ones.
    }], "::llvm::SmallVector<int64_t>", "getIterationSpace", (ins), [{}],
      [{ return ::dsv4::getDefaultIterationSpace($_op); }]>,
    InterfaceMethod<[{
      Pairs of axes of operands that have one extent.
    }], "::llvm::SmallVector<std::pair<::dsv4::TensorAxis, ::dsv4::TensorAxis>>",
      "getTiedAxes">,
    InterfaceMethod<[{
      Axes of operands that have at least the extent of another axis, which they are not tied to.
    }], "::llvm::SmallVector<::dsv4::AxisBound>", "getAxisBounds", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
      Why the op that computes `operand` does not fit this one, where their clauses say different
      things of one value; else nothing.
    }], "std::string", "explainProducer", (ins "::mlir::OpOperand &":$operand), [{}],
      [{ return ""; }]>,
    InterfaceMethod<[{
      Whether an op of the same kernel may have computed this operand: row r of the results depends
      on row r of it.
    }], "bool", "acceptsProducer", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      The work that needs more threads than the lanes of a row: the kind of its schedule part, and
      the size of the problem. Empty if the lanes of a row suffice.
    }], "::dsv4::CooperativeWork", "getCooperativeWork", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Whether the op may leave rows of its destinations as they are. Its results are in memory
      then: no op of the same kernel can have them.
    }], "bool", "skipsRows", (ins), [{}], [{ return false; }]>
  ];
  let verify = [{ return ::dsv4::verifyRowwise($_op); }];
}

def DSV4_SelectionOpInterface : OpInterface<"SelectionOpInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    A row-wise op that selects elements of rows: its results are ranks, one after another, and no
    lanes hold them as rows. Its cooperative work is of `#dsv4.select`.
  }];
  let methods = [
    InterfaceMethod<[{
      What it selects from each row of the source of its cooperative work.
    }], "::dsv4::Selection", "getSelection">
  ];
}

def DSV4_RowLayoutOpInterface : OpInterface<"RowLayoutOpInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    The layout of a row, which limits the fragments that lanes can hold.
  }];
  let methods = [
    InterfaceMethod<[{
      The segments of a row, in order. Every lane holds the same fragment of each segment.
    }], "::llvm::SmallVector<::dsv4::RowSegment>", "getRowSegments">,
    InterfaceMethod<[{
      Every level of scales whose group is not the whole row.
    }], "::llvm::SmallVector<::dsv4::ScaleGroup>", "getScaleGroups", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      The number of elements of the row that one value of result `index` stands for.
    }], "int64_t", "getResultGroup", (ins "unsigned":$index), [{}], [{ return 1; }]>,
    InterfaceMethod<[{
      Where the tensor of result `index` has the values of a row, if they are scales.
    }], "::dsv4::ScaleLayout", "getResultLayout", (ins "unsigned":$index), [{}],
      [{ return ::dsv4::ScaleLayout::RowMajor; }]>,
    InterfaceMethod<[{
      Whether a segment may end in a masked tail, so that some lanes hold one vector less: the op
      computes a row element by element, from statistics of the whole row at most.
    }], "bool", "allowsMaskedTail", (ins), [{}], [{ return false; }]>
  ];
}

def DSV4_FusionOpInterface : OpInterface<"FusionOpInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How rows pass between ops of one kernel. Two ops can be fused if one provides an access for its
    result that the other demands of its operand (`dsv4/Dialect/Access.h`). By default an op reads
    and computes whole rows.
  }];
  let methods = [
    InterfaceMethod<[{
      The accesses of `operand` that the op can use if its own results are accessed as `access`. It
      uses the first one that the producer provides. If the list is empty, it reads the operand from
      memory. Called only for operands that `acceptsProducer` allows.
    }], "::llvm::SmallVector<::dsv4::Access>", "getDemandedAccesses",
      (ins "::mlir::OpOperand &":$operand, "::dsv4::Access":$access), [{}], [{
        return access.isRow()
                   ? ::llvm::SmallVector<::dsv4::Access>{::dsv4::Access::row()}
                   : ::llvm::SmallVector<::dsv4::Access>{};
      }]>,
    InterfaceMethod<[{
      The accesses that the op can provide for `result`. If the list is empty, the result goes to
      memory.
    }], "::llvm::SmallVector<::dsv4::Access>", "getProvidedAccesses",
      (ins "::mlir::OpResult":$result), [{}],
      [{ return {::dsv4::Access::row()}; }]>,
    InterfaceMethod<[{
      Why the op cannot be accessed as `access`, or cannot access an operand that is provided so.
      The text ends the sentence of a remark; it may be empty.
    }], "std::string", "getAccessNote", (ins "::dsv4::Access":$access), [{}],
      [{ return ""; }]>,
    InterfaceMethod<[{
      Whether a kernel that consumes a result of the op can also store it for users after the
      kernel.
    }], "bool", "isAlsoStored", (ins), [{}], [{ return false; }]>
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

def DSV4_CacheOpInterface : OpInterface<"CacheOpInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    An op that writes a cache, or addresses it as a ring of positions. Passes use this interface to
    find the memory that a program writes, and to check that its rings agree.
  }];
  let methods = [
    InterfaceMethod<[{
      The cache, or null.
    }], "::mlir::Value", "getAccessedCache">,
    InterfaceMethod<[{
      The fields of the record that it writes.
    }], "::llvm::SmallVector<::dsv4::FieldAttr>", "getWrittenFields">,
    InterfaceMethod<[{
      The number of positions of the ring, if the cache is addressed as one.
    }], "std::optional<uint64_t>", "getRing">,
    InterfaceMethod<[{
      The table of the pages of rings, or null.
    }], "::mlir::Value", "getPageTable">
  ];
}

def DSV4_ResultContractInterface : OpInterface<"ResultContractInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How results of an op are compared with the oracle (`docs/Contracts.md`). A destination is an
    operand: an init, or a cache that the op writes. An op without this interface is compared
    byte by byte.
  }];
  let methods = [
    InterfaceMethod<[{
      The contract of `destination`: `exact` (the default), `ulp n`, `bounded` or `selection`. A
      cache is always `exact`.
    }], "::dsv4::ResultContract", "getContract", (ins "::mlir::OpOperand &":$destination), [{}],
      [{ return ::dsv4::ResultContract::exact(); }]>,
    InterfaceMethod<[{
      Whether the contracts also apply if the oracle knows the elements of `operand` only within
      bounds. Otherwise the oracle refuses such an operand.
    }], "bool", "acceptsBounds", (ins "::mlir::OpOperand &":$operand), [{}], [{ return false; }]>
  ];
}

def DSV4_ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let cppNamespace = "::dsv4";
  let description = [{
    How the oracle computes an op of another dialect. Write it from the formula, one element at a
    time, in double precision, independent of the lowering.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes every result from the operands, and gives bounds for results whose contract is
      `bounded`.
    }], "::dsv4::rt::Status", "evaluate", (ins "::dsv4::reference::Evaluation &":$evaluation)>
  ];
}

#endif // DSV4_INTERFACES_TD
