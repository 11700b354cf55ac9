// Shared experts, rows that do not count and the numbers of token-expert pairs, apart and in one kernel.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=topk_alone --random=1 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=topk_alone --random=2 --dim tokens=5 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=topk_block --random=3 --dim tokens=5 --dim columns=3000 | FileCheck %s
// RUN: %{run} --entry=topk_block --random=4 --dim tokens=9 --dim columns=70 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=topk_spaces --random=5 --dim tokens=19 | FileCheck %s
// RUN: %{run} --entry=lookup_alone --random=6 --dim tokens=37 --dim words=11 | FileCheck %s
// RUN: %{run} --entry=lookup_alone --random=7 --dim tokens=40 --dim words=0 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=lookup_wide --random=8 --dim tokens=21 --dim words=50 | FileCheck %s
// RUN: %{run} --entry=weights_alone --random=9 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=weights_of_sum --random=10 --dim tokens=37 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=weights_uniform --random=11 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=weights_wide --random=12 --dim tokens=11 | FileCheck %s
// RUN: %{run} --entry=hash --random=13 --dim tokens=130 --dim words=30 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=hash --random=14 --dim tokens=130 --dim words=30 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=hash --random=15 --dim tokens=0 --dim words=0 | FileCheck %s
// RUN: %{run} --entry=dense --random=16 --dim tokens=130 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=dense --random=17 --dim tokens=130 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=dense --random=18 --dim tokens=0 | FileCheck %s
// RUN: %{run} --entry=grouped --random=19 --dim tokens=130 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=full --random=20 --dim tokens=70 | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: %{run} --entry=topk_i64 --random=21 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=lookup_i64 --random=22 --dim tokens=37 --dim words=11 | FileCheck %s
// RUN: %{run} --entry=lookup_i64 --random=23 --dim tokens=5 --dim words=3 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=topk_starts --random=24 --dim tokens=21 --dim columns=90 | FileCheck %s
// RUN: %{run} --entry=topk_ends --random=25 --dim tokens=21 --dim columns=3000 | FileCheck %s
// RUN: %{run} --entry=topk_next --random=26 --dim tokens=12 --dim requests=4 --dim columns=70 | FileCheck %s
// RUN: %{run} --entry=topk_unordered --random=28 --dim tokens=37 | FileCheck %s
// RUN: %{run} --entry=topk_below_zero --random=17 --dim tokens=3 | FileCheck %s
// RUN: %{run} --entry=strided --random=27 --dim tokens=37 --dim words=30 | FileCheck %s
// ONE: kernel {{ *[a-z]+$}}
// ONE-NOT: kernel {{ *[a-z_]+$}}
// CHECK: matches the oracle

func.func @topk_alone(
    %s: tensor<?x100xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %v: tensor<?x9xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x9xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %0:3 = dsv4.topk %s order index_ascending valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>) shared 3
      token_experts outs(%i, %v, %t : tensor<?x9xi32>, tensor<?x9xf32>, tensor<?x9xi32>) : tensor<?x100xf32>
  return
}

// Without an order the shared experts still come last, also after padding.
func.func @topk_unordered(
    %s: tensor<?x64xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["tokens"]},
    %i: tensor<?x8xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %v: tensor<?x8xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]}) {
  %0:2 = dsv4.topk %s lengths(%l : tensor<?xi32>) order unordered shared 2
      outs(%i, %v : tensor<?x8xi32>, tensor<?x8xf32>) : tensor<?x64xf32>
  return
}

// A block for each row: blockIdx.x is unsigned, and a negative number of rows counts as 0.
func.func @topk_below_zero(
    %s: tensor<?x3000xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %n: tensor<1xi32> {dsv4.name = "n"},
    %i: tensor<?x64xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.topk %s order sorted valid_rows(%n : tensor<1xi32>) outs(%i : tensor<?x64xi32>) : tensor<?x3000xf32>
  return
}

