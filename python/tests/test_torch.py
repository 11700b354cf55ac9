# Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of torch, on CPU tensors: schemas, results, and compiled graphs."""

import inspect

import numpy as np
import pytest
import reference
import torch
from samples import OPS, SAMPLES, make_cache
from torch import library as torch_library

import dsv4
from dsv4 import _operators, _program
from dsv4._arrays import make_allocator


def get_bits(results):
    """The tensors of a result, FP8 as bytes: torch can do little with it."""
    tensors = results if isinstance(results, (tuple, list)) else [results]
    return [each.view(torch.uint8) if each.dtype.itemsize == 1 else each for each in tensors]


def make_sample_with_out(name):
    """The operator that writes what another makes."""
    op, args, options = SAMPLES[name]()
    made = get_bits(op(*args, **options))
    outs = tuple(map(torch.zeros_like, made))
    schema = op.default._schema.arguments
    names = [each.name for each in schema if not each.has_default_value()]
    given = dict(zip((each.name for each in schema), args)) | options
    required = tuple(given.pop(each) for each in names)
    out = getattr(OPS, _operators.out_name(op.__name__))
    return out, (*required, *outs), given, made, outs


FOR_OUT = [
    each for each in sorted(SAMPLES)
    if SAMPLES[each]()[0].__name__ in _operators.WITH_OUT.values()
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_operators_obey_their_schemas(name):
    op, args, options = SAMPLES[name]()
    torch_library.opcheck(
        op, args, options,
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )  # fmt: skip


@pytest.mark.parametrize("name", FOR_OUT)
def test_operators_write_to_tensors(name):
    op, args, options, made, outs = make_sample_with_out(name)
    torch_library.opcheck(op, args, options, test_utils=("test_schema", "test_faketensor"))
    for _ in range(2):
        for each in outs:
            each.zero_()
        assert op(*args, **options) is None
        assert all(map(torch.equal, outs, made))


def test_every_operator_has_a_sample():
    tested = {SAMPLES[name]()[0].__name__.split(".")[0] for name in SAMPLES}
    tested |= {_operators.out_name(SAMPLES[name]()[0].__name__) for name in FOR_OUT}
    assert tested == set(_operators.SCHEMAS)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_later_calls_of_operators_are_planned(name, monkeypatch):
    op, args, options = SAMPLES[name]()
    caches = [each for each in args if isinstance(each, torch.Tensor)]
    first, before = op(*args, **options), [each.clone() for each in caches]
    monkeypatch.setattr(_program.Program, "text", None)  # A later call needs no program.
    second = op(*args, **options)
    assert type(first) is type(second)
    if first is not None:
        assert all(map(torch.equal, get_bits(first), get_bits(second)))
    assert all(map(torch.equal, before, caches))


def test_results_are_tensors(rng):
    scores = rng.standard_normal((4, 64)).astype(np.float32)
    x = torch.from_numpy(scores)
    indices = OPS.topk(x, 5, sorted=True)
    np.testing.assert_array_equal(indices.numpy(), reference.topk(scores, 5))
    values, indices = dsv4.topk(x, 5, sorted=True, return_values=True)
    torch.testing.assert_close(values, x.topk(5).values)
    assert indices.dtype == torch.int32
    values, scales = dsv4.quantize(x.bfloat16(), "deepseek_v4")
    assert values.dtype == torch.float8_e4m3fn and scales.dtype == torch.float8_e8m0fnu
    decoded = dsv4.dequantize(values, scales, "deepseek_v4")
    assert decoded.dtype == torch.bfloat16 and (decoded - x).abs().max() < 0.3


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (0, 3), (3, 0, 2), (0, 0)])
@pytest.mark.parametrize("zero", [False, True])
def test_new_tensors_are_those_of_empty(shape, zero):
    made = make_allocator(torch.zeros(1), shape, "bf16", zero)()
    expected = torch.empty(shape, dtype=torch.bfloat16)
    assert made.shape == expected.shape and made.stride() == expected.stride()
    assert made.dtype == expected.dtype and made.device == expected.device
    assert not zero or not made.any()


def step(x, weight, table, positions, cache, slots, scores):
    """A decode step: write, select, gather."""
    OPS.norm_rope_append_(
        x, cache, slots, record="v4_584", weight=weight, table=table, positions=positions
    )
    chosen = OPS.topk(scores, 4, sorted=True)
    rows = OPS.gather(cache, chosen, record="v4_584")
    return rows.float().sum(1) * 2, chosen


