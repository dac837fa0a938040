"""Normalised layers, and their derivatives, as oneDNN computes them: in one pass each.

`(x - mean) / sqrt(variance + epsilon) · scale + shift` is found in whatever way it is written, as are the cotangents of
`x`, the scale and the shift: see `row_forms`. What else uses parts of the formula still finds them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...backends.numpy import onednn
from ...core import dtypes
from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value
from .fused_ops import Joint
from .optimize import dead_code
from .row_forms import CENTRED, INVERSE, RowForms, Terms, alike, monomial

_SMALLEST, _FEWEST = 1 << 15, 8  # elements of an array, and rows; on fewer, NumPy is as fast


def with_normalisations(graph: Graph, smallest: int = _SMALLEST) -> Graph:
    """The graph in which normalised layers and their derivatives are one node each, where oneDNN computes them."""
    names = {node.op.name for node in graph.nodes}
    if "mean" not in names or names.isdisjoint(("rsqrt", "sqrt")) or onednn.version() is None:
        return graph
    means = [node for node in graph.nodes if _is_mean_of_rows(node, smallest)]
    if not means:
        return graph
    search = _Search(graph)
    layers = [layer for node in means if (layer := search.layer(node)) is not None]
    return dead_code(_edited(graph, layers)) if layers else graph


def _is_mean_of_rows(node: Node, smallest: int) -> bool:
    if node.op is not registry.get("mean") or node.inputs[0].dtype is not dtypes.float32:
        return False
    shape = node.inputs[0].shape
    if node.attrs["axis"] != (len(shape) - 1,) or not node.attrs.get("keepdims"):
        return False
    return math.prod(shape) >= smallest and shape[-1] > 1 and math.prod(shape[:-1]) >= _FEWEST


class _Layer(NamedTuple):
    """Where a normalised layer and its derivatives are in a graph, by the numbers of nodes."""

    x: Value
    epsilon: float
    scale: Value | None
    shift: Value | None
    result: int
    cotangent: Value | None = None  # of the result
    of_x: int | None = None
    others: tuple[Value, ...] = ()  # what is added to the cotangent of `x`
    of_scale: int | None = None
    of_shift: int | None = None


class _Search:
    """For layers in a graph."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._makers = {y: node for node in graph.nodes for y in node.outputs}
        self._users: dict[Value, list[int]] = {}
        for i, node in enumerate(graph.nodes):
            for v in node.inputs:
                self._users.setdefault(v, []).append(i)

    def layer(self, mean: Node) -> _Layer | None:
        """The layer whose normalisation begins with this node, if one does."""
        layer = self._found(mean, None)
        if layer is not None and layer.cotangent is None:
            # What comes after may be made of the result again, as the derivative of its square is.
            return self._found(mean, layer.result)
        return layer

    def _found(self, mean: Node, opaque: int | None) -> _Layer | None:
        """The layer; what the node `opaque` makes counts as something of which nothing is known."""
        (x,) = mean.inputs
        forms = RowForms(x, mean.outputs[0])
        results: list[tuple[int, Value | None, Value | None]] = []
        gradients: list[tuple[int, Value, Value | None, tuple[Value, ...]]] = []
        for i, terms in self._polynomials(forms, (x, mean.outputs[0])):
            affine, pulled = _affine(forms, terms), _pulled(forms, terms)
            if affine is not None:
                results.append((i, *affine))
                if None not in affine or i == opaque:
                    forms.forget(self._nodes[i].outputs[0])
            elif pulled is not None:
                gradients.append((i, *pulled))
        if not results or forms.epsilon is None:
            return None
        # What is both scaled and shifted is the whole of it.
        result, scale, shift = max(results, key=lambda found: (sum(v is not None for v in found[1:]), -found[0]))
        layer = _Layer(x, forms.epsilon, scale, shift, result)
        for of_x, g, its_scale, others in gradients:
            if its_scale is scale and of_x > result:
                return self._with_cotangents(forms, layer, g)._replace(of_x=of_x, others=others)
        # The cotangent of the scale may be wanted alone: in a first layer, on data.
        summed = [g for i, g in self._scale_cotangents(forms) if scale is not None and i > result]
        return self._with_cotangents(forms, layer, summed[0]) if summed else layer

    def _with_cotangents(self, forms: RowForms, layer: _Layer, g: Value) -> _Layer:
        """The layer, with the cotangents of scale and shift that come from `g`, as far as they are there."""
        of_scale = [i for i, its in self._scale_cotangents(forms) if its is g and i > layer.result]
        of_shift = [i for i in self._users[g] if self._sums_rows(i) and i > layer.result]
        return layer._replace(
            cotangent=g, of_scale=of_scale[0] if of_scale else None, of_shift=of_shift[0] if of_shift else None
        )

    def _scale_cotangents(self, forms: RowForms) -> Iterator[tuple[int, Value]]:
        """The nodes that sum a cotangent times what is normalised over all rows, and the cotangents."""
        for value, terms in forms.known.items():
            wholes = [letter for found in terms for letter, _ in found if forms.is_whole(letter)]
            if len(wholes) == 1 and alike(terms, {monomial(CENTRED, INVERSE, *wholes): 1.0}):
                for i in self._users.get(value, ()):
                    if value.shape == forms.shape and self._sums_rows(i):
                        yield i, forms.letters[wholes[0]]

    def _polynomials(self, forms: RowForms, start: tuple[Value, ...]) -> Iterator[tuple[int, Terms]]:
        """The nodes that make arrays of the shape, and are polynomials; in order."""
        waiting = sorted({i for v in start for i in self._users.get(v, ())})
        seen = set(waiting)
        while waiting:
            i = heapq.heappop(waiting)
            node = self._nodes[i]
            if len(node.outputs) != 1 or node.outputs[0] in forms.known or node.outputs[0].dtype is not dtypes.float32:
                continue
            terms = forms.add(node, self._makers)
            if terms is None:
                continue
            if node.outputs[0].shape == forms.shape:
                yield i, terms
            for user in self._users.get(node.outputs[0], ()):
                if user not in seen and node.outputs[0] in forms.known:
                    seen.add(user)
                    heapq.heappush(waiting, user)

    def _sums_rows(self, i: int) -> bool:
        node = self._nodes[i]
        return node.op is registry.get("sum") and node.attrs["axis"] == tuple(range(len(node.inputs[0].shape) - 1))


