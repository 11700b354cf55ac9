# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of every operator of torch, on CPU tensors: the operator, its arguments and options."""

import torch

import dsv4
import dsv4.torch

OPS = torch.ops.dsv4


def make_cache(pages=2, size=64):
    return torch.zeros(pages, dsv4.KNOWN_RECORDS["v4_584"].page_bytes(size), dtype=torch.uint8)


def make_index():
    """Queries and keys as codes of FP8, and weights of three rows."""
    cache = torch.zeros(9, 64, 132, dtype=torch.uint8)
    cache.view(9, -1)[:, : 64 * 128] = torch.randint(0, 0x40, (9, 64 * 128), dtype=torch.uint8)
    cache.view(9, -1).view(torch.float32)[:, 64 * 32 :] = 1
    q = torch.randint(0, 0x40, (3, 4, 128), dtype=torch.uint8)
    return q, cache, torch.randn(3, 4)


INDEX_TABLE = torch.tensor([[3, 1], [0, 2], [4, 8]])


def make_product():
    """Hidden rows, and those of experts."""
    return torch.randn(4, 96).bfloat16(), torch.randn(64, 96).bfloat16()


SAMPLES = {
    "topk": lambda: (OPS.topk, (torch.randn(4, 64), 5), {"sorted": True}),
    "topk_lengths": lambda: (
        OPS.topk, (torch.randn(4, 64), 5),
        {"sorted": True, "lengths": torch.tensor([3, 64, 0, 7]), "index_dtype": "int64"},
    ),
    "topk_positional": lambda: (
        OPS.topk, (torch.randn(4, 64), 5, torch.tensor([3, 64, 0, 7]), None, None,
                   torch.tensor([1, 2, 3, 4])), {"sorted": True},
    ),
    "topk_values": lambda: (OPS.topk_values, (torch.randn(4, 64), 5), {"sorted": True}),
    "topk_paged": lambda: (
        OPS.topk_paged, (torch.randn(4, 64), 5, torch.zeros(4, 4, dtype=torch.int32)),
        {"page_size": 16, "sorted": True},
    ),
    "index_score": lambda: (
        OPS.index_score, make_index(), {"record": "index_fp8_132", "page_table": INDEX_TABLE}
    ),
    "index_score_bf16": lambda: (
        OPS.index_score, (torch.randn(3, 4, 64).bfloat16(), torch.randn(9, 64).bfloat16(),
                          torch.randn(3, 4)), {"dtype": "bfloat16"},
    ),
    "index_topk": lambda: (
        OPS.index_topk, (*make_index(), 5),
        {"record": "index_fp8_132", "page_table": INDEX_TABLE, "sorted": True,
         "lengths": torch.tensor([3, 100, 128])},
    ),
    "index_topk_slots": lambda: (
        OPS.index_topk_slots, (*make_index(), 5),
        {"record": "index_fp8_132", "page_table": INDEX_TABLE, "sorted": True,
         "index_dtype": "int64", "kernels": 1},
    ),
    "index_query": lambda: (
        OPS.index_query, (torch.randn(3, 2, 64).bfloat16(), torch.randn(3, 2), "vllm_index_q",
                          torch.randn(9, 32), torch.tensor([1, 2, 3]), [0.5]), {"hadamard": True},
    ),
    "index_query_fp4": lambda: (
        OPS.index_query_fp4, (torch.randn(3, 2, 64), torch.randn(3, 2), "sglang_mxfp4"),
        {"rounding": "last"},
    ),
    "index_append_": lambda: (
        OPS.index_append_,
        (torch.randn(2, 128).bfloat16(), torch.zeros(2, 64, 132, dtype=torch.uint8),
         torch.tensor([3, 99])), {"record": "index_fp8_132", "hadamard": True},
    ),
    "topk_paged_requests": lambda: (
        OPS.topk_paged, (torch.randn(4, 64), 5, torch.zeros(2, 6, dtype=torch.int32)),
        {"page_size": 16, "order": "index", "cu_seq_lens": torch.tensor([0, 1, 4]),
         "page_starts": torch.tensor([0, 1, 2, 0])},
    ),
    "route": lambda: (OPS.route, (torch.randn(4, 64), 5), {"scale": 1.5}),
    "route_groups": lambda: (
        OPS.route, (torch.randn(4, 64), 5), {"groups": [8, 4, 2], "score": "sigmoid"}
    ),
    "route_replayed": lambda: (
        OPS.route, (torch.randn(4, 64), 5),
        {"replay": torch.randint(0, 64, (4, 5), dtype=torch.int16),
         "expert_map": torch.arange(64), "index_dtype": "int16"},
    ),
    "route_images": lambda: (
        OPS.route, (torch.randn(4, 64), 5, torch.randn(64).bfloat16()),
        {"bias_vl": torch.randn(64), "image_tokens": torch.tensor([True, False, True, False])},
    ),
    "route_recorded": lambda: (
        OPS.route_replay, (torch.randn(4, 64), 5),
        {"expert_map": torch.arange(65).flip(0), "shared": 1, "shared_weight": 1.0},
    ),
    "hash_route": lambda: (
        OPS.hash_route,
        (torch.randn(3, 64), torch.tensor([1, 2, 3]), torch.randint(0, 64, (9, 6))), {},
    ),
    "hash_route_recorded": lambda: (
        OPS.hash_route_replay,
        (torch.randn(3, 64), torch.tensor([1, 2, 3]), torch.randint(0, 64, (9, 6))),
        {"expert_map": torch.arange(64), "index_dtype": "int64"},
    ),
    "router_logits": lambda: (OPS.router_logits, make_product(), {}),
    "dense_route": lambda: (OPS.dense_route, (*make_product(), 5), {"index_dtype": "int64"}),
    "dense_route_replayed": lambda: (
        OPS.dense_route, (*make_product(), 5),
        {"replay": torch.randint(0, 64, (4, 5), dtype=torch.int16), "expert_map": torch.arange(64)},
    ),
    "dense_route_recorded": lambda: (
        OPS.dense_route_replay, (*make_product(), 5), {"expert_map": torch.arange(64).flip(0)},
    ),
    "dense_route_logits": lambda: (
        OPS.dense_route_logits, (*make_product(), 5, torch.randn(64), [8, 4, 2]),
        {"score": "sigmoid"},
    ),
    "gather": lambda: (
        OPS.gather, (make_cache(), torch.tensor([1, 5])), {"record": "v4_584"}
    ),
    "gather_mask": lambda: (
        OPS.gather_mask, (make_cache(), torch.tensor([1, 500])), {"record": "v4_584"}
    ),
    "gather_raw": lambda: (
        OPS.gather_raw, (make_cache(), torch.tensor([1, 5])), {"record": "v4_584"}
    ),
    "gather_raw_one_field": lambda: (
        OPS.gather_raw, (torch.rand(2, 16, 512).bfloat16(), torch.tensor([1, 5])),
        {"record": "bf16_1024"},
    ),
    "gather_raw_ragged": lambda: (
        OPS.gather_raw, (make_cache(), None),
        {"record": "v4_584", "page_table": torch.zeros(2, 3, dtype=torch.int32), "rows": 9,
         "cu_seq_lens": torch.tensor([0, 4, 9]), "seq_starts": torch.tensor([1, 2])},
    ),
    "gather_ragged": lambda: (
        OPS.gather_ragged, (make_cache(), torch.zeros(2, 3, dtype=torch.int32), 9),
        {"record": "v4_584", "cu_seq_lens": torch.tensor([0, 4, 9])},
    ),
    "append_": lambda: (
        OPS.append_,
        (make_cache(), torch.tensor([3, 9]),
         [torch.ones(2, 448, dtype=torch.uint8), torch.ones(2, 64, dtype=torch.bfloat16),
          torch.ones(2, 7, dtype=torch.uint8)]),
        {"record": "v4_584"},
    ),
    "norm_rope_append_": lambda: (
        OPS.norm_rope_append_,
        (torch.randn(2, 512).bfloat16(), make_cache(), torch.tensor([3, 9])),
        {"record": "v4_584", "weight": torch.ones(512)},
    ),
    "norm_rope_append_parts": lambda: (
        OPS.norm_rope_append_,
        (torch.randn(2, 512).bfloat16(), torch.zeros(2, 64, 656, dtype=torch.uint8),
         torch.tensor([3, 9])),
        {"record": "v32_656", "k_pe": torch.randn(2, 64)},
    ),
    "compress_": lambda: (
        OPS.compress_,
        (torch.randn(4, 512), torch.randn(4, 512), torch.tensor([[0, 0, 0, 0]]), make_cache(),
         torch.tensor([7])),
        {"record": "v4_584", "window": 4},
    ),
    "compress_plan": lambda: (
        OPS.compress_plan, (2, torch.arange(6)),
        {"requests": torch.zeros(6, dtype=torch.int32), "cu_seq_lens": torch.tensor([0, 6])},
    ),
    "compress_plan_slots": lambda: (
        OPS.compress_plan_slots, (4, None, torch.tensor([5, 3]), None, torch.tensor([0, 5, 8])),
        {"page_table": torch.zeros(2, 3, dtype=torch.int32), "page_size": 64, "rows": 8},
    ),
    "valid_lens": lambda: (OPS.valid_lens, (torch.arange(9),), {"ratio": 4}),
    "valid_lens_pages": lambda: (
        OPS.valid_lens, (None, torch.tensor([9, 3])),
        {"page_size": 4, "pages": 5, "index_dtype": "int64"},
    ),
    "rms_norm": lambda: (OPS.rms_norm, (torch.randn(4, 64), torch.ones(64)), {}),
    "rms_norm_f32": lambda: (
        OPS.rms_norm, (torch.randn(4, 64).bfloat16(),), {"dtype": "float32"}
    ),
    "rope": lambda: (
        OPS.rope, (torch.randn(3, 2, 64), torch.randn(9, 32), torch.tensor([1, 2, 3])), {}
    ),
    "query_norm_rope": lambda: (
        OPS.query_norm_rope, (torch.randn(3, 2, 64), torch.randn(9, 32), torch.tensor([1, 2, 3])),
        {"heads": 4},
    ),
    "query_norm_rope_fp8": lambda: (
        OPS.query_norm_rope,
        (torch.randn(3, 2, 64).bfloat16(), torch.randn(9, 32), torch.tensor([1, 2, 3])),
        {"scale_inv": torch.ones(1)},
    ),
    "norm_rope_insert_": lambda: (
        OPS.norm_rope_insert_,
        (torch.randn(2, 3, 512).bfloat16(), torch.randn(2, 512).bfloat16(), make_cache(),
         torch.tensor([3, 9]), torch.randn(20, 64)),
        {"record": "v4_584", "heads": 4, "weight": torch.ones(512)},
    ),
    "hadamard": lambda: (OPS.hadamard, (torch.randn(3, 2, 64),), {"dtype": "bfloat16"}),
    "scale_weights": lambda: (
        OPS.scale_weights, (torch.randn(4, 64).bfloat16(), torch.rand(4, 64), [0.5, 3.0]), {}
    ),
    "concat_rows": lambda: (OPS.concat_rows, (torch.randn(4, 3, 64), torch.randn(4, 3, 7)), {}),
    "pad_rows": lambda: (OPS.pad_rows, (torch.randn(4, 3, 64), 8), {}),
    "quantize": lambda: (OPS.quantize, (torch.randn(4, 256), "deepseek_fp8"), {}),
    "quantize_fp4": lambda: (
        OPS.quantize, (torch.randn(4, 256), "nvfp4"), {"global_scale": torch.ones(1)}
    ),
    "quantize_packed": lambda: (
        OPS.quantize, (torch.randn(5, 512), "deepseek_fp8_ue8m0"), {"scale_layout": "packed"}
    ),
    "quantize_swizzled": lambda: (
        OPS.quantize, (torch.randn(5, 256), "mxfp4"), {"scale_layout": "swizzle_128x4"}
    ),
    "quantize_given": lambda: (OPS.quantize_given, (torch.randn(4, 256), torch.ones(1)), {}),
    "quantize_inverse": lambda: (
        OPS.quantize_given, (torch.randn(4, 256).bfloat16(), torch.ones(1)), {"inverse": True}
    ),
    "dequantize_given": lambda: (
        OPS.dequantize, (torch.zeros(4, 128, dtype=torch.uint8), torch.ones(1), "fp8_tensor"), {}
    ),
    "dequantize": lambda: (
        OPS.dequantize,
        (torch.zeros(4, 128, dtype=torch.uint8), torch.ones(4, 8, dtype=torch.uint8), "mxfp4"),
        {},
    ),
    "append_columns": lambda: (
        OPS.append_,
        (torch.zeros(2, 64, 132, dtype=torch.uint8), torch.tensor([3, 9]),
         [torch.ones(2, 256, dtype=torch.uint8), torch.ones(2, 3)], "index_fp8_132"),
        {"columns": [128, 2]},
    ),
}  # fmt: skip
