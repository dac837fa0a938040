"""The graph that drawings show of a tape: its nodes with values, cotangents and lines, its wires, groups and sweep.

The report and the picture in a notebook cell share this data; the report adds costs and explanations. Nodes have the
numbers of their positions on the tape, those inside function calls the numbers from the end of the tape on.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from time import perf_counter
from typing import Any

import numpy as np

from ..records.backward_steps import backward_steps
from ..records.event_log import TracingLog
from ..records.layers import layer_paths
from ..records.reading import Reading, array_in_run
from .function_graph import Lines, call_data, kind_of
from .grouping import expand_leaves, fold, tree

_BINS = 24
_OUT_OF_TIME = (
    "Statistics of some values and gradients are left out, as they take long: tape.report(path) has all of them."
)


class TapeGraph:
    """The nodes, tree and sweep of one reading of a tape.

    Where `seconds` are given, `notes` say what is left out: the statistics that are not computed by then, and the rest
    of the sweep where a rule raises an error. Without `histograms` there are no bins.
    """

    def __init__(self, reading: Reading, seconds: float | None = None, histograms: bool = True) -> None:
        self.reading = reading
        self.notes: list[str] = []
        self.lines = Lines()
        start = perf_counter()
        self._sweep_end, self._end = (math.inf, math.inf) if seconds is None else (start + seconds / 2, start + seconds)
        self._bins = _BINS if histograms else 0
        self._gradients: dict[int, dict[str, Any] | None] = {}  # by position; None where nothing flows back
        self._shapes: dict[int, tuple[tuple[int, ...], Any]] = {}  # of cotangents
        self._flow: dict[int, dict[int, float | str]] = {}  # by record and by node that it read
        self.sweep: list[int] = []
        self._path = set(reading.path)
        try:
            self._run_sweep()
        except Exception as error:
            if seconds is None:
                raise
            self.notes.append(f"Gradients are incomplete: a gradient rule raises {type(error).__name__}.")
        self.nodes = {at: self._node(at) for at, record in enumerate(reading.records) if type(record) is not int}
        for at, by in reading.log.disconnections:
            if (node := self.nodes.get(reading.first(at))) is not None:
                how = by if isinstance(by, str) else getattr(by, "name", str(by))
                self.mark(node["id"], "end", f"its value also goes to {how}, which has no derivative")
        for at in reading.seeds:
            self.nodes[reading.first(at)]["target"] = True
        paths = layer_paths(reading, self.nodes)
        inside = self._expand_calls()
        for node in self.nodes.values():
            if (flow := self._flow.get(node["id"])) is not None:
                node["flow"] = [flow.get(p) for p in node["ins"]]
        self.tree = fold(expand_leaves(tree(paths), inside), self.nodes)

    @property
    def data(self) -> dict[str, Any]:
        """The part of the page data that every drawing needs."""
        return {
            "kind": "tape",
            "title": title_of(self.reading),
            "traced": isinstance(self.reading.log, TracingLog),
            "nodes": list(self.nodes.values()),
            "lines": self.lines.data,
            "tree": self.tree,
            "sweep": self.sweep,
            "sources": [
                {"name": name, "id": at, "gradient": None if at is None else self._gradients.get(at)}
                for name, _, at in self.reading.sources
            ],
        }

    def mark(self, at: int | None, kind: str, text: str) -> None:
        """Marks a node: gradients end there (`end`), are missing (`none`), zero (`zero`) or not finite (`nan`)."""
        if at is not None and (node := self.nodes.get(at)) is not None and [kind, text] not in node["marks"]:
            node["marks"].append([kind, text])

    def _has_time(self, end: float) -> bool:
        if perf_counter() < end:
            return True
        if _OUT_OF_TIME not in self.notes:
            self.notes.append(_OUT_OF_TIME)
        return False

    def _run_sweep(self) -> None:
        """Measures every cotangent, and what each record passes on to its inputs."""
        first = self.reading.first
        for at, cotangent, passed in backward_steps(self.reading):
            self._gradients[at] = None
            if cotangent is not None:
                self._gradients[at] = statistics(cotangent, self._bins)
                self._shapes[at] = cotangent.shape, cotangent.dtype
            if type(self.reading.records[at]) is tuple:
                self.sweep.append(at)
                squares: dict[int, list[float]] = defaultdict(list)
                for p, g in passed.items():
                    if g is not None:
                        squares[first(p)].append(norm_of(g))
                self._flow[at] = {p: in_json(math.hypot(*norms)) for p, norms in squares.items()}
            if not self._has_time(self._sweep_end):
                break

    def _node(self, at: int) -> dict[str, Any]:
        reading, gradients = self.reading, self._gradients
        record = reading.records[at]
        op = reading.operation(at)
        value = array_in_run(reading.tensors[at]) if at in reading.tensors and self._has_time(self._end) else None
        shape, dtype = (value.shape, value.dtype) if value is not None else self._shapes.get(at, (None, None))
        node: dict[str, Any] = {
            "id": at,
            "op": op.name if op is not None else reading.name(at),
            "kind": ("variable" if reading.is_variable(at) else "input") if op is None else kind_of(op),
            "ins": sorted({reading.first(p) for p in reading.parents(at)}),
            "shape": None if shape is None else list(shape),
            "dtype": None if dtype is None else str(dtype),
            "onPath": gradients[at] is not None if at in gradients else at in self._path,
            "marks": [],
        }
        if type(record) is tuple and record[3] and len(record[3]) > 1:
            node["outputs"] = len(record[3])
        if (line := reading.line(at)) is not None:
            node["line"] = self.lines.index(line)
        for key, numbers in (
            ("value", None if value is None else statistics(value, self._bins)),
            ("gradient", gradients.get(at)),
        ):
            if numbers is not None:
                node[key] = numbers
                if numbers["nan"] or numbers["inf"]:
                    entries = f"{numbers['nan']} NaN and {numbers['inf']} infinite entries"
                    node["marks"].append(["nan", f"its {key} has {entries}"])
        return node

    def _expand_calls(self) -> dict[int, dict[str, Any]]:
        """Adds the nodes inside function calls; returns their groups, by the position of the call."""
        reading, nodes, found = self.reading, self.nodes, {}
        for at in [at for at in nodes if getattr(reading.operation(at), "family", None) == "call"]:
            op, parents, _, outputs = reading.records[at]
            outside = [reading.first(p) if p >= 0 else None for p in parents]
            first = max(max(nodes) + 1, len(reading.records))
            children, inner = call_data(op.forward, outside, nodes[at], len(outputs or (None,)), first, self.lines)
            found[at] = {"name": op.name, "children": children}
            nodes |= {node["id"]: node for node in inner}
        return found


def title_of(reading: Reading) -> str:
    """Returns the title of a drawing: the file of the step's last line."""
    lines = [line for at in reading.path if (line := reading.line(at)) is not None]
    return f"A step of {os.path.basename(lines[-1][0])}" if lines else "A gradient tape"


