// IR that is in emission form already goes through the pipeline again: passes of
// the way there find nothing to do, and the last ones leave it as it is.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline --mlir-print-debuginfo > %t.once
// RUN: dsv4-opt %t.once --dsv4-lower-to-cuda-pipeline --mlir-print-debuginfo > %t.twice
// RUN: dsv4-translate %t.once --mlir-to-cuda > %t.cu
// RUN: dsv4-translate %t.twice --mlir-to-cuda | diff %t.cu -

func.func @append(%x: tensor<?x512xbf16>, %i: tensor<?xi32>, %w: tensor<512xbf16>,
                  %c: !dsv4.cache<64 x <v4_584>>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %r = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?xi32>
  return %r : tensor<?x512xbf16>
}
