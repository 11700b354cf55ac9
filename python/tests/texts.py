# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that several tests compile."""

NORM = """
func.func @norm(%x: tensor<?x64xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                %y: tensor<?x64xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x64xf32> {
  %r = dsv4.rms_norm %x outs(%y : tensor<?x64xf32>) {eps = 1.0e-06} : tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
"""
