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

check_rows() { # PROGRAM ROWS COLUMNS
  check "$inputs/$1" --dim "rows=$2" --dim "columns=$3"
}

check_hard_rows() { # ROWS COLUMNS
  "$python" "$here/hard-scores.py" "$scratch/scores.npy" "$1" "$2"
  check "$inputs/topk-long.mlir" --input "scores=$scratch/scores.npy" --dim "rows=$1" --dim "columns=$2"
}

command=("$@")
# In the registers of clusters of 4, 2, 6 and 16 blocks, and of 8.
check_rows topk-clusters.mlir 32 16384
check_rows topk-clusters.mlir 32 32768
check_rows topk-clusters.mlir 16 65536
check_rows topk-clusters.mlir 3 60001
check_rows topk-long.mlir 1 65536
check_rows topk-long.mlir 8 65536
check_rows topk-long.mlir 64 32768
# Of one block.
check_rows topk-long.mlir 64 8192
# Read once, by clusters of 16, 4 and 2, a block, a grid.
check_rows topk-long.mlir 2 200000
check_rows topk-long.mlir 20 140000
check_rows topk-long.mlir 40 140000
check_rows topk-long.mlir 150 20000
check_rows topk-long.mlir 1 600000
# Read again, lists that are reduced, and what is in doubt divided more than once.
check_hard_rows 4 65536
check_hard_rows 4 200000
check_hard_rows 20 140000
check_hard_rows 40 140000
check_hard_rows 4 600000
# By a warp.
check "$examples/router.mlir" --dim tokens=130
check "$examples/hash_router.mlir" --dim tokens=64
check "$examples/grouped_router.mlir" --dim tokens=33
