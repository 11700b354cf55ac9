// Logits of experts, stored and chosen from.

func.func @plain(
    %hidden: tensor<?x1024xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x1024xbf16> {dsv4.name = "weights"},
    %out: tensor<?x64xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x64xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x64xf32>) : tensor<?x1024xbf16>, tensor<64x1024xbf16>
  return %0 : tensor<?x64xf32>
}

func.func @odd(
    %hidden: tensor<?x1001xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<157x1001xbf16> {dsv4.name = "weights"},
    %out: tensor<?x157xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x157xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x157xf32>) : tensor<?x1001xbf16>, tensor<157x1001xbf16>
  return %0 : tensor<?x157xf32>
}

func.func @wide(
    %hidden: tensor<?x700xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<33x700xf32> {dsv4.name = "weights"},
    %out: tensor<?x33xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x33xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x33xf32>) : tensor<?x700xbf16>, tensor<33x700xf32>
  return %0 : tensor<?x33xf32>
}

// Rows and experts that are farther apart.
func.func @apart(
    %hidden: tensor<?x256xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 16>},
    %weights: tensor<40x256xbf16> {dsv4.name = "weights", dsv4.strides = #dsv4.strides<[?], align = 16>},
    %out: tensor<?x40xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x40xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x40xf32>) : tensor<?x256xbf16>, tensor<40x256xbf16>
  return %0 : tensor<?x40xf32>
}

func.func @apart_odd(
    %hidden: tensor<?x130xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
    %weights: tensor<17x130xf32> {dsv4.name = "weights", dsv4.strides = #dsv4.strides<[?], align = 4>},
    %out: tensor<?x17xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x17xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x17xf32>) : tensor<?x130xbf16>, tensor<17x130xf32>
  return %0 : tensor<?x17xf32>
}

func.func @one(
    %hidden: tensor<?x1xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<1x1xbf16> {dsv4.name = "weights"},
    %out: tensor<?x1xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x1xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x1xf32>) : tensor<?x1xbf16>, tensor<1x1xbf16>
  return %0 : tensor<?x1xf32>
}

func.func @most(
    %hidden: tensor<?x8192xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<512x8192xbf16> {dsv4.name = "weights"},
    %out: tensor<?x512xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x512xf32> {
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x512xf32>) : tensor<?x8192xbf16>, tensor<512x8192xbf16>
  return %0 : tensor<?x512xf32>
}

func.func @route(
    %hidden: tensor<?x1024xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x1024xbf16> {dsv4.name = "weights"},
    %bias: tensor<64xf32> {dsv4.name = "bias"},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x8xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x1024xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x64xf32>) : tensor<?x1024xbf16>, tensor<64x1024xbf16>
  %1 = dsv4.gate %0 function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<64xf32>) order sorted outs(%experts : tensor<?x8xi32>) : tensor<?x64xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 outs(%shares : tensor<?x8xf32>)
      : tensor<?x64xf32>, tensor<?x8xi32>
  return %2, %3 : tensor<?x8xi32>, tensor<?x8xf32>
}

func.func @route_odd(
    %hidden: tensor<?x1001xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<157x1001xbf16> {dsv4.name = "weights"},
    %bias: tensor<157xf32> {dsv4.name = "bias"},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x6xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x1001xbf16>
  %row = tensor.empty(%rows) : tensor<?x157xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x157xf32>) : tensor<?x1001xbf16>, tensor<157x1001xbf16>
  %1 = dsv4.gate %0 function sqrt_softplus outs(%row : tensor<?x157xf32>) : tensor<?x157xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<157xf32>) order sorted outs(%experts : tensor<?x6xi32>) : tensor<?x157xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 outs(%shares : tensor<?x6xf32>)
      : tensor<?x157xf32>, tensor<?x6xi32>
  return %2, %3 : tensor<?x6xi32>, tensor<?x6xf32>
}

