"""Dynamic sizes: sizes that depend on values, such as the length of `unique(x)`, and differ between runs of a graph.

A trace has concrete shapes. `DynamicSizes` follows the sizes that stem from values through the ops that work for any
size (`RULES`). A size stays dynamic as long as nothing else has depended on it: reading a tensor's shape, or an op
without a rule, fixes it. The shape guards of a graph compare fixed sizes only; None in a guard is a dynamic size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...engine.registry.op import Op
from .effects import assertion, shape_guard
from .graph import Graph, Node, Value


class DynamicSize:
    """A size that differs between runs, unless it `is_fixed`: then the graph has a guard on it."""

    __slots__ = ("is_fixed",)

    def __init__(self) -> None:
        self.is_fixed = False


SymbolicDims = tuple[int | DynamicSize, ...]
Rule = Callable[[list[SymbolicDims], Node], list[SymbolicDims] | None]


class DynamicSizes:
    """The shapes of the values of one trace that have dynamic sizes."""

    def __init__(self) -> None:
        self.dims: dict[Value, SymbolicDims] = {}
        self.elements: dict[Value, SymbolicDims] = {}  # of integer tensors: the sizes that they hold

    def dims_of(self, value: Value) -> SymbolicDims:
        """Returns the shape of a value, in which a size that is not fixed is a `DynamicSize`."""
        dims = self.dims.get(value)
        return value.shape if dims is None else _with_fixed(dims, value.shape)

    def fix(self, value: Value) -> None:
        """Make the graph depend on the shape of a value in this run."""
        for size in self.dims.get(value, ()):
            if isinstance(size, DynamicSize):
                size.is_fixed = True

    def size_in(self, value: Value) -> DynamicSize | None:
        """Returns the dynamic size that a scalar holds, or None."""
        held = self.elements.get(value, ())
        size = held[0] if len(held) == 1 and not value.shape else None
        return size if isinstance(size, DynamicSize) and not size.is_fixed else None

    def follow(self, node: Node) -> None:
        """Derive the shapes of the node's outputs, or fix the sizes of its inputs if its op has no rule for them."""
        if node.op is assertion:  # a Python function of the arrays
            return
        if node.op is shape_guard:
            self._fix_checked(node)
            return
        rule = _elementwise if node.op.family == "elementwise" else RULES.get(node.op.name)
        given = [self.dims_of(v) for v in node.inputs]
        found = rule(given, node) if rule is not None and isinstance(node.op, Op) else None
        if found is None:
            for v in node.inputs:
                self.fix(v)
            return
        self.dims.update((y, dims) for y, dims in zip(node.outputs, found, strict=True) if _is_dynamic(dims))
        self._follow_elements(node, given)

    def _fix_checked(self, node: Node) -> None:
        (value,) = node.inputs
        for size, checked in zip(self.dims.get(value, ()), node.attrs["shape"], strict=False):
            if isinstance(size, DynamicSize) and checked is not None:
                size.is_fixed = True

    def _follow_elements(self, node: Node, given: Sequence[SymbolicDims]) -> None:
        """Note which sizes the output of a node holds; the size of a count's segments is the count."""
        name, y = node.op.name, node.outputs[0]
        if name == "shape_of":
            self.elements[y] = given[0]
        elif name == "slice" and node.inputs[0] in self.elements:
            key = node.attrs["key"]
            if len(key) == 1 and type(key[0]) is int:
                self.elements[y] = (self.elements[node.inputs[0]][key[0]],)
        elif name == "dynamic_segment_sum" and (size := self.size_in(node.inputs[2])) is not None:
            self.dims[y] = (size, *self.dims[y][1:])

    def relaxed(self, nodes: Iterable[Node]) -> list[Node]:
        """Returns the nodes with None for dynamic sizes in shape guards."""
        return [self._relaxed(node) if node.op is shape_guard else node for node in nodes]

    def _relaxed(self, node: Node) -> Node:
        if node.inputs[0] not in self.dims:
            return node
        return node._replace(attrs={"shape": _with_unknown(self.dims_of(node.inputs[0]))})


def output_shapes(graph: Graph) -> list[tuple[int | None, ...]]:
    """Returns the shapes of the outputs of a traced graph, in which None is a dynamic size."""
    sizes = DynamicSizes()
    for node in graph.nodes:
        if sizes.dims or getattr(node.op, "shaped_by_values", False):
            sizes.follow(node)
    return [_with_unknown(sizes.dims_of(value)) for value in graph.outputs]


