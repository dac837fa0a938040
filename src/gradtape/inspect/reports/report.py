"""Writes the graph of a tape or of a traced function as an HTML page, in one file that needs no server.

This module collects the page data; the page itself is `viewer/`: a template, a style sheet and scripts.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ...core.budgets import readable_bytes
from ...core.errors import OpError
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.tape.tape import Tape
from ...graph.ir.graph import Graph
from ...state.archive import replacing
from ..causes.explain import Cause, explain
from ..causes.nonfinite import diagnose
from ..costs.profile import profile
from ..records.event_log import TracingLog
from ..records.layers import layer_paths
from ..records.reading import Reading, line_data, require_path
from .graph_report import call_data, graph_data, kind_of
from .grouping import expand_leaves, tree

_BINS = 24
_VIEWER = ("viewer.css", "model.js", "layout.js", "drawing.js", "panel.js", "hands.js")
_PROBLEMS = {Cause.CONNECTED: None, Cause.ZERO: "zero", Cause.NOT_FINITE: "nan"}  # all others: the gradient is None


def report(subject: Any, path: str | os.PathLike[str], target: Any = None, sources: Any = None) -> Path:
    """Writes a page about a tape, recorded steps, a traced function or its graph to `path`, and returns the path.

    Args:
      subject: a tape created with `trace=True`, the `Steps` of `record_steps`, a concrete function, or its graph.
      path: the HTML file to write.
      target: of a tape, the tensor to be differentiated; by default, that of its last gradient.
      sources: of a tape, what to differentiate with respect to; by default, the sources of its last gradient.

    Returns:
      The path of the file.

    >>> import os, tempfile
    >>> @tf.function
    ... def f(x):
    ...     return tf.reduce_sum(x * x)
    >>> concrete = f.get_concrete_function(tf.TensorSpec([3]))
    >>> page = tf.inspect.report(concrete, os.path.join(tempfile.mkdtemp(), "graph.html"))
    >>> "reduce" in page.read_text() or "sum" in page.read_text()
    True
    """
    require_path(path, "report takes the path of the HTML file first, as in tape.report(path, target, sources)")
    if isinstance(subject, Tape):
        data = tape_data(subject, target, sources)
    elif hasattr(subject, "page_data"):
        data = subject.page_data()
    else:
        graph = subject if isinstance(subject, Graph) else getattr(subject, "graph", None)
        if not isinstance(graph, Graph):
            raise TypeError(
                "report takes a GradientTape, Steps, a concrete function (f.get_concrete_function(...)) or its graph, "
                f"got {type(subject).__name__}"
            )
        data = graph_data(graph)
    return write_page(data, path)


def write_page(data: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Writes the page that shows `data`, atomically: on failure, an existing file at `path` is unchanged."""
    page = Path(path)
    text = render(data).encode("utf-8", "xmlcharrefreplace")  # file names may contain lone surrogates
    try:
        if page.exists() and not page.is_file():  # a pipe or device is written to, not replaced; a folder raises
            page.write_bytes(text)
        else:
            with replacing(page.resolve()) as file:
                file.write(text)
    except (OSError, OpError) as failure:
        error = failure if isinstance(failure, OSError) else failure.__cause__  # `replacing` wraps the system's error
        if not isinstance(error, OSError):
            raise
        raise type(error)(
            error.errno,
            f"Cannot write the report: {error.strerror}. What was there before is unchanged; give report another path",
            str(page),
        ) from error
    return page


def render(data: dict[str, Any]) -> str:
    """Renders the page that shows `data`."""
    viewer = files(__package__).joinpath("viewer")
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {name: viewer.joinpath(name).read_text("utf-8") for name in _VIEWER}
    parts |= {"title": html.escape(str(data["title"])), "data": text}
    template = viewer.joinpath("template.html").read_text("utf-8")
    return re.sub(r"\{\{(.+?)\}\}", lambda found: parts[found[1]], template)  # in one pass: no part can name another


def tape_data(tape: Any, target: Any = None, sources: Any = None) -> dict[str, Any]:
    """Returns the page data of a tape."""
    reading = Reading(tape, target, sources, "draw this tape")
    costs = profile(tape, target, sources)
    cotangents = reading.cotangents
    nodes = {}
    for at, record in enumerate(reading.records):
        if type(record) is not int:
            nodes[at] = _node(reading, at, cotangents, costs.of_records.get(at))
    _mark_exits(reading, nodes)
    problems = [*_missing(tape, reading, target, nodes), *_not_finite(tape, reading, target, sources, nodes)]
    for at in reading.seeds:
        nodes[_first(reading, at)]["target"] = True
    paths = layer_paths(reading, nodes)
    inside = _expand_calls(reading, nodes)
    total = costs.total
    facts = [
        ["operations", str(total.records)],
        ["forward", "" if total.forward is None else _time(total.forward)],
        ["backward", _time(total.backward)],
        ["kept for the gradient", readable_bytes(total.kept)],
        ["target", ", ".join(_value_text(v) for v in reading.target_values)],
    ]
    return {
        "kind": "tape",
        "title": _title(reading),
        "facts": [fact for fact in facts if fact[1]],
        "traced": isinstance(reading.log, TracingLog),
        "nodes": list(nodes.values()),
        "tree": expand_leaves(tree(paths), inside),
        "problems": problems,
        "sources": [_source(reading, name, at, cotangents) for name, _, at in reading.sources],
    }


