"""A function under construction."""

from .slices import Slices
from .values import BYTES, FLOATS, INTEGERS, Value, group, make_value


class Program(Slices):
    def __init__(self, rng):
        super().__init__()
        self.rng = rng
        self.arguments, self.tensors, self.body, self.results, self.dims = [], [], [], [], {}
        self.policies = set()
        self.prefix = ""
        self.count = 0

    # Draws.

    def pick(self, *choices):
        return self.rng.choice(choices)

    def maybe(self, chance=0.5):
        return self.rng.random() < chance

    def integer(self):
        return self.pick(*INTEGERS)

    def float(self):
        return self.pick(*FLOATS)

    def dim(self, name, *choices):
        """The name of a dim that has one of these extents, given the first time. Tokens are those of all ops."""
        name = name if name == "tokens" else self.prefix + name
        if name not in self.dims:
            self.dims[name] = self.pick(*choices)
        return name

    def beyond(self, name, base):
        """A dim of one more than dim `base`, as where requests begin; now and then another number."""
        return self.dim(name, *[self.dims[base] + 1] * 8, max(self.dims[base], 1), self.dims[base] + 3)

    # Arguments.

    def strides(self, shape, element):
        """Strides of a tensor: usually none."""
        if len(shape) < 2 or self.maybe(0.6) or element not in BYTES:
            return ""
        size = BYTES[element]
        align = self.pick(*[a for a in (1, 2, 4, 8, 16, 16, 16) if a >= size])
        inner = 1
        strides = []
        for extent in reversed(shape[1:]):
            inner = None if inner is None or isinstance(extent, str) else inner * extent
            if inner is not None and self.maybe(0.4):
                # A multiple of the alignment, not below the contiguous stride.
                stride = -(-(inner * size) // align) * align + align * self.pick(0, 0, 1, 5)
                strides.append(str(stride))
                inner = stride // size if stride % size == 0 else None
            else:
                strides.append("?")
                inner = None
        return f"dsv4.strides = #dsv4.strides<[{', '.join(reversed(strides))}], align = {align}>"

    def argument(self, name, kind, *attributes):
        name = self.prefix + name
        text = ", ".join(filter(None, (f'dsv4.name = "{name}"', *attributes)))
        self.arguments.append(f"%{name}: {kind} {{{text}}}")
        return name

    def tensor(self, name, shape, element, strided=True):
        """An argument; extents are numbers or names of dims."""
        value = make_value(f"%{self.prefix}{name}", shape, element)
        names = ", ".join(f'"{e}"' if isinstance(e, str) else '""' for e in shape)
        self.argument(name, value.type, f"dsv4.dims = [{names}]" if any(isinstance(e, str) for e in shape) else "",
                      self.strides(shape, element) if strided else "")
        self.tensors.append(value)
        return value

    def cache(self, name, page, record, pages=(1, 3, 9)):
        kind = f"!dsv4.cache<{page} x <{record}>>"
        name = self.argument(name, kind, "dsv4.strides = #dsv4.strides<[?], align = 16>" if self.maybe(0.4) else "")
        self.dims[f"{name}.pages"] = self.pick(*pages)
        return Value(f"%{name}", kind, (), "")

    # Ops.

    def clauses(self, *table):
        """The clauses of an op that are there. A row is (whether, words), or (whether, keyword, shape, element): an
        operand of that name."""
        words = []
        for there, keyword, *operand in table:
            if not there:
                continue
            if operand:
                keyword += group([self.operand(keyword.replace(" ", "_"), *operand)])
            words.append(keyword)
        return " ".join(words)

    def step(self, text, *outs):
        """An op, and the results that are tied to `outs`."""
        results = []
        for out in outs:
            results.append(out._replace(name=f"%r{self.count}"))
            self.count += 1
        self.body.append("  " + (", ".join(r.name for r in results) + " = " if results else "") + text)
        return results

    def op(self, text, *outs):
        """An op whose results are returned."""
        results = self.step(text, *outs)
        self.results += results
        return results

    def empty(self, shape, element, of):
        """A tensor that only this function sees. Extents that are names are those of the argument `of`."""
        sizes = []
        for extent in shape:
            if isinstance(extent, str):
                name, axis = f"%r{self.count}", of.shape.index(extent)
                self.count += 1
                self.body.append(f"  {name}_axis = arith.constant {axis} : index")
                self.body.append(f"  {name} = tensor.dim {of.name}, {name}_axis : {of.type}")
                sizes.append(name)
        value = make_value(f"%r{self.count}", shape, element)
        self.count += 1
        self.body.append(f"  {value.name} = tensor.empty({', '.join(sizes)}) : {value.type}")
        return value

    def used_dims(self):
        """Extents of the dims that arguments have: drawn ones may be of operands that are left out."""
        text = "".join(self.arguments)
        return {name: extent for name, extent in self.dims.items() if name.endswith(".pages") or f'"{name}"' in
                text.replace('dsv4.name = "', "")}

    def __str__(self):
        kinds = ", ".join(value.type for value in self.results)
        values = ", ".join(value.name for value in self.results)
        returned = f"return {values} : {kinds}" if self.results else "return"
        policies = ", ".join(f"{name} = #dsv4.policy<bucket>" for name in sorted(self.policies))
        attributes = f"\n    attributes {{dsv4.policies = {{{policies}}}}}" if policies else ""
        arguments = ",\n    ".join(self.arguments)
        return (f"func.func @f(\n    {arguments})" + (f" -> ({kinds})" if kinds else "") + attributes + " {\n"
                + "\n".join(self.body) + f"\n  {returned}\n}}\n")
