#!/usr/bin/env bash
# Finds what no file of this tree may have: space at the end of a line, a carriage
# return, no newline at the end, more than 512 KiB. Looks at the given files, or
# at all.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# == 0)); then
  mapfile -d '' -t files < <(
    git ls-files -z --cached --others --exclude-standard --deduplicate)
  set -- "${files[@]}"
fi

bad=0
report() {
  echo "$1: $2" >&2
  bad=1
}
for file in "$@"; do
  if [[ ! -f $file || -L $file || ! -s $file ]]; then
    continue
  fi
  (($(stat -c %s "$file") <= 512 * 1024)) || report "$file" 'larger than 512 KiB'
  grep -qI . "$file" || continue # The rest is about text.
  if line=$(grep -nm1 $'[ \t\r]$' "$file"); then
    report "$file:${line%%:*}" 'space at the end of the line'
  fi
  [[ -z $(tail -c1 "$file") ]] || report "$file" 'no newline at the end'
done
exit $bad
