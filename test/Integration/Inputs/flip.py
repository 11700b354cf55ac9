"""Flips one bit in the middle of every file named in a list that has any."""

import sys

for name in open(sys.argv[1], encoding="utf-8"):
    with open(name.strip(), "r+b") as file:
        data = file.read()
        if data:
            file.seek(len(data) // 2)
            file.write(bytes([data[len(data) // 2] ^ 4]))
