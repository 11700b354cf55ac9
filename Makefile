# A front for CMake. Every target is complete by itself on a fresh Debian 12
# machine: it installs what is missing, configures, builds, and does its work.
# Where nothing changed, all that comes before the work takes seconds.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Ninja is what runs things in parallel.
.NOTPARALLEL:
.DEFAULT_GOAL := build

JOBS ?= $(shell nproc)
CMAKE_BUILD = cmake --build --parallel $(JOBS) --preset
BIN := build/release/bin

#===-- What `make demo` runs ------------------------------------------------===#
DEMO_DIMS = tokens=64 entries=64 requests=64 positions=4096 topk=512 max_pages=16 window.pages=128 state.pages=64 cache.pages=1024
DEMO = $(BIN)/dsv4-run examples/decode_step.mlir --random=1 --valid --check $(DEMO_DIMS:%=--dim %)
define DEMO_COMMANDS
@echo "== a decode step: append, compress, keep, gather. First run: compiled; every level in build/demo"
@$(DEMO) --emit=build/demo
@echo
@echo "== its first kernel, the append: build/demo/decode_step_0.cu"
@cat build/demo/decode_step_0.cu
@echo
@echo "== second run: from the cache, timed"
@$(DEMO) --repeat=20
endef

#===-- What `make bench` runs -----------------------------------------------===#
define BENCH_COMMANDS
python3 bench/run.py --bin $(BIN)
python3 bench/roofline.py
endef
#===-------------------------------------------------------------------------===#

#===-- What `make check` tests the Python package with -----------------------===#
# They are gigabytes: nobody gets them unasked but a service.
ifeq ($(CI),true)
INSTALL_LIBRARIES = @scripts/setup.sh libraries || \
  echo "make: the tests of torch, JAX, ml_dtypes and matplotlib are skipped" >&2
endif
#===-------------------------------------------------------------------------===#

# Two clones share what ccache holds.
export CCACHE_BASEDIR ?= $(CURDIR)
# Where scripts/setup.sh puts NVRTC if the machine has none.
export LD_LIBRARY_PATH := $(if $(LD_LIBRARY_PATH),$(LD_LIBRARY_PATH):)$(CURDIR)/build/nvrtc/nvidia/cu13/lib

# Where `make install` puts libdsv4.so, its headers and the tools.
PREFIX ?= /usr/local

.PHONY: build install wheel demo check bench docs asan format format-check clean help setup

build: setup build/release/build.ninja ## the tools, in build/release/bin
	@$(CMAKE_BUILD) release

install: build ## libdsv4.so, headers and tools, below PREFIX (/usr/local)
	@cmake --install build/release --prefix $(abspath $(PREFIX)) --strip

wheel: build ## the Python package as one file, in build/wheel
	@scripts/setup.sh wheel
	@scripts/make-wheel.sh build/release build/wheel

demo: setup build/release/build.ninja ## a decode step, on the GPU if there is one, checked and timed
	@$(CMAKE_BUILD) release --target dsv4-run
	$(DEMO_COMMANDS)

check: build ## every test
	@scripts/setup.sh wheel || echo "make: the tests of the wheel are skipped" >&2
	$(INSTALL_LIBRARIES)
	@$(CMAKE_BUILD) release --target check-dsv4

bench: build ## the measurements
	$(BENCH_COMMANDS)

docs: setup build/release/build.ninja ## the reference of the dialects, in build/release/docs
	@$(CMAKE_BUILD) release --target dsv4-doc-dsv4 dsv4-doc-row dsv4-doc-cuda
	@ls build/release/docs/*.md

# Both sanitizers fail the test that they speak up in.
asan: export ASAN_OPTIONS ?= allow_user_poisoning=0
asan: export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1
asan: setup build/asan/build.ninja ## every test under ASan and UBSan
	@$(CMAKE_BUILD) asan
	@$(CMAKE_BUILD) asan --target check-dsv4

format: ## clang-format over all C++
	@scripts/setup.sh format
	@scripts/format.sh

format-check: ## fails where `make format` would change something
	@scripts/setup.sh format
	@scripts/format.sh --check

clean: ## removes everything built
	rm -rf build

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

setup:
	@scripts/setup.sh

# Ninja configures anew when a CMakeLists.txt changed; only the first time, and
# for changed presets, it is up to us.
build/%/build.ninja: CMakePresets.json | setup
	@cmake --preset $*
	@touch $@