// By a block, which has no lanes for ranks: without shared experts.
func.func @topk_block(
    %s: tensor<?x?xbf16> {dsv4.name = "s", dsv4.dims = ["tokens", "columns"]},
    %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["tokens"]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %table: tensor<?x4xi32> {dsv4.name = "table", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x64xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?x64xi32> {dsv4.name = "slots", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x64xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %0:3 = dsv4.topk %s lengths(%l : tensor<?xi32>) pages(%table : tensor<?x4xi32>) page 64 order sorted
      valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>) token_experts
      outs(%i, %slots, %t : tensor<?x64xi32>, tensor<?x64xi32>, tensor<?x64xi32>) : tensor<?x?xbf16>
  return
}

func.func @topk_spaces(
    %s: tensor<?x3x33xf32> {dsv4.name = "s", dsv4.dims = ["tokens", "", ""]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?x3xi1> {dsv4.name = "pad", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x3x32xi32> {dsv4.name = "i", dsv4.dims = ["tokens", "", ""]},
    %t: tensor<?x3x32xi32> {dsv4.name = "t", dsv4.dims = ["tokens", "", ""]}) {
  %0:2 = dsv4.topk %s order sorted valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?x3xi1>) shared 31
      token_experts outs(%i, %t : tensor<?x3x32xi32>, tensor<?x3x32xi32>) : tensor<?x3x33xf32>
  return
}

func.func @lookup_alone(
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %i: tensor<?x8xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x8xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %0:2 = dsv4.lookup %table[%ids] valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>)
      shared 2 experts 256 token_experts outs(%i, %t : tensor<?x8xi32>, tensor<?x8xi32>)
      : tensor<?x6xi32>, tensor<?xi32>
  return
}

// Several steps of several lanes.
func.func @lookup_wide(
    %table: tensor<?x300xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %i: tensor<?x301xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x301xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %0:2 = dsv4.lookup %table[%ids] shared 1 experts 999 token_experts
      outs(%i, %t : tensor<?x301xi32>, tensor<?x301xi32>) : tensor<?x300xi32>, tensor<?xi32>
  return
}

func.func @weights_alone(
    %s: tensor<?x100xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x9xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.route_weights %s[%i] renormalize scale 2.5 shared 2 weight 0.4 outs(%o : tensor<?x9xf32>)
      : tensor<?x100xf32>, tensor<?x9xi32>
  return
}

func.func @weights_of_sum(
    %s: tensor<?x100xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x9xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.route_weights %s[%i] scale -2.5 shared 1 of_sum 0.4 outs(%o : tensor<?x9xf32>)
      : tensor<?x100xf32>, tensor<?x9xi32>
  return
}

func.func @weights_uniform(
    %s: tensor<?x100xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x7xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x7xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.route_weights %s[%i] uniform shared 1 of_sum 0.5 outs(%o : tensor<?x7xf32>)
      : tensor<?x100xf32>, tensor<?x7xi32>
  return
}

func.func @weights_wide(
    %s: tensor<?x1000xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x301xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x301xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.route_weights %s[%i] renormalize shared 20 of_sum 0.1 outs(%o : tensor<?x301xf32>)
      : tensor<?x1000xf32>, tensor<?x301xi32>
  return
}

func.func @hash(
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x8xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x8xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %e:2 = dsv4.lookup %table[%ids] valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>)
      shared 2 experts 256 token_experts outs(%i, %t : tensor<?x8xi32>, tensor<?x8xi32>)
      : tensor<?x6xi32>, tensor<?xi32>
  %s = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>) : tensor<?x256xf32>
  %w = dsv4.route_weights %s[%e#0] renormalize shared 2 weight 0.4 outs(%o : tensor<?x8xf32>)
      : tensor<?x256xf32>, tensor<?x8xi32>
  return
}

func.func @dense(
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %logits: tensor<?x256xbf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x8xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x8xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xbf16>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %s = dsv4.gate %logits function softmax outs(%row : tensor<?x256xf32>) : tensor<?x256xbf16>
  %e:2 = dsv4.topk %s bias(%bias : tensor<256xf32>) order sorted valid_rows(%n : tensor<1xi32>)
      padding(%pad : tensor<?xi1>) shared 2 token_experts outs(%i, %t : tensor<?x8xi32>, tensor<?x8xi32>)
      : tensor<?x256xf32>
  %w = dsv4.route_weights %s[%e#0] renormalize scale 1.5 shared 2 of_sum 0.4 outs(%o : tensor<?x8xf32>)
      : tensor<?x256xf32>, tensor<?x8xi32>
  return
}

func.func @grouped(
    %bias: tensor<256xf32> {dsv4.name = "bias"}, %n: tensor<1xi32> {dsv4.name = "n"},
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x9xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %s = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>) : tensor<?x256xf32>
  %e = dsv4.topk %s bias(%bias : tensor<256xf32>) order index_ascending groups 8 keep 4 by 2
      valid_rows(%n : tensor<1xi32>) shared 1 outs(%i : tensor<?x9xi32>) : tensor<?x256xf32>
  %w = dsv4.route_weights %s[%e] uniform shared 1 weight 1.0 outs(%o : tensor<?x9xf32>)
      : tensor<?x256xf32>, tensor<?x9xi32>
  return
}

