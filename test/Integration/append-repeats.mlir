// Of several tokens that fall on one slot the last one stays, also where the rows of a block look for
// later tokens together: whole blocks and the last one, vectors and the elements before and after them.

// RUN: dsv4-run %s --target=host --random=1 --check --dim=tokens=512 --dim=cache.pages=2 | FileCheck %s
// RUN: dsv4-run %s --target=host --random=2 --check --dim=tokens=513 --dim=cache.pages=2 | FileCheck %s
// RUN: dsv4-run %s --target=host --random=3 --check --dim=tokens=531 --dim=cache.pages=2 \
// RUN:   --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --random=4 --check --dim=tokens=1601 --dim=cache.pages=9 \
// RUN:   --thread-order=random:5 | FileCheck %s
// CHECK: matches the oracle

!cache = !dsv4.cache<64 x #dsv4.record<[<"row" : 64 x bf16 in row>]>>

func.func @append(
    %kv: tensor<?x64xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  dsv4.paged_append %cache[%slots] fields(%kv : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
