"""The peephole table: x + 0 = x, -(-x) = x, transpose of transpose, products with ones; and sums of products.

The rows of `IDENTITIES` do not change rounding. Those of `FEWER_PRODUCTS` merge several matrix products into one, such
as the gradient of a matrix that many steps of a recurrent layer use: Σ aᵢᵀ gᵢ = [a₁; a₂; ...]ᵀ [g₁; g₂; ...]. The
concatenation costs less than it saves, up to a limit on the rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.tuning import MOST_PENDING_ROWS
from ...core.dtypes import DType
from ...engine.registry.op import op_named
from ..ir.graph import Node, Value
from .rewriting import Answer, Rewriting, Row

_EXACT = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24, "float64": 1 << 53}  # bounds of exact integers


def _with(node: Node, name: str, *inputs: Value, **attrs: Any) -> Node:
    """Returns a node that produces the node's output by another op."""
    return node._replace(op=op_named(name), inputs=inputs, attrs=attrs)


def _constant(number: Any, dtype: DType) -> Value:
    return Value((), dtype, number)


def _stretched(node: Node, x: Value) -> Answer:
    """Returns `x` broadcast to the shape of the node's output, which it equals."""
    y = node.outputs[0]
    if x.dtype is not y.dtype or x.shape == y.shape:
        return x
    return _with(node, "broadcast_to", x, shape=y.shape)


def number_of(graph: Rewriting, value: Value) -> Any:
    """Returns the number that every element of `value` equals, as a NumPy scalar, or None."""
    if value not in graph.notes:
        graph.notes[value] = _find_number(graph, value)
    return graph.notes[value]


def _find_number(graph: Rewriting, value: Value) -> Any:
    if value.constant is not None:
        return _uniform(value.constant)
    node = graph.maker(value)
    name = "" if node is None else node.op.name
    if node is None or len(node.inputs) != 1:
        return None
    if name in ("zeros_like", "ones_like") and value.dtype.numpy.kind in "biufc":
        return value.dtype.numpy.type(name == "ones_like")
    if name == "sum":
        return _exact_sum(graph, node)
    number = number_of(graph, node.inputs[0]) if name in ("broadcast_to", "reshape", "transpose", "cast") else None
    return node.op.numpy(number, **node.attrs) if number is not None and name == "cast" else number


def _uniform(array: Any) -> Any:
    """Returns the number that every element of an array equals, or None; 0.0 and -0.0 differ."""
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" or not array.size:
        return None
    first = array.flat[0]
    if array.flat[-1] != first or not (array == first).all():
        return None
    if first == 0 and array.dtype.kind == "f" and len(np.unique(np.signbit(array))) > 1:
        return None
    return first


def _exact_sum(graph: Rewriting, node: Node) -> Any:
    """Returns the sum of equal integers, if it is exactly representable."""
    (x,) = node.inputs
    number = number_of(graph, x)
    if number is None or x.dtype.name not in _EXACT or not np.isfinite(number) or number != np.floor(number):
        return None
    total = int(number) * math.prod(x.shape[i] for i in node.attrs["axis"])
    return x.dtype.numpy.type(total) if abs(total) < _EXACT[x.dtype.name] else None


def _narrower(node: Node, graph: Rewriting) -> Answer:
    """Replace broadcast or uniform arguments of an elementwise op by smaller ones, which the op broadcasts itself."""
    y, inputs = node.outputs[0], list(node.inputs)
    if y.shape and all(number_of(graph, v) is not None for v in inputs):
        with np.errstate(all="ignore"):
            number = node.op.numpy(*[number_of(graph, v) for v in inputs], **node.attrs)
        return _stretched(node, _constant(np.asarray(number)[()], y.dtype))
    for i, value in enumerate(inputs):
        number = number_of(graph, value) if value.shape else None
        stretch = graph.made_by(value, "broadcast_to")
        source = value if stretch is None else stretch.inputs[0]
        source = source if number is None else _constant(number, value.dtype)
        if source is not value:
            shapes = [v.shape for v in (*inputs[:i], source, *inputs[i + 1 :])]
            if np.broadcast_shapes(*shapes) == y.shape:
                inputs[i] = source
    return None if inputs == list(node.inputs) else node._replace(inputs=tuple(inputs))


def _of_number(node: Node, graph: Rewriting) -> Answer:
    number = _exact_sum(graph, node) if node.op.name == "sum" else number_of(graph, node.inputs[0])
    return None if number is None else _stretched(node, _constant(number, node.outputs[0].dtype))


