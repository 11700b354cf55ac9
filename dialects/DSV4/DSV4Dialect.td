//===- DSV4Dialect.td - The dsv4 dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_TD
#define DSV4_DIALECT_TD

include "mlir/IR/OpBase.td"

def DSV4_Dialect : Dialect {
  let name = "dsv4";
  let cppNamespace = "::dsv4";
  let summary = "Paged KV caches and the row-wise work on them";
  let description = [{
    Describes how DeepSeek-V4-style inference moves, quantises and selects rows
    of paged caches. A cache is a reference (`!dsv4.cache`): reads and writes of
    it are memory effects. Everything else is a tensor value, with destinations
    passed in.

    Nearly every clause of an op's meaning has a number. The op's description,
    the message of its verifier and the test of that message share it.

    Function arguments carry three attributes of this dialect:

    * `dsv4.name`: the argument's name, as callers and emitted code see it;
    * `dsv4.dims`: a name for each axis of a tensor argument, `""` for none.
      Axes of one name have one extent;
    * `dsv4.strides`: a `#dsv4.strides`, of a tensor or cache that is not contiguous.

    A function may carry `dsv4.policies`, a dictionary from the name of a dim to
    its `#dsv4.policy`; a dim that is not named there is dynamic. With
    `dsv4.separate_launches` each of its kernels has a launch of its own.

    Other attributes that begin with `dsv4.` are errors, and so are these on
    other ops. Passes add some of their own to the IR that they make.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let extraClassDeclaration = [{
    static constexpr llvm::StringLiteral kNameAttr = "dsv4.name";
    static constexpr llvm::StringLiteral kDimsAttr = "dsv4.dims";
    static constexpr llvm::StringLiteral kStridesAttr = "dsv4.strides";
    /// On an argument that is a slice of another one.
    static constexpr llvm::StringLiteral kViewAttr = "dsv4.view";
    static constexpr llvm::StringLiteral kPoliciesAttr = "dsv4.policies";
    static constexpr llvm::StringLiteral kBoundsAttr = "dsv4.bounds";
    /// On an argument: comparisons of extents that each launch makes.
    static constexpr llvm::StringLiteral kRequiresAttr = "dsv4.requires";
    /// On a function: its kernels are not joined in one launch.
    static constexpr llvm::StringLiteral kSeparateLaunchesAttr = "dsv4.separate_launches";
    /// On a lowered kernel: what it computes, for people.
    static constexpr llvm::StringLiteral kSummaryAttr = "dsv4.summary";
    /// On a lowered kernel: the operand whose rows it computes.
    static constexpr llvm::StringLiteral kRowsOfAttr = "dsv4.rows_of";
    /// On a kernel that several were joined to: the summary and the schedule of
    /// each, for people, in the order of their blocks.
    static constexpr llvm::StringLiteral kPartsAttr = "dsv4.parts";
    /// On an outlined kernel: the schedule it was lowered with, or an array of
    /// those of its parts.
    static constexpr llvm::StringLiteral kScheduleAttr = "dsv4.schedule";

    void registerAttributes();
    void registerTypes();
  }];
}

#endif // DSV4_DIALECT_TD