def _affine(forms: RowForms, terms: Terms) -> tuple[Value | None, Value | None] | None:
    """The scale and the shift with which this is what is normalised, or None."""
    scale = shift = None
    complete = False
    for found, factor in terms.items():
        rows = [letter for letter, _ in found if forms.is_row(letter)]
        if factor != 1.0 or len(rows) > 1:
            return None
        row = forms.letters[rows[0]] if rows else None
        if found == monomial(CENTRED, INVERSE, *rows) and not complete:
            complete, scale = True, row
        elif rows and found == monomial(*rows) and shift is None:
            shift = row
        else:
            return None
    return (scale, shift) if complete else None


def _pulled(forms: RowForms, terms: Terms) -> tuple[Value, Value | None, tuple[Value, ...]] | None:
    """The cotangent, and the scale, with which this is the cotangent of `x`; and what is added to it. Or None."""
    for found in terms:
        letters = [letter for letter, _ in found]
        wholes = [letter for letter in letters if forms.is_whole(letter)]
        rows = [letter for letter in letters if forms.is_row(letter)]
        if len(wholes) != 1 or len(rows) > 1 or set(letters) != {INVERSE, *wholes, *rows}:
            continue
        cotangent = monomial(*wholes, *rows)
        mean, slope = forms.sum_of(cotangent), forms.sum_of(monomial(CENTRED, *wholes, *rows))
        whole = {
            monomial(INVERSE, *wholes, *rows): 1.0,
            monomial(INVERSE, mean[0][0]): -1.0 / forms.length,
            monomial(INVERSE, INVERSE, INVERSE, CENTRED, slope[0][0]): -1.0 / forms.length,
        }
        part = {k: terms[k] for k in whole.keys() & terms.keys()}
        others = {k: terms[k] for k in terms.keys() - whole.keys()}
        added = [forms.letters[k[0][0]] for k in others if len(k) == 1 and k[0][1] == 1 and forms.is_whole(k[0][0])]
        if alike(part, whole) and len(added) == len(others) and all(factor == 1.0 for factor in others.values()):
            return forms.letters[wholes[0]], forms.letters[rows[0]] if rows else None, tuple(added)
    return None


