#!/usr/bin/env python3
"""NumPy files without NumPy, for the tests of dsv4-run.

usage: npy.py make FILE DTYPE SHAPE KIND   KIND: count, zero, ones, a number,
                                           or all of them: 1,2,3, where 4x0
                                           is four zeros;
                                           tiny: multiples of 2^-28 below 2^-24
       npy.py show FILE                    dtype, shape and first elements
       npy.py nvfp4 DATA SCALES GLOBAL     decodes as examples/dequant_nvfp4.mlir
                                           and prints as `show` does
"""

import ast
import struct
import sys

CODES = {"|u1": "B", "<u2": "H", "<u4": "I", "<i4": "i", "<i8": "q", "<f4": "f", "<f2": "e"}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", "no .npy file of version 1.0"
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert not header["fortran_order"]
    assert (10 + length) % 64 == 0
    count = 1
    for extent in header["shape"]:
        count *= extent
    code = CODES[header["descr"]]
    return header["descr"], header["shape"], struct.unpack(
        f"<{count}{code}", data[10 + length :]
    )


def write(path, descr, shape, values):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack(f"<{len(values)}{CODES[descr]}", *values))


def show(descr, shape, values):
    print(descr, shape, *values)


def make(path, descr, shape, kind):
    shape = ast.literal_eval(shape)
    count = 1
    for extent in shape:
        count *= extent
    if kind == "count":
        values = [i * 7 % 251 for i in range(count)]
    elif kind == "tiny":
        values = [i * 7919 % 16 * 2.0**-28 for i in range(count)]
    elif "," in kind:
        values = []
        for part in kind.split(","):
            times, value = part.split("x") if "x" in part else (1, part)
            values += [ast.literal_eval(value)] * int(times)
    else:
        value = {"zero": 0, "ones": 1}.get(kind)
        values = [ast.literal_eval(kind) if value is None else value] * count
    write(path, descr, shape, values)


def e4m3(code):
    sign = -1.0 if code & 0x80 else 1.0
    exponent, mantissa = code >> 3 & 15, code & 7
    if exponent == 0:
        return sign * mantissa * 2.0**-9
    return sign * (1 + mantissa / 8) * 2.0 ** (exponent - 7)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def nvfp4(data_path, scales_path, global_path):
    grid = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    _, (rows, bytes_a_row), data = read(data_path)
    _, _, scales = read(scales_path)
    _, _, outer = read(global_path)
    result = []
    for row in range(rows):
        for e in range(2 * bytes_a_row):
            code = data[row * bytes_a_row + e // 2] >> 4 * (e % 2) & 15
            value = grid[code & 7] * (-1.0 if code & 8 else 1.0)
            value = f32(value * e4m3(scales[row * (bytes_a_row // 8) + e // 16]))
            result.append(bf16(f32(value * outer[row])))
    show("<u2", (rows, 2 * bytes_a_row), result)


def main(arguments):
    commands = {"make": make, "nvfp4": nvfp4, "show": lambda path: show(*read(path))}
    if not arguments or arguments[0] not in commands:
        sys.exit(__doc__)
    commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
