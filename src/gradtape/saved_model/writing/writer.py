"""Builds a function of a `GraphDef`: nodes with names and attributes, and sizes that it computes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from ...api.catalogue.definitions import definition_of
from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.errors import UnimplementedError
from ...core.protocols import Line
from ...core.shapes import TensorShape
from ...core.tensor import Tensor, wrap
from ...graph.ir.graph import unique
from ..format.structures import shape_proto, tensor_bytes
from .generalisation import Place, Size
from .size_relations import Numbers, Relation, linear, stepwise

RESOURCE = dtypes.resource


class Ref(NamedTuple):
    """A tensor in the function: its reference in nodes, and its dtype."""

    text: str
    dtype: DType

    @property
    def node(self) -> str:
        """The node that produces it."""
        return self.text.partition(":")[0]


class Unsaved(UnimplementedError):
    """A function contains something without a counterpart in TensorFlow's graphs."""

    line: Line | None = None  # of the user's code

    def at(self, line: Line | None) -> Unsaved:
        """Returns the error with the line that the step comes from, unless it has one."""
        if self.line is not None or line is None:
            return self
        found = type(self)(f"{self.message}{at_line(line)}")
        found.line = line
        return found


def at_line(line: Line | None) -> str:
    """Returns a clause that names a line of the user's code."""
    return "" if line is None else f" (at {line[0]}:{line[1]})"


def attribute(kind: str, value: Any) -> dict[str, Any]:
    """Returns an `AttrValue` of this kind."""
    if kind.startswith("list("):
        field, values = _FIELDS[kind[5:-1]], list(value)
        return {"list": {field[0]: [field[1](one) for one in values]}}
    name, convert = _FIELDS[kind]
    return {name: convert(value)}


def _as_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


_FIELDS: dict[str, tuple[str, Any]] = {
    "type": ("type", lambda x: as_dtype(x).as_datatype_enum), "int": ("i", int), "bool": ("b", bool),
    "float": ("f", float), "string": ("s", _as_bytes), "shape": ("shape", shape_proto),
    "tensor": ("tensor", tensor_bytes), "func": ("func", lambda name: {"name": name}),
}  # fmt: skip