def _edited(graph: Graph, layers: list[_Layer]) -> Graph:
    """The graph with nodes for the layers, and for their derivatives."""
    nodes = graph.nodes
    instead: dict[int, list[Node]] = {}
    before: dict[int, list[Node]] = {}
    for layer in layers:
        prepared = onednn.layer_normalisation(layer.x.shape, layer.epsilon)
        if prepared is None:
            continue
        length, rows = layer.x.shape[-1], math.prod(layer.x.shape[:-1])
        scale = _constant(np.ones(length, np.float32)) if layer.scale is None else layer.scale
        shift = _constant(np.zeros(length, np.float32)) if layer.shift is None else layer.shift
        moments = _new(rows), _new(rows)
        y, line = nodes[layer.result].outputs[0], nodes[layer.result].line
        forward = Joint("layer_norm", partial(_forward, prepared))
        instead[layer.result] = [Node(forward, (layer.x, scale, shift), {}, (y, *moments), True, line)]
        if layer.cotangent is None:
            continue
        wanted = [i for i in (layer.of_x, layer.of_scale, layer.of_shift) if i is not None and i not in instead]
        if not wanted:
            continue
        of_rows = [nodes[i].outputs[0] if i in wanted else _new(length) for i in (layer.of_scale, layer.of_shift)]
        as_is = layer.of_x in wanted and not layer.others
        of_x = nodes[layer.of_x].outputs[0] if layer.of_x is not None and as_is else _new(*layer.x.shape)
        back = Joint("layer_norm_gradient", partial(_back, prepared, tuple(v.shape for v in of_rows)))
        given = (layer.cotangent, layer.x, *moments, scale)
        before.setdefault(min(wanted), []).append(Node(back, given, {}, (of_x, *of_rows), True, line))
        instead.update({i: [] for i in wanted})
        if layer.of_x is not None and layer.of_x in wanted:
            instead[layer.of_x] = _added(of_x, layer.others, nodes[layer.of_x])
    made = [new for i, node in enumerate(nodes) for new in (*before.get(i, ()), *instead.get(i, (node,)))]
    return graph.substituted(made)


def _added(value: Value, others: Sequence[Value], last: Node) -> list[Node]:
    """The nodes that add others to a value, and so make what `last` makes."""
    nodes = []
    for i, other in enumerate(others):
        y = last.outputs[0] if i == len(others) - 1 else _new(*value.shape)
        nodes.append(last._replace(op=registry["add"], inputs=(value, other), attrs={}, outputs=(y,)))
        value = y
    return nodes


def _new(*shape: int) -> Value:
    return Value(shape, dtypes.float32)


def _constant(array: Any) -> Value:
    return Value(array.shape, dtypes.float32, array)


def _forward(prepared: onednn.LayerNormalisation, x: Any, scale: Any, shift: Any) -> tuple[Any, Any, Any]:
    if prepared.usable():
        return prepared.forward(x, scale, shift)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    y = (x - mean) / np.sqrt(variance + np.float32(prepared.epsilon)) * scale + shift
    return y, mean.reshape(-1), variance.reshape(-1)


def _back(
    prepared: onednn.LayerNormalisation, shapes: Any, g: Any, x: Any, mean: Any, variance: Any, scale: Any
) -> tuple[Any, Any, Any]:
    if prepared.usable():
        of_x, *of_rows = prepared.back(g, x, mean, variance, scale)
    else:
        inverse = 1 / np.sqrt(variance + np.float32(prepared.epsilon)).reshape(*x.shape[:-1], 1)
        normal, scaled = (x - mean.reshape(inverse.shape)) * inverse, g * scale
        slope = (scaled * normal).mean(-1, keepdims=True)
        of_x = inverse * (scaled - scaled.mean(-1, keepdims=True) - normal * slope)
        of_rows = [v.reshape(-1, x.shape[-1]).sum(0) for v in (g * normal, g)]
    of_scale, of_shift = (v.reshape(shape) for v, shape in zip(of_rows, shapes, strict=True))
    return of_x, of_scale, of_shift
