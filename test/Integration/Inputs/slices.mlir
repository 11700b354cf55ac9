// Operands that are slices of arguments.

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#bf16 = #dsv4.strides<[?], align = 2>
!cache = !dsv4.cache<16 x <[<"kv" : 512 x bf16 in row>, <"pe" : 64 x bf16 in row>]>>
!pool = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

// A part of the columns, and its last columns.
func.func @columns(%qkv: tensor<?x1536xbf16> {dsv4.name = "qkv", dsv4.dims = ["tokens", ""]},
                   %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %qkv, %c0 : tensor<?x1536xbf16>
  %kv = tensor.extract_slice %qkv[0, 1024] [%n, 512] [1, 1] : tensor<?x1536xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %kv outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %r : tensor<?x512xbf16>
}

// Two slices in one kernel, of an argument with strides. The second begins at an odd element.
func.func @two(%x: tensor<?x1029xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""], dsv4.strides = #bf16},
               %slots: tensor<?xi64> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
               %c: !cache {dsv4.name = "c"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %slots, %c0 : tensor<?xi64>
  %kv = tensor.extract_slice %x[0, 0] [%n, 512] [1, 1] : tensor<?x1029xbf16> to tensor<?x512xbf16>
  %pe = tensor.extract_slice %x[0, 965] [%n, 64] [1, 1] : tensor<?x1029xbf16> to tensor<?x64xbf16>
  dsv4.paged_append %c[%slots] unique fields(%kv, %pe : tensor<?x512xbf16>, tensor<?x64xbf16>) : !cache, tensor<?xi64>
  return
}

// Heads, and columns of them.
func.func @heads(%q: tensor<?x24x192xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
                 %o: tensor<?x16x128xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", "", ""]}) -> tensor<?x16x128xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?x16x128xbf16>
  %nope = tensor.extract_slice %q[0, 8, 64] [%n, 16, 128] [1, 1, 1]
      : tensor<?x24x192xbf16> to tensor<?x16x128xbf16>
  %r = dsv4.hadamard %nope outs(%o : tensor<?x16x128xbf16>) {scale = 0.0883883461 : f32} : tensor<?x16x128xbf16>
  return %r : tensor<?x16x128xbf16>
}

// One head: the slice has an axis less.
func.func @head(%q: tensor<?x3x128xf32> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
                %o: tensor<?x128xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?x128xbf16>
  %head = tensor.extract_slice %q[0, 2, 0] [%n, 1, 128] [1, 1, 1] : tensor<?x3x128xf32> to tensor<?x128xf32>
  %r = dsv4.rms_norm %head outs(%o : tensor<?x128xbf16>) {eps = 1.0e-06 : f32} : tensor<?x128xf32>
  return %r : tensor<?x128xbf16>
}

// Rows of decodes, and those of prefills after them: the offset is an extent.
func.func @rows(%q: tensor<?x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", ""]},
                %d: tensor<?x512xbf16> {dsv4.name = "d", dsv4.dims = ["decodes", ""]},
                %p: tensor<?x512xbf16> {dsv4.name = "p", dsv4.dims = ["prefills", ""]})
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %decodes = tensor.dim %d, %c0 : tensor<?x512xbf16>
  %prefills = tensor.dim %p, %c0 : tensor<?x512xbf16>
  %first = tensor.extract_slice %q[0, 0] [%decodes, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %last = tensor.extract_slice %q[%decodes, 0] [%prefills, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %first outs(%d : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %s = dsv4.hadamard %last outs(%p : tensor<?x512xbf16>) {scale = 0.0441941738 : f32} : tensor<?x512xbf16>
  return %r, %s : tensor<?x512xbf16>, tensor<?x512xbf16>
}

// Slots, lengths and page tables of the last rows. The strides of a table follow from its extents.
func.func @indices(%c: !pool {dsv4.name = "c"},
                   %slots: tensor<?xi64> {dsv4.name = "slots", dsv4.dims = ["all"]},
                   %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["all_requests", "max_pages"]},
                   %requests: tensor<?xi32> {dsv4.name = "requests", dsv4.dims = ["rows"]},
                   %skipped: tensor<?xi32> {dsv4.name = "skipped", dsv4.dims = ["skipped"]},
                   %used: tensor<?x?xi32> {dsv4.name = "used", dsv4.dims = ["requests", "pages"]},
                   %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %o, %c0 : tensor<?x64xbf16>
  %skip = tensor.dim %skipped, %c0 : tensor<?xi32>
  %twice = arith.muli %skip, %c2 : index
  %begin = arith.addi %twice, %c1 : index
  %n = tensor.dim %used, %c0 : tensor<?x?xi32>
  %pages = tensor.dim %used, %c1 : tensor<?x?xi32>
  %i = tensor.extract_slice %slots[%begin] [%rows] [1] : tensor<?xi64> to tensor<?xi64>
  %t = tensor.extract_slice %table[%skip, 1] [%n, %pages] [1, 1] : tensor<?x?xi32> to tensor<?x?xi32>
  %r = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%requests : tensor<?xi32>)
      outs(%o : tensor<?x64xbf16>) : !pool, tensor<?xi64>
  return %r : tensor<?x64xbf16>
}