def make_step(tokens):
    generator = torch.Generator().manual_seed(tokens)
    return (
        torch.randn(tokens, 512, generator=generator).bfloat16(), torch.ones(512),
        torch.randn(20, 64, generator=generator), torch.arange(tokens), make_cache(),
        torch.arange(tokens) * 3, torch.randn(tokens, 64, generator=generator),
    )  # fmt: skip


def compile_step(step, arguments):
    """A step in one graph, its first result, and its code."""
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True)
    result, codes = run_and_get_code(compiled, *arguments)
    return compiled, result, "\n".join(codes)


def assert_no_copies(code, *tensors):
    """A copy of a tensor would have to allocate it."""
    assert "clone" not in code
    for each in tensors:
        shape = ", ".join(map(str, each.shape))
        assert f"empty_strided_cpu(({shape})" not in code


@pytest.mark.needs("inductor")
def test_a_decode_step_in_one_graph_copies_no_cache():
    eager, graph = make_step(5), make_step(5)
    expected = step(*eager)
    compiled, result, code = compile_step(step, graph)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(graph[4], eager[4])
    assert_no_copies(code, graph[4])
    other = make_step(9)
    torch.testing.assert_close(compiled(*other), step(*make_step(9)))


@pytest.mark.needs("inductor")
def test_a_decode_step_with_outputs_copies_nothing():
    def step_with_out(x, cache, slots, scores, chosen, rows):
        OPS.norm_rope_append_(x, cache, slots, "v4_584")
        OPS.topk_out(scores, 4, chosen, sorted=True)
        OPS.gather_out(cache, chosen, "v4_584", rows)
        return rows.float().sum(1)

    def make():
        x, _, _, _, cache, slots, scores = make_step(5)
        rows = torch.zeros(5, 4, 512, dtype=torch.bfloat16)
        return x, cache, slots, scores, torch.zeros(5, 4, dtype=torch.int32), rows

    eager, graph = make(), make()
    expected = step_with_out(*eager)
    _, result, code = compile_step(step_with_out, graph)
    torch.testing.assert_close(result, expected)
    assert all(map(torch.equal, eager, graph))
    assert_no_copies(code, *graph[1:])


def test_what_only_functions_have():
    """docs/Python.md lists it."""
    lacks = {}
    for name, schema in _operators.SCHEMAS.items():
        if name.endswith("_out") or name in (
            "topk_values", "index_topk_slots", "index_query_fp4", "gather_mask",
            "route_replay", "hash_route_replay", "dense_route_replay", "dense_route_logits",
            "compress_plan_slots", "quantize_given",
        ):  # fmt: skip
            continue
        known = {each.name for each in getattr(OPS, name).default._schema.arguments}
        parameters = inspect.signature(getattr(dsv4, name)).parameters
        lacks[name] = [each for each in parameters if each not in (*known, "out")]
    common = {"stream", "workspace"}
    more = {name: set(each) - common for name, each in lacks.items()}
    assert all("stream" in each for each in lacks.values())
    recorded = {"return_replay", "return_token_experts"}
    assert {name: each for name, each in more.items() if each} == {
        # As topk_values, route_replay, gather_mask, dense_route_logits, compress_plan_slots and
        # quantize_given.
        "topk": {"return_values"}, "gather": {"return_mask"}, "route": recorded,
        "hash_route": recorded, "dense_route": {"return_logits", *recorded},
        "index_topk": {"return_indices", "return_values", "return_slots", "scores"},
        "compress_plan": {"slots", "page_table", "page_size"}, "quantize": {"inverse"},
        "gather_raw": {"return_mask"}, "gather_ragged": {"return_mask"},
        "topk_paged": {"return_indices", "return_values"},
        "norm_rope_append_": {"global_scale"}, "norm_rope_insert_": {"global_scale"},
        "compress_": {"global_scale"},
        "dequantize": {"row_scales"},
    }  # fmt: skip
    with pytest.raises(dsv4.InvalidArgument, match="'recipe' is 'mxfp4'"):
        OPS.index_query(torch.randn(3, 2, 64), torch.randn(3, 2), "mxfp4")
    with pytest.raises(RuntimeError, match="group"):
        OPS.quantize(torch.randn(4, 64), "deepseek_fp8", group="row")
    # A recipe may have such a group.
    assert OPS.quantize(torch.randn(4, 64), "seed")[1].shape == (4,)