class Writer:
    """The nodes of one function. `writer.Sum(x, axes, keep_dims=True)` adds a node of that op and returns its output.

    An input may be a number, an array or a list of sizes: it becomes a constant, or is computed.
    """

    def __init__(self, scope: str = "") -> None:
        self.scope = scope
        self.nodes: list[dict[str, Any]] = []
        self.arguments: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._known: dict[tuple[int, ...], Callable[[], Ref]] = {}  # sources of sizes, by their values in the graphs
        self._sizes: dict[Size, Ref] = {}
        self._constants: dict[Any, Ref] = {}
        self._kept_alive: list[Any] = []
        self.line: Line | None = None  # of the user's code, for which nodes are added
        self.lines: list[Line | None] = []  # of the nodes
        self.undecided = 0  # how many consecutive sizes decide between relations that fit
        self.shapes: dict[str, TensorShape] = {}  # those that are known, by the references of tensors

    def argument(self, name: str, dtype: DType, **details: Any) -> Ref:
        """Adds an input to the function."""
        name = unique(re.sub(r"\W", "_", name).lower().lstrip("_0123456789") or "arg", self._names)
        self._names.add(name)
        self.arguments.append({"name": name, "type": dtype.as_datatype_enum, **details})
        return Ref(name, dtype)

    def named(self, name: str) -> str:
        """Returns a unique node name, in the scope of the function."""
        name = unique(f"{self.scope}/{name}" if self.scope else name, self._names)
        self._names.add(name)
        return name

    def __getattr__(self, op: str) -> Any:
        if definition_of(op) is None:
            raise AttributeError(f"there is no op {op}")
        return lambda *inputs, **attrs: self.add(op, inputs, attrs)

    def add(
        self, op: str, inputs: Sequence[Any], attrs: dict[str, Any], before: Sequence[str] = (), name: str = ""
    ) -> Any:
        """Adds a node; returns its output, a list of several, or None."""
        definition = definition_of(op)
        assert definition is not None
        found: dict[str, Any] = dict(attrs)
        given: list[Ref] = []
        for argument, value in zip(definition.inputs, inputs, strict=True):
            wanted = found.get(argument.dtype, argument.dtype if argument.dtype not in definition.attributes else None)
            if argument.several or argument.number:
                refs = [self.ref(one, wanted) for one in value]
                if argument.several:
                    found[argument.several] = [ref.dtype for ref in refs]
                else:
                    found[argument.number] = len(refs)
                    if argument.dtype in definition.attributes:
                        found[argument.dtype] = refs[0].dtype
                given += refs
            else:
                ref = self.ref(value, wanted)
                if argument.dtype in definition.attributes:
                    found[argument.dtype] = ref.dtype
                given.append(ref)
        name = self.named(name or op)
        self.nodes.append(
            {
                "name": name,
                "op": op,
                "input": [*(ref.text for ref in given), *(f"^{other}" for other in before)],
                "attr": {key: attribute(definition.attributes[key], value) for key, value in found.items()},
            }
        )
        self.lines.append(self.line)
        outputs: list[Any] = []
        for argument in definition.outputs:
            kinds = found[argument.several] if argument.several else None
            if kinds is None:
                dtype = as_dtype(found.get(argument.dtype, definition.defaults.get(argument.dtype, argument.dtype)))
                kinds = [dtype] * (found[argument.number] if argument.number else 1)
            refs = [Ref(f"{name}:{argument.name}:{i}", as_dtype(kind)) for i, kind in enumerate(kinds)]
            outputs.append(refs if argument.several or argument.number else refs[0])
        if not outputs:
            return name
        return outputs[0] if len(outputs) == 1 else outputs

    def ref(self, value: Any, dtype: Any = None) -> Ref:
        """Converts a value to a tensor of the function: a constant, unless it is one already."""
        if isinstance(value, Ref):
            return value
        if isinstance(value, Size):
            size = self.size(value)
            return size if dtype in (None, dtypes.int32, "int32") else self.Cast(size, DstT=as_dtype(dtype))
        if isinstance(value, list | tuple) and any(isinstance(one, Size) for one in value):
            return self.Pack([self.ref(one, dtype or dtypes.int32) for one in value])
        if isinstance(value, list | tuple) and not value:
            value = np.zeros(0, np.int32)
        if isinstance(value, int | list | tuple) and not isinstance(value, bool) and dtype is None:
            dtype = dtypes.int32
        kind = None if dtype is None else as_dtype(dtype)
        array = np.asarray(value, None if kind is None else kind.numpy)
        return self.constant(array, kind or dtypes.of_numpy(array.dtype))

    def constant(self, array: Any, dtype: DType) -> Ref:
        """Adds a constant; small equal arrays share one node."""
        array = np.asarray(array)
        small = array.size <= 64 and dtype is not dtypes.string
        key: Any = (dtype, array.shape, array.tobytes()) if small else (id(array),)
        if key not in self._constants:
            self._kept_alive.append(array)
            value = wrap(array, dtype) if dtype is dtypes.string else Tensor(array, dtype)
            self._constants[key] = self.add("Const", (), {"value": value, "dtype": dtype})
        return self._constants[key]

    # Sizes.

    def knows(self, ref: Ref, place: Place) -> None:
        """Records that this tensor has the shape of a place, so that sizes can be read from it."""
        self.note_shape(ref, place)
        if not place.ranked:
            self._known.setdefault(tuple(map(math.prod, place.shapes)), partial(self._number_of, "Size", ref))
            self._known.setdefault(tuple(map(len, place.shapes)), partial(self._number_of, "Rank", ref))
        for axis, size in enumerate(place.dims if place.ranked else ()):
            if isinstance(size, Size):
                self._known.setdefault(size.examples, partial(self._size_of, ref, axis))

    def note_shape(self, ref: Ref, place: Place) -> None:
        """Records the shape of a tensor for those who read the graph."""
        dims = [None if isinstance(n, Size) else n for n in place.dims] if place.ranked else None
        self.shapes[ref.text] = TensorShape(dims)

    def knows_values(self, ref: Ref, values: Sequence[Any]) -> bool:
        """Records the values of a tensor in the graphs, as a source of sizes; returns whether that is possible."""
        same = len({value.shape for value in values}) > 1 or all(np.array_equal(values[0], v) for v in values[1:])
        if same or not ref.dtype.is_integer:
            return False  # it was not read as a size, or nothing is known about other values
        flat = self.Reshape(self.Cast(ref, DstT=dtypes.int32), [-1])
        for i, examples in enumerate(zip(*(value.ravel().tolist() for value in values), strict=True)):
            if len(set(examples)) > 1:
                self._known.setdefault(tuple(map(int, examples)), partial(self._entry, flat, i))
        return True

    def _size_of(self, ref: Ref, axis: int) -> Ref:
        return self._entry(self.Shape(ref, out_type=dtypes.int32), axis)

    def _number_of(self, op: str, ref: Ref) -> Ref:
        return self.add(op, (ref,), {})  # type: ignore[no-any-return]

    def _entry(self, numbers: Ref, i: int) -> Ref:
        return self.StridedSlice(numbers, [i], [i + 1], [1], shrink_axis_mask=1)

    def has(self, size: Size) -> bool:
        """Returns whether a size is that of an axis of a tensor."""
        return size.examples in self._known

    def size(self, size: Size) -> Ref:
        """Returns a size as an int32 scalar, computed from the shapes of tensors."""
        if size not in self._sizes:
            self._sizes[size] = self._computed(size)
        return self._sizes[size]

    def shape(self, dims: Sequence[Any]) -> Any:
        """Returns a shape as an input of a node."""
        return self.ref(list(dims), dtypes.int32)

    def _computed(self, size: Size) -> Ref:
        """Computes an axis size, a multiple of one plus an offset, or a multiple of a product of several."""
        if size.examples in self._known:
            return self._known[size.examples]()
        simple = self._simplest(linear, size.examples)
        if simple is not None and simple.complexity <= _MAX_COMPLEXITY:
            return simple.write()
        for count in (2, 3):
            for chosen in combinations_with_replacement(self._known, count):
                ratios = {Fraction(n, math.prod(ks) or 1) for n, *ks in zip(size.examples, *chosen, strict=True)}
                if len(ratios) == 1 and (ratio := ratios.pop()).denominator == 1:
                    sizes = [self._known[one]() for one in chosen]
                    return reduce(self.Mul, sizes, self.ref(int(ratio), dtypes.int32))
        found = simple or self._simplest(stepwise, size.examples)
        if found is not None:
            return found.write()
        raise Unsaved(
            f"a size in it ({', '.join(map(str, size.examples))} for some sizes of the inputs) could not be told from "
            "the shapes of tensors. Give the function an input signature without None"
        )

    def _simplest(self, fit: Callable[..., Relation | None], wanted: Numbers) -> _Source | None:
        """Returns the simplest relation of a kind to the size of an axis: some fit by chance."""
        relations = [(known, fit(known, wanted)) for known in self._known]
        found = [_Source(one.complexity, partial(self._related, known, one)) for known, one in relations if one]
        return min(found, key=lambda one: one.complexity, default=None)

    def _related(self, known: Numbers, relation: Relation) -> Ref:
        self.undecided = max(self.undecided, relation.undecided)
        return relation.write(self, self._known[known]())  # type: ignore[no-any-return]


class _Source(NamedTuple):
    """A way to compute a size."""

    complexity: int
    write: Callable[[], Ref]


_MAX_COMPLEXITY = 16  # of a relation that a product of sizes is not preferred to
