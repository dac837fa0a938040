"""The tree that a graph is displayed as: nested scopes, split into pieces that fit on a screen.

A group is a contiguous run of records, so that values only flow forward between groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

_MOST_CHILDREN = 40


def tree(paths: Sequence[tuple[int, tuple[str, ...]]]) -> list[Any]:
    """Builds nested groups `{"name": ..., "children": [...]}` from (id, path) pairs in execution order; leaves are ids.

    >>> tree([(0, ("a",)), (1, ("a", "b")), (2, ("a", "b")), (3, ())])
    [{'name': 'a', 'children': [0, {'name': 'b', 'children': [1, 2]}]}, 3]
    """
    return in_pieces(_level(paths, 0))


def _level(paths: Sequence[tuple[int, tuple[str, ...]]], depth: int) -> list[Any]:
    found: list[Any] = []
    for name, run in groupby(paths, key=lambda entry: entry[1][depth] if len(entry[1]) > depth else None):
        members = list(run)
        if name is None:
            found += [at for at, _ in members]
        else:
            found.append({"name": name, "children": in_pieces(_level(members, depth + 1))})
    return found


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


def _name(piece: list[Any]) -> str:
    first, last = _first(piece[0]), _last(piece[-1])
    return f"records {first} to {last}"


def _first(child: Any) -> int:
    return child if isinstance(child, int) else _first(child["children"][0])


def _last(child: Any) -> int:
    return child if isinstance(child, int) else _last(child["children"][-1])