def test_fake_tensors_need_no_kernel():
    from torch._subclasses.fake_tensor import FakeTensorMode

    before = dsv4.counters()["programs"]
    with FakeTensorMode():
        x = torch.randn(7, 333, device="cuda")
        assert OPS.topk(x, 17).shape == (7, 17)
        weights, ids = OPS.route(torch.randn(7, 96, device="cuda"), 6, shared=1, shared_weight=1.0)
        assert weights.shape == ids.shape == (7, 7)
        assert ids.device.type == "cuda"
    assert dsv4.counters()["programs"] == before


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: OPS.topk(torch.zeros(3, 4, dtype=torch.int32), 2), dsv4.TypeMismatch),
        (lambda: OPS.topk(torch.zeros(3, 4).t(), 2), dsv4.InvalidArgument),
        (lambda: OPS.gather(make_cache(), torch.tensor([1]), record="none"), dsv4.InvalidArgument),
        (lambda: OPS.topk(torch.zeros(3, 4), "2"), RuntimeError),
        (lambda: OPS.quantize(torch.zeros(3, 4), "fp8_tensor", global_scale=torch.ones(1)),
         dsv4.InvalidArgument),
        (lambda: OPS.quantize_given(torch.zeros(3, 128), torch.ones(1), "mxfp4"),
         dsv4.InvalidArgument),
    ],
)
def test_operators_refuse(call, error):
    with pytest.raises(error):
        call()


def make_tensors_of_other_kinds():
    x = torch.randn(4, 64)
    complex_x = torch.randn(4, 64, dtype=torch.complex64)
    return {
        "sparse": x.to_sparse(), "compressed": x.to_sparse_csr(), "meta": x.to("meta"),
        "nested": torch.nested.nested_tensor([x[0], x[1][:3]]),
        "jagged": torch.nested.nested_tensor([x[0], x[1][:3]], layout=torch.jagged),
        "quantised": torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
        "negative": torch._neg_view(x), "imaginary": complex_x.conj().imag,
        "one": complex_x[:, :1].conj().imag, "conjugate": complex_x.conj(),
        "functional": torch._to_functional_tensor(x),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [
    "sparse", "compressed", "meta", "nested", "jagged", "quantised", "negative", "imaginary",
    "one", "conjugate", "functional",
])  # fmt: skip
def test_tensors_of_other_kinds_are_refused(kind):
    bad = make_tensors_of_other_kinds()[kind]
    with pytest.raises(dsv4.Error) as caught:
        dsv4.rms_norm(bad)
    assert caught.value.argument == "x"
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()
    if kind in ("negative", "imaginary", "one", "conjugate"):
        resolve = "resolve_conj" if kind == "conjugate" else "resolve_neg"
        assert f"pass {resolve}() of it" in str(caught.value)
    with pytest.raises(dsv4.Error) as caught:
        dsv4.rms_norm(torch.randn(4, 64), out=bad)
    assert caught.value.argument == "out"


@pytest.mark.filterwarnings("ignore")
def test_tensors_of_torch_func_are_refused():
    x = torch.randn(3, 4, 64)
    with pytest.raises(dsv4.TypeMismatch, match="cannot be exported"):
        torch.vmap(dsv4.rms_norm)(x)
    with pytest.raises(dsv4.TypeMismatch, match="cannot be exported"):
        torch.func.grad(lambda y: dsv4.rms_norm(y).sum())(x)


def test_a_lazy_view_has_no_plan_of_another_tensor():
    """It has the type, shape and strides of a tensor whose call left a plan."""
    whole = torch.randn(5, 3, 2)
    plain = whole[:, :1, 0]
    assert dsv4.rms_norm(plain).shape == (5, 1)
    lazy = torch.view_as_complex(whole).conj().imag[:, :1]
    assert lazy.stride() == plain.stride() and lazy.is_neg()
    with pytest.raises(dsv4.TypeMismatch, match="is_neg"):
        dsv4.rms_norm(lazy)
    kernel = dsv4.prepare(dsv4.rms_norm, plain)
    with pytest.raises(dsv4.TypeMismatch, match="is_neg"):
        kernel(lazy, torch.empty(5, 1))
    assert torch.equal(dsv4.rms_norm(lazy.resolve_neg()), dsv4.rms_norm(lazy.clone()))


