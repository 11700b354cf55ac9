// An op cannot take rows from one that leaves some of them as they are in memory.

// RUN: dsv4-opt %s --convert-dsv4-to-row --verify-diagnostics

!keys = !dsv4.cache<64 x <index_fp8_132>>

func.func @norm(%c: !keys, %t: tensor<?x?xi32>, %cu: tensor<?xi32>, %o: tensor<?x128xbf16>,
                %n: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = dsv4.kernel @k(%c, %t, %cu, %o, %n)
      : (!keys, tensor<?x?xi32>, tensor<?xi32>, tensor<?x128xbf16>, tensor<?x128xbf16>)
        -> tensor<?x128xbf16> {
  ^bb0(%c1: !keys, %t1: tensor<?x?xi32>, %cu1: tensor<?xi32>, %o1: tensor<?x128xbf16>,
       %n1: tensor<?x128xbf16>):
    %rows = dsv4.paged_gather %c1 pages(%t1 : tensor<?x?xi32>) cu_seq_lens(%cu1 : tensor<?xi32>)
        outs(%o1 : tensor<?x128xbf16>) : !keys
    // expected-error @+1 {{takes rows of 'dsv4.paged_gather', which leaves some of them as they are in memory: put that into a kernel of its own}}
    %y = dsv4.rms_norm %rows outs(%n1 : tensor<?x128xbf16>) {eps = 1.0e-6 : f32} : tensor<?x128xbf16>
    dsv4.yield %y : tensor<?x128xbf16>
  }
  return %0 : tensor<?x128xbf16>
}
