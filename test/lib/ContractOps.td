//===- ContractOps.td - Ops that are not compared exactly --*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two row-wise ops of a dialect outside of dsv4, whose kernels round otherwise
// than their references, for tests of contracts. And one that lacks interfaces.
//
//===----------------------------------------------------------------------===//

#ifndef CONTRACT_OPS_TD
#define CONTRACT_OPS_TD

include "DSV4Interfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Contract_Dialect : Dialect {
  let name = "contract";
  let cppNamespace = "::contract";
  let summary = "Ops under contracts other than `exact`";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"
  ];
}

class Contract_Op<string mnemonic> : Op<Contract_Dialect, mnemonic, [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface,
                              ["getDemandedAccesses", "getProvidedAccesses"]>,
    DeclareOpInterfaceMethods<DSV4_RowLoweringInterface>,
    DeclareOpInterfaceMethods<DSV4_ResultContractInterface, ["getContract"]>,
    DeclareOpInterfaceMethods<DSV4_ReferenceInterface>
  ]> {
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

def Contract_SumOp : Contract_Op<"sum"> {
  let summary = "the sum of three tensors, in any order";
  let description = [{
    `result(t, e) = a(t, e) + b(t, e) + c(t, e)` in fp32, in any order. Its contract is `bounded`:
    two roundings, each at most 2^-24 of the sum of the terms' magnitudes. A test can break the
    promise: with `exact` it declares `exact` instead, and with `skew` the kernel, and not the
    reference, adds `skew * c` as well.
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$a, 2DTensorOf<[F32]>:$b, 2DTensorOf<[F32]>:$c,
                       2DTensorOf<[F32]>:$out, UnitAttr:$exact, OptionalAttr<F32Attr>:$skew);
  let results = (outs 2DTensorOf<[F32]>:$sums);
  let assemblyFormat = [{
    $a `,` $b `,` $c `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($a) `,` type($b) `,` type($c) `to` type($sums)
  }];
}

def Contract_ThirdOp : Contract_Op<"third"> {
  let summary = "a third of every element";
  let description = [{
    `result(t, e) = x(t, e) / 3`, of which the kernel multiplies by the nearest fp32 of 1/3. Its
    contract is `ulp n`, and a test says which n it declares.
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$x, 2DTensorOf<[F32]>:$out, I64Attr:$ulps);
  let results = (outs 2DTensorOf<[F32]>:$thirds);
  let assemblyFormat = [{
    $x `ulps` $ulps `outs` `(` $out `:` type($out) `)` attr-dict `:` type($x) `to` type($thirds)
  }];
}

def Contract_BareOp : Op<Contract_Dialect, "bare", [
    Pure, DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>
  ]> {
  let summary = "a row-wise op that does not say how rows are stored and accessed";
  let arguments = (ins 2DTensorOf<[F32]>:$x);
  let results = (outs 2DTensorOf<[F32]>:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
}

#endif // CONTRACT_OPS_TD