def norm_of(array: Any) -> float:
    """Returns the Euclidean norm of an array, which may be NaN or infinite."""
    return float(np.linalg.norm(_magnitudes(array)))


def in_json(number: float) -> float | str:
    """Returns a number as JSON has it, which knows neither NaN nor infinity."""
    return number if math.isfinite(number) else "nan" if math.isnan(number) else "inf"


def statistics(array: Any, bins: int) -> dict[str, Any] | None:
    """Returns counts, extremes, mean and norm of an array, with a histogram of `bins` bins, if any."""
    if array.dtype.kind not in "fcV" or not array.size:
        return None
    x = _magnitudes(array)
    if x.size == 1 and math.isfinite(x[0]):
        number = float(x[0])
        return {
            "nan": 0, "inf": 0, "zeros": int(number == 0), "size": 1,
            "low": number, "high": number, "mean": number, "norm": abs(number),
        }  # fmt: skip
    finite = x[np.isfinite(x)]
    nan = int(np.isnan(x).sum())
    found: dict[str, Any] = {
        "nan": nan,
        "inf": x.size - finite.size - nan,
        "zeros": x.size - int(np.count_nonzero(x)),
        "size": x.size,
    }
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
        found |= {"low": low, "high": high, "mean": float(finite.mean()), "norm": float(np.linalg.norm(finite))}
        if bins and low < high and math.isfinite(high - low):
            found["bins"] = np.histogram(finite, bins, (low, high))[0].tolist()
    return {key: value for key, value in found.items() if not isinstance(value, float) or math.isfinite(value)}


def _magnitudes(array: Any) -> Any:
    """Returns the entries in float64; of complex numbers, their magnitudes."""
    x = np.abs(array) if array.dtype.kind == "c" else array
    return np.asarray(x, np.float64).ravel()
