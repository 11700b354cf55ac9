"""Prints a program of many ops that become one kernel: many_ops.py KIND COUNT."""

import sys

ROWS = "tensor<?x512xbf16>"
OPS = {
    "rms_norm": "dsv4.rms_norm {x} outs({out} : {rows}) {{eps = 1.{i:03d}e-06 : f32}} : {rows}",
    "hadamard": "dsv4.hadamard {x} outs({out} : {rows}) {{scale = 0.04{i:03d} : f32}} : {rows}",
    "rope": "dsv4.rope {x} table(%table : tensor<4096x64xf32>) positions(%positions : tensor<?xi32>) "
            "outs({out} : {rows}) : {rows}",
    "scale_weights": "dsv4.scale_weights {x} constants [1.{i:03d}] outs({out} : {rows}) : {rows}",
}


def main():
    kinds, count = sys.argv[1].split(","), int(sys.argv[2])
    rows = ROWS.replace("bf16", "f32") if kinds == ["scale_weights"] else ROWS
    print(f'func.func @many(%x: {rows} {{dsv4.dims = ["rows", ""]}}, %table: tensor<4096x64xf32>, '
          f'%positions: tensor<?xi32> {{dsv4.dims = ["rows"]}}, %out: {rows} {{dsv4.dims = ["rows", ""]}}) -> {rows} {{')
    print(f"  %c0 = arith.constant 0 : index\n  %rows = tensor.dim %x, %c0 : {rows}\n  %none = tensor.empty(%rows) : {rows}")
    for i in range(count):
        op = OPS[kinds[i % len(kinds)]].format(
            x=f"%{i - 1}" if i else "%x", out="%out" if i == count - 1 else "%none", rows=rows, i=i)
        print(f"  %{i} = {op}")
    print(f"  return %{count - 1} : {rows}\n}}")


main()
