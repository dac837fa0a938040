"""Writes the graph of a tape or of a traced function as an HTML page, in one file that needs no server.

This module adds costs and explanations to the data that a notebook cell shows too (`inspect/drawings`), which also has
the page.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

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
from ..drawings.function_graph import graph_data
from ..drawings.rendering import page
from ..drawings.tape_graph import TapeGraph
from ..records.reading import Reading, line_data, require_path

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
    file_path = Path(path)
    text = page(data).encode("utf-8")
    try:
        if file_path.exists() and not file_path.is_file():  # a pipe or device is written to; a folder raises
            file_path.write_bytes(text)
        else:
            with replacing(file_path.resolve()) as file:
                file.write(text)
    except (OSError, OpError) as failure:
        error = failure if isinstance(failure, OSError) else failure.__cause__  # `replacing` wraps the system's error
        if not isinstance(error, OSError):
            raise
        raise type(error)(
            error.errno,
            f"Cannot write the report: {error.strerror}. What was there before is unchanged; give report another path",
            str(file_path),
        ) from error
    return file_path


def tape_data(tape: Any, target: Any = None, sources: Any = None) -> dict[str, Any]:
    """Returns the page data of a tape."""
    graph = TapeGraph(Reading(tape, target, sources, "draw this tape"))
    costs = profile(tape, target, sources)
    for at, cost in costs.of_records.items():
        graph.nodes[at] |= {"forward": cost.forward, "backward": cost.backward, "bytes": cost.kept}
    problems = [*_missing(tape, graph, target), *_not_finite(tape, graph, target, sources)]
    total = costs.total
    facts = [
        ["operations", str(total.records)],
        ["forward", "" if total.forward is None else _time(total.forward)],
        ["backward", _time(total.backward)],
        ["kept for the gradient", readable_bytes(total.kept)],
        ["target", ", ".join(_value_text(v) for v in graph.reading.target_values)],
    ]
    return {**graph.data, "facts": [fact for fact in facts if fact[1]], "problems": problems}


def _missing(tape: Any, graph: TapeGraph, target: Any) -> list[dict[str, Any]]:
    """Explains the sources without a gradient, or with one of zeros."""
    reading = graph.reading
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
        graph.mark(at, kind, reason.sentence)
    return problems


def _not_finite(tape: Any, graph: TapeGraph, target: Any, sources: Any) -> list[dict[str, Any]]:
    found = diagnose(tape, target, sources)
    if found.ok:
        return []
    at = None if found.position is None else graph.reading.first(found.position)
    graph.mark(at, "nan", f"here it began: {found.remedy}")
    return [{"kind": "nan", "title": found.symptom, "text": str(found), "id": at, "line": _line(found.line)}]


def _line(line: Line | None) -> dict[str, Any] | None:
    return None if line is None else line_data(line)


def _value_text(value: Any) -> str:
    return f"{value.reshape(())[()]:.6g}" if value.size == 1 else f"{list(value.shape)} {value.dtype}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