def _stripped(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Remove leading dimensions of size 1, which broadcasting adds implicitly."""
    while shape and shape[0] == 1:
        shape = shape[1:]
    return shape


def _permuted(node: Node, nodes: tuple[Node, ...], x: Value) -> Answer:
    inner = nodes[1].attrs["perm"]
    return _with(node, "transpose", x, perm=tuple(inner[i] for i in node.attrs["perm"]))


def _swaps_last(transpose: Node) -> bool:
    rank = len(transpose.inputs[0].shape)
    return tuple(transpose.attrs["perm"]) == (*range(rank - 2), rank - 1, rank - 2)


def _folded(flag: str) -> Any:
    """Fold a transpose of an argument into a matrix product's flag."""

    def then(node: Node, a: Value, b: Value) -> Node:
        return node._replace(inputs=(a, b), attrs={**node.attrs, flag: not node.attrs.get(flag, False)})

    return then


def _again(node: Node, x: Value) -> Node:
    """Apply the node's op and attributes to the input of the preceding node."""
    return node._replace(inputs=(x,))


IDENTITIES = [
    Row("custom_gradient(*xs)", lambda node: node.op.forwards_inputs(node.inputs, node.attrs)),
    Row("assigned(*xs)", lambda node: node.op.forwards_inputs(node.inputs, node.attrs)),
    Row("identity_n(*xs)", lambda xs: xs),
    Row("elementwise(*xs)", _narrower),
    Row("add(x, 0)", _stretched),  # also if x may be -0.0, whose sign an eager `x + 0.0` drops, as in TensorFlow
    Row("add(x, neg(y))", lambda node, x, y: _with(node, "sub", x, y)),
    Row("sub(x, 0)", _stretched),
    Row("sub(x, neg(y))", lambda node, x, y: _with(node, "add", x, y)),
    Row("mul(x, 1)", _stretched),
    Row(
        "mul(x, -1)", lambda node, x: _with(node, "neg", x),
        lambda node, x: x.shape == node.outputs[0].shape and x.dtype.is_floating,
    ),
    Row(
        "mul(neg(x), c)", lambda node, x, c: _with(node, "mul", x, _constant(-c.constant, c.dtype)),
        lambda c: c.constant is not None and not c.shape and c.dtype.is_floating,
    ),
    Row("div(x, 1)", _stretched),
    Row("neg(neg(x))", lambda x: x),
    Row("identity(x)", lambda x: x),
    Row("stop_gradient(x)", lambda x: x),
    Row("power_1(x)", lambda x: x),
    Row("cast(x)", lambda x: x),
    Row("reshape(x)", lambda x: x),
    Row("reshape(reshape(x))", _again),
    Row("reshape(x)", _of_number, lambda x: x.constant is None),
    Row("broadcast_to(x)", lambda x: x),
    Row("broadcast_to(broadcast_to(x))", _again),
    Row(
        "broadcast_to(reshape(x))", _again,
        lambda node, x: (
            _stripped(x.shape) == _stripped(node.inputs[0].shape) and len(x.shape) <= len(node.outputs[0].shape)
        ),
    ),
    Row("transpose(x)", lambda x: x, lambda node: tuple(node.attrs["perm"]) == tuple(range(len(node.attrs["perm"])))),
    Row("transpose(transpose(x))", _permuted),
    Row("matmul(transpose(a), b)", _folded("transpose_a"), lambda nodes: _swaps_last(nodes[1])),
    Row("matmul(a, transpose(b))", _folded("transpose_b"), lambda nodes: _swaps_last(nodes[1])),
    Row("sum(x)", lambda x: x, lambda node: not node.attrs["axis"]),
    Row("sum(x)", _of_number),
    Row("add_n(x)", lambda x: x),
    Row("add_n(x, y)", lambda node, x, y: _with(node, "add", x, y)),
    Row("concat(x)", lambda x: x),
]  # fmt: skip


def _is_gradient(product: Node, graph: Rewriting) -> bool:
    """Whether the product is `aᵀ g` of matrices, used only by the sum being rewritten."""
    a, g = product.inputs
    turned = product.attrs.get("transpose_a") and not product.attrs.get("transpose_b")
    plain = len(a.shape) == len(g.shape) == 2 and a.dtype.is_floating
    return bool(turned) and plain and graph.is_used_once(product.outputs[0])


def _one_product(node: Node, nodes: tuple[Node, ...], graph: Rewriting) -> list[Node]:
    made = []
    for side in (0, 1):
        rows: list[Value] = []
        for product in nodes[1:]:
            value = product.inputs[side]
            whole = graph.made_by(value, "concat")
            rows += whole.inputs if whole is not None and whole.attrs["axis"] == 0 else [value]
        under = Value((sum(v.shape[0] for v in rows), rows[0].shape[1]), rows[0].dtype)
        made.append(Node(op_named("concat"), tuple(rows), {"axis": 0}, (under,), False, node.line))
    both = tuple(concat.outputs[0] for concat in made)
    return [*made, _with(node, "matmul", *both, transpose_a=True, transpose_b=False)]


FEWER_PRODUCTS = [
    Row(
        "add(matmul(a, g), matmul(b, h))", _one_product,
        lambda nodes, a, b, graph: a.shape[0] + b.shape[0] <= MOST_PENDING_ROWS
        and 4 * min(a.shape[0], b.shape[0]) <= MOST_PENDING_ROWS
        and nodes[1].outputs[0].shape == nodes[2].outputs[0].shape  # neither product is broadcast
        and all(_is_gradient(product, graph) for product in nodes[1:]),
    ),
]  # fmt: skip
