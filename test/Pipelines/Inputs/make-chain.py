#!/usr/bin/env python3
"""Prints a program of OPS row-wise ops, each on the result of the one before.

usage: make-chain.py OPS [UNUSED-ARGUMENTS]
"""

import sys

ops = int(sys.argv[1])
unused = int(sys.argv[2]) if len(sys.argv) > 2 else 0
row = "tensor<4x64xbf16>"
arguments = [
    f'%x: {row} {{dsv4.name = "x"}}',
    '%w: tensor<64xbf16> {dsv4.name = "w"}',
    '%table: tensor<8x32xf32> {dsv4.name = "table"}',
    '%positions: tensor<4xi32> {dsv4.name = "positions"}',
    f'%out: {row} {{dsv4.name = "out"}}',
]
arguments += [f"%u{i}: {row}" for i in range(unused)]
print(f"func.func @chain({', '.join(arguments)}) -> {row} {{")
print(f"  %e = tensor.empty() : {row}")
value = "%x"
for i in range(ops):
    out = "%out" if i == ops - 1 else "%e"
    op, clauses, attributes = [
        ("rms_norm", "weight(%w : tensor<64xbf16>) ", "{eps = 1.0e-06 : f32} "),
        ("rope", "table(%table : tensor<8x32xf32>) positions(%positions : tensor<4xi32>) ", ""),
        ("hadamard", "", "{scale = 1.25e-01 : f32} "),
    ][i % 3]
    print(f"  %v{i} = dsv4.{op} {value} {clauses}outs({out} : {row}) {attributes}: {row}")
    value = f"%v{i}"
print(f"  return {value} : {row}\n}}")
