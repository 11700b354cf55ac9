// Indices that a table replaces, apart and in the kernel of a router; a bias of some rows, and biases of 16 bits.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=table --random=1 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=table --random=2 --dim tokens=5 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=table --random=3 --dim tokens=0 | FileCheck %s
// RUN: %{run} --entry=table_i64 --random=4 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=copy --random=5 --dim tokens=21 | FileCheck %s
// RUN: %{run} --entry=from_i16 --random=6 --dim tokens=21 | FileCheck %s
// RUN: %{run} --entry=wide --random=16 --dim tokens=21 | FileCheck %s
// RUN: %{run} --entry=axes --random=7 --dim tokens=9 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=routed --random=8 --dim tokens=130 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=routed --random=9 --dim tokens=130 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=hashed --random=10 --dim tokens=130 --dim words=30 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=replayed --random=11 --dim tokens=130 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=replayed --random=12 --dim tokens=3 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=dense --random=13 --dim tokens=9 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=other_block --random=14 --dim tokens=5 --dim columns=3000 | FileCheck %s
// RUN: %{run} --entry=other_values --random=15 --dim tokens=37 | FileCheck %s
// ONE: kernel {{ *[a-z]+$}}
// ONE-NOT: kernel {{ *[a-z_]+$}}
// CHECK: matches the oracle

func.func @table(
    %x: tensor<?x6xi32> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}, %t: tensor<77xi32> {dsv4.name = "t"},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %y: tensor<?x6xi16> {dsv4.name = "y", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.map_indices %x table(%t : tensor<77xi32>) valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>)
      outs(%y : tensor<?x6xi16>) : tensor<?x6xi32>
  return
}

func.func @table_i64(
    %x: tensor<?x300xi64> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}, %t: tensor<1000xi64> {dsv4.name = "t"},
    %y: tensor<?x300xi64> {dsv4.name = "y", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.map_indices %x table(%t : tensor<1000xi64>) outs(%y : tensor<?x300xi64>) : tensor<?x300xi64>
  return
}

func.func @copy(
    %x: tensor<?x7xui32> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %y: tensor<?x7xi16> {dsv4.name = "y", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.map_indices %x padding(%pad : tensor<?xi1>) outs(%y : tensor<?x7xi16>) : tensor<?x7xui32>
  return
}

// An odd row of two-byte indices begins in the middle of a word.
func.func @from_i16(
    %x: tensor<?x9xi16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}, %t: tensor<40xi64> {dsv4.name = "t"},
    %y: tensor<?x9xui32> {dsv4.name = "y", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.map_indices %x table(%t : tensor<40xi64>) outs(%y : tensor<?x9xui32>) : tensor<?x9xi16>
  return
}

// What is i32 between them takes no operation.
func.func @wide(
    %x: tensor<?x8xi16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]},
    %y: tensor<?x8xi64> {dsv4.name = "y", dsv4.dims = ["tokens", ""]}, %z: tensor<?x8xi16> {dsv4.name = "z", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.map_indices %x outs(%y : tensor<?x8xi64>) : tensor<?x8xi16>
  %1 = dsv4.map_indices %x outs(%z : tensor<?x8xi16>) : tensor<?x8xi16>
  return
}

func.func @axes(
    %x: tensor<?x3x6xi32> {dsv4.name = "x", dsv4.dims = ["tokens", "", ""]}, %t: tensor<77xi32> {dsv4.name = "t"},
    %pad: tensor<?x3xi1> {dsv4.name = "pad", dsv4.dims = ["tokens", ""]}, %y: tensor<?x3x6xi32> {dsv4.name = "y", dsv4.dims = ["tokens", "", ""]}) {
  %0 = dsv4.map_indices %x table(%t : tensor<77xi32>) padding(%pad : tensor<?x3xi1>)
      outs(%y : tensor<?x3x6xi32>) : tensor<?x3x6xi32>
  return
}

