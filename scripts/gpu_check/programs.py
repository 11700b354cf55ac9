"""Text of programs over the shapes that schedule tables distinguish."""

SELECT = """\
func.func @select(
    %scores: tensor<?x?x{type}> {{dsv4.name = "scores", dsv4.dims = ["rows", "columns"]}},
    %lengths: tensor<?xi32> {{dsv4.name = "lengths", dsv4.dims = ["rows"]}},
    %chosen: tensor<?x{k}xi32> {{dsv4.name = "chosen", dsv4.dims = ["rows", ""]}},
    %values: tensor<?x{k}x{type}> {{dsv4.name = "values", dsv4.dims = ["rows", ""]}})
    -> (tensor<?x{k}xi32>, tensor<?x{k}x{type}>)
    attributes {{dsv4.policies = {{{policies}}}}} {{
  %0:2 = dsv4.topk %scores {bounds}{order}
      outs(%chosen, %values : tensor<?x{k}xi32>, tensor<?x{k}x{type}>) : tensor<?x?x{type}>
  return %0#0, %0#1 : tensor<?x{k}xi32>, tensor<?x{k}x{type}>
}}
"""

# Records of keys, by format.
KEYS = {
    "e4m3": '[<"key" : 128 x f8E4M3FN in row>, <"scale" : 1 x f32 in tail scales "key" per row>]',
    "mxfp4": '[<"key" : 128 x f4E2M1FN in row>, <"scale" : 4 x f8E8M0FNU in tail scales "key" per 32>]',
    "nvfp4": '[<"key" : 128 x f4E2M1FN in row>, <"scale" : 8 x f8E4M3FN in row scales "key" per 16>]',
    "bf16": '[<"key" : 128 x bf16 in row>]',
}

SCORE = """\
!keys = !dsv4.cache<{page} x <{record}>>
func.func @score(
    %q: tensor<?x{heads}x128x{query}> {{dsv4.name = "q", dsv4.dims = ["rows", "", ""]}},
    %w: tensor<?x{heads}xf32> {{dsv4.name = "w", dsv4.dims = ["rows", ""]}},
    %keys: !keys {{dsv4.name = "keys"}},
    %table: tensor<?x?xi32> {{dsv4.name = "table", dsv4.dims = ["requests", "pages"]}},
    %length: tensor<?xi32> {{dsv4.name = "length", dsv4.dims = ["requests"]}}{arguments})
    -> ({types}){attributes} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x{heads}x128x{query}>
  {empty}
  %scores = dsv4.index_score %q weights(%w : tensor<?x{heads}xf32>) cache(%keys : !keys)
      pages(%table : tensor<?x?xi32>) lengths(%length : tensor<?xi32>) next_n {next_n}
      outs(%out : tensor<?x{columns}xf32>) : tensor<?x{heads}x128x{query}>
  {selection}
  return {results} : {types}
}}
"""

CHOSEN = """,
    %chosen: tensor<?x{k}xi32> {{dsv4.name = "chosen", dsv4.dims = ["rows", ""]}},
    %values: tensor<?x{k}xf32> {{dsv4.name = "values", dsv4.dims = ["rows", ""]}}"""
OUT = """,
    %out: tensor<?x{columns}xf32> {{dsv4.name = "out", dsv4.dims = ["rows", ""]}}"""
SELECTION = """%0:2 = dsv4.topk %scores lengths(%length : tensor<?xi32>) next_n {next_n} order {order}
      outs(%chosen, %values : tensor<?x{k}xi32>, tensor<?x{k}xf32>) : tensor<?x{columns}xf32>"""


def write_policies(policies):
    return ", ".join(f"{dim} = #dsv4.policy<{policy}>" for dim, policy in policies.items())


def write_score(form, point, policies):
    """Scores that a kernel selects from ("fused"), that are stored and then selected from ("both"), or that
    are stored ("stored")."""
    selects, stores = form != "stored", form != "fused"
    types = ["tensor<?x{k}xi32>", "tensor<?x{k}xf32>"] * selects + ["tensor<?x{columns}xf32>"] * stores
    given = {
        **point,
        "record": KEYS[point["format"]],
        "query": "bf16" if point["format"] == "bf16" else "f8E4M3FN",
        "attributes": f"\n    attributes {{dsv4.policies = {{{write_policies(policies)}}}}}" if policies else "",
    }
    parts = {
        "arguments": CHOSEN * selects + OUT * stores,
        "types": ", ".join(types),
        "empty": "" if stores else "%out = tensor.empty(%rows) : tensor<?x{columns}xf32>",
        "selection": SELECTION * selects,
        "results": ", ".join(["%0#0", "%0#1"] * selects + ["%scores"] * stores),
    }
    return SCORE.format(**given, **{name: part.format(**given) for name, part in parts.items()})


