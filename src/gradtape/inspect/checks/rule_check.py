"""Checks every gradient rule on a tape, at the recorded values, against finite differences of its op.

For a record `y = f(x)`, a random cotangent g and a random tangent t, ⟨vjp g, t⟩ must equal the central difference ⟨g,
(f(x + ht) - f(x - ht)) / 2h⟩. The op runs again in float64; the rule runs as the tape would run it, on the saved
residuals. Records that cannot be checked are listed with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import run_silently
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.registry.cotangents import materialize
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.namespace import raw
from ..records.reading import Reading, short
from ..records.tables import Printable, Table

_STEP = 1e-6
_TOLERANCE = {"float64": 1e-6, "complex128": 1e-6, "float32": 1e-3, "complex64": 1e-3}
_ROUGH = 4e-2  # for float16 and bfloat16


@dataclass(frozen=True)
class RuleRow:
    """The result for one record: whether its rule is correct (`ok` is None if that is unknown), and why."""

    position: int
    op: str
    ok: bool | None
    computed: float | None
    expected: float | None
    note: str
    line: Line | None


@dataclass(frozen=True, repr=False)
class RuleCheck(Printable):
    """The result of `tape.check`. `ok` is True if no rule is wrong."""

    rows: list[RuleRow]

    @property
    def ok(self) -> bool:
        """Whether no rule is wrong."""
        return not self.wrong

    @property
    def wrong(self) -> list[RuleRow]:
        """The records whose rules are wrong."""
        return [r for r in self.rows if r.ok is False]

    @property
    def unchecked(self) -> list[RuleRow]:
        """The records that could not be checked."""
        return [r for r in self.rows if r.ok is None]

    def assert_ok(self) -> None:
        """Raises AssertionError with the report if a rule is wrong."""
        if not self.ok:
            raise AssertionError(str(self))

    def tables(self) -> list[Table]:
        """Returns the wrong rules, then the counts of each op."""
        right = Counter(r.op for r in self.rows if r.ok)
        title = f"{sum(right.values())} rules are right, {len(self.wrong)} wrong, {len(self.unchecked)} not checked"
        summary = Table(title, ["op", ">right", ">wrong", ">not checked", "why not"])
        for op in sorted({r.op for r in self.rows}):
            mine = [r for r in self.rows if r.op == op]
            reasons = "; ".join(sorted({r.note for r in mine if r.ok is None}))
            counts = [sum(r.ok is state for r in mine) for state in (True, False, None)]
            summary.rows.append([op, *map(str, counts), reasons])
        if not self.wrong:
            return [summary]
        wrong = Table("WRONG", ["op", "line", ">the rule gives", ">a difference gives", "note"])
        for r in self.wrong:
            wrong.rows.append([r.op, short(r.line), f"{r.computed:.6g}", f"{r.expected:.6g}", r.note])
        return [wrong, summary]


class _NotChecked(Exception):
    """The reason why a record cannot be checked."""


def check_rules(tape: Any, target: Any = None, sources: Any = None, seed: int = 0) -> RuleCheck:
    """Checks every rule recorded on `tape`, or those between `target` and `sources`; see `GradientTape.check`.

    >>> v = tf.Variable([1.0, 2.0])
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(tf.exp(v) * v)
    >>> tf.inspect.check_rules(tape).ok
    True
    """
    reading = Reading(tape, target, sources, "check this tape")
    positions = range(len(reading.records)) if target is None else reading.path
    rng = np.random.default_rng(seed)
    with dispatch.recorded_by(()):
        return RuleCheck([_row(reading, at, rng) for at in positions if type(reading.records[at]) is tuple])


def _row(reading: Reading, at: int, rng: Any) -> RuleRow:
    op = reading.records[at][0]
    line = reading.line(at)
    try:
        computed, expected, tolerance = _compare_rule(reading, at, rng)
    except _NotChecked as reason:
        return RuleRow(at, op.name, None, None, None, str(reason), line)
    ok = abs(computed - expected) <= tolerance
    return RuleRow(at, op.name, bool(ok), computed, expected, "" if ok else _ratio(computed, expected), line)


def _ratio(computed: float, expected: float) -> str:
    if computed == 0 or expected == 0:
        return "one of them is zero"
    return f"the rule's is {computed / expected:.4g} times the other"


def _compare_rule(reading: Reading, at: int, rng: Any) -> tuple[float, float, float]:
    """Returns ⟨vjp g, t⟩, ⟨g, difference⟩ and the tolerance of their difference."""
    op, parents, saved, described = reading.records[at]
    note = reading.log.notes.get(at)
    if note is None:
        raise _NotChecked("its inputs were not noted: make the tape with trace=True")
    _, outputs, _, inputs, attrs = note
    outputs = outputs if type(outputs) is tuple else (outputs,)
    if any(type(x) not in REAL for x in (*inputs, *outputs)):
        raise _NotChecked("it ran on batched or traced values")
    run = _runner(op, inputs, attrs)
    arrays = [np.asarray(x.array) for x in inputs]
    moved = [i for i, p in enumerate(parents) if p >= 0 and arrays[i].dtype.kind in "fcV"]
    if not all(_finite(a) for a in arrays):
        raise _NotChecked("an input is not finite")
    gs = [_noise(rng, np.asarray(y.array)) if y.dtype.differentiable else np.zeros(y.dims) for y in outputs]
    found = run_silently(op.vjp_raw, raw, gs[0] if described is None else tuple(gs), saved, parents)
    cotangents = [_array(g) for g in found]
    tangents = _tangents(arrays, moved, rng, inputs)
    kinds = {x.dtype.name for x in (*inputs, *outputs) if x.dtype.differentiable}
    tolerance = max(_TOLERANCE.get(kind, _ROUGH) for kind in kinds)

    def along(sign: int, step: float) -> float:
        xs = [a if t is None else _wide(a) + sign * step * t for a, t in zip(arrays, tangents, strict=True)]
        ys = run([x if t is not None else _wide(x) for x, t in zip(xs, tangents, strict=True)])
        return sum(_inner(g, y) for g, y in zip(gs, ys, strict=True) if np.asarray(y).dtype.kind in "fcV")

    # A custom gradient's function runs in its own dtype; a cast rounds but is linear, so that any step size will do.
    rough = op.family == "custom" or op.name == "cast"
    step = 1.0 if op.name == "cast" else 1e-3 if rough else _STEP
    plus, here, minus = along(1, step), along(0, step), along(-1, step)
    after, before = (plus - here) / step, (here - minus) / step
    pairs = [(g, t) for g, t in zip(cotangents, tangents, strict=True) if g is not None and t is not None]
    computed = sum(_inner(g, t) for g, t in pairs)
    expected = (plus - minus) / (2 * step)
    if not np.isfinite([computed, expected]).all():
        raise _NotChecked("its derivative is not finite here: tape.diagnose says more")
    size = abs(expected) + sum(float(np.abs(_wide(g) * t).sum()) for g, t in pairs)
    noise = 1e-15 * abs(here) / step if not rough else 1e-6 * abs(here) / step
    allowed = tolerance * size + 10 * noise + 1e-12
    if abs(computed - expected) > allowed and abs(after - before) > allowed:
        raise _NotChecked("it has a kink here")
    return computed, expected, allowed


def _runner(op: Any, inputs: Any, attrs: dict[str, Any]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """Returns a function that runs the op again on other arrays."""
    if getattr(op, "random", False):
        raise _NotChecked("it draws random numbers")
    if op.family == "call":
        raise _NotChecked("a call of a tf.function: tf.config.run_functions_eagerly(True) records what is inside")
    if op.family == "custom":
        if getattr(op, "again", None) is None:
            raise _NotChecked("its function cannot be called again")

        def call(arrays: list[Any]) -> tuple[Any, ...]:
            given = [Tensor(np.asarray(a, x.dtype.numpy)) for a, x in zip(arrays, inputs, strict=True)]
            try:
                return tuple(np.asarray(y.array) for y in op.again(given))
            except Exception as error:
                raise _NotChecked(f"its function raised {type(error).__name__} when called again") from error

        return call

    def run(arrays: list[Any]) -> tuple[Any, ...]:
        try:
            result = run_silently(op.numpy, *arrays, **attrs)
        except Exception as error:
            raise _NotChecked(f"its kernel does not run in float64: {error}") from error
        return result if type(result) is tuple else (result,)

    return run


def _tangents(arrays: list[Any], moved: list[int], rng: Any, inputs: Any) -> list[Any]:
    """Returns a direction for each input on the tape, scaled by its entries; repeated tensors share theirs."""
    made: dict[int, Any] = {}
    found: list[Any] = []
    for i, (a, x) in enumerate(zip(arrays, inputs, strict=True)):
        if i not in moved:
            found.append(None)
            continue
        if id(x) not in made:
            wide = _wide(a)
            typical = float(np.sqrt(np.mean(np.abs(wide) ** 2))) if a.size else 0.0
            made[id(x)] = _noise(rng, wide) * (np.abs(wide) + 1e-2 * (typical or 1.0))
        found.append(made[id(x)])
    return found


def _wide(array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind not in "fcV":
        return array
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _noise(rng: Any, like: Any) -> Any:
    noise = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        noise = noise + 1j * rng.standard_normal(like.shape)
    return np.asarray(noise).astype(like.dtype)


def _inner(a: Any, b: Any) -> float:
    return float(np.real(np.vdot(_wide(a), _wide(b))))


def _finite(array: Any) -> bool:
    return array.dtype.kind not in "fcV" or bool(np.isfinite(array).all())


def _array(g: Any) -> Any:
    return None if g is None else np.asarray(materialize(raw, g))