@pytest.mark.parametrize("dtype, name", [
    (torch.complex64, "complex64"), (torch.complex128, "complex128"), (torch.uint64, "u64"),
    (torch.int16, "i16"), (torch.float64, "f64"), (torch.float8_e5m2fnuz, "f8E5M2FNUZ"),
    (torch.float8_e4m3fnuz, "f8E4M3FNUZ"), (torch.bool, "i1"),
])  # fmt: skip
def test_types_have_names(dtype, name):
    with pytest.raises(dsv4.TypeMismatch, match=f"elements of type {name}, expected"):
        dsv4.rms_norm(torch.zeros(4, 64).to(dtype))


WRONG = [
    (lambda x: OPS.topk(x, 5000), "option.k"),
    (lambda x: OPS.topk(x, 5, index_dtype="int8"), "option.index_dtype"),
    (lambda x: OPS.topk(x, 5, tie="no"), "option.tie"),
    (lambda x: OPS.topk(x.to(torch.int32), 5), "argument.type"),
    (lambda x: OPS.topk(x.t(), 5), "argument.stride"),
    (lambda x: OPS.topk(x, 5, lengths=x.new_zeros(3, dtype=torch.int32)), "argument.extent"),
    (lambda x: OPS.topk_out(x, 5, x.new_zeros(4, 5)), "argument.type"),
    (lambda x: OPS.route(x, 6, shared=1), "option.shared"),
    (lambda x: OPS.route(x, 6, bias_vl=x[0]), "argument.bias"),
    (lambda x: OPS.route(x, 6, replay=x.new_zeros(4, 5, dtype=torch.int16)),
     "argument.extent"),
    (lambda x: OPS.dense_route(x, x, 5), "argument.type"),
    (lambda x: OPS.dense_route(x.bfloat16(), x, 5), "option.k"),
    (lambda x: OPS.router_logits(x.bfloat16(), x[:, :3]), "argument.extent"),
    (lambda x: OPS.rms_norm(x, x), "argument.rank"),
    (lambda x: OPS.rms_norm(x, eps=-1.0), "option.eps"),
    (lambda x: OPS.rms_norm(x, dtype="int8"), "option.dtype"),
    (lambda x: OPS.rope(x, x, x.new_zeros(4, dtype=torch.int32), neox=True, interleaved=True),
     "option.interleaved"),
    (lambda x: OPS.query_norm_rope(x[:, None], x, x.new_zeros(4, dtype=torch.int32), heads=0),
     "option.heads"),
    (lambda x: OPS.quantize(x, "deepseek_fp9"), "recipe.unknown"),
    (lambda x: OPS.quantize(x, "mxfp4", group=48), "option.group"),
    (lambda x: OPS.quantize(x, "nvfp4"), "argument.global_scale"),
    (lambda x: OPS.gather(x.to(torch.uint8), x.new_zeros(3, dtype=torch.int32), "v4_548"),
     "record.unknown"),
    (lambda x: OPS.gather(x.to(torch.uint8), x.new_zeros(3, dtype=torch.int32), "v4_584"),
     "argument.extent"),
    (lambda x: OPS.append_(x.to(torch.uint8), x.new_zeros(3, dtype=torch.int32), [x], "v4_584"),
     "argument.count"),
]  # fmt: skip


@pytest.mark.parametrize("call, id", WRONG, ids=range(len(WRONG)))
def test_fakes_refuse_what_functions_refuse(call, id):
    from torch._subclasses.fake_tensor import FakeTensorMode

    for device in ("cpu", "cuda"):
        with FakeTensorMode(), pytest.raises(dsv4.Error) as caught:
            call(torch.empty(4, 64, device=device))
        assert caught.value.id == id
    with pytest.raises(dsv4.Error) as caught:
        call(torch.randn(4, 64))
    assert caught.value.id == id