func.func @route_wide(
    %hidden: tensor<?x260xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<40x260xf32> {dsv4.name = "weights"},
    %bias: tensor<40xf32> {dsv4.name = "bias"},
    %experts: tensor<?x4xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x4xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x4xi32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x260xbf16>
  %row = tensor.empty(%rows) : tensor<?x40xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x40xf32>) : tensor<?x260xbf16>, tensor<40x260xf32>
  %1 = dsv4.gate %0 function sigmoid outs(%row : tensor<?x40xf32>) : tensor<?x40xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<40xf32>) order sorted outs(%experts : tensor<?x4xi32>) : tensor<?x40xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 outs(%shares : tensor<?x4xf32>)
      : tensor<?x40xf32>, tensor<?x4xi32>
  return %2, %3 : tensor<?x4xi32>, tensor<?x4xf32>
}

func.func @route_groups(
    %hidden: tensor<?x512xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x512xbf16> {dsv4.name = "weights"},
    %bias: tensor<64xf32> {dsv4.name = "bias"},
    %experts: tensor<?x9xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x9xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x9xi32>, tensor<?x9xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x64xf32>) : tensor<?x512xbf16>, tensor<64x512xbf16>
  %1 = dsv4.gate %0 function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<64xf32>) order sorted groups 8 keep 4 by 2 shared 1 outs(%experts : tensor<?x9xi32>) : tensor<?x64xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 shared 1 of_sum 0.4 outs(%shares : tensor<?x9xf32>)
      : tensor<?x64xf32>, tensor<?x9xi32>
  return %2, %3 : tensor<?x9xi32>, tensor<?x9xf32>
}

// The logits are returned, too: two kernels.
func.func @route_stored(
    %hidden: tensor<?x1024xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x1024xbf16> {dsv4.name = "weights"},
    %bias: tensor<64xf32> {dsv4.name = "bias"},
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["rows", ""]},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x8xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xf32>, tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x1024xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%logits : tensor<?x64xf32>) : tensor<?x1024xbf16>, tensor<64x1024xbf16>
  %1 = dsv4.gate %0 function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<64xf32>) order sorted outs(%experts : tensor<?x8xi32>) : tensor<?x64xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 outs(%shares : tensor<?x8xf32>)
      : tensor<?x64xf32>, tensor<?x8xi32>
  return %0, %2, %3 : tensor<?x64xf32>, tensor<?x8xi32>, tensor<?x8xf32>
}

// A softmax reads its logits from memory.
func.func @route_softmax(
    %hidden: tensor<?x512xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x512xbf16> {dsv4.name = "weights"},
    %bias: tensor<64xf32> {dsv4.name = "bias"},
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["rows", ""]},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x8xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xf32>, tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%logits : tensor<?x64xf32>) : tensor<?x512xbf16>, tensor<64x512xbf16>
  %1 = dsv4.gate %0 function softmax outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<64xf32>) order sorted outs(%experts : tensor<?x8xi32>) : tensor<?x64xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5 outs(%shares : tensor<?x8xf32>)
      : tensor<?x64xf32>, tensor<?x8xi32>
  return %0, %2, %3 : tensor<?x64xf32>, tensor<?x8xi32>, tensor<?x8xf32>
}

// Chosen without a gate, with their logits.
func.func @route_bare(
    %hidden: tensor<?x512xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x512xbf16> {dsv4.name = "weights"},
    %experts: tensor<?x5xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %best: tensor<?x5xf32> {dsv4.name = "best", dsv4.dims = ["rows", ""]}) -> (tensor<?x5xi32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x64xf32>) : tensor<?x512xbf16>, tensor<64x512xbf16>
  %1:2 = dsv4.topk %0 order sorted outs(%experts, %best : tensor<?x5xi32>, tensor<?x5xf32>) : tensor<?x64xf32>
  return %1#0, %1#1 : tensor<?x5xi32>, tensor<?x5xf32>
}

// Experts by token id read single logits, from memory.
func.func @route_hash(
    %hidden: tensor<?x512xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x512xbf16> {dsv4.name = "weights"},
    %table: tensor<99x6xi32> {dsv4.name = "table"},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["rows"]},
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["rows", ""]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x6xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]}) -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %0 = dsv4.router_logits %hidden, %weights outs(%logits : tensor<?x64xf32>) : tensor<?x512xbf16>, tensor<64x512xbf16>
  %1 = dsv4.gate %0 function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.lookup %table[%ids] outs(%experts : tensor<?x6xi32>) : tensor<99x6xi32>, tensor<?xi32>
  %3 = dsv4.route_weights %1[%2] renormalize outs(%shares : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  return %2, %3 : tensor<?x6xi32>, tensor<?x6xf32>
}

