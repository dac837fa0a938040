"""Less work on images that are pooled: what may as well be done to the maxima under the windows, which are fewer.

A rectifier keeps the order of values: max(relu(x)) = relu(max(x)). On the way back a cotangent goes to the place that
won, whose value is the maximum: the rectifier's mask at that place is the one of the maximum. Where the maximum is not
positive the place may be another one, but nothing goes there.

A cotangent goes to one place under its window: the sum of all that arrives in an image is the sum of what was sent.
"""

from __future__ import annotations

from typing import Any

from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value


def rectified_maxima(graph: Graph) -> Graph:
    """The graph in which images that are rectified only to be pooled are pooled first."""
    uses = _Uses(graph)
    instead: dict[int, list[Node]] = {}
    for node in graph.nodes:
        if _is(node, "relu"):
            instead.update(_pooled_first(node, uses))
    if not instead:
        return graph
    return graph.substituted([new for node in graph.nodes for new in instead.get(id(node), (node,))])


def sums_of_sent(graph: Graph) -> Graph:
    """The graph in which sums over whole images of spread cotangents are sums of the cotangents."""
    sent: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if _is(node, "max_pool_back") and not any(map(any, node.attrs["paddings"])):
            sent[node.outputs[0]] = node.inputs[0]
        elif _is(node, "sum") and node.inputs[0] in sent and not node.attrs["keepdims"]:
            space = range(1, len(node.inputs[0].shape) - 1)
            if set(node.attrs["axis"]).issuperset(space):
                node = node._replace(inputs=(sent[node.inputs[0]],))
        nodes.append(node)
    return graph.substituted(nodes)


class _Uses:
    """Which nodes use a value."""

    def __init__(self, graph: Graph) -> None:
        self._nodes: dict[Value, list[Node]] = {}
        self._given_back = set(graph.all_outputs)
        for node in graph.nodes:
            for v in dict.fromkeys(node.inputs):
                self._nodes.setdefault(v, []).append(node)

    def of(self, value: Value) -> list[Node]:
        """The nodes."""
        return self._nodes.get(value, [])

    def is_inside(self, value: Value) -> bool:
        """Whether nobody outside the graph sees it."""
        return value not in self._given_back


def _is(node: Node, name: str) -> bool:
    return node.op is registry.get(name)


def _pooled_first(relu: Node, uses: _Uses) -> dict[int, list[Node]]:
    """What stands instead of nodes, by their `id`, when an image is pooled first; nothing if it has another use too."""
    (x,), (image,) = relu.inputs, relu.outputs
    pools = [node for node in uses.of(image) if _is(node, "max_pool")]
    if len(pools) != 1 or not uses.is_inside(image) or not _sees_image(pools[0].attrs):
        return {}
    (pool,) = pools
    (y,) = pool.outputs
    top = _like(y)
    instead = {
        id(relu): [],
        id(pool): [pool._replace(inputs=(x,), outputs=(top,)), relu._replace(inputs=(top,), outputs=(y,))],
    }
    for place in uses.of(image):
        if not _is(place, "max_pool_place") or place.inputs != (image, y) or place.attrs != pool.attrs:
            continue
        if not uses.is_inside(place.outputs[0]):
            return {}
        instead[id(place)] = [place._replace(inputs=(x, top))]
        for back in uses.of(place.outputs[0]):
            masks = uses.of(back.outputs[0])
            if not _is(back, "max_pool_back") or len(masks) != 1 or not uses.is_inside(back.outputs[0]):
                return {}
            (mask,) = masks
            if not _is(mask, "where_positive") or mask.inputs[1] is not image:
                return {}
            g, sent = back.inputs[0], _like(back.inputs[0])
            instead[id(back)] = []
            instead[id(mask)] = [
                mask._replace(inputs=(g, y), outputs=(sent,)),
                back._replace(inputs=(sent, *back.inputs[1:]), outputs=mask.outputs),
            ]
    return instead if all(id(node) in instead for node in uses.of(image)) else {}


def _like(value: Value) -> Value:
    return Value(value.shape, value.dtype)


def _sees_image(attrs: dict[str, Any]) -> bool:
    """Whether no window lies in the padding, whose maximum is no value of the image."""
    pads = zip(attrs["paddings"], attrs["window"], attrs["dilations"], strict=True)
    return all(max(pad) < n and dilation == 1 for pad, n, dilation in pads)
