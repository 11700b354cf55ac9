#!/usr/bin/env bash
# Installs what a build needs and this machine lacks, with apt-get, as root or
# through sudo. Does nothing where nothing is missing. Made for Debian 12 with its
# security archive, where LLVM and MLIR 22 come from.
#
#   scripts/setup.sh           what building and testing need
#   scripts/setup.sh format    what `make format` needs
#   scripts/setup.sh nvrtc     NVRTC from PyPI, into build/nvrtc of this tree
#   scripts/setup.sh wheel     what the wheel is made and tested with, from PyPI, into
#                              build/wheel-tools
#   scripts/setup.sh site      what `make site` needs, from PyPI, into build/site-tools
#   scripts/setup.sh libraries torch, JAX and others that the Python package is tested
#                              with, from PyPI (5 GB), into a folder per list of them in
#                              DSV4_LIBRARIES, or ~/.cache/dsv4/python-libraries, which all
#                              clones of this machine share. Those of older lists are left
#                              for older commits: remove them by hand
#
# CUDA is not installed: without it kernels run on the host target. Only with
# CI=true, where nobody reads the advice, the first form does the third's work too.
#
# DSV4_SKIP_SETUP=1 makes it do nothing, for machines equipped in another way.

set -euo pipefail

build_packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22
  libboost-context-dev libzstd-dev zlib1g-dev
  nlohmann-json3-dev libsodium-dev # The runtime's JSON and digests.
  libncurses-dev # libtinfo.a
  ccache ninja-build cmake g++ git make
  libgtest-dev googletest python3
  libpython3-dev python3-numpy python3-pytest mypy # The Python package and its tests.
)
format_packages=(clang-format-22 git)

# The release that the tests are run with. Its wheel keeps the library in
# nvidia/cu13/lib; nvidia-cuda-nvrtc-cu13 is an empty placeholder.
nvrtc_wheel='nvidia-cuda-nvrtc==13.0.*'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvrtc_dir=$root/build/nvrtc

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
  say "$@"
  exit 1
}

#===-- apt ------------------------------------------------------------------===#

# Prints those of the packages that are not installed.
missing() {
  local installed
  # A package that dpkg has never heard of is an error to dpkg-query, not to us.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" \
    2>/dev/null || true)
  local package
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

# Prints those of the packages that no archive has.
unknown() {
  local offered
  offered=$(LC_ALL=C apt-cache policy "$@" 2>/dev/null | awk '
    /^[^ ]/ { sub(/:$/, ""); name = $0 }
    /^  Candidate:/ && $2 != "(none)" { print name }')
  local package
  for package in "$@"; do
    grep -qxF "$package" <<<"$offered" || printf '%s\n' "$package"
  done
}

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"
}

# Sets as_root, or says what somebody else has to run.
find_root() {
  as_root=()
  if [[ $(id -u) == 0 ]]; then
    return
  fi
  local why='this is not root, and there is no sudo'
  if command -v sudo >/dev/null; then
    as_root=(sudo)
    # With a terminal sudo may ask for a password; without one it must not.
    if [[ -t 0 && -t 2 ]] || sudo -n true 2>/dev/null; then
      return
    fi
    why='this is not root, and sudo would ask for a password'
  fi
  say "missing: $*"
  say "$why; somebody has to run"
  printf '\n    apt-get update && apt-get install -y --no-install-recommends %s\n\n' \
    "$*" >&2
  exit 1
}