def dynamic_values(graph: Graph) -> set[Value]:
    """Returns the values of a graph that may have dynamic sizes: passes and executors must not rely on their shapes."""
    made = {v for node in graph.nodes if getattr(node.op, "shaped_by_values", False) for v in node.outputs}
    if not made:
        return made
    found = made - {n.inputs[0] for n in graph.nodes if n.op is shape_guard and None not in n.attrs["shape"]}
    for node in graph.nodes if found else ():
        if not found.isdisjoint(node.inputs) and not _has_own_shape(node, found):
            found.update(node.outputs)
    return found


def _has_own_shape(node: Node, dynamic: set[Value]) -> bool:
    """Whether the shape of a node's output is independent of its dynamic inputs."""
    name = node.op.name
    return name in ("scatter_add", "shape_of") or (name in _ROW_UPDATES and node.inputs[0] not in dynamic)


def _with_fixed(dims: SymbolicDims, shape: tuple[int, ...]) -> SymbolicDims:
    pairs = zip(dims, shape, strict=True)
    return tuple([size if isinstance(size, DynamicSize) and not size.is_fixed else n for size, n in pairs])


def _with_unknown(dims: SymbolicDims) -> tuple[int | None, ...]:
    return tuple([None if isinstance(n, DynamicSize) else n for n in dims])


def _is_dynamic(dims: SymbolicDims) -> bool:
    return any(isinstance(n, DynamicSize) for n in dims)


def _elementwise(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    """Broadcast: a dynamic size fits itself and 1. Another number may be unequal in other runs."""
    found: list[int | DynamicSize] = []
    for axis, n in enumerate(reversed(node.outputs[0].shape)):
        sizes = {dims[-1 - axis] for dims in given if len(dims) > axis}
        dynamic = [size for size in sizes if isinstance(size, DynamicSize)]
        if dynamic and sizes - {1} != set(dynamic[:1]):
            return None
        found.append(dynamic[0] if dynamic else n)
    return [tuple(found[::-1])] * len(node.outputs)


def _like_first(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    return [given[0]]


def _gather(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    x, indices = given
    axis = node.attrs.get("axis", 0)
    if node.attrs.get("batch", 0) or axis < 0:
        return None
    return [(*x[:axis], *indices, *x[axis + 1 :])]


def _scatter(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    """Rows are added to zeros of a given shape; values and indices must have the same number of rows in every run."""
    values, indices = given
    alone = not node.attrs.get("axis", 0) and not node.attrs.get("batch", 0)
    same = values[: len(indices)] == indices and not _is_dynamic(values[len(indices) :])
    return [node.outputs[0].shape] if alone and same else None


def _row_update(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    rows, at, values = given
    return None if _is_dynamic((*rows, *values[1:])) or values[:1] != at else [rows]


def _segment_sum(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    x, ids = given[:2]
    count = node.attrs["count"] if "count" in node.attrs else DynamicSize()
    return None if x[:1] != ids else [(count, *x[1:])]


def _segment_spread(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    x, ids = given
    return [(*ids, *x[1:])]


def _slice(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    """Dynamic axes stay if the key begins with whole slices for them."""
    (x,), key = given, node.attrs["key"]
    whole = next((i for i, part in enumerate(key) if part != slice(None)), len(key))
    return None if _is_dynamic(x[whole:]) else [(*x[:whole], *node.outputs[0].shape[whole:])]


def _reduction(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    (x,), axes = given, node.attrs["axis"]
    if type(axes) is not tuple or any(type(i) is not int or i < 0 for i in axes):
        return None
    kept = [1] if node.attrs.get("keepdims") else []
    return [tuple([size for i, n in enumerate(x) for size in (kept if i in axes else [n])])]


def _unique(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    count = DynamicSize()
    return [(count,), given[0], (count,)]


def _nonzero(given: list[SymbolicDims], node: Node) -> list[SymbolicDims] | None:
    return [(DynamicSize(), len(given[0]))]


_ROW_UPDATES = ("put_rows", "max_rows", "min_rows")

# Shapes of outputs by those of the inputs, for ops whose kernels and attributes work for any dynamic sizes; None if
# they do not for the given ones.
RULES: dict[str, Rule] = {
    **dict.fromkeys(("cast", "identity", "stop_gradient", "zeros_like", "ones_like"), _like_first),
    **dict.fromkeys(("sum", "mean", "prod", "max", "min", "any", "all"), _reduction),
    **dict.fromkeys(_ROW_UPDATES, _row_update),
    "gather": _gather, "gather_rows": _gather, "scatter_add": _scatter, "slice": _slice, "segment_sum": _segment_sum,
    "dynamic_segment_sum": _segment_sum, "segment_spread": _segment_spread, "unique": _unique, "nonzero": _nonzero,
    "shape_of": lambda given, node: [node.outputs[0].shape],
}  # fmt: skip
