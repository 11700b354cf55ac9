"""Programs whose rows lanes hold: of each kind that the tables of rows distinguish."""

import dataclasses

HEADER = """\
#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<limit = reciprocal>
!plain = !dsv4.cache<64 x <[<"row" : 512 x bf16 in row>]>>
!wide = !dsv4.cache<16 x <[<"row" : 256 x f32 in row>]>>
!grouped = !dsv4.cache<64 x <[<"row" : 512 x f8E4M3FN in row>, <"scale" : 4 x f32 in row scales "row" per 128>]>>
!by_row = !dsv4.cache<64 x <[<"row" : 128 x f8E4M3FN in row>, <"scale" : 1 x f32 in tail scales "row" per row>]>>
"""

X = '%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}'
SLOT = '%slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["rows"]}'
WEIGHT = '%weight: tensor<512xbf16> {dsv4.name = "weight"}'
OUT = '%out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}'
FP4 = """%data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]}"""
FP4_TYPES = "tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>"
QUANTIZE = f"""dsv4.quantize %X
      outs(%data, %scales : {FP4_TYPES}) {{format = #nvfp4, recipe = #recipe}} : tensor<?x512xbf16>"""
NORM = """%n = dsv4.rms_norm %x weight(%weight : tensor<512xbf16>)
      outs(%TO : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>"""
ROWS = """%c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xbf16>"""
EMPTY = ROWS + """
  %e = tensor.empty(%rows) : tensor<?x512xbf16>"""


@dataclasses.dataclass
class RowProgram:
    arguments: list
    body: list
    results: str = ""
    types: str = ""

    def write(self, policies):
        attributes = f"\n    attributes {{dsv4.policies = {{{policies}}}}}" if policies else ""
        arrow = f" -> ({self.types})" if self.types else ""
        end = f"return {self.results} : {self.types}" if self.types else "return"
        return (HEADER + "func.func @rows(\n    " + ",\n    ".join(self.arguments) + f"){arrow}{attributes} {{\n  "
                + "\n  ".join(self.body + [end]) + "\n}\n")


def cache(kind):
    return f'%cache: !{kind} {{dsv4.name = "cache"}}'


def tensor(name, columns, element):
    return (f'%{name}: tensor<?x{columns}x{element}> '
            f'{{dsv4.name = "{name}", dsv4.dims = ["rows", ""]}}')


def append(kind, fields, types):
    return f"dsv4.paged_append %cache[%slot] unique fields({fields} : {types}) : !{kind}, tensor<?xi32>"


ROW_PROGRAMS = {
    "append": RowProgram([X, SLOT, cache("plain")], [append("plain", "%x", "tensor<?x512xbf16>")]),
    "append_f32": RowProgram([tensor("x", 256, "f32"), SLOT, cache("wide")],
                             [append("wide", "%x", "tensor<?x256xf32>")]),
    "append_grouped": RowProgram(
        [tensor("x", 512, "bf16"), SLOT, cache("grouped")],
        [ROWS, "%ed = tensor.empty(%rows) : tensor<?x512xf8E4M3FN>", "%es = tensor.empty(%rows) : tensor<?x4xf32>",
         "%p, %s = dsv4.quantize %x outs(%ed, %es : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)"
         " {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>",
         append("grouped", "%p, %s", "tensor<?x512xf8E4M3FN>, tensor<?x4xf32>")]),
    "append_bytes": RowProgram(
        [tensor("x", 512, "f8E4M3FN"), tensor("s", 4, "f32"), SLOT, cache("grouped")],
        [append("grouped", "%x, %s", "tensor<?x512xf8E4M3FN>, tensor<?x4xf32>")]),
    "append_by_row": RowProgram(
        [tensor("x", 128, "f8E4M3FN"), tensor("s", 1, "f32"), SLOT, cache("by_row")],
        [append("by_row", "%x, %s", "tensor<?x128xf8E4M3FN>, tensor<?x1xf32>")]),
    "norm": RowProgram([X, WEIGHT, OUT], [NORM.replace("%TO", "%out")], "%n", "tensor<?x512xbf16>"),
    "norm_quantize": RowProgram([X, WEIGHT, FP4], [EMPTY, NORM.replace("%TO", "%e"),
                                                   "%p, %s = " + QUANTIZE.replace("%X", "%n")], "%p, %s", FP4_TYPES),
    "norm_append": RowProgram([X, WEIGHT, SLOT, cache("plain")],
                              [EMPTY, NORM.replace("%TO", "%e"), append("plain", "%n", "tensor<?x512xbf16>")]),
    "quantize": RowProgram([X, FP4], ["%p, %s = " + QUANTIZE.replace("%X", "%x")], "%p, %s", FP4_TYPES),
    "dequantize": RowProgram(
        [FP4, OUT], [f"%d = dsv4.dequantize %data scales(%scales : tensor<?x32xf8E4M3FN>)"
                     " outs(%out : tensor<?x512xbf16>) {format = #nvfp4} : tensor<?x512xf4E2M1FN>"],
        "%d", "tensor<?x512xbf16>"),
    "gather": RowProgram([SLOT, cache("plain"), OUT],
                         ["%g = dsv4.paged_gather %cache[%slot] outs(%out : tensor<?x512xbf16>)"
                          " : !plain, tensor<?xi32>"], "%g", "tensor<?x512xbf16>"),
    "gather_bytes": RowProgram([SLOT, cache("grouped"), OUT],
                               ["%g = dsv4.paged_gather %cache[%slot] outs(%out : tensor<?x512xbf16>)"
                                " : !grouped, tensor<?xi32>"], "%g", "tensor<?x512xbf16>"),
}
