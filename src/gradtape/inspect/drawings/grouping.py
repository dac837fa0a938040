"""The tree that a graph is displayed as: nested scopes, repeated blocks, and pieces that fit on a screen.

A group is a contiguous run of records, so that values only flow forward between groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

_MOST_CHILDREN = 40
_LONGEST_BLOCK = 256  # children of a group that are looked at as one block
_LEAST_REPEATS, _LEAST_REPEATED = 3, 12  # blocks, and the nodes in all of them
_NUMBER = re.compile(r"[\s_/.-]*\d+$")

Nodes = Mapping[int, dict[str, Any]]


def tree(paths: Sequence[tuple[int, tuple[str, ...]]], depth: int = 0) -> list[Any]:
    """Builds nested groups `{"name": ..., "children": [...]}` from (id, path) pairs in execution order; leaves are ids.

    >>> tree([(0, ("a",)), (1, ("a", "b")), (2, ("a", "b")), (3, ())])
    [{'name': 'a', 'children': [0, {'name': 'b', 'children': [1, 2]}]}, 3]
    """
    found: list[Any] = []
    for name, run in groupby(paths, key=lambda entry: entry[1][depth] if len(entry[1]) > depth else None):
        members = list(run)
        if name is None:
            found += [at for at, _ in members]
        else:
            found.append({"name": name, "children": tree(members, depth + 1)})
    return found


def fold(children: list[Any], nodes: Nodes) -> list[Any]:
    """Folds repeated blocks into one group, then splits lists that are still long into pieces, at every level.

    >>> nodes = {at: {"op": ("sin", "exp")[at % 2], "kind": "elementwise", "ins": [at - 1]} for at in range(12)}
    >>> [(child["name"], child["repeats"]) for child in fold([*nodes], nodes)]
    [('sin, exp', 6)]
    """
    order = {at: i for i, at in enumerate(ids_below(children))}
    return _folded(children, nodes, order)


def _folded(children: list[Any], nodes: Nodes, order: dict[int, int]) -> list[Any]:
    folded = [
        child | {"children": _folded(child["children"], nodes, order)} if isinstance(child, dict) else child
        for child in children
    ]
    return in_pieces(_fold_repeats(children, folded, nodes, order))


def in_pieces(children: list[Any]) -> list[Any]:
    """Splits a long list of children into groups."""
    while len(children) > _MOST_CHILDREN:
        size = max(8, -(-len(children) // _MOST_CHILDREN))
        pieces = [children[i : i + size] for i in range(0, len(children), size)]
        children = [{"name": _name(piece), "children": piece, "piece": True} for piece in pieces]
    return children


def expand_leaves(children: list[Any], inside: dict[int, dict[str, Any]]) -> list[Any]:
    """Replaces leaves that have contents by groups of their contents and the leaf.

    >>> expand_leaves([0, {"name": "a", "children": [1]}], {1: {"name": "f", "children": [2, 3]}})[1]["children"]
    [{'name': 'f', 'children': [2, 3, 1]}]
    """
    found: list[Any] = []
    for child in children:
        if isinstance(child, dict):
            found.append(child | {"children": expand_leaves(child["children"], inside)})
        elif child in inside:
            found.append(inside[child] | {"children": [*inside[child]["children"], child]})
        else:
            found.append(child)
    return found


def ids_below(children: Sequence[Any]) -> list[int]:
    """Returns the ids of all leaves, in order."""
    found: list[int] = []
    stack = list(reversed(children))
    while stack:
        child = stack.pop()
        if isinstance(child, dict):
            stack += reversed(child["children"])
        else:
            found.append(child)
    return found


def _fold_repeats(originals: list[Any], folded: list[Any], nodes: Nodes, order: dict[int, int]) -> list[Any]:
    """Replaces runs of isomorphic blocks of children by groups; `folded` are the children as they are displayed."""
    if len(folded) < _LEAST_REPEATS:
        return folded
    signatures = [_signature([child], nodes, order) for child in originals]
    found: list[Any] = []
    done = 0
    for start, period, count in sorted(_repeats(signatures)):
        blocks = [range(i, i + period) for i in range(start, start + period * count, period)]
        whole = [_signature([originals[i] for i in block], nodes, order) for block in blocks]
        for _, run in groupby(zip(whole, blocks, strict=True), key=lambda pair: pair[0]):
            alike = [block for _, block in run]
            size = sum(len(ids_below([originals[i]])) for block in alike for i in block)
            if len(alike) < _LEAST_REPEATS or size < _LEAST_REPEATED:
                continue
            found += folded[done : alike[0].start]
            done = alike[-1].stop
            found.append(_repeated([[folded[i] for i in block] for block in alike], nodes))
    return [*found, *folded[done:]]


def _repeated(blocks: list[list[Any]], nodes: Nodes) -> dict[str, Any]:
    stem = ", ".join(_stem(child, nodes) for child in blocks[0][:3]) + (", …" if len(blocks[0]) > 3 else "")
    children = [
        block[0] if len(block) == 1 else {"name": f"{stem} {number}", "children": in_pieces(block), "piece": True}
        for number, block in enumerate(blocks, 1)
    ]
    return {"name": stem, "children": in_pieces(children), "piece": True, "repeats": len(blocks)}


def _stem(child: Any, nodes: Nodes) -> str:
    """Returns the name that blocks share: `dense` of `dense_3`."""
    if isinstance(child, dict):
        return _NUMBER.sub("", child["name"]) or child["name"]
    return str(nodes[child]["op"] if nodes[child]["ins"] else nodes[child]["kind"])


def _signature(children: Sequence[Any], nodes: Nodes, order: dict[int, int]) -> tuple[Any, ...]:
    """Describes blocks up to isomorphism: ops, shapes, dtypes and inner wires, but no names and no outer wires."""
    ids = ids_below(children)
    first, last = order[ids[0]], order[ids[-1]]
    found = []
    for at in ids:
        node = nodes[at]
        here = order[at]
        wires = tuple([here - order[p] for p in node["ins"] if first <= order.get(p, -1) <= last])
        shape = tuple(node.get("shape") or ())
        found.append((node["op"] if node["ins"] else "", node["kind"], shape, node.get("dtype"), wires))
    return tuple(found)


def _repeats(signatures: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Returns runs of repeated blocks that do not overlap, as (start, period, count): the largest, of short periods."""
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(each, len(numbers)) for each in signatures])
    runs = []
    for period in range(1, min(_LONGEST_BLOCK, len(codes) // _LEAST_REPEATS) + 1):
        same = np.concatenate([[0], codes[:-period] == codes[period:], [0]])
        edges = np.flatnonzero(np.diff(same))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            count = (stop - start) // period + 1
            if count >= _LEAST_REPEATS:
                runs.append((-period * count, period, start, count))
    taken = np.zeros(len(codes), bool)
    found = []
    for _, period, start, count in sorted(runs):
        span = slice(start, start + period * count)
        if not taken[span].any():
            taken[span] = True
            found.append((start, period, count))
    return found


def _name(piece: list[Any]) -> str:
    first, last = ids_below(piece[:1])[0], ids_below(piece[-1:])[-1]
    return f"records {first} to {last}"
