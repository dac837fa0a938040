"""Summarizes gradients by variable or layer: their sizes, the share of zeros, and units without a gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.protocols import Line
from ...engine.run.convert import to_tensor
from ..records.reading import Reading, array_in_run, short
from ..records.tables import Printable, Table

_VANISHED, _EXPLODED = 1e-7, 1e3  # limits of a gradient's norm divided by the variable's
_RECTIFIERS = {"relu", "relu6", "where_positive", "masked"}


@dataclass(frozen=True)
class FlowRow:
    """One variable, or all variables of a layer.

    `norm` is None without a gradient; `ratio` is the gradient's norm divided by the value's; `zeros` is the share of
    entries that are 0; `dead` is the share of units, along the last axis of a matrix or kernel, with a gradient of
    zero.
    """

    name: str
    shape: tuple[int, ...] | None
    norm: float | None
    ratio: float | None
    largest: float | None
    zeros: float | None
    dead: float | None
    remark: str = ""


@dataclass(frozen=True)
class ActivationRow:
    """The output of a rectifier: the shares of entries that are 0, and of units that are 0 for all examples."""

    op: str
    line: Line | None
    shape: tuple[int, ...]
    zeros: float
    dead: float


@dataclass(frozen=True, repr=False)
class Flow(Printable):
    """The result of `tape.flow`."""

    rows: list[FlowRow]
    activations: list[ActivationRow]
    by: str
    reading: Reading | None = field(default=None, compare=False)  # what notebooks draw

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the graph with values and gradients, and the tables."""
        from ..drawings.cell import draw

        table = super()._repr_html_()
        return table if self.reading is None else draw(self.reading, table)

    def tables(self) -> list[Table]:
        """Returns the gradients, then the activations."""
        columns = [self.by, "shape", ">gradient norm", ">/ value norm", ">largest", ">zeros", ">dead units", "remark"]
        gradients = Table(f"Gradients by {self.by}", columns)
        for r in self.rows:
            shape = "" if r.shape is None else str(list(r.shape))
            numbers = [_number(r.norm), _number(r.ratio), _number(r.largest), _share(r.zeros), _share(r.dead)]
            gradients.rows.append([r.name, shape, *numbers, r.remark])
        if not self.activations:
            return [gradients]
        outputs = Table("Activations", ["op", "line", "shape", ">zeros", ">dead units"])
        for a in self.activations:
            outputs.rows.append([a.op, short(a.line), str(list(a.shape)), _share(a.zeros), _share(a.dead)])
        return [gradients, outputs]


def flow(tape: Any, target: Any = None, sources: Any = None, by: str = "variable") -> Flow:
    """Tabulates the gradients of `target` with respect to `sources`; see `GradientTape.flow`.

    >>> v = tf.Variable([[1.0, -1.0]], name="v")
    >>> with tf.GradientTape(persistent=True) as tape:
    ...     y = tf.reduce_sum(tf.nn.relu(v))
    >>> row = tf.inspect.flow(tape, y, v).rows[0]
    >>> row.name, row.norm, row.dead
    ('v', 1.0, 0.5)
    """
    if by not in ("variable", "layer"):
        raise ValueError(f"flow is by 'variable' or by 'layer', got {by!r}")
    reading = Reading(tape, target, sources, "show the flow of gradients")
    found = []
    for name, source, at in reading.sources:
        g = None if at is None else reading.cotangents.get(at)
        value = reading.values.get(at) if at is not None else None
        if value is None and source is not None:
            value = array_in_run(to_tensor(source))
        found.append((name, value, g))
    rows = [_of_variable(*entry) for entry in found] if by == "variable" else list(_of_layers(found))
    return Flow(rows, list(_activations(reading)), by, reading)


def _of_variable(name: str, value: Any, g: Any) -> FlowRow:
    shape = None if value is None else value.shape
    if g is None:
        return FlowRow(name, shape, None, None, None, None, None, "no gradient: tape.explain says why")
    norm = _norm([g])
    ratio = None if value is None or not _norm([value]) else norm / _norm([value])
    return FlowRow(name, g.shape, norm, ratio, _largest([g]), _zeros([g]), _dead([g]), _remark([g], norm, ratio))


def _of_layers(found: list[tuple[str, Any, Any]]) -> Iterable[FlowRow]:
    layers: dict[str, list[tuple[Any, Any]]] = {}
    for name, value, g in found:
        layers.setdefault(name.rpartition("/")[0] or name, []).append((value, g))
    for layer, members in layers.items():
        grads = [g for _, g in members if g is not None]
        if not grads:
            yield FlowRow(layer, None, None, None, None, None, None, "no gradient: tape.explain says why")
            continue
        norm, size = _norm(grads), _norm([value for value, _ in members if value is not None])
        ratio = norm / size if size else None
        remark = _remark(grads, norm, ratio)
        yield FlowRow(layer, None, norm, ratio, _largest(grads), _zeros(grads), _dead(grads), remark)


def _remark(grads: list[Any], norm: float, ratio: float | None) -> str:
    if not np.isfinite(norm):
        return "not finite: tape.diagnose says where that began"
    if norm == 0:
        return "all zero"
    if ratio is not None and ratio < _VANISHED:
        return "vanishing"
    if ratio is not None and ratio > _EXPLODED:
        return "very large"
    dead = _dead(grads)
    return "half of the units or more are dead" if dead is not None and dead >= 0.5 else ""


def _activations(reading: Reading) -> Iterable[ActivationRow]:
    for at in reading.path:
        record = reading.records[at]
        if type(record) is not tuple or record[0].name not in _RECTIFIERS or at not in reading.values:
            continue
        y = reading.values[at]
        if y.ndim:
            yield ActivationRow(record[0].name, reading.line(at), y.shape, _zeros([y]), float(_dead_units(y).mean()))


def _dead_units(array: Any) -> Any:
    return ~np.any(array.reshape(-1, array.shape[-1]), axis=0) if array.size else np.zeros(1)


def _norm(arrays: list[Any]) -> float:
    return float(np.sqrt(sum(float(np.sum(np.abs(a.astype(np.complex128)) ** 2)) for a in arrays)))


def _largest(arrays: list[Any]) -> float:
    return max(float(np.abs(a).max(initial=0)) for a in arrays)


def _zeros(arrays: list[Any]) -> float:
    return sum(int((a == 0).sum()) for a in arrays) / max(1, sum(a.size for a in arrays))


def _dead(arrays: list[Any]) -> float | None:
    units = [_dead_units(a) for a in arrays if a.ndim > 1]
    return float(np.concatenate(units).mean()) if units else None


def _number(value: float | None) -> str:
    return "None" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