// Two elements per byte.
func.func @nibbles(%d: tensor<?x1024xf4E2M1FN> {dsv4.name = "d", dsv4.dims = ["rows", ""]},
                   %s: tensor<?x64xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""]},
                   %o: tensor<?x256xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?x256xbf16>
  %data = tensor.extract_slice %d[0, 528] [%n, 256] [1, 1] : tensor<?x1024xf4E2M1FN> to tensor<?x256xf4E2M1FN>
  %scales = tensor.extract_slice %s[0, 33] [%n, 16] [1, 1] : tensor<?x64xf8E4M3FN> to tensor<?x16xf8E4M3FN>
  %r = dsv4.dequantize %data scales(%scales : tensor<?x16xf8E4M3FN>) outs(%o : tensor<?x256xbf16>) {format = #nvfp4}
      : tensor<?x256xf4E2M1FN>
  return %r : tensor<?x256xbf16>
}

// Rows of a length that only a launch has.
func.func @scores(%s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["queries", "width"]},
                  %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["queries"]},
                  %w: tensor<?xi32> {dsv4.name = "w", dsv4.dims = ["columns"]},
                  %i: tensor<?x16xi32> {dsv4.name = "i", dsv4.dims = ["queries", ""]}) -> tensor<?x16xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %w, %c0 : tensor<?xi32>
  %part = tensor.extract_slice %s[0, 4] [%n, %columns] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %r = dsv4.topk %part lengths(%l : tensor<?xi32>) outs(%i : tensor<?x16xi32>) : tensor<?x?xf32>
  return %r : tensor<?x16xi32>
}

// A slice of a slice, and the same slice again.
func.func @twice(%x: tensor<?x4x256xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", "", ""]},
                 %o: tensor<?x128xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", ""]},
                 %p: tensor<?x128xbf16> {dsv4.name = "p", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x128xbf16>, tensor<?x128xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x256xbf16>
  %half = tensor.extract_slice %x[0, 2, 0] [%n, 2, 256] [1, 1, 1] : tensor<?x4x256xbf16> to tensor<?x2x256xbf16>
  %m = tensor.dim %half, %c0 : tensor<?x2x256xbf16>
  %part = tensor.extract_slice %half[0, 1, 128] [%m, 1, 128] [1, 1, 1] : tensor<?x2x256xbf16> to tensor<?x128xbf16>
  %same = tensor.extract_slice %x[0, 3, 128] [%n, 1, 128] [1, 1, 1] : tensor<?x4x256xbf16> to tensor<?x128xbf16>
  %r = dsv4.rms_norm %part outs(%o : tensor<?x128xbf16>) {eps = 1.0e-06 : f32} : tensor<?x128xbf16>
  %s = dsv4.hadamard %same outs(%p : tensor<?x128xbf16>) {scale = 0.0883883461 : f32} : tensor<?x128xbf16>
  return %r, %s : tensor<?x128xbf16>, tensor<?x128xbf16>
}

// Two slices of one type that begin at the same element, with a length each.
func.func @lengths(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                   %a: tensor<?x512xbf16> {dsv4.name = "a", dsv4.dims = ["first", ""]},
                   %b: tensor<?x512xbf16> {dsv4.name = "b", dsv4.dims = ["second", ""]})
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x512xbf16>
  %m = tensor.dim %b, %c0 : tensor<?x512xbf16>
  %s = tensor.extract_slice %x[0, 0] [%n, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %t = tensor.extract_slice %x[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %s outs(%a : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %h = dsv4.hadamard %t outs(%b : tensor<?x512xbf16>) {scale = 0.0441941731 : f32} : tensor<?x512xbf16>
  return %r, %h : tensor<?x512xbf16>, tensor<?x512xbf16>
}
