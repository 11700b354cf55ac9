#!/usr/bin/env python3
"""Prints a kernel of OPS additions, each on the result of the one before.

usage: make-expression.py OPS once|twice
"""

import sys

ops = int(sys.argv[1])
print("gpu.module @m {")
print('gpu.func @k(%p: memref<?xi32> loc("p"), %a: i32 loc("a"), %v0: i32 loc("b")) kernel {')
for i in range(ops):
    other = {"once": "%a", "twice": f"%v{i}"}[sys.argv[2]]
    print(f"  %v{i + 1} = arith.addi %v{i}, {other} : i32")
print("  %c0 = arith.constant 0 : index")
print(f"  cuda.store %v{ops}, %p[%c0] : i32, memref<?xi32>, index")
print("  gpu.return\n}\n}")