// With a shared expert that the table has, and one that it does not have.
func.func @routed(
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]}, %bias: tensor<64xbf16> {dsv4.name = "bias"},
    %other: tensor<64xf16> {dsv4.name = "other"}, %image: tensor<?xi1> {dsv4.name = "image", dsv4.dims = ["tokens"]},
    %t: tensor<65xi32> {dsv4.name = "t"}, %n: tensor<1xi32> {dsv4.name = "n"},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x8xi64> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]},
    %replay: tensor<?x8xi16> {dsv4.name = "replay", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x8xi16>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf32>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %ids = tensor.empty(%tokens) : tensor<?x8xi32>
  %s = dsv4.gate %logits function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %c = dsv4.topk %s bias(%bias : tensor<64xbf16>) other_bias(%other, %image : tensor<64xf16>, tensor<?xi1>)
      order sorted valid_rows(%n : tensor<1xi32>) shared 2 outs(%ids : tensor<?x8xi32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize shared 2 weight 0.5 outs(%weights : tensor<?x8xf32>)
      : tensor<?x64xf32>, tensor<?x8xi32>
  %p = dsv4.map_indices %c table(%t : tensor<65xi32>) outs(%physical : tensor<?x8xi64>) : tensor<?x8xi32>
  %r = dsv4.map_indices %c outs(%replay : tensor<?x8xi16>) : tensor<?x8xi32>
  return %w, %p, %r : tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x8xi16>
}

func.func @hashed(
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]}, %lookups: tensor<?x6xi32> {dsv4.name = "lookups", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]}, %t: tensor<64xi64> {dsv4.name = "t"},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x6xi16> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf32>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %some = tensor.empty(%tokens) : tensor<?x6xi32>
  %c = dsv4.lookup %lookups[%ids] outs(%some : tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %s = dsv4.gate %logits function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize outs(%weights : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  %p = dsv4.map_indices %c table(%t : tensor<64xi64>) outs(%physical : tensor<?x6xi16>) : tensor<?x6xi32>
  return
}

// Experts that were recorded, of rows that count.
func.func @replayed(
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]}, %given: tensor<?x6xi16> {dsv4.name = "given", dsv4.dims = ["tokens", ""]},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]}, %t: tensor<64xi32> {dsv4.name = "t"},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x6xi32> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf32>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %some = tensor.empty(%tokens) : tensor<?x6xi32>
  %c = dsv4.map_indices %given padding(%pad : tensor<?xi1>) outs(%some : tensor<?x6xi32>) : tensor<?x6xi16>
  %s = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize outs(%weights : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  %p = dsv4.map_indices %c table(%t : tensor<64xi32>) outs(%physical : tensor<?x6xi32>) : tensor<?x6xi32>
  return
}

func.func @dense(
    %hidden: tensor<?x96xbf16> {dsv4.name = "hidden", dsv4.dims = ["tokens", ""]}, %gate: tensor<64x96xbf16> {dsv4.name = "gate"}, %bias: tensor<64xbf16> {dsv4.name = "bias"},
    %other: tensor<64xf32> {dsv4.name = "other"}, %image: tensor<?xi1> {dsv4.name = "image", dsv4.dims = ["tokens"]}, %t: tensor<64xi32> {dsv4.name = "t"},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x6xi32> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x96xbf16>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %some = tensor.empty(%tokens) : tensor<?x6xi32>
  %l = dsv4.router_logits %hidden, %gate outs(%row : tensor<?x64xf32>) : tensor<?x96xbf16>, tensor<64x96xbf16>
  %s = dsv4.gate %l function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %c = dsv4.topk %s bias(%bias : tensor<64xbf16>) other_bias(%other, %image : tensor<64xf32>, tensor<?xi1>)
      order sorted outs(%some : tensor<?x6xi32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize outs(%weights : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  %p = dsv4.map_indices %c table(%t : tensor<64xi32>) outs(%physical : tensor<?x6xi32>) : tensor<?x6xi32>
  return
}

func.func @other_block(
    %s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["tokens", "columns"]}, %bias: tensor<?xf16> {dsv4.name = "bias", dsv4.dims = ["columns"]},
    %other: tensor<?xf32> {dsv4.name = "other", dsv4.dims = ["columns"]}, %image: tensor<?xi1> {dsv4.name = "image", dsv4.dims = ["tokens"]},
    %i: tensor<?x40xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.topk %s bias(%bias : tensor<?xf16>) other_bias(%other, %image : tensor<?xf32>, tensor<?xi1>)
      order sorted outs(%i : tensor<?x40xi32>) : tensor<?x?xf32>
  return
}

func.func @other_values(
    %s: tensor<?x100xbf16> {dsv4.name = "s", dsv4.dims = ["tokens", ""]}, %bias: tensor<100xf32> {dsv4.name = "bias"},
    %other: tensor<100xf32> {dsv4.name = "other"}, %image: tensor<?xi1> {dsv4.name = "image", dsv4.dims = ["tokens"]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]}, %v: tensor<?x9xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]}) {
  %0:2 = dsv4.topk %s bias(%bias : tensor<100xf32>) other_bias(%other, %image : tensor<100xf32>, tensor<?xi1>)
      order sorted outs(%i, %v : tensor<?x9xi32>, tensor<?x9xf32>) : tensor<?x100xbf16>
  return
}
