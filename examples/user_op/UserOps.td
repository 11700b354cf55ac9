//===- UserOps.td - A dialect outside of dsv4 --------------*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef USER_OPS_TD
#define USER_OPS_TD

include "DSV4Interfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def User_Dialect : Dialect {
  let name = "user";
  let cppNamespace = "::user";
  let summary = "Row-wise ops of one engine";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def User_AddWindowBiasOp : Op<User_Dialect, "add_window_bias", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["out", "biased"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>, DSV4_FusionOpInterface,
    DeclareOpInterfaceMethods<DSV4_RowLoweringInterface>
  ]> {
  let summary = "add to each row the bias of its position in a window";
  let description = [{
    ```
    biased(t, c) = p < 0 ? x(t, c) : x(t, c) + bias(p mod window, c),  p = positions[t]
    ```

    in fp32, rounded to nearest even. A row without a position is copied bit by bit. It
    makes the scores of a state that `dsv4.compress` calls `biased`. Clauses:

    * add_window_bias_c1: `x` is f32 `[tokens, N]` with a constant N between 1 and 65,536;
    * add_window_bias_c2: `bias` is f32 `[window, N]` with a constant window of at least 1;
    * add_window_bias_c3: `positions` is i32 `[tokens]`;
    * add_window_bias_c4: the result is f32 of the shape of `x`.
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$x, 2DTensorOf<[F32]>:$bias,
                       1DTensorOf<[I32]>:$positions, 2DTensorOf<[F32]>:$out);
  let results = (outs 2DTensorOf<[F32]>:$biased);
  let assemblyFormat = [{
    $x `bias` `(` $bias `:` type($bias) `)`
    `positions` `(` $positions `:` type($positions) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict `:` type($x)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // USER_OPS_TD
