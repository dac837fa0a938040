"""The picture of a tape in a notebook cell: the data of a report, bounded in size and in the time they take.

Where scripts do not run, the cell shows tables.
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.run import dispatch
from ..records.event_log import TracingLog
from ..records.never_raises import never_raises
from ..records.reading import Reading
from .grouping import ids_below
from .rendering import cell, in_script
from .tape_graph import TapeGraph, in_json

_SECONDS = 2.0  # for the sweep and the statistics; what is missing then is left out
_MOST_BYTES = 1_800_000  # of the data in a cell
_MOST_NODES = 12_000  # at the first attempt; fewer if they need more bytes
_FEWEST_NODES = 100
_MOST_MARKS = 5  # of a box that stands for a group
_MOST_NAMES = 8  # of sources that are listed
_LONGEST_TEXT = 160  # characters of a name or of a source line
_DIGITS = 5
_ONLY_IN_REPORTS = ("low", "high", "zeros")  # of statistics

_SUMMARIZED = (
    "{:,} of {:,} nodes are left out to keep this output small. Boxes with a dotted outline stand for them: "
    "tape.report(path) has all of them."
)


@never_raises(lambda tape, table: table)
def draw_tape(tape: Any, table: str) -> str:
    """Returns the output of a cell that shows `tape`: of a tape that is not traced, or has no records, the `table`."""
    log = tape._log or tape._past
    if not isinstance(log, TracingLog):
        return table
    reading = Reading(tape, doing="draw this tape")
    return draw(reading, table) if len(reading.records) else table


@never_raises(lambda reading, tables: tables)
def draw(reading: Reading, tables: str) -> str:
    """Returns the output of a cell that draws a reading; `tables` is the HTML shown below the drawing, or instead."""
    if dispatch.thread.trace is not None:  # the sweep would become part of the graph
        return tables
    return cell(cell_data(reading), tables)


def cell_data(reading: Reading, seconds: float = _SECONDS, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """Returns the data of a drawing in a cell: those of a report, without costs, explanations and histograms."""
    graph = TapeGraph(reading, seconds, histograms=False)
    for _, _, at in reading.sources:
        if at is not None and not graph.nodes[reading.first(at)]["onPath"]:
            graph.mark(reading.first(at), "none", "no gradient reaches it: tape.explain says why")
    most, count = _MOST_NODES, len(graph.nodes)
    while True:
        data = {**summarized(graph.data, most), "facts": _facts(graph)}
        left_out = count - len(data["nodes"])
        size = [_SUMMARIZED.format(left_out, count)] if left_out else []
        bounded = _bounded({**data, "notes": [*graph.notes, *size]})
        if most <= _FEWEST_NODES or len(in_script(bounded)) <= most_bytes:
            return bounded  # type: ignore[no-any-return]
        most //= 2


def _facts(graph: TapeGraph) -> list[list[str]]:
    """Returns what a cell says while nothing is selected: target, sources, and those that get no gradient."""
    reading = graph.reading
    values = [f"{value.reshape(())[()]:.6g}" for value in reading.target_values if value.size == 1]
    names = {True: list[str](), False: list[str]()}
    for name, _, at in reading.sources:
        names[at is not None and graph.nodes[reading.first(at)]["onPath"]].append(name)
    facts = [["target", ", ".join(values)], ["sources", _listed(names[True])]]
    if names[False]:
        facts.append(["without a gradient", f"{_listed(names[False])}: tape.explain says why"])
    return facts


def _listed(names: list[str]) -> str:
    return ", ".join([*names[:_MOST_NAMES], *["…"] * (len(names) > _MOST_NAMES)])


def _bounded(value: Any) -> Any:
    """Shortens texts, rounds numbers and drops what is empty."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}…"
    if isinstance(value, dict):
        return {key: _bounded(each) for key, each in value.items() if each is not None and key not in _ONLY_IN_REPORTS}
    return [_bounded(each) for each in value] if isinstance(value, list) else value


def summarized(data: dict[str, Any], most: int) -> dict[str, Any]:
    """Returns the data with `most` nodes or few more: the first inner groups become one node each.

    Such a node has the wires of its members to other nodes, the value of the last member, and their number as `count`.
    """
    excess = len(data["nodes"]) - most
    if excess <= 0:
        return data
    nodes = {node["id"]: node for node in data["nodes"]}
    groups = _Groups(excess)
    tree = groups.close(data["tree"])
    members: dict[int, list[dict[str, Any]]] = {}
    for at in ids_below(data["tree"]):
        members.setdefault(groups.owner(at), []).append(nodes[at])
    shown = [
        _without_members(inside, groups) | ({"op": groups.names[at], "count": len(inside)} if len(inside) > 1 else {})
        for at, inside in members.items()
    ]
    sources = [{**source, "id": groups.owner(source["id"])} for source in data["sources"]]
    sweep = list(dict.fromkeys(map(groups.owner, data["sweep"])))
    return {**data, "nodes": shown, "tree": tree, "sweep": sweep, "sources": sources}


class _Groups:
    """Closes inner groups, from the first on, until there are `excess` fewer nodes."""

    def __init__(self, excess: int) -> None:
        self._excess = excess
        self._owners: dict[int, int] = {}
        self.names: dict[int, str] = {}  # of the closed groups, by the node that stands for them

    def owner(self, at: int) -> int:
        """Returns the node that stands for a node: itself, or that of the outermost closed group."""
        while at in self._owners:
            at = self._owners[at]
        return at

    def close(self, children: list[Any]) -> list[Any]:
        """Returns a tree in which closed groups are leaves."""
        found: list[Any] = []
        for child in children:
            if isinstance(child, dict):
                inner = self.close(child["children"])
                ids = ids_below(inner)
                if self._excess > 0 and len(ids) > 1:
                    self._owners |= dict.fromkeys(ids[:-1], ids[-1])
                    self.names[ids[-1]] = child["name"] + (f", {child['repeats']} times" if "repeats" in child else "")
                    self._excess -= len(ids) - 1
                    inner = ids[-1:]
                is_closed = inner == ids[-1:] and inner[0] in self.names
                child = ids[-1] if is_closed else child | {"children": inner}
            found.append(child)
        return found


def _without_members(members: list[dict[str, Any]], groups: _Groups) -> dict[str, Any]:
    """Returns the last member, with the outer wires and the marks of all."""
    last = members[-1]
    at, norms, marks = last["id"], dict[int, list[Any]](), list[list[str]]()
    for node in members:
        marks += [mark for mark in node["marks"] if mark not in marks]
        for p, norm in zip(node["ins"], node.get("flow") or [None] * len(node["ins"]), strict=True):
            if (owner := groups.owner(p)) != at:
                norms.setdefault(owner, []).append(norm)
    found = {**last, "ins": sorted(norms), "marks": marks[:_MOST_MARKS], "onPath": any(n["onPath"] for n in members)}
    if any(node.get("target") for node in members):
        found["target"] = True
    if any("flow" in node for node in members):
        found["flow"] = [_joint_norm(norms[p]) for p in found["ins"]]
    return found


def _joint_norm(norms: list[float | str | None]) -> float | str | None:
    known = [float(norm) for norm in norms if norm is not None]
    return in_json(math.hypot(*known)) if known else None
