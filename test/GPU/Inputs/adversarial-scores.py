# Writes adversarial scores, as a .npy file of fp32.
#
# usage: adversarial-scores.py FILE ROWS COLUMNS
#
# One row after another: high where a sample looks, so that its bound is too high and
# the row is read again; low there, so that lists of blocks are too long together; all
# equal; the same but for the last bits.

import array
import struct
import sys

path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

# Of the vectors of four elements 1024 threads look at every so-many-th.
vectors = (columns + 3) // 4
stride = 4 * max((vectors + 1023) // 1024, min(vectors // 256, 32))


def from_bits(bits):
    return struct.unpack("f", struct.pack("I", bits))[0]


KINDS = (
    lambda i: 100.0 + i if i % stride < 4 else float(i % 5),
    lambda i: i / columns if i % stride < 4 else 100.0 + i,
    lambda i: 1.5,
    lambda i: from_bits(0x3F800000 + i * 2654435761 % 4096),
)

header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
header += " " * (-(10 + len(header) + 1) % 64) + "\n"
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    kinds = [array.array("f", map(kind, range(columns))) for kind in KINDS[:rows]]
    for row in range(rows):
        kinds[row % len(KINDS)].tofile(file)
