// RUN: dsv4-opt %s --dsv4-form-kernels --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a function of one block}}
func.func @blocks(%o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  return %o : tensor<?x512xbf16>
^never:
  return %o : tensor<?x512xbf16>
}
