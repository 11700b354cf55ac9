// Gathers the selected entries of a paged KV cache in the 584-byte record of
// DeepSeek-V4: 448 FP8 values with one power-of-two scale per 64, and 64 bf16
// values that carry the position. Entries that do not exist give zeros and a
// false mask. `topk` is part of the kernel; tokens, requests and pages are not,
// so a new batch size never compiles again.
//
//   dsv4-run examples/gather_kv.mlir --random=1 --check \
//     --dim tokens=64 --dim topk=512 --dim requests=8 --dim max_pages=64 \
//     --dim cache.pages=512

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>

func.func @gather_kv(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %requests: tensor<?xi32> {dsv4.name = "request_of_token", dsv4.dims = ["tokens"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["tokens"]},
    %kv: tensor<?x?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", "topk", ""]},
    %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "topk"]})
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>)
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  %rows, %valid = dsv4.paged_gather %cache[%indices]
      pages(%table : tensor<?x?xi32>)
      requests(%requests : tensor<?xi32>)
      lengths(%lengths : tensor<?xi32>)
      outs(%kv : tensor<?x?x512xbf16>) mask(%mask : tensor<?x?xi1>)
      : !cache, tensor<?x?xi32>
  return %rows, %valid : tensor<?x?x512xbf16>, tensor<?x?xi1>
}
