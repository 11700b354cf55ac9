// The clauses of logits of experts, and of their schedules.

// RUN: dsv4-opt %s --split-input-file --verify-diagnostics

func.func @c1_rank(%h: tensor<64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{router_logits_c1: expected 'hidden' of shape [rows, H] with a constant H between 1 and 8192, got 'tensor<64xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<8xf32>) : tensor<64xbf16>, tensor<8x64xbf16>
  return %0 : tensor<8xf32>
}

// -----

func.func @c1_dynamic(%h: tensor<?x?xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{router_logits_c1: expected 'hidden' of shape [rows, H] with a constant H between 1 and 8192, got 'tensor<?x?xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x8xf32>) : tensor<?x?xbf16>, tensor<8x64xbf16>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @c1_long(%h: tensor<?x8193xbf16>, %w: tensor<8x8193xbf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{router_logits_c1: expected 'hidden' of shape [rows, H] with a constant H between 1 and 8192, got 'tensor<?x8193xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x8xf32>) : tensor<?x8193xbf16>, tensor<8x8193xbf16>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @c1_type(%h: tensor<?x64xf16>, %w: tensor<8x64xbf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{operand #0 must be 'hidden', a tensor of bfloat16 type values, but got 'tensor<?x64xf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x8xf32>) : tensor<?x64xf16>, tensor<8x64xbf16>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @c2_other(%h: tensor<?x64xbf16>, %w: tensor<8x32xbf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{router_logits_c2: expected 'weights' of shape [E, 64] with a constant E between 1 and 512, got 'tensor<8x32xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x8xf32>) : tensor<?x64xbf16>, tensor<8x32xbf16>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @c2_dynamic(%h: tensor<?x64xbf16>, %w: tensor<?x64xbf16>, %o: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{router_logits_c2: expected 'weights' of shape [E, 64] with a constant E between 1 and 512, got 'tensor<?x64xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x8xf32>) : tensor<?x64xbf16>, tensor<?x64xbf16>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @c2_many(%h: tensor<?x64xbf16>, %w: tensor<513x64xbf16>, %o: tensor<?x513xf32>) -> tensor<?x513xf32> {
  // expected-error @+1 {{router_logits_c2: expected 'weights' of shape [E, 64] with a constant E between 1 and 512, got 'tensor<513x64xbf16>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x513xf32>) : tensor<?x64xbf16>, tensor<513x64xbf16>
  return %0 : tensor<?x513xf32>
}

// -----

func.func @c3_experts(%h: tensor<?x64xbf16>, %w: tensor<8x64xf32>, %o: tensor<?x9xf32>) -> tensor<?x9xf32> {
  // expected-error @+1 {{router_logits_c3: expected 'outs' of shape [?, 8], got 'tensor<?x9xf32>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x9xf32>) : tensor<?x64xbf16>, tensor<8x64xf32>
  return %0 : tensor<?x9xf32>
}

// -----

func.func @c3_dynamic(%h: tensor<?x64xbf16>, %w: tensor<8x64xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{router_logits_c3: expected 'outs' of shape [?, 8], got 'tensor<?x?xf32>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x?xf32>) : tensor<?x64xbf16>, tensor<8x64xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @c3_rows(%h: tensor<4x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @+1 {{router_logits_c3: expected 'outs' of shape [4, 8], got 'tensor<5x8xf32>'}}
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<5x8xf32>) : tensor<4x64xbf16>, tensor<8x64xbf16>
  return %0 : tensor<5x8xf32>
}

// -----

// expected-error @+1 {{schedule_router_c2: expected 'rows' to be a multiple of 8 between 8 and 64 with 'form = rows', got 12}}
#s = #dsv4.router<form = rows, rows = 12, experts = 32, slices = 4>

// -----

// expected-error @+1 {{schedule_router_c2: expected 'rows' to be a multiple of 8 between 8 and 64 with 'form = rows', got 72}}
#s = #dsv4.router<form = rows, rows = 72, experts = 32, slices = 4>

// -----

// expected-error @+1 {{schedule_router_c2: expected 'experts' to be a multiple of 16 between 16 and 256 with 'form = rows', got 24}}
#s = #dsv4.router<form = rows, rows = 8, experts = 24, slices = 4>

// -----

// expected-error @+1 {{schedule_router_c2: expected 'slices' to be 1, 2 or 4 with 'form = rows', got 3}}
#s = #dsv4.router<form = rows, rows = 8, experts = 32, slices = 3>

// -----

// expected-error @+1 {{schedule_router_c2: expected at most 32 warps, 'experts' / 16 * 'slices', got 64}}
#s = #dsv4.router<form = rows, rows = 8, experts = 256, slices = 4>

// -----

// expected-error @+1 {{schedule_router_c2: expected no 'rows' with 'form = tiles'}}
#s = #dsv4.router<form = tiles, rows = 8, step = 64, stages = 2>

// -----

// expected-error @+1 {{schedule_router_c2: expected no 'multicast' with 'form = tiles'}}
#s = #dsv4.router<form = tiles, step = 64, stages = 2, multicast = true>

// -----

// expected-error @+1 {{schedule_router_c3: expected 'step' to be 64 or 128 with 'form = tiles', got 32}}
#s = #dsv4.router<form = tiles, step = 32, stages = 2>

// -----

// expected-error @+1 {{schedule_router_c3: expected 'stages' between 2 and 8 with 'form = tiles', got 1}}
#s = #dsv4.router<form = tiles, step = 64, stages = 1>

// -----

// expected-error @+1 {{schedule_router_c3: expected 'stages' between 2 and 8 with 'form = tiles', got 9}}
#s = #dsv4.router<form = tiles, step = 64, stages = 9>

// -----

// expected-error @+1 {{schedule_router_c3: expected no 'stages' with 'form = rows'}}
#s = #dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, stages = 2>

// -----

// expected-error @+1 {{schedule_router_c4: expected 'blocks' between 1 and 2^31 - 1, got 0}}
#s = #dsv4.router<form = tiles, step = 64, stages = 2, blocks = 0>

// -----

// expected-error @+1 {{schedule_router_c1: expected 256 'threads', got 128 and a cluster of 1}}
#s = #dsv4.schedule<threads = 128, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 8>]>

// -----

// expected-error @+1 {{schedule_router_c1: expected 256 'threads' and no 'cluster', got 128 and a cluster of 1}}
#s = #dsv4.schedule<threads = 128, parts = [#dsv4.router<form = tiles, step = 64, stages = 2>]>

// -----

// expected-error @+1 {{schedule_router_c5: expected a 'cluster' of more than 1 with 'multicast'}}
#s = #dsv4.schedule<threads = 256, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 8, multicast = true>]>

// -----

// expected-error @+1 {{schedule_c3: expected 'cluster' between 1 and 8, got 9}}
#s = #dsv4.schedule<threads = 256, cluster = 9, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 9>]>

// -----

// expected-error @+1 {{schedule_select_c1: expected 'vector' to be at most 4 with 'algorithm = held', got 8}}
#s = #dsv4.select<algorithm = held, vector = 8>

// -----

// expected-error @+1 {{schedule_select_c2: expected 'vectors' between 1 and 16 and at most 32 elements in them, and 1 without 'algorithm = stream', 'grid' or 'tile', got 2}}
#s = #dsv4.select<algorithm = held, vector = 4, vectors = 2>

// -----

// expected-error @+1 {{schedule_select_c4: expected 'blocks' to be a power of two between 2 and 256 with 'algorithm = grid', else 1, got 2}}
#s = #dsv4.select<algorithm = held, vector = 4, blocks = 2>
