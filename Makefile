# A front for CMake. Every target is complete by itself on a fresh Debian 12
# machine: it installs what is missing, configures, builds, and does its work.
# Where nothing changed, all that comes before the work takes seconds.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Ninja is what runs things in parallel.
.NOTPARALLEL:
.DEFAULT_GOAL := build

JOBS := $(or $(JOBS),$(shell nproc))
# With one line for all steps.
BUILD = @python3 scripts/build.py --jobs $(JOBS)
BIN := build/release/bin

#===-- What `make bench` runs -----------------------------------------------===#
define BENCH_COMMANDS
python3 bench/run.py --bin $(BIN)
python3 bench/roofline.py
endef
#===-------------------------------------------------------------------------===#

#===-- What `make check` tests the Python package and the site with ----------===#
# They are gigabytes: nobody gets them unasked but a service.
ifeq ($(CI),true)
INSTALL_LIBRARIES = @scripts/setup.sh libraries || \
  echo "make: the tests of torch, JAX, ml_dtypes and matplotlib are skipped" >&2
INSTALL_SITE_TOOLS = @scripts/setup.sh site || echo "make: the tests of the site are skipped" >&2
endif
#===-------------------------------------------------------------------------===#

# Two clones share what ccache holds.
export CCACHE_BASEDIR ?= $(CURDIR)
# Where scripts/setup.sh puts NVRTC if the machine has none.
export LD_LIBRARY_PATH := $(if $(LD_LIBRARY_PATH),$(LD_LIBRARY_PATH):)$(CURDIR)/build/nvrtc/nvidia/cu13/lib

# Where `make install` puts libdsv4.so, its headers and the tools.
PREFIX := $(or $(PREFIX),/usr/local)

.PHONY: build install wheel demo check bench docs site asan format format-check clean help setup

build: setup build/release/build.ninja ## the tools, in build/release/bin
	$(BUILD) release

install: build ## libdsv4.so, headers and tools, below PREFIX (/usr/local)
	@cmake --install build/release --prefix $(abspath $(PREFIX)) --strip

wheel: build ## the Python package as one file, in build/wheel
	@scripts/setup.sh wheel
	@scripts/make-wheel.sh build/release build/wheel

demo: setup build/release/build.ninja ## a program, its kernel, and what it does on a GPU
	$(BUILD) release dsv4-run
	@python3 scripts/demo.py $(BIN) build/demo

check: build ## every test
	@scripts/setup.sh wheel || echo "make: the tests of the wheel are skipped" >&2
	$(INSTALL_LIBRARIES)
	$(INSTALL_SITE_TOOLS)
	@cmake --build --preset release --target check-dsv4

bench: build ## the measurements
	$(BENCH_COMMANDS)

docs: setup build/release/build.ninja ## the reference of the dialects, in build/release/docs
	$(BUILD) release dsv4-doc-dsv4 dsv4-doc-row dsv4-doc-cuda
	@ls build/release/docs/*.md

site: ## the documentation as a site, in build/site
	@scripts/setup.sh site
	@test -e build/site-tools/complete || { echo "make: the tools of the site are missing: run scripts/setup.sh site" >&2; exit 1; }
	@build/site-tools/bin/python docs/site/build.py build/site

# Both sanitizers fail the test that they speak up in.
asan: export ASAN_OPTIONS ?= allow_user_poisoning=0
asan: export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1
asan: setup build/asan/build.ninja ## every test under ASan and UBSan
	$(BUILD) asan
	@cmake --build --preset asan --target check-dsv4

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
