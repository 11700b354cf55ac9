#!/usr/bin/env python3
"""The indexer in double precision, from hidden states to scores.

usage: indexer_reference.py make FOLDER            inputs of indexer-queries.mlir in FOLDER/keys and
                                                   FOLDER/queries
       indexer_reference.py compare SCORES LIMIT   `agrees` if the relative error of all scores is
                                                   at most LIMIT

q = c W_q and weight = h W_w are projections; keys are given. Nothing is quantised, and no Hadamard
transform is needed: one of both sides changes no product.
"""

import math
import os
import random
import struct
import sys

import npy

ROWS, KEYS, HEADS, DIM, ROTATED, RATIO, LATENT, HIDDEN = 5, 40, 4, 128, 64, 4, 24, 32
POSITIONS = KEYS * RATIO


def to_bf16(value):
    """The nearest bf16, as bits."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def of_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def project(rows, matrix):
    return [[sum(a * b for a, b in zip(row, column)) for column in matrix] for row in rows]


def angles(position):
    return [position * 10000.0 ** (-2 * i / ROTATED) for i in range(ROTATED // 2)]


def rotate(row, position):
    """The last pairs of a row, at a position."""
    row = list(row)
    for i, angle in enumerate(angles(position)):
        at = DIM - ROTATED + 2 * i
        x, y = row[at], row[at + 1]
        row[at] = x * math.cos(angle) - y * math.sin(angle)
        row[at + 1] = x * math.sin(angle) + y * math.cos(angle)
    return row


def make():
    """What the kernels are given: queries, weights, keys (bits of bf16) and positions."""
    source = random.Random(1)
    gauss = lambda rows, columns: [[source.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]
    queries = project(gauss(ROWS, LATENT), gauss(HEADS * DIM, LATENT))
    weights = project(gauss(ROWS, HIDDEN), gauss(HEADS, HIDDEN))
    keys = gauss(KEYS, DIM)
    bits = lambda rows: [[to_bf16(value) for value in row] for row in rows]
    return bits(queries), bits(weights), bits(keys), [3, 17, 64, 130, POSITIONS - 1]


def reference(queries, weights, keys, positions):
    """Row by row, the scores of the keys that a query sees."""
    values = lambda row: [of_bf16(bits) for bits in row]
    rotated_keys = [rotate(values(key), RATIO * i) for i, key in enumerate(keys)]
    scores = []
    for row, weight, position in zip(queries, weights, positions):
        row = values(row)
        heads = [rotate(row[h * DIM : (h + 1) * DIM], position) for h in range(HEADS)]
        finals = [w * DIM**-0.5 * HEADS**-0.5 for w in values(weight)]
        scores.append(
            [
                sum(w * max(0.0, sum(a * b for a, b in zip(head, key))) for w, head in zip(finals, heads))
                for key in rotated_keys[: (position + 1) // RATIO]
            ]
        )
    return scores


def flat(rows):
    return [value for row in rows for value in row]


def write_inputs(folder):
    queries, weights, keys, positions = make()
    table = []
    for position in range(POSITIONS):
        for angle in angles(position):
            table += [math.cos(angle), math.sin(angle)]
    files = {
        "keys": {
            "x": ("<u2", (KEYS, DIM), flat(keys)),
            "first": ("<i4", (KEYS,), [RATIO * i for i in range(KEYS)]),
        },
        "queries": {
            "x": ("<u2", (ROWS, HEADS, DIM), flat(queries)),
            "weight": ("<u2", (ROWS, HEADS), flat(weights)),
            "t": ("<i4", (ROWS,), positions),
        },
    }
    for name, arrays in files.items():
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        for array, of in {**arrays, "table": ("<f4", (POSITIONS, ROTATED), table)}.items():
            npy.write(f"{folder}/{name}/{array}.npy", *of)


def compare(path, limit):
    expected = reference(*make())
    _, (rows, columns), got = npy.read(path)
    assert (rows, columns) == (ROWS, KEYS), (rows, columns)
    error = size = 0.0
    for i, row in enumerate(expected):
        for j in range(columns):
            value = got[i * columns + j]
            if j >= len(row):
                assert value == -math.inf, f"row {i}, column {j}: expected -infinity, got {value}"
                continue
            error += (value - row[j]) ** 2
            size += row[j] ** 2
    relative = math.sqrt(error / size)
    print("agrees" if relative <= limit else "DIFFERS", f"relative error {relative:.4f}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        write_inputs(sys.argv[2])
    else:
        compare(sys.argv[2], float(sys.argv[3]))
