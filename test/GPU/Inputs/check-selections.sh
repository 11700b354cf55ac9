#!/usr/bin/env bash
# Runs selections of every algorithm under a tool of compute-sanitizer, and compares
# them with the oracle.
#
# usage: check-selections.sh CHECKS PYTHON SCRATCH COMMAND...
#
# CHECKS is what FileCheck finds in every output, COMMAND runs what follows it.

set -euo pipefail
checks=$1 python=$2 scratch=$3
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
inputs=$here/../../Integration/Inputs
examples=$here/../../../examples
mkdir -p "$scratch"

check() { # PROGRAM OPTION...
  "${command[@]}" dsv4-run "$1" --target="$DSV4_TEST_TARGET" --random=1 --check "${@:2}" 2>&1 |
    FileCheck "$checks" || {
    echo "check-selections: failed: $*" >&2
    exit 1
  }
}

check_rows() { # PROGRAM ROWSxCOLUMNS...
  local size
  for size in "${@:2}"; do
    check "$inputs/$1" --dim "rows=${size%x*}" --dim "columns=${size#*x}"
  done
}

check_hard_rows() { # ROWSxCOLUMNS...
  local size
  for size; do
    "$python" "$here/adversarial-scores.py" "$scratch/scores.npy" "${size%x*}" "${size#*x}"
    check "$inputs/topk-long.mlir" --input "scores=$scratch/scores.npy" \
      --dim "rows=${size%x*}" --dim "columns=${size#*x}"
  done
}

command=("$@")
# In the registers of clusters of 4, 2, 6 and 16 blocks, and of 8.
check_rows topk-clusters.mlir 32x16384 32x32768 16x65536 3x60001
check_rows topk-long.mlir 1x65536 8x65536 64x32768
# Of one block.
check_rows topk-long.mlir 64x8192
# Read once, by clusters of 16, 4 and 2, a block, a grid.
check_rows topk-long.mlir 2x200000 20x140000 40x140000 150x20000 1x600000
# Read again, lists that are reduced, and what is in doubt divided more than once.
check_hard_rows 4x65536 4x200000 20x140000 40x140000 4x600000
# By a warp.
check "$examples/router.mlir" --dim tokens=130
check "$examples/hash_router.mlir" --dim tokens=64
check "$examples/grouped_router.mlir" --dim tokens=33
