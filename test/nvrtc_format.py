"""A test for each golden kernel: that NVRTC compiles it.

The source of a golden kernel is compared on every machine, by the golden test itself. Whether NVRTC takes it is a test
of its own, so that a machine without NVRTC names it as skipped.
"""

import os
import subprocess

import golden
import lit.formats
import lit.Test


class NvrtcFormat(lit.formats.TestFormat):
    def __init__(self, goldens):
        self.goldens = goldens

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for name in sorted(os.listdir(self.goldens)):
            if name.endswith(".mlir"):
                yield lit.Test.Test(testSuite, path_in_suite + (name,), localConfig)

    def execute(self, test, litConfig):
        path = os.path.join(self.goldens, test.path_in_suite[-1])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        command, arguments = golden.print_command(path, text), golden.nvrtc_arguments(text)
        if command is None or not arguments:
            return lit.Test.UNRESOLVED, f"{path}: expected a first RUN line with FileCheck, and a line '// NVRTC: ARGUMENT...'"
        if "nvrtc" not in test.config.available_features:
            return lit.Test.UNSUPPORTED, "there is no NVRTC"
        command += "| dsv4-nvrtc-check " + " ".join(arguments)
        run = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=test.config.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if run.returncode:
            return lit.Test.FAIL, f"{command}\n{run.stdout}"
        return lit.Test.PASS, ""
