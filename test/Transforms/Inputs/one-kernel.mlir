!v4 = !dsv4.cache<64 x <v4_584>>
func.func @f(%c: !v4, %i: tensor<?xi32>, %o: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = dsv4.kernel @f(%c, %i, %o) : (!v4, tensor<?xi32>, tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  ^bb0(%c1: !v4, %i1: tensor<?xi32>, %o1: tensor<?x512xbf16>):
    %r = dsv4.paged_gather %c1[%i1] outs(%o1 : tensor<?x512xbf16>) : !v4, tensor<?xi32>
    dsv4.yield %r : tensor<?x512xbf16>
  }
  return %0 : tensor<?x512xbf16>
}
