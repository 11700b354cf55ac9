#!/usr/bin/env bash
# Formats the C++ of this tree with clang-format 22: the given files, or all.
# With --check changes nothing and fails where something would change.

set -euo pipefail

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror)
  shift
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
formatter=${CLANG_FORMAT:-clang-format-22}
command -v "$formatter" >/dev/null || {
  echo "format: no $formatter: run scripts/setup.sh format" >&2
  exit 1
}

files=()
while IFS= read -r -d '' file; do
  [[ ! -f $file ]] || files+=("$file") # Git still lists what was just deleted.
done < <(
  if (($#)); then
    printf '%s\0' "$@"
  else
    git ls-files -z --cached --others --exclude-standard --deduplicate -- \
      '*.c' '*.cpp' '*.cuh' '*.h' '*.hpp'
  fi
)
((${#files[@]} == 0)) || "$formatter" "${mode[@]}" -- "${files[@]}"
