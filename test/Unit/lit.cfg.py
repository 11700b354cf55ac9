# GoogleTest binaries, one test a test case.

import os

import lit.formats

config.name = "dsv4-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(config.dsv4_binary_dir, "test", "Unit")
config.test_exec_root = config.test_source_root

# What the tests look at, and what the programs under test do.
for name in os.environ:
    if name.startswith(("CUDA", "DSV4_", "XDG_", "ASAN_", "UBSAN_", "GTEST_")) or name in (
        "CXX", "HOME", "LD_LIBRARY_PATH", "TMPDIR", "USER"
    ):
        config.environment[name] = os.environ[name]
