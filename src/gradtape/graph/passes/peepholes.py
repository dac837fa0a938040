"""Identities of single ops: x + 0 = x, -(-x) = x, a transpose of a transpose, a product with ones.

A rule looks at one node and what made its inputs. It answers with the value that the node's output is anyway, with a
node that makes it more cheaply, or with None. Rules change no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ...engine.registry.op import Op, registry
from ..ir.graph import Graph, Node, Value

_EXACT = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24, "float64": 1 << 53}  # the integers it has all of
Answer = Value | Node | None


def simplified(graph: Graph) -> Graph:
    """The graph with every node replaced as long as a rule knows better."""
    view = _View()
    for node in graph.nodes:
        view.add(node)
    return graph.substituted(view.nodes, view.found)


class _View:
    """The nodes so far, who made what, and which values are known to be one number everywhere."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.found: dict[Value, Value] = {}
        self._maker: dict[Value, Node] = {}
        self._number: dict[Value, Any] = {}

    def add(self, node: Node) -> None:
        """Takes a node in, or what it can be replaced with."""
        node = node._replace(inputs=tuple(self.found.get(v, v) for v in node.inputs))
        if node.op.handed_on is not None:
            self.found.update(zip(node.outputs, node.op.handed_on(node.inputs, node.attrs), strict=True))
            return
        if node.several or not isinstance(node.op, Op) or len(node.outputs) != 1:
            if isinstance(node.op, Op) and node.op.name == "identity_n":
                self.found.update(zip(node.outputs, node.inputs, strict=True))
                return
        else:
            for _ in range(8):
                answer = self._ask(node)
                if isinstance(answer, Value):
                    self.found[node.outputs[0]] = answer
                    return
                if answer is None:
                    break
                node = answer
        self.nodes.append(node)
        self._maker.update(dict.fromkeys(node.outputs, node))

    def _ask(self, node: Node) -> Answer:
        y = node.outputs[0]
        if node.op.family == "elementwise":
            answer = _narrower(self, node)
            if answer is not None:
                return answer
        rule = RULES.get(node.op.name)
        answer = None if rule is None else rule(self, node)
        if isinstance(answer, Value) and (answer.shape != y.shape or answer.dtype is not y.dtype):
            return None
        return answer

    def made_by(self, value: Value, name: str) -> Node | None:
        """The node that made `value`, if its op has this name."""
        node = self._maker.get(value)
        return node if node is not None and node.op.name == name and isinstance(node.op, Op) else None

    def number(self, value: Value) -> Any:
        """The one number that all elements of `value` are, as a NumPy scalar, or None."""
        if value not in self._number:
            self._number[value] = self._find_number(value)
        return self._number[value]

    def _find_number(self, value: Value) -> Any:
        if value.constant is not None:
            return _uniform(value.constant)
        node = self._maker.get(value)
        if node is None or not isinstance(node.op, Op):
            return None
        if node.op.name in ("zeros_like", "ones_like") and value.dtype.numpy.kind in "biufc":
            return value.dtype.numpy.type(node.op.name == "ones_like")
        if node.op.name in ("broadcast_to", "reshape", "transpose"):
            return self.number(node.inputs[0])
        if node.op.name == "cast":
            number = self.number(node.inputs[0])
            return None if number is None else node.op.numpy(number, **node.attrs)
        if node.op.name == "sum":
            return self.exact_sum(node)
        return None

    def exact_sum(self, node: Node) -> Any:
        """The sum of many times one whole number, where it is exact."""
        (x,) = node.inputs
        number = self.number(x)
        if number is None or x.dtype.name not in _EXACT or not np.isfinite(number) or number != np.floor(number):
            return None
        total = int(number) * math.prod(x.shape[i] for i in node.attrs["axis"])
        return x.dtype.numpy.type(total) if abs(total) < _EXACT[x.dtype.name] else None


def _uniform(array: Any) -> Any:
    """The one number that an array consists of, or None; 0 and -0 are two."""
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" or not array.size:
        return None
    first = array.flat[0]
    if array.flat[-1] != first or not (array == first).all():
        return None
    if first == 0 and array.dtype.kind == "f" and len(np.unique(np.signbit(array))) > 1:
        return None
    return first


def _constant(number: Any, dtype: DType) -> Value:
    return Value((), dtype, number)


def _broadcast(value: Value, node: Node) -> Answer:
    """`value` in the shape of the node's output."""
    y = node.outputs[0]
    if value.shape == y.shape:
        return value
    return node._replace(op=registry["broadcast_to"], inputs=(value,), attrs={"shape": y.shape})


def _narrower(view: _View, node: Node) -> Answer:
    """An elementwise op stretches its arguments itself: what was stretched for it need not be."""
    y = node.outputs[0]
    inputs = list(node.inputs)
    if y.shape and all(view.number(v) is not None for v in inputs):
        with np.errstate(all="ignore"):
            number = node.op.numpy(*[view.number(v) for v in inputs], **node.attrs)
        return _broadcast(_constant(np.asarray(number)[()], y.dtype), node)
    for i, value in enumerate(inputs):
        source = value
        number = view.number(value) if value.shape else None
        stretch = view.made_by(value, "broadcast_to")
        if number is not None:
            source = _constant(number, value.dtype)
        elif stretch is not None:
            source = stretch.inputs[0]
        if source is not value:
            shapes = [v.shape for v in (*inputs[:i], source, *inputs[i + 1 :])]
            if np.broadcast_shapes(*shapes) == y.shape:
                inputs[i] = source
    return None if inputs == list(node.inputs) else node._replace(inputs=tuple(inputs))