// All scores are a result, too: the gate reads whole rows.
func.func @route_scores(
    %hidden: tensor<?x512xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %weights: tensor<64x512xbf16> {dsv4.name = "weights"},
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["rows", ""]},
    %scores: tensor<?x64xf32> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]},
    %shares: tensor<?x6xf32> {dsv4.name = "shares", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %0 = dsv4.router_logits %hidden, %weights outs(%logits : tensor<?x64xf32>) : tensor<?x512xbf16>, tensor<64x512xbf16>
  %1 = dsv4.gate %0 function sqrt_softplus outs(%scores : tensor<?x64xf32>) : tensor<?x64xf32>
  %2 = dsv4.topk %1 order index_ascending outs(%experts : tensor<?x6xi32>) : tensor<?x64xf32>
  %3 = dsv4.route_weights %1[%2] renormalize outs(%shares : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  return %1, %2, %3 : tensor<?x64xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

// Experts chosen by scores in memory, with weights of logits that the kernel computes.
func.func @weigh_others(%h: tensor<4x32xbf16> {dsv4.name = "h"}, %m: tensor<64x32xbf16> {dsv4.name = "m"}, %s: tensor<4x64xf32> {dsv4.name = "s"}, %i: tensor<4x6xi32> {dsv4.name = "i"}, %o: tensor<4x6xf32> {dsv4.name = "o"}, %d: tensor<4x64xf32> {dsv4.name = "d"})
    -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%d : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %g = dsv4.gate %l function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %s order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// Logits of two matrices: the kernel of one selects.
func.func @two(%h: tensor<4x32xbf16> {dsv4.name = "h"}, %m: tensor<64x32xbf16> {dsv4.name = "m"}, %m2: tensor<64x32xbf16> {dsv4.name = "m2"}, %i: tensor<4x6xi32> {dsv4.name = "i"}, %o: tensor<4x6xf32> {dsv4.name = "o"}, %d: tensor<4x64xf32> {dsv4.name = "d"}, %d2: tensor<4x64xf32> {dsv4.name = "d2"})
    -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %l = dsv4.router_logits %h, %m outs(%d : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %l2 = dsv4.router_logits %h, %m2 outs(%d2 : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %g = dsv4.gate %l function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %l2 order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w : tensor<4x6xf32>
}

// All scores of other rows are results, too.
func.func @store_others(%h: tensor<4x32xbf16> {dsv4.name = "h"}, %m: tensor<64x32xbf16> {dsv4.name = "m"}, %x: tensor<4x64xf32> {dsv4.name = "x"}, %g: tensor<4x64xf32> {dsv4.name = "g"}, %i: tensor<4x6xi32> {dsv4.name = "i"}, %o: tensor<4x6xf32> {dsv4.name = "o"}, %d: tensor<4x64xf32> {dsv4.name = "d"}, %d2: tensor<4x6xf32> {dsv4.name = "d2"})
    -> (tensor<4x6xf32>, tensor<4x64xf32>) {
  %l = dsv4.router_logits %h, %m outs(%d : tensor<4x64xf32>) : tensor<4x32xbf16>, tensor<64x32xbf16>
  %s = dsv4.gate %x function sigmoid outs(%g : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %l order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %s[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %w, %s : tensor<4x6xf32>, tensor<4x64xf32>
}

// A constant of no rows.
func.func @none(
    %h: tensor<0x128xbf16> {dsv4.name = "h"}, %m: tensor<16x128xbf16> {dsv4.name = "m"},
    %o: tensor<0x16xf32> {dsv4.name = "o"}) -> tensor<0x16xf32> {
  %l = dsv4.router_logits %h, %m outs(%o : tensor<0x16xf32>) : tensor<0x128xbf16>, tensor<16x128xbf16>
  return %l : tensor<0x16xf32>
}