// All lanes of a warp have a column.
func.func @full(
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %logits: tensor<?x48xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x32xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x32xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x48xf32>
  %row = tensor.empty(%tokens) : tensor<?x48xf32>
  %s = dsv4.gate %logits function sigmoid outs(%row : tensor<?x48xf32>) : tensor<?x48xf32>
  %e = dsv4.topk %s order sorted padding(%pad : tensor<?xi1>) shared 1 outs(%i : tensor<?x32xi32>)
      : tensor<?x48xf32>
  %w = dsv4.route_weights %s[%e] renormalize scale 2.5 shared 1 of_sum 0.4 outs(%o : tensor<?x32xf32>)
      : tensor<?x48xf32>, tensor<?x32xi32>
  return
}

// Integers of other widths: each operand and each result has its own.
func.func @topk_i64(
    %s: tensor<?x100xf16> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %n: tensor<1xi64> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %i: tensor<?x9xi64> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %v: tensor<?x9xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x9xi64> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %e:3 = dsv4.topk %s order sorted valid_rows(%n : tensor<1xi64>) padding(%pad : tensor<?xi1>) shared 3
      token_experts outs(%i, %v, %t : tensor<?x9xi64>, tensor<?x9xf32>, tensor<?x9xi64>) : tensor<?x100xf16>
  return
}

func.func @lookup_i64(
    %table: tensor<?x6xi64> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %n: tensor<1xi64> {dsv4.name = "n"},
    %s: tensor<?x256xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %i: tensor<?x8xi64> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x8xui32> {dsv4.name = "t", dsv4.dims = ["tokens", ""]},
    %o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) {
  %e:2 = dsv4.lookup %table[%ids] valid_rows(%n : tensor<1xi64>) shared 2 experts 256 token_experts
      outs(%i, %t : tensor<?x8xi64>, tensor<?x8xui32>) : tensor<?x6xi64>, tensor<?xi64>
  %w = dsv4.route_weights %s[%e#0] renormalize scale 2.5 shared 2 of_sum 0.4 outs(%o : tensor<?x8xf32>)
      : tensor<?x256xf32>, tensor<?x8xi64>
  return
}

// Rows that do not count among rows that begin and end within their columns.
func.func @topk_starts(
    %s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["tokens", "columns"]},
    %b: tensor<?xi32> {dsv4.name = "b", dsv4.dims = ["tokens"]}, %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["tokens"]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %i: tensor<?x16xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]},
    %t: tensor<?x16xi64> {dsv4.name = "t", dsv4.dims = ["tokens", ""]}) {
  %0:2 = dsv4.topk %s starts(%b : tensor<?xi32>) lengths(%l : tensor<?xi32>) order sorted
      valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>) token_experts
      outs(%i, %t : tensor<?x16xi32>, tensor<?x16xi64>) : tensor<?x?xf32>
  return
}

func.func @topk_ends(
    %s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["tokens", "columns"]},
    %b: tensor<?xi32> {dsv4.name = "b", dsv4.dims = ["tokens"]},
    %n: tensor<1xi32> {dsv4.name = "n"}, %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %offsets: tensor<?xi32> {dsv4.name = "offsets", dsv4.dims = ["tokens"]},
    %i: tensor<?x16xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.topk %s ends(%b : tensor<?xi32>) offsets(%offsets : tensor<?xi32>) order index_ascending ties high
      valid_rows(%n : tensor<1xi32>) padding(%pad : tensor<?xi1>) outs(%i : tensor<?x16xi32>) : tensor<?x?xf32>
  return
}

func.func @topk_next(
    %s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["tokens", "columns"]},
    %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["requests"]},
    %n: tensor<1xi32> {dsv4.name = "n"},
    %i: tensor<?x16xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""]}) {
  %0 = dsv4.topk %s lengths(%l : tensor<?xi32>) next_n 3 order sorted valid_rows(%n : tensor<1xi32>)
      outs(%i : tensor<?x16xi32>) : tensor<?x?xf32>
  return
}

// Rows that lie apart.
func.func @strided(
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""], dsv4.strides = #dsv4.strides<[?], align = 4>},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %s: tensor<?x256xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?]>},
    %i: tensor<?x7xi32> {dsv4.name = "i", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 4>},
    %t: tensor<?x7xi32> {dsv4.name = "t", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 4>},
    %o: tensor<?x7xf32> {dsv4.name = "o", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?], align = 4>}) {
  %e:2 = dsv4.lookup %table[%ids] shared 1 experts 256 token_experts
      outs(%i, %t : tensor<?x7xi32>, tensor<?x7xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %w = dsv4.route_weights %s[%e#0] renormalize shared 1 of_sum 0.4 outs(%o : tensor<?x7xf32>)
      : tensor<?x256xf32>, tensor<?x7xi32>
  return
}