def _node(reading: Reading, at: int, cotangents: dict[int, Any], cost: Any) -> dict[str, Any]:
    record = reading.records[at]
    count = len(record[3]) if type(record) is tuple and record[3] else 1
    op = reading.operation(at)
    value, gradient = reading.values.get(at), cotangents.get(at)
    shown = value if value is not None else gradient
    node: dict[str, Any] = {
        "id": at,
        "op": op.name if op is not None else reading.name(at),
        "kind": _kind(op, reading, at),
        "ins": sorted({_first(reading, p) for p in reading.parents(at)}),
        "shape": None if shown is None else list(shown.shape),
        "dtype": None if shown is None else str(shown.dtype),
        "onPath": at in cotangents,
        "marks": [],
    }
    if count > 1:
        node["outputs"] = count
    if (line := reading.line(at)) is not None:
        node["line"] = line_data(line)
    if cost is not None:
        node |= {"forward": cost.forward, "backward": cost.backward, "bytes": cost.kept}
    for key, array in (("value", value), ("gradient", gradient)):
        if array is not None and (numbers := _numbers(array)) is not None:
            node[key] = numbers
            if numbers["nan"] or numbers["inf"]:
                entries = f"{numbers['nan']} NaN and {numbers['inf']} infinite entries"
                node["marks"].append(["nan", f"its {key} has {entries}"])
    return node


def _expand_calls(reading: Reading, nodes: dict[int, Any]) -> dict[int, dict[str, Any]]:
    """Adds the nodes inside function calls to `nodes`; returns their groups, by the position of the call."""
    found = {}
    for at in [at for at in nodes if getattr(reading.operation(at), "family", None) == "call"]:
        op, parents, _, outputs = reading.records[at]
        outside = [_first(reading, p) if p >= 0 else None for p in parents]
        first = max(max(nodes) + 1, len(reading.records))
        tree, inner = call_data(op.forward, outside, nodes[at], len(outputs or (None,)), first)
        found[at] = {"name": op.name, "children": tree}
        nodes |= {node["id"]: node for node in inner}
    return found


def _kind(op: Any, reading: Reading, at: int) -> str:
    if op is None:
        return "variable" if any(p == at for _, p in reading.log.variable_positions()) else "input"
    return kind_of(op)


def _first(reading: Reading, at: int) -> int:
    record = reading.records[at]
    return record if type(record) is int else at


def _numbers(array: Any) -> dict[str, Any] | None:
    """Returns a histogram and other statistics of an array."""
    if array.dtype.kind not in "fcV" or not array.size:
        return None
    x = np.abs(array) if array.dtype.kind == "c" else array
    x = np.asarray(x, np.float64).ravel()
    finite = x[np.isfinite(x)]
    found: dict[str, Any] = {
        "nan": int(np.isnan(x).sum()),
        "inf": int(np.isinf(x).sum()),
        "zeros": int((x == 0).sum()),
        "size": int(x.size),
    }
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
        found |= {"low": low, "high": high, "mean": float(finite.mean()), "norm": float(np.linalg.norm(finite))}
        if low < high and math.isfinite(high - low):
            found["bins"] = np.histogram(finite, _BINS, (low, high))[0].tolist()
    return {key: value for key, value in found.items() if not isinstance(value, float) or math.isfinite(value)}


def _source(reading: Reading, name: str, at: int | None, cotangents: dict[int, Any]) -> dict[str, Any]:
    g = None if at is None else cotangents.get(at)
    numbers = None if g is None else _numbers(g)
    return {"name": name, "id": at, "gradient": numbers}


def _mark_exits(reading: Reading, nodes: dict[int, Any]) -> None:
    for at, by in reading.log.disconnections:
        node = nodes.get(_first(reading, at))
        if node is not None:
            how = by if isinstance(by, str) else getattr(by, "name", str(by))
            text = f"its value also goes to {how}, which has no derivative"
            if ["end", text] not in node["marks"]:
                node["marks"].append(["end", text])


def _missing(tape: Any, reading: Reading, target: Any, nodes: dict[int, Any]) -> list[dict[str, Any]]:
    """Explains the sources without a gradient, or with one of zeros."""
    targets = target if target is not None else (reading.log.last_query or [None])[0]
    flat = [source for _, source, _ in reading.sources]
    if (not isinstance(targets, Tensor) and not targets) or any(source is None for source in flat):
        return []
    problems = []
    for reason, (name, _, at) in zip(explain(tape, targets, flat).reasons, reading.sources, strict=True):
        kind = _PROBLEMS.get(reason.cause, "none")
        if kind is None or kind == "nan":
            continue
        problems.append({"kind": kind, "title": name, "text": reason.sentence, "id": at, "line": _line(reason.line)})
        if at in nodes:
            nodes[at]["marks"].append([kind, reason.sentence])
    return problems


def _not_finite(tape: Any, reading: Reading, target: Any, sources: Any, nodes: dict[int, Any]) -> list[dict[str, Any]]:
    found = diagnose(tape, target, sources)
    if found.ok:
        return []
    at = None if found.position is None else _first(reading, found.position)
    if at in nodes:
        nodes[at]["marks"].append(["nan", f"here it began: {found.remedy}"])
    return [{"kind": "nan", "title": found.symptom, "text": str(found), "id": at, "line": _line(found.line)}]


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else line_data(line)


def _title(reading: Reading) -> str:
    lines = [line for at in reading.path if (line := reading.line(at)) is not None]
    return f"A step of {os.path.basename(lines[-1][0])}" if lines else "A gradient tape"


def _value_text(value: Any) -> str:
    return f"{value.reshape(())[()]:.6g}" if value.size == 1 else f"{list(value.shape)} {value.dtype}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