def test_fakes_of_symbols():
    """Checks add no guards: the graph is for other sizes, too, which the function checks."""
    seen = []

    def count(graph, _):
        seen.append(graph)
        return graph.forward

    @torch.compile(backend=count, dynamic=True, fullgraph=True)
    def step(x, lengths):
        return OPS.topk(x, 5, lengths=lengths, sorted=True), OPS.rms_norm(x[:, :32] * 2)

    for rows in (4, 9, 300):
        x, lengths = torch.randn(rows, 64), torch.full((rows,), 40)
        indices, norms = step(x, lengths)
        assert torch.equal(indices, OPS.topk(x, 5, lengths=lengths, sorted=True))
        assert norms.shape == (rows, 32)
    assert len(seen) == 1
    with pytest.raises(Exception, match="extent 0 is 8, expected 7"):
        step(torch.randn(7, 64), torch.full((8,), 40))


BACKWARD = {
    "rms_norm": lambda x: OPS.rms_norm(x),
    "topk_values": lambda x: OPS.topk_values(x, 5)[0],
    "route": lambda x: OPS.route(x, 6)[0],
    "quantize": lambda x: OPS.quantize(x, "deepseek_fp8", group=32)[1],
    "rope": lambda x: OPS.rope(x, torch.ones(9, 32), torch.arange(4)),
}


@pytest.mark.filterwarnings("ignore:.*autograd kernel was not registered")
@pytest.mark.parametrize("name", sorted(BACKWARD))
def test_backward_through_an_operator_is_an_error(name):
    x = torch.randn(4, 64)
    plain = BACKWARD[name](x)
    for _ in range(2):  # The second call has a plan.
        made = BACKWARD[name](x.clone().requires_grad_())
        assert made.requires_grad and torch.equal(made.detach(), plain)
        with pytest.raises(dsv4.InvalidArgument, match=f"dsv4.{name} has no derivative") as caught:
            made.sum().backward()
        assert caught.value.id == "operator.backward"
    with torch.no_grad():
        assert not BACKWARD[name](x.clone().requires_grad_()).requires_grad
    assert not BACKWARD[name](x).requires_grad


@pytest.mark.filterwarnings("ignore:.*autograd kernel was not registered")
def test_backward_through_a_graph_is_an_error():
    step = torch.compile(lambda x: OPS.rms_norm(x).sum(), backend="aot_eager", fullgraph=True)
    x = torch.randn(4, 64, requires_grad=True)
    made = step(x)  # Nothing is wrong yet.
    assert torch.equal(made.detach(), OPS.rms_norm(x.detach()).sum())
    with pytest.raises(dsv4.InvalidArgument, match="dsv4.rms_norm has no derivative"):
        made.backward()


@pytest.mark.needs("nvrtc")
def test_tensors_in_cpu_memory_are_not_for_cuda():
    text = """
func.func @best(%x: tensor<?x40xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                %y: tensor<?x3xi32> {dsv4.name = "y", dsv4.dims = ["rows", ""]})
    -> tensor<?x3xi32> {
  %r = dsv4.topk %x order sorted outs(%y : tensor<?x3xi32>) : tensor<?x40xf32>
  return %r : tensor<?x3xi32>
}
"""
    kernel = dsv4.compile(text, target="cuda", arch="sm_90a")
    with pytest.raises(dsv4.TypeMismatch, match="CPU memory, expected memory of a CUDA") as caught:
        kernel(torch.zeros(2, 40), torch.zeros(2, 3, dtype=torch.int32))
    assert caught.value.argument == "x"


@pytest.mark.parametrize("wrapped", [False, True])
def test_operators_are_not_prepared(wrapped, monkeypatch):
    """They are refused before they launch, also after a call that left a plan."""
    scores = torch.randn(4, 71)
    out = torch.zeros(4, 5, dtype=torch.int32)
    ask = (lambda *args: OPS.topk_out(*args)) if wrapped else OPS.topk_out
    for _ in range(2):
        for call in (dsv4.prepare, dsv4.emit):
            with pytest.raises(dsv4.InvalidArgument, match="torch.ops.dsv4.topk") as caught:
                call(ask, scores, 5, out)
            assert caught.value.id == "prepare.function" and not out.any()
        OPS.topk_out(scores, 5, out)
        assert out.any()
        with monkeypatch.context() as patched:
            patched.setattr(_program.Program, "text", None)
            OPS.topk_out(scores, 5, out)  # The plan serves again.
        out.zero_()
    assert dsv4.prepare(dsv4.topk, scores, 5).arguments == ("scores", "indices")
