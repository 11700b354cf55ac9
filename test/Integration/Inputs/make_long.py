#!/usr/bin/env python3
"""Writes programs as long as a program may be, each with as many as fit of another thing, into
FOLDER.

usage: make_long.py FOLDER
"""

import os
import sys

BYTES = 1 << 20


def fill(head, item, tail):
    """`head`, then item(0), item(1) and so on, blanks and `tail`: BYTES in all."""
    parts = [head]
    left = BYTES - len(head) - len(tail)
    while len(part := item(len(parts) - 1)) <= left:
        parts.append(part)
        left -= len(part)
    return "".join(parts) + " " * left + tail


def arguments(text):
    return ",".join(text % j for j in range(1024))


IN_MODULE = "module attributes {a.b="
programs = {
    "constants": fill("func.func @f() {\n", lambda i: f"%a{i:x}=arith.constant 1:i1\n", "return\n}\n"),
    "unnamed constants": fill("func.func @f() {\n", lambda i: "arith.constant 1:i1\n", "return\n}\n"),
    "functions": fill("", lambda i: f"func.func @f{i:x}(){{return}}\n", ""),
    "declarations": fill("", lambda i: f"func.func private @f{i:x}()\n", ""),
    "names": fill("", lambda i: f"func.func private @f{i:x}(" + arguments('i1{dsv4.name="a%x"}') + ")\n", ""),
    "dims": fill("", lambda i: f"func.func private @f{i:x}(" + arguments('tensor<?xi8>{dsv4.dims=["a%x"]}')
                 + ")\n", ""),
    "policies": fill("func.func private @f() attributes {dsv4.policies={",
                     lambda i: f"a{i:x}=#dsv4.policy<exact>,", "z=#dsv4.policy<exact>}}\n"),
    "bounds": fill("func.func private @f() attributes {dsv4.bounds={", lambda i: f"a{i:x}=1,", "z=1}}\n"),
    "dictionary": fill(IN_MODULE + "{", lambda i: f"a{i:x},", "z}}{}\n"),
    "attributes": fill("module attributes {", lambda i: f"a.a{i:x},", "a.z}{}\n"),
    "array": fill(IN_MODULE + "[", lambda i: f"{i},", "0]}{}\n"),
    "elements": fill(IN_MODULE + "dense<[", lambda i: "1,", "0]>:tensor<4xi32>}{}\n"),
    "strings": fill(IN_MODULE + "[", lambda i: f'"{i:x}",', "0]}{}\n"),
    "aliases": fill("", lambda i: f"#a{i:x}=1\n", "module{}\n"),
    "records": fill("", lambda i: f'#r{i:x}=#dsv4.record<[<"a" : {8 * i + 8} x bf16 in row>]>\n', "module{}\n"),
    "fields": fill(IN_MODULE + "#dsv4.record<[", lambda i: f'<"f{i:x}" : 8 x bf16 in row>,',
                   '<"z" : 8 x bf16 in row>]>}{}\n'),
    "scales": fill(IN_MODULE + "#dsv4.format<f8E4M3FN,[", lambda i: "<f32 per row>,", "<f32 per row>]>}{}\n"),
    "parts": fill(IN_MODULE + "#dsv4.schedule<threads=32,parts=[",
                  lambda i: "#dsv4.rows<lanes=4,vector=8>,", "#dsv4.rows<lanes=4,vector=8>]>}{}\n"),
    "modules": fill("", lambda i: "module{" * 250 + "}" * 250 + "\n", ""),
    "blocks": fill("func.func @f(){\nreturn\n", lambda i: f"^b{i:x}:\nreturn\n", "}\n"),
    "uses": fill("func.func @f(%n:i1){\n", lambda i: "arith.addi %n,%n:i1\n", "return}\n"),
    "calls": fill("func.func @f(){\n", lambda i: f'func.call @f():()->() loc("{i:x}":1:1)\n', "return}\n"),
    "locations": fill("module{}loc(fused[", lambda i: f'"{i:x}",', '"z"])\n'),
    "shapes": fill(IN_MODULE + "[", lambda i: "tensor<" + "1x" * 120 + f"{i}xi8>,", "i8]}{}\n"),
    "maps": fill(IN_MODULE + "[", lambda i: "affine_map<(" + ",".join(f"a{i:x}d{j:x}" for j in range(1000))
                 + f")->(a{i:x}d0+{i})>,", "i8]}{}\n"),
    "results": fill(IN_MODULE + "[", lambda i: "affine_map<(" + ",".join(f"d{j}" for j in range(1000)) + ")->("
                    + ",".join("d999" for j in range(1000)) + f",{i})>,", "i8]}{}\n"),
    "name": fill('func.func @f(%a:tensor<4xi32>{dsv4.name="', lambda i: "a", '"}){return}\n'),
    "symbol": fill("func.func @", lambda i: "a", "(%a:tensor<4xi32>){return}\n"),
    "comments": fill("", lambda i: "//\n", ""),
}
os.makedirs(sys.argv[1], exist_ok=True)
for name, text in programs.items():
    assert len(text) == BYTES, name
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w") as file:
        file.write(text)
