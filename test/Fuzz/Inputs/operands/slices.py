"""Operands that are slices of arguments."""

from .values import PAIRED, make_value

SLICED = 0.15
"""Of operands that may be slices."""


class Slices:
    """The part of a Program that makes slices. `extents` has the values that hold extents of dims."""

    def __init__(self):
        self.extents = {}

    def extent(self, dim):
        """The value of the extent of a dim, which finish() defines."""
        return self.extents.setdefault(dim, f"%{dim}_extent")

    def size(self, extent):
        return self.extent(extent) if isinstance(extent, str) else str(extent)

    def finish(self):
        """Defines the extents that slices have, by an argument with this dim, or one more where there is none."""
        lines = []
        for dim, name in self.extents.items():
            of = next((value for value in self.tensors if dim in value.shape), None)
            of = of or self.tensor(f"{dim}_like", [dim], "i32", strided=False)
            lines += [f"  {name}_axis = arith.constant {of.shape.index(dim)} : index",
                      f"  {name} = tensor.dim {of.name}, {name}_axis : {of.type}"]
        self.body[:0] = lines

    def begin(self):
        """Where a slice begins, as its program and as a number have it: a number, an extent, or some of them."""
        number = self.pick(0, 1, 3)
        if self.maybe():
            return str(number), number
        known = [dim for dim, extent in self.dims.items() if extent < 100 and not dim.endswith(".pages")]
        dim = self.pick(*known) if known and self.maybe() else self.dim("skipped", 0, 1, 5)
        if self.maybe(0.6):
            return self.extent(dim), self.dims[dim]
        name = f"%r{self.count}"
        self.count += 1
        self.body += [f"  {name}_factor = arith.constant 2 : index", f"  {name}_more = arith.constant {number} : index",
                      f"  {name}_twice = arith.muli {self.extent(dim)}, {name}_factor : index",
                      f"  {name} = arith.addi {name}_twice, {name}_more : index"]
        return name, 2 * self.dims[dim] + number

    def widen(self, name, shape, element, constant):
        """The shape of what has a slice of this shape, and for each of its axes (offset, size)."""
        whole, parts = [], []
        for axis, extent in enumerate(shape):
            last = axis + 1 == len(shape)
            if self.maybe(0.35) or constant and isinstance(extent, str):
                whole.append(extent)
                parts.append(("0", extent))
            elif not constant and not (last and element in PAIRED) and (isinstance(extent, str) or self.maybe(0.15)):
                text, number = self.begin()
                end = number + (self.dims[extent] if isinstance(extent, str) else extent)
                whole.append(self.dim(f"{name}_all{axis}", end, end, end + 3))
                parts.append((text, extent))
            else:
                offsets = (0, 2, 16, 64) if element in PAIRED else (0, 1, 8, 16, 64) if last else (0, 1, 2)
                offset = self.pick(*offsets)
                whole.append(offset + extent + self.pick(0, *offsets))
                parts.append((str(offset), extent))
        # An index of an axis that the slice does not have; which one lacks is plain if no other has one index.
        if self.maybe(0.25) and 1 not in shape:
            at, extent = self.rng.randrange(len(shape)), self.pick(2, 3)
            whole.insert(at, extent)
            parts.insert(at, (str(self.rng.randrange(extent)), 1))
        return whole, parts

    def take(self, whole, parts, shape):
        """A slice of `whole`: (offset, size) along each axis."""
        value = make_value(f"%r{self.count}", shape, whole.element)
        self.count += 1
        offsets, sizes = ", ".join(offset for offset, _ in parts), ", ".join(self.size(size) for _, size in parts)
        self.body.append(f"  {value.name} = tensor.extract_slice {whole.name}[{offsets}] [{sizes}] "
                         f"[{', '.join('1' for _ in parts)}] : {whole.type} to {value.type}")
        return value

    def slice(self, name, shape, element, depth=0):
        """A slice of an argument, or of a slice: then all of each axis that only a launch has, or a part that is
        constant."""
        nested = depth < 2 and self.maybe(0.25)
        whole, parts = self.widen(name, shape, element, constant=nested)
        of = self.slice(name, whole, element, depth + 1) if nested else self.tensor(name, whole, element)
        return self.take(of, parts, shape)

    def operand(self, name, shape, element):
        """A tensor that is read: an argument, or a slice of one."""
        make = self.slice if shape and self.maybe(SLICED) else self.tensor
        return make(name, shape, element)

    def operands(self, names, shapes, element):
        """Tensors that are read, and differ in their columns at most: now and then parts of one argument."""
        if element in PAIRED or not self.maybe(SLICED):
            return [self.operand(name, shape, element) for name, shape in zip(names, shapes)]
        begins, at = [], self.pick(0, 8)
        for shape in shapes:
            begins.append(at)
            at += shape[-1] + self.pick(0, 0, 8, 1)
        whole = self.tensor("_".join(names), [*shapes[0][:-1], at], element)
        return [self.take(whole, [("0", extent) for extent in shape[:-1]] + [(str(begin), shape[-1])], shape)
                for shape, begin in zip(shapes, begins)]