install() {
  local wanted absent=() attempt current
  # Asked first: where all is there, nothing else of this machine matters.
  if command -v dpkg-query >/dev/null; then
    mapfile -t wanted < <(missing "$@")
    ((${#wanted[@]})) || return 0
  else
    wanted=("$@")
  fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say 'there is no apt on this machine; install the likes of these (Debian 12):'
    printf '\n    %s\n\n' "${wanted[*]}" >&2
    die 'then set DSV4_SKIP_SETUP=1'
  fi
  find_root "${wanted[@]}"
  say "installing ${wanted[*]}"
  for attempt in 1 2 3; do
    if ((attempt > 1)); then
      say "trying again ($attempt of 3)"
      sleep $((attempt * 5))
    fi
    # One archive out of reach need not be one that is needed.
    current=yes
    apt update -o APT::Update::Error-Mode=any || current=no
    mapfile -t absent < <(unknown "${wanted[@]}")
    if ((${#absent[@]})); then
      say "no archive of this machine has: ${absent[*]}"
      [[ $current == no ]] || break
    elif apt install --no-install-recommends "${wanted[@]}" </dev/null; then
      mapfile -t wanted < <(missing "$@")
      ((${#wanted[@]})) || return 0
      die "apt-get reports success, but these are not installed: ${wanted[*]}"
    fi
  done
  if ((${#absent[@]})); then
    say "LLVM 22 is in Debian 12's security archive; the line for sources.list is"
    printf '\n    %s\n\n' \
      'deb http://deb.debian.org/debian-security bookworm-security main' >&2
  fi
  die "cannot install ${wanted[*]}"
}

#===-- NVRTC ----------------------------------------------------------------===#

# Whether there is an NVRTC where lib/JIT/NVRTC.cpp looks for one.
have_nvrtc() {
  local dirs=() dir base
  IFS=: read -r -a dirs <<<"${LD_LIBRARY_PATH:-}"
  dirs+=("$nvrtc_dir/nvidia/cu13/lib") # The Makefile adds it to the above.
  for base in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [[ -z $base ]] || dirs+=("$base"/{lib64,lib,targets/{x86_64,sbsa}-linux/lib})
  done
  for base in "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" "${HOME:+$HOME/.local}" \
    /usr/local /usr; do
    [[ -z $base ]] ||
      dirs+=("$base"/lib/python3*/*-packages/nvidia/{cu13,cuda_nvrtc}/lib)
  done
  for dir in "${dirs[@]}"; do
    if [[ -n $dir ]] &&
      compgen -G "$dir/libnvrtc.so*" >/dev/null; then
      return 0
    fi
  done
  local ldconfig
  ldconfig=$(PATH=$PATH:/usr/sbin:/sbin command -v ldconfig) || return 1
  [[ $("$ldconfig" -p 2>/dev/null) == *libnvrtc.so* ]]
}

install_nvrtc() {
  if ! python3 -m pip --version >/dev/null 2>&1; then
    install python3-pip
  fi
  say "installing $nvrtc_wheel into build/nvrtc"
  # Moved into place when complete: half a library must not be found.
  rm -rf "$nvrtc_dir.part"
  mkdir -p "$nvrtc_dir.part"
  PIP_USER=0 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet \
    --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
    --target "$nvrtc_dir.part" "$nvrtc_wheel" || return 1
  rm -rf "$nvrtc_dir"
  mv "$nvrtc_dir.part" "$nvrtc_dir"
}

#===-- Environments of Python -----------------------------------------------===#

# Whether a Python can make virtual environments with pip in them.
makes_venvs() {
  "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# Whether the environment has all of these lists: it is written when all is there.
is_complete() {
  local environment=$1
  cat "${@:2}" | cmp -s - "$environment/complete" &&
    "$environment/bin/python" -c '' 2>/dev/null
}

# Makes a new environment, and sets `pip` to what installs into it.
make_environment() {
  local environment=$1 python=python3
  if ! makes_venvs "$python"; then
    python=/usr/bin/python3
    makes_venvs "$python" || install python3-venv
  fi
  pip=("$environment/bin/python" -m pip --quiet --disable-pip-version-check --no-input
    --retries 2 --timeout 15)
  rm -rf "$environment"
  "$python" -m venv "$environment"
}

install_wheel_tools() {
  local tools=$root/build/wheel-tools pip
  local lists=("$root"/python/wheel/*requirements.txt)
  is_complete "$tools" "${lists[@]}" && return 0
  say 'installing the tools of the wheel into build/wheel-tools'
  make_environment "$tools" &&
    "${pip[@]}" install --only-binary=:all: -r "$root/python/wheel/requirements.txt" &&
    "${pip[@]}" download --only-binary=:all: --dest "$tools/wheels" \
      -r "$root/python/wheel/test-requirements.txt" &&
    cat "${lists[@]}" >"$tools/complete"
}

install_site_tools() {
  local tools=$root/build/site-tools list=$root/docs/site/requirements.txt pip
  is_complete "$tools" "$list" && return 0
  say 'installing the tools of the site into build/site-tools'
  make_environment "$tools" &&
    "${pip[@]}" install --only-binary=:all: -r "$list" &&
    cat "$list" >"$tools/complete"
}

#===-- The libraries of the tests -------------------------------------------===#

install_libraries() {
  local list=$root/python/tests/requirements.txt pip limit=()
  local shared=${DSV4_LIBRARIES:-} cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  [[ -n $shared || -n $cache ]] || die 'there is no HOME: set DSV4_LIBRARIES to a folder'
  shared=${shared:-$cache/dsv4/python-libraries}
  # As scripts/libraries.py finds it.
  local libraries digest
  digest=$(sha256sum <"$list")
  libraries=$shared/${digest:0:12}
  mkdir -p "$shared" || return 1
  # Of two clones, one waits for the other.
  exec 9>"$shared/lock"
  flock 9
  is_complete "$libraries" "$list" && return 0
  say "installing torch, JAX and others into $libraries"
  # A service has other tests to run.
  [[ ${CI:-} != true ]] || limit=(timeout 6m)
  make_environment "$libraries" &&
    "${limit[@]}" "${pip[@]}" install --only-binary=:all: -r "$list" &&
    cat "$list" >"$libraries/complete" && return 0
  rm -rf "$libraries"
  return 1
}

#===-------------------------------------------------------------------------===#

if [[ ${DSV4_SKIP_SETUP:-0} == 1 ]]; then
  exit 0
fi

case ${1:-build} in
build)
  install "${build_packages[@]}"
  if have_nvrtc; then
    exit 0
  fi
  if [[ ${CI:-} == true ]]; then
    # In a subshell, as a failed install ends it: a machine without NVRTC is fit
    # for the rest of the tests.
    (install_nvrtc) || say 'cannot install NVRTC; what needs it is skipped'
    exit 0
  fi
  cat >&2 <<MESSAGE
setup: there is no NVRTC (libnvrtc.so.13) on this machine. The host target works
setup: without it; for CUDA install cuda-nvrtc-13-0 from NVIDIA's apt repository,
setup: or '$nvrtc_wheel' with pip in a virtual environment, or run
setup: 'scripts/setup.sh nvrtc', which puts the latter into build/nvrtc for make.
MESSAGE
  ;;
format) install "${format_packages[@]}" ;;
nvrtc)
  have_nvrtc || install_nvrtc || die "cannot install $nvrtc_wheel"
  ;;
wheel) install_wheel_tools || die 'cannot install the tools of the wheel' ;;
site)
  install_site_tools || die 'cannot install the tools of the site. They come from PyPI, or from a' \
    'mirror that PIP_INDEX_URL names. The pages can be read without: see docs/README.md'
  ;;
libraries) install_libraries || die 'cannot install the libraries of the tests' ;;
*) die "usage: scripts/setup.sh [build | format | nvrtc | wheel | site | libraries]" ;;
esac
