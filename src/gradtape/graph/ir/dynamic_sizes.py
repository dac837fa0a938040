"""Dynamic sizes: sizes that depend on values, such as the length of `unique(x)`, and differ between runs of a graph.

A trace has concrete shapes. `DynamicSizes` follows the sizes that stem from values, as symbols, through the shape rules
of ops. A size stays dynamic as long as nothing else has depended on it: reading a tensor's shape, a question about the
size that needs an answer, or an op without a rule fixes it. The shape guards of a graph compare fixed sizes only; None
in a guard is a dynamic size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...core.locks import cached_property
from ...core.sizes.expression import Size, Symbol, SymbolicSize, from_atom, hint_of, substitute, symbols_in
from ...engine.registry.op import Op
from ...engine.registry.shape_rules import Dims
from .effects import assertion, shape_guard
from .graph import Graph, Node, Value

if TYPE_CHECKING:
    from ...core.sizes.facts import Guard, SizeScope


class DynamicSizes:
    """The shapes of the values of one trace that have dynamic sizes."""

    def __init__(self) -> None:
        self.dims: dict[Value, Dims] = {}
        self.elements: dict[Value, Dims] = {}  # of integer tensors: the sizes that they hold
        self._fixed: set[Symbol] = set()

    @cached_property
    def _scope(self) -> SizeScope:
        from ...core.sizes.facts import SizeScope  # imported lazily: few functions have dynamic sizes

        return SizeScope(on_guard=self._fix_asked)

    def dims_of(self, value: Value) -> Dims:
        """Returns the shape of a value, in which dynamic sizes are symbolic."""
        dims = self.dims.get(value)
        return value.shape if dims is None else self._with_fixed(dims)

    def fix(self, value: Value) -> None:
        """Make the graph depend on the shape of a value in this run."""
        self._fixed.update(symbols_in(*self.dims.get(value, ())))

    def size_in(self, value: Value) -> SymbolicSize | None:
        """Returns the dynamic size that a scalar holds, or None."""
        held = self._with_fixed(self.elements.get(value, ()))
        size = held[0] if len(held) == 1 and not value.shape else None
        return size if isinstance(size, SymbolicSize) else None

    def follow(self, node: Node) -> None:
        """Derive the shapes of the node's outputs, or fix the sizes of its inputs if its op has no rule for them."""
        if node.op is assertion:  # a Python function of the arrays
            return
        if node.op is shape_guard:
            self._fix_checked(node)
            return
        given = [self.dims_of(v) for v in node.inputs]
        shapes = self._shapes(node, given)
        if shapes is None:
            for v in node.inputs:
                self.fix(v)
            return
        for y, dims in zip(node.outputs, shapes, strict=True):
            assert tuple(map(hint_of, dims)) == y.shape, f"the shape rule of {node.op.name} gives {dims} for {y!r}"
            if _is_dynamic(dims):
                self.dims[y] = dims
        self._follow_elements(node, given)

    def _shapes(self, node: Node, given: Sequence[Dims]) -> list[Dims] | None:
        """Returns the shapes of the outputs: those that depend on values get symbols."""
        op, outputs = node.op, node.outputs
        if op.name == "nonzero":
            return [(self._scope.symbol(outputs[0].shape[0]), len(given[0]))]
        if op.name == "unique":
            count = self._scope.symbol(outputs[0].shape[0])
            return [(count,), given[0], (count,)]
        if op.name == "dynamic_segment_sum":
            size: Size | None = self.size_in(node.inputs[2])
            return [(self._scope.symbol(outputs[0].shape[0]) if size is None else size, *given[0][len(given[1]) :])]
        rule = op.shape_rule if isinstance(op, Op) else None
        shapes = None if rule is None else rule(*given, **node.attrs)
        return [shapes] if isinstance(shapes, tuple) else shapes

    def _fix_checked(self, node: Node) -> None:
        (value,) = node.inputs
        for size, checked in zip(self.dims.get(value, ()), node.attrs["shape"], strict=False):
            if checked is not None:
                self._fixed.update(symbols_in(size))

    def _fix_asked(self, guard: Guard) -> None:
        self._fixed.update(symbols_in(guard.size))

    def _follow_elements(self, node: Node, given: Sequence[Dims]) -> None:
        """Note which sizes the output of a node holds."""
        name, y = node.op.name, node.outputs[0]
        if name == "shape_of":
            self.elements[y] = given[0]
        elif name == "slice" and node.inputs[0] in self.elements:
            key = node.attrs["key"]
            if len(key) == 1 and type(key[0]) is int:
                self.elements[y] = (self.elements[node.inputs[0]][key[0]],)

    def _with_fixed(self, dims: Dims) -> Dims:
        """Replaces the symbols that are fixed by numbers."""
        if self._fixed.isdisjoint(symbols_in(*dims)):
            return dims
        return tuple([substitute(n, lambda s: s.hint if s in self._fixed else from_atom(s)) for n in dims])

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


def _with_unknown(dims: Dims) -> tuple[int | None, ...]:
    return tuple([None if isinstance(n, SymbolicSize) else n for n in dims])


def _is_dynamic(dims: Dims) -> bool:
    return any(isinstance(n, SymbolicSize) for n in dims)


_ROW_UPDATES = ("put_rows", "max_rows", "min_rows")