def _is(value: Value, number: float) -> bool:
    return value.constant is not None and not value.shape and bool(value.constant == number)


def _same(node: Node, value: Value) -> Answer:
    """The node's output is `value`, stretched if need be."""
    return _broadcast(value, node) if value.dtype is node.outputs[0].dtype else None


def _with(node: Node, name: str, *inputs: Value, **attrs: Any) -> Node:
    return node._replace(op=registry[name], inputs=inputs, attrs=attrs)


def _add(view: _View, node: Node) -> Answer:
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if _is(other, 0):
            return _same(node, x)
        negative = view.made_by(other, "neg")
        if negative is not None:
            return _with(node, "sub", x, negative.inputs[0])
    return None


def _sub(view: _View, node: Node) -> Answer:
    a, b = node.inputs
    if _is(b, 0):
        return _same(node, a)
    negative = view.made_by(b, "neg")
    return None if negative is None else _with(node, "add", a, negative.inputs[0])


def _mul(view: _View, node: Node) -> Answer:
    a, b = node.inputs
    for x, other in ((a, b), (b, a)):
        if _is(other, 1):
            return _same(node, x)
        if _is(other, -1) and x.shape == node.outputs[0].shape and x.dtype.is_floating:
            return _with(node, "neg", x)
        negative = view.made_by(x, "neg")
        if negative is not None and other.constant is not None and not other.shape and other.dtype.is_floating:
            return _with(node, "mul", negative.inputs[0], _constant(-other.constant, other.dtype))
    return None


def _div(view: _View, node: Node) -> Answer:
    a, b = node.inputs
    if not _is(b, 1) and b.constant is not None and not b.shape and b.dtype.is_floating and not b.dtype.narrow:
        # Dividing by a power of two is multiplying by another, unless that one is too small or too large.
        fraction, _ = np.frexp(b.constant)
        inverse = b.dtype.numpy.type(1) / b.constant if fraction in (0.5, -0.5) else 0
        if np.isfinite(inverse) and abs(inverse) >= np.finfo(b.dtype.numpy).tiny:
            return _with(node, "mul", a, _constant(inverse, b.dtype))
    return _same(node, a) if _is(b, 1) else None


def _neg(view: _View, node: Node) -> Answer:
    inner = view.made_by(node.inputs[0], "neg")
    return None if inner is None else inner.inputs[0]


def _input(view: _View, node: Node) -> Answer:
    return node.inputs[0]  # if it has the shape and the dtype of the output, which is asked of every answer


def _reshape(view: _View, node: Node) -> Answer:
    (x,) = node.inputs
    if x.shape == node.outputs[0].shape:
        return x
    inner = view.made_by(x, "reshape")
    if inner is not None:
        return _with(node, "reshape", inner.inputs[0], shape=node.outputs[0].shape)
    number = view.number(x)
    return None if number is None or x.constant is not None else _stretched(node, number)


def _stretched(node: Node, number: Any) -> Node:
    y = node.outputs[0]
    return _with(node, "broadcast_to", _constant(number, y.dtype), shape=y.shape)


def _broadcast_to(view: _View, node: Node) -> Answer:
    (x,) = node.inputs
    if x.shape == node.outputs[0].shape:
        return x
    inner = view.made_by(x, "broadcast_to")
    if inner is not None:
        return _with(node, "broadcast_to", inner.inputs[0], shape=node.outputs[0].shape)
    inner = view.made_by(x, "reshape")
    if inner is not None and _stripped(inner.inputs[0].shape) == _stripped(x.shape):
        return _with(node, "broadcast_to", inner.inputs[0], shape=node.outputs[0].shape)
    return None


def _stripped(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the ones in front, which broadcasting puts there anyway."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape


def _transpose(view: _View, node: Node) -> Answer:
    (x,) = node.inputs
    perm = node.attrs["perm"]
    if tuple(perm) == tuple(range(len(perm))):
        return x
    inner = view.made_by(x, "transpose")
    if inner is None:
        return None
    return _with(node, "transpose", inner.inputs[0], perm=tuple(inner.attrs["perm"][i] for i in perm))


def _matmul(view: _View, node: Node) -> Answer:
    inputs, attrs = list(node.inputs), dict(node.attrs)
    for i, flag in enumerate(("transpose_a", "transpose_b")):
        turned = view.made_by(inputs[i], "transpose")
        rank = len(inputs[i].shape)
        if turned is not None and tuple(turned.attrs["perm"]) == (*range(rank - 2), rank - 1, rank - 2):
            inputs[i] = turned.inputs[0]
            attrs[flag] = not attrs.get(flag, False)
    return None if inputs == list(node.inputs) else node._replace(inputs=tuple(inputs), attrs=attrs)


def _sum(view: _View, node: Node) -> Answer:
    if not node.attrs["axis"]:
        return node.inputs[0]
    number = view.exact_sum(node)
    return None if number is None else _stretched(node, number)


def _add_n(view: _View, node: Node) -> Answer:
    if len(node.inputs) == 1:
        return node.inputs[0]
    return _with(node, "add", *node.inputs) if len(node.inputs) == 2 else None


def _single(view: _View, node: Node) -> Answer:
    return node.inputs[0] if len(node.inputs) == 1 else None


RULES: dict[str, Callable[[_View, Node], Answer]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "neg": _neg, "identity": _input, "stop_gradient": _input,
    "power_1": _input, "cast": _input, "reshape": _reshape, "broadcast_to": _broadcast_to, "transpose": _transpose,
    "matmul": _matmul, "sum": _sum, "add_n": _add_n, "concat": _single,
}  # fmt: skip