ROUTER = """\
func.func @router(
    %hidden: tensor<?x{depth}xbf16> {{dsv4.name = "hidden", dsv4.dims = ["rows", ""]}},
    %weights: tensor<{experts}x{depth}x{type}> {{dsv4.name = "weights"}}{arguments})
    -> ({types}) attributes {{dsv4.policies = {{{policies}}}}} {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x{depth}xbf16>
  {empty}
  %0 = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x{experts}xf32>)
      : tensor<?x{depth}xbf16>, tensor<{experts}x{depth}x{type}>
  {selection}
  return {results} : {types}
}}
"""
ROUTED = """,
    %bias: tensor<{experts}xf32> {{dsv4.name = "bias"}},
    %chosen: tensor<?x8xi32> {{dsv4.name = "chosen", dsv4.dims = ["rows", ""]}},
    %shares: tensor<?x8xf32> {{dsv4.name = "shares", dsv4.dims = ["rows", ""]}}"""
LOGITS = """,
    %out: tensor<?x{experts}xf32> {{dsv4.name = "out", dsv4.dims = ["rows", ""]}}"""
ROUTE = """%1 = dsv4.gate %0 function sigmoid outs(%out : tensor<?x{experts}xf32>) : tensor<?x{experts}xf32>
  %2 = dsv4.topk %1 bias(%bias : tensor<{experts}xf32>) order sorted{first}
      outs(%chosen : tensor<?x8xi32>) : tensor<?x{experts}xf32>
  %3 = dsv4.route_weights %1[%2] renormalize scale 2.5{zero} outs(%shares : tensor<?x8xf32>)
      : tensor<?x{experts}xf32>, tensor<?x8xi32>"""


def write_router(point, policies):
    given = {**point, "policies": write_policies(policies),
             **{word: f" nan {word}" if point.get("nan") == word else "" for word in ("first", "zero")}}
    routes = point["form"] == "route"
    parts = {
        "arguments": ROUTED if routes else LOGITS,
        "types": "tensor<?x8xi32>, tensor<?x8xf32>" if routes else "tensor<?x{experts}xf32>",
        "empty": "%out = tensor.empty(%rows) : tensor<?x{experts}xf32>" if routes else "",
        "selection": ROUTE if routes else "",
        "results": "%2, %3" if routes else "%0",
    }
    return ROUTER.format(**given, **{name: part.format(**given) for name, part in parts.items()})


WINDOW = """\
func.func @window(
    %values: tensor<?x{stored}xf32> {{dsv4.name = "values", dsv4.dims = ["tokens", ""]}},
    %scores: tensor<?x{stored}xf32> {{dsv4.name = "scores", dsv4.dims = ["tokens", ""]}},
    %bias: tensor<{window}x{stored}xf32> {{dsv4.name = "bias"}},
    %plan: tensor<?x4xi32> {{dsv4.name = "plan", dsv4.dims = ["entries", ""]}},
    %out: tensor<?x{channels}xbf16> {{dsv4.name = "out", dsv4.dims = ["entries", ""]}})
    -> tensor<?x{channels}xbf16>{attributes} {{
  %0 = dsv4.compress %values, %scores window {window}{overlap} plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<{window}x{stored}xf32>)
      outs(%out : tensor<?x{channels}xbf16>) : tensor<?x{stored}xf32>, tensor<?x{stored}xf32>
  return %0 : tensor<?x{channels}xbf16>
}}
"""


def write_window(point, attributes):
    """An overlapping window has two streams, of twice the members of one."""
    overlaps = point["members"] == 8
    return WINDOW.format(
        window=point["members"] // (2 if overlaps else 1), overlap=" overlap" if overlaps else "",
        stored=point["channels"] * (2 if overlaps else 1), channels=point["channels"],
        attributes=f"\n    attributes {{{attributes}}}" if attributes else "")
