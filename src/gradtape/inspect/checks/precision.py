"""Finds where a step loses precision: repeats it in float64, and compares by source line.

Errors are those of whole tensors, the norm of the difference divided by that of the exact value, so that single entries
near zero do not dominate. A line is charged with the error it adds: that of its results beyond that of its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ml_dtypes import finfo

from ...core import dtypes
from ...core.protocols import Line
from ..records.reading import Reading, short, source_text
from ..records.repetition import Key, RepeatedStep, Repetition, steps_of
from ..records.tables import Printable, Table

_MANY_ROUNDINGS = 64  # errors below this many units of rounding are normal,
_LARGE_ERROR = 0.05  # unless they are larger than this: in bfloat16, 64 units are half of the value
_ROOM = 2.0  # a loss scale leaves this factor to the largest number


@dataclass
class PrecisionRow:
    """A source line.

    `error` is the relative error of its results, `backward_error` that of the cotangents of its inputs; `added` and
    `backward_added` are the parts that originate here. `underflow` and `overflow` are the fractions of entries, of
    values or cotangents, that wrongly become 0 or infinite here.
    """

    line: Line | None
    ops: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    error: float = 0.0
    added: float = 0.0
    backward_error: float = 0.0
    backward_added: float = 0.0
    underflow: float = 0.0
    overflow: float = 0.0

    @property
    def severity(self) -> float:
        """How harmful the line is: overflow is the worst, and its consequences are not counted separately."""
        return 2.0 if self.overflow else max(min(self.added, 1.0), min(self.backward_added, 1.0), self.underflow)

    @property
    def remark(self) -> str:
        """What happens here, and what helps."""
        if self.overflow:
            return "overflows: compute it in float32, or scale what goes in"
        if self.underflow > max(0.2 * self.added, 0.2 * self.backward_added, 0.01):
            return "underflows to 0: scale the loss, or compute it in float32"
        if self.severity > 0.02:
            return "loses digits: rearrange it, or compute it in float32"
        return ""


@dataclass(frozen=True, repr=False)
class PrecisionAudit(Printable):
    """The result of `tape.audit_precision`: `rows` with the worst line first.

    `lost` is the fraction of entries of half-precision cotangents that are wrongly 0 or infinite, `loss_scale` the
    power of two that preserves most of them when the target is multiplied by it, `lost_scaled` the fraction still lost
    then.
    """

    rows: list[PrecisionRow]
    lost: float
    loss_scale: float
    lost_scaled: float

    @property
    def worst(self) -> PrecisionRow | None:
        """The most harmful line, which has no remark if it does little harm; None if all lines merely round."""
        return self.rows[0] if self.rows and self.rows[0].severity else None

    def tables(self) -> list[Table]:
        """Returns the lines, the worst first."""
        columns = ["line", "source", ">error", ">added", ">backward", ">added", ">underflow", ">overflow", "remark"]
        table = Table("Precision by line, against float64", columns)
        for r in self.rows:
            numbers = [r.error, r.added, r.backward_error, r.backward_added]
            shares = ["" if not share else f"{share:.0%}" for share in (r.underflow, r.overflow)]
            texts = [f"{x:.1g}" if x else "" for x in numbers]
            table.rows.append([short(r.line), source_text(r.line)[:48], *texts, *shares, r.remark])
        if self.lost:
            table.notes.append(
                f"{self.lost:.1%} of the entries of half-precision gradients are lost. A loss scale of "
                f"2**{math.log2(self.loss_scale):.0f} would lose {self.lost_scaled:.1%}."
            )
        return [table]


def audit_precision(tape: Any, target: Any = None, sources: Any = None) -> PrecisionAudit:
    """Finds where the step on `tape` loses precision; see `GradientTape.audit_precision`.

    >>> x = tf.Variable([0.01, 0.02], dtype=tf.float16)
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = 1.0 - tf.cos(x)
    >>> audit = tf.inspect.audit_precision(tape, y, x)
    >>> audit.worst.ops, audit.worst.error > 0.1
    (['cos', 'sub'], True)
    """
    reading = Reading(tape, target, sources, "audit the precision of this tape")
    steps = steps_of(reading)
    narrow, wide = (Repetition(reading, steps, wide) for wide in (False, True))
    forward = _Difference(narrow.values, wide.values)
    backward = _Difference(narrow.cotangents, wide.cotangents)
    rows: dict[Line | None, PrecisionRow] = {}
    entered: dict[Key, tuple[Line | None, float]] = {}
    for step in steps:
        _judge(rows.setdefault(step.line, PrecisionRow(step.line)), step, forward, backward, narrow, entered)
    ordered = sorted(rows.values(), key=lambda row: -row.severity)
    return PrecisionAudit(ordered, *_loss_scale(narrow, wide))


class _Difference:
    """Compares computed with exact numbers, by key."""

    def __init__(self, narrow: dict[Key, Any], wide: dict[Key, Any]) -> None:
        pairs = {key: (np.asarray(narrow[key]), np.asarray(wide[key])) for key in narrow.keys() & wide.keys()}
        self.error = {key: _error(*pair) for key, pair in pairs.items()}
        self.vanished = {key: _share(_find_underflow(x, y)) for key, (x, y) in pairs.items()}
        self.infinite = {key: _share(~np.isfinite(_f64(x)) & np.isfinite(y)) for key, (x, y) in pairs.items()}

    def added(self, after: Iterable[Any], before: Iterable[Any]) -> Iterator[float]:
        """Yields how much worse `after` is than `before`: error, share of zeros, share of infinities."""
        after, before = list(after), list(before)
        for figures in (self.error, self.vanished):
            yield max(0.0, _largest_figures(figures, after) - _largest_figures(figures, before))
        yield 0.0 if _largest_figures(self.infinite, before) else _largest_figures(self.infinite, after)


def _judge(
    row: PrecisionRow, step: RepeatedStep, forward: _Difference, backward: _Difference, narrow: Repetition,
    entered: dict[Key, tuple[Line | None, float]],
) -> None:  # fmt: skip
    """Adds the effects of a step to the row of its line.

    `entered` receives, for each output, its line and the error with which values came to that line: a line of a loop
    may add little in every round, and much in all of them.
    """
    keys = [x for x in step.inputs if isinstance(x, int | tuple)]
    for name, names in ((step.op.name, row.ops), *((d, row.dtypes) for d in _dtypes(step, narrow))):
        if name not in names:
            names.append(name)
    roundings = max((_rounding(narrow.dtypes[key]) for key in step.outputs if key in narrow.dtypes), default=0.0)
    row.error = max(row.error, _largest_figures(forward.error, step.outputs))
    row.backward_error = max(row.backward_error, _largest_figures(backward.error, keys))
    added, zeros, infinities = forward.added(step.outputs, keys)
    before = max((_error_before(key, step.line, forward, entered) for key in keys), default=0.0)
    entered.update((key, (step.line, before)) for key in step.outputs)
    added_by_line = _largest_figures(forward.error, step.outputs) - before
    back_added, back_zeros, back_infinities = backward.added(keys, step.outputs)
    # A rule uses forward values; their errors are not charged to it.
    back_added = min(back_added, row.backward_error - _largest_figures(forward.error, (*keys, *step.outputs)))
    normal = min(_MANY_ROUNDINGS * roundings, _LARGE_ERROR)
    row.added = max(row.added, added if added > normal else 0.0, added_by_line if added_by_line > _LARGE_ERROR else 0.0)
    row.backward_added = max(row.backward_added, back_added if back_added > normal else 0.0)
    row.underflow = max(row.underflow, zeros, back_zeros)
    row.overflow = max(row.overflow, infinities, back_infinities)


def _error_before(
    key: Key, line: Line | None, forward: _Difference, entered: dict[Key, tuple[Line | None, float]]
) -> float:
    """Returns the error of a value or, if the line itself has computed it, of what the line computed it from."""
    own, before = entered.get(key, (None, 0.0))
    return before if key in entered and own == line else forward.error.get(key, 0.0)


def _dtypes(step: RepeatedStep, narrow: Repetition) -> list[str]:
    return [narrow.dtypes[key].name for key in step.outputs if key in narrow.dtypes]


def _rounding(dtype: Any) -> float:
    return float(finfo(dtype.numpy).eps)


def _largest_figures(figures: dict[Key, float], keys: Iterable[Any]) -> float:
    return max((figures.get(key, 0.0) for key in keys), default=0.0)


def _f64(x: Any) -> Any:
    return np.asarray(x, np.float64)


def _error(x: Any, exact: Any) -> float:
    """Returns the norm of the difference divided by that of the exact value, over finite entries."""
    x = _f64(x)
    finite = np.isfinite(x) & np.isfinite(exact)
    size = float(np.linalg.norm(exact[finite]))
    apart = float(np.linalg.norm(x[finite] - exact[finite]))
    return apart / size if size else float(apart > 0)


def _find_underflow(x: Any, exact: Any) -> Any:
    """Returns which entries underflow to 0; entries that cancel are counted as lost digits instead."""
    return (x == 0) & (exact != 0) & (np.abs(exact) < float(finfo(x.dtype).smallest_normal))


def _share(which: Any) -> float:
    return float(np.mean(which)) if which.size else 0.0


def _loss_scale(narrow: Repetition, wide: Repetition) -> tuple[float, float, float]:
    """Returns the fraction of half-precision cotangents lost, the best loss scale, and the fraction lost with it."""
    halves = [key for key in narrow.cotangents if narrow.dtypes[key] is dtypes.float16 and key in wide.cotangents]
    if not halves:
        return 0.0, 1.0, 0.0
    found = np.concatenate([_f64(narrow.cotangents[key]).ravel() for key in halves])
    exact = np.abs(np.concatenate([_f64(wide.cotangents[key]).ravel() for key in halves]))
    lost = _share(((found == 0) & (exact != 0)) | (~np.isfinite(found) & np.isfinite(exact)))
    sizes = exact[np.isfinite(exact) & (exact != 0)]
    if not lost or not sizes.size:
        return lost, 1.0, lost
    half = np.finfo(np.float16)
    scale = 2.0 ** math.floor(math.log2(float(half.max) / _ROOM / float(sizes.max())))
    return lost, scale, float(np.mean(sizes * scale < float(half.smallest_subnormal) / 2))
