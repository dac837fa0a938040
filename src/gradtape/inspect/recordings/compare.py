"""Compares two recordings of a step: finds the first difference."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.protocols import Line
from ..records.reading import short, source_text
from .recordings import Recording
from .validation import SavedStep


@dataclass(frozen=True)
class Comparison:
    """The first difference of two recordings; `same` is True if there is none.

    `kind` is "input" (other initial values or constants), "program" (another op, or other attributes or shapes) or
    "value" (the same op gave other numbers).
    """

    same: bool
    kind: str | None = None
    what: str = ""
    lines: tuple[Line | None, Line | None] = (None, None)
    difference: float = 0.0

    def __str__(self) -> str:
        if self.same:
            return "The recordings are the same."
        sides = zip("ab", self.lines, strict=True)
        texts = [f"  {side}: {short(line)}  {source_text(line)}" for side, line in sides if line is not None]
        return "\n".join([f"They diverge in {self.what}.", *texts])


def compare(
    first: str | os.PathLike[str], second: str | os.PathLike[str], tolerance: float = 0.0
) -> Comparison:
    """Finds the first input or op whose values differ by more than `tolerance` times the largest number in them.

    Args:
      first: a file written by `GradientTape.save`.
      second: a recording of the same step from another run or another machine.
      tolerance: the relative difference to ignore.

    Returns:
      A `Comparison`, whose `same` is true if nothing differs.

    >>> import os, tempfile
    >>> def recorded(scale):
    ...     v = tf.Variable([1.0, 2.0], name="v")
    ...     with tf.GradientTape(trace=True) as tape:
    ...         y = tf.reduce_sum(tf.exp(v) * scale)
    ...     return tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v)
    >>> tf.inspect.compare(recorded(2.0), recorded(2.0)).same
    True
    >>> tf.inspect.compare(recorded(2.0), recorded(3.0)).kind
    'input'
    """
    a, b = Recording(first), Recording(second)
    for (key, name), (other, name_there) in zip(a.leaves.items(), b.leaves.items(), strict=False):
        if name != name_there:
            return Comparison(False, "program", f"their leaves: {name} in a, {name_there} in b")
        apart = _compare_values(a.values[key], b.values[other], tolerance)
        if apart is not None:
            return Comparison(False, "input", f"the input {name}: {apart[0]}", difference=apart[1])
    for number, (step, there) in enumerate(zip(a.steps, b.steps, strict=False)):
        lines = (a.line(step.line), b.line(there.line))
        if (change := _compare_steps(step, there, (a, b))) is not None:
            text, inner = change
            return Comparison(False, "program", f"op {number + 1}: {text}", inner or lines)
        for given, other in _constants(step, there):
            apart = _compare_values(a.constants[given], b.constants[other], tolerance)
            if apart is not None:
                what = f"a constant of op {number + 1}, {step.op}: {apart[0]}"
                return Comparison(False, "input", what, lines, apart[1])
        for key, other in zip(step.outputs, there.outputs, strict=True):
            if key in a.values and other in b.values:
                apart = _compare_values(a.values[key], b.values[other], tolerance)
                if apart is not None:
                    return Comparison(False, "value", f"op {number + 1}, {step.op}: {apart[0]}", lines, apart[1])
    if len(a.steps) != len(b.steps):
        return Comparison(False, "program", f"their length: a has {len(a.steps)} ops, b has {len(b.steps)}")
    return _compare_query(a, b, tolerance) or Comparison(True)


def _compare_query(a: Recording, b: Recording, tolerance: float) -> Comparison | None:
    """Returns the first difference in what is differentiated, with which weights, and by what."""
    for what, mine, its in (("targets", a.targets, b.targets), ("sources", a.sources, b.sources)):
        if [_place(a, key) for key in mine] != [_place(b, key) for key in its]:
            return Comparison(False, "program", f"their {what}, which are different values in a and b")
    for number, (weight, other) in enumerate(zip(a.weights, b.weights, strict=True)):
        apart = _compare_values(weight, other, tolerance)
        if apart is not None:
            return Comparison(False, "input", f"the weights of target {number + 1}: {apart[0]}", difference=apart[1])
    return None


def _place(recording: Recording, key: Any) -> Any:
    """Returns which leaf or which output of which step a value is, whatever its key is called."""
    for number, step in enumerate(recording.steps):
        if key in step.outputs:
            return number, list(step.outputs).index(key)
    return recording.leaves.get(key)


_Lines = tuple[Line | None, Line | None]


def _compare_steps(step: SavedStep, there: SavedStep, recordings: tuple[Recording, Recording]) -> Any:
    """Returns how two corresponding steps differ, and the lines if the difference is inside a branch or loop."""
    if step.op != there.op:
        return f"{step.op} in a, {there.op} in b", None
    if _drop_graphs(step.words) != _drop_graphs(there.words):
        given = (recording.attributes(one) for recording, one in zip(recordings, (step, there), strict=True))
        return f"{step.op} with {next(given)} in a, with {next(given)} in b", None
    if len(step.outputs) != len(there.outputs) or len(step.inputs) != len(there.inputs):
        return f"{step.op} of {len(step.inputs)} inputs in a, of {len(there.inputs)} in b", None
    for graph, other in zip(_graphs(step.words), _graphs(there.words), strict=True):
        where = f"inside {step.op}, in its {graph['name']}, "
        for node, its in zip(graph["nodes"], other["nodes"], strict=False):
            lines: _Lines = (recordings[0].line(node[5]), recordings[1].line(its[5]))
            if node[0] != its[0]:
                return f"{where}{node[0]} in a, {its[0]} in b", lines
            if _drop_graphs(node[1:5]) != _drop_graphs(its[1:5]):
                return f"{where}{node[0]} has different inputs or attributes in a and b", lines
        shapes = [[value[:2] for value in one["values"]] for one in (graph, other)]
        if len(graph["nodes"]) != len(other["nodes"]) or shapes[0] != shapes[1]:
            return f"{where}{len(graph['nodes'])} ops in a, {len(other['nodes'])} in b, or different shapes", None
    return None


def _constants(step: SavedStep, there: SavedStep) -> Iterator[tuple[int, int]]:
    """Yields the numbers of the constants that two corresponding steps use, including those in their graphs."""
    for given, other in zip(step.inputs, there.inputs, strict=True):
        if isinstance(given, dict) and isinstance(other, dict):
            yield given["constant"], other["constant"]
    for graph, its in zip(_graphs(step.words), _graphs(there.words), strict=True):
        for (*_, given), (*_, other) in zip(graph["values"], its["values"], strict=True):
            if given is not None and other is not None:
                yield given, other


def _graphs(words: Any) -> Iterator[dict[str, Any]]:
    """Yields the graphs among encoded attributes, including nested ones."""
    if isinstance(words, dict):
        if "nodes" in words:
            yield words
        words = list(words.values())
    if isinstance(words, list):
        for part in words:
            yield from _graphs(part)


def _drop_graphs(words: Any) -> Any:
    """Returns encoded attributes with None in place of graphs."""
    if isinstance(words, dict):
        return None if "nodes" in words else {name: _drop_graphs(part) for name, part in words.items()}
    return list(map(_drop_graphs, words)) if isinstance(words, list) else words


def _compare_values(x: Any, y: Any, tolerance: float) -> tuple[str, float] | None:
    """Returns a description and the size of the difference of two values, or None if they agree."""
    if x.dtype is not y.dtype or x.dims != y.dims:
        return f"{x.dtype.name} of shape {list(x.dims)} in a, {y.dtype.name} of shape {list(y.dims)} in b", float("inf")
    a, b = np.asarray(x.array), np.asarray(y.array)
    if a.dtype.kind not in "fciub" and x.dtype.name != "bfloat16":
        return None if bool(np.all(a == b)) else ("the texts differ", float("inf"))
    same = np.asarray(a == b)  # before they are converted: float64 has not all of int64's numbers
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    same = same | (np.isnan(a) & np.isnan(b))
    if bool(np.all(same)):
        return None
    gaps = np.where(same, 0.0, np.maximum(np.abs(a - b), np.finfo(np.float64).tiny))
    gaps = np.where(np.isnan(gaps), np.inf, gaps)
    index = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    largest = float(np.max(np.abs(np.where(np.isfinite(a), a, 0.0)), initial=0.0))
    if gaps[index] <= tolerance * largest:
        return None
    place = f"at index {tuple(map(int, index))} " if a.ndim else ""
    text = f"{place}a has {a[index]:.9g}, b has {b[index]:.9g}; {int((~same).sum())} of {a.size} numbers differ"
    return text, float(gaps[index])
