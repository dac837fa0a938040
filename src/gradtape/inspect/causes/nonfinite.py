"""Finds the origin of an infinity or NaN: the first op, or gradient rule, that made one from finite values.

A non-finite target is traced back through non-finite values to the op whose inputs are still finite. If the target is
finite and a gradient is not, the sweep is repeated to find the first rule that gives non-finite numbers for a finite
cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np

from ...core.extension_points import public_names
from ...core.protocols import Line
from ...engine.run.dispatch import entry
from ..records.event_log import events
from ..records.html import render_text
from ..records.reading import Reading, short, source_text
from .inside_calls import OPENED, replay_record
from .remedies import Scene, backward_remedy, forward_remedy


@dataclass(frozen=True)
class Diagnosis:
    """The result of a diagnosis; `ok` is True if everything is finite.

    `direction` is "forward" (an op made it), "backward" (a gradient rule did), "outside" (an op off the tape did) or
    "given" (an initial value has it); `values` are the numbers at `index`, by name.
    """

    ok: bool
    symptom: str
    direction: str | None = None
    op: str | None = None
    position: int | None = None
    line: Line | None = None
    index: tuple[int, ...] | None = None
    values: dict[str, float] = field(default_factory=dict)
    count: str = ""
    remedy: str = ""
    where_trap: bool = False
    of_infinities: bool = False

    def __str__(self) -> str:
        if self.ok:
            return self.symptom
        where = "" if self.line is None else f" at {short(self.line)}"
        named = self.op if self.op is None or self.direction == "given" else public_names().public_name(self.op)
        began = {
            "forward": f"It began in {named}{where}, which produced {self.count} from "
            f"{'infinities' if self.of_infinities else 'finite values'}.",
            "backward": f"It began in the backward rule of {named}{where}: finite gradients came in, {self.count} "
            "went out.",
            "outside": f"It was present when recording began: {named}{where} returned {self.count}.",
            "given": f"It was present from the start: {self.op}{where} contains {self.count}.",
            None: "Its origin is unknown: this tape did not keep the intermediate values. Create it with check='nan' "
            "or trace=True.",
        }[self.direction]
        lines = [self.symptom, began]
        if text := source_text(self.line):
            lines.append(f"    {text}")
        if self.values:
            index = f"at index {self.index}: " if self.index else ""
            lines.append(f"  {index}" + ", ".join(f"{name} = {value:.7g}" for name, value in self.values.items()))
        if self.remedy:
            lines.append(self.remedy)
        if self.line is None and self.direction is not None:
            lines.append("GradientTape(trace=True) adds the line of the program.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the symptom, then the cause with its line and values, then the remedy."""
        first, *others = str(self).splitlines()
        paragraphs = [f"<p><b>{render_text(first)}</b></p>"]
        for text in others:
            shown = f"<pre>{escape(text.strip())}</pre>" if text.startswith(" ") else f"<p>{render_text(text)}</p>"
            paragraphs.append(shown)
        return "".join(paragraphs)


@np.errstate(all="ignore")
def diagnose(tape: Any, target: Any = None, sources: Any = None) -> Diagnosis:
    """Finds the origin of the first infinity or NaN between `target` and `sources`; see `GradientTape.diagnose`.

    >>> x = tf.Variable([4.0, 0.0])
    >>> with tf.GradientTape(persistent=True) as tape:
    ...     loss = tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x), 0.0))
    >>> found = tf.inspect.diagnose(tape, loss, x)
    >>> found.op, found.direction, found.where_trap
    ('log', 'backward', True)
    """
    reading = Reading(tape, target, sources, "diagnose this tape")
    bad = [value for value in reading.target_values if not _sound(value)]
    if bad:
        return _forward(reading, f"The target is not finite: {_count(bad[0])}.")
    grads = [(name, reading.cotangents.get(at)) for name, _, at in reading.sources if at is not None]
    for name, g in grads:
        if g is not None and not _sound(g):
            return _backward(reading, f"The target is finite, but the gradient for `{name}` is not: {_count(g)}.")
    return Diagnosis(True, "Everything is finite: the target, and the gradients for all sources.")


def _forward(reading: Reading, symptom: str) -> Diagnosis:
    values = reading.values
    bad = _bad_ancestors(reading, lambda x: not _sound(x))
    for at in sorted(bad):
        if any(p in bad for p in reading.parents(at)):
            continue
        first = reading.first(at)
        if reading.records[at] is None:
            return _diagnose_leaf(reading, symptom, at, values[at], reading.name(at))
        inputs = reading.inputs(first)
        for i, x in enumerate(inputs):
            if x is not None and not _sound(x):
                event = reading.made_outside(first, i)
                is_wanted = not _has_nan(x) and (event is None or event.op.moves_data or event.op.name == "where")
                if is_wanted and (made := _first_nan(reading, symptom)) is not None:
                    return made  # the infinity is intended, for a mask
                if event is not None:
                    return _diagnose_unrecorded(symptom, event, x)
                op = reading.operation(at)
                argument = _argument_names(op, len(inputs))[i]
                name = f"argument {argument} of {public_names().public_name(op.name)}, which is not on the tape,"
                return _diagnose_leaf(reading, symptom, at, x, name)
        hidden = _hidden_overflow(reading, at)
        return _diagnose_op(reading, symptom, at, inputs) if hidden is None else _diagnose_op(reading, symptom, *hidden)
    return Diagnosis(False, symptom)


def _bad_ancestors(reading: Reading, is_bad: Callable[[Any], bool]) -> set[int]:
    """Returns the positions of bad targets, and of their ancestors that are reached through bad values."""
    values = reading.values
    found = {at for at in reading.seeds if at in values and is_bad(values[at])}
    stack = list(found)
    while stack:
        for p in reading.parents(stack.pop()):
            if p not in found and p in values and is_bad(values[p]):
                found.add(p)
                stack.append(p)
    return found


def _first_nan(reading: Reading, symptom: str) -> Diagnosis | None:
    """Finds the first op that made a NaN from numbers and infinities."""
    for at in sorted(_bad_ancestors(reading, _has_nan)):
        if reading.records[at] is not None:
            inputs = reading.inputs(reading.first(at))
            if not any(x is not None and _has_nan(x) for x in inputs):
                return _diagnose_op(reading, symptom, at, inputs)
    return None


_QUOTIENTS = ("div", "reciprocal", "rsqrt", "xdivy", "divide_no_nan")
_FROM_ZERO = ("log", "log2", "log10", *_QUOTIENTS)  # whose infinities come from a zero, and may be intended


def _hidden_overflow(reading: Reading, at: int) -> tuple[int, list[Any]] | None:
    """Finds an ancestor of `at` that overflowed, and its inputs, if a division has turned its infinities into zeros."""
    values, seen, stack = reading.values, {at}, [at]
    while stack:
        here = stack.pop()
        op = reading.operation(here)
        for p in reading.parents(here):
            if p in seen or p not in values:
                continue
            seen.add(p)
            if _sound(values[p]) or getattr(op, "moves_data", False):  # which selects some of the elements
                stack.append(p)
            elif op is not None and op.name in _QUOTIENTS and not _has_nan(values[p]):
                first = _origin_of_infinities(reading, (p,))
                if first is not None and reading.operation(first[0]).name not in _FROM_ZERO:
                    return first
    return None


def _origin_of_infinities(reading: Reading, positions: Iterable[int]) -> tuple[int, list[Any]] | None:
    """Finds the op that made the infinities at one of the positions from finite numbers, and its inputs."""
    behind = [p for p in positions if p in reading.values and not _sound(reading.values[p])]
    while behind and reading.records[at := behind[0]] is not None:
        behind = [p for p in reading.parents(at) if p in reading.values and not _sound(reading.values[p])]
        if not behind:
            inputs = reading.inputs(reading.first(at))
            return (at, inputs) if all(x is not None and _sound(x) for x in inputs) else None
    return None


def _has_nan(array: Any) -> bool:
    return array.dtype.kind in "fcV" and bool(np.isnan(array).any())


def _diagnose_unrecorded(symptom: str, event: Any, value: Any) -> Diagnosis:
    """Reports an op whose inputs are not on the tape."""
    event, last = _likely_origin(event), event
    # The value is that of the last event.
    count = _count(value) if event is last else f"values that led to {_count(value)}"
    remedy = (
        "It is not on the tape, so nothing more is known: tf.debugging.check_numerics finds it in the inputs of that "
        "op."
    )
    return Diagnosis(
        False, symptom, "outside", event.op.name, None, event.line, _first_bad(value), {}, count, remedy
    )


# Ops that can make infinities or NaNs from ordinary numbers; all others propagate what they are given.
_SINGULAR = {
    "log", "log2", "log10", "log1p", "div", "reciprocal", "sqrt", "rsqrt", "power_half", "pow", "exp", "expm1", "acos",
    "asin", "atanh", "acosh", "erfinv", "ndtri", "xdivy", "cholesky", "inv", "solve", "slogdet", "logsumexp",
    "parse_number", "decode_csv", "euclidean_norm",
}  # fmt: skip


def _likely_origin(event: Any) -> Any:
    """Returns the only event behind `event` whose op is known for infinities and NaNs, or else `event` itself.

    The intermediate values are no longer known: if several ops are candidates, none is named.
    """
    if event.op.name in _SINGULAR:
        return event
    found, front = [], [event]
    for _ in range(_STEPS_BACK):
        known = [entry(tracer, events.key) for each in front for tracer in each.inputs]
        behind = [event for event in known if event is not None and event.op]
        found += [e for e in behind if e.op.name in _SINGULAR]
        front = [e for e in behind if e.op.name not in _SINGULAR]
    lines = {e.reference for e in found}
    return found[0] if len(lines) == 1 else event


_STEPS_BACK = 8


def _diagnose_leaf(reading: Reading, symptom: str, at: int, value: Any, name: str) -> Diagnosis:
    is_variable = reading.records[at] is None and any(at == place for _, place in reading.log.variable_positions())
    remedy = (
        "Unless that was its initial value, an earlier update of the variable produced it: lower the learning rate, "
        "clip gradients, or use check='nan' in every step to find the first one."
        if is_variable
        else "Clean the data: tf.debugging.check_numerics finds it in the input pipeline."
    )
    index = _first_bad(value)
    numbers = {"value": value[index].item()}
    # A variable has no line of its own; use that of the first op that reads it.
    line = reading.line(next(reading.users(at), None) if is_variable else at)
    return Diagnosis(False, symptom, "given", name, at, line, index, numbers, _count(value), remedy)


def _diagnose_op(reading: Reading, symptom: str, at: int, inputs: list[Any]) -> Diagnosis:
    op = reading.operation(at)
    record = reading.records[reading.first(at)]
    incoming = [None] * len(record[3] or (None,))
    if op.family in OPENED and (inside := _diagnose_inside(record, incoming, symptom)) is not None:
        return inside
    y = reading.values[at]
    index = _first_bad(y)
    numbers = _at(inputs, index, y.shape, _argument_names(op, len(inputs)))
    scene = Scene(reading, at, op.name, numbers, y.dtype)
    numbers = {**numbers, "result": y[index].item()}
    remedy = forward_remedy(scene)
    infinite = any(x is not None and not _sound(x) for x in inputs)
    return Diagnosis(
        False, symptom, "forward", op.name, at, reading.line(at), index, numbers, _count(y), remedy, False, infinite
    )


def _backward(reading: Reading, symptom: str) -> Diagnosis:
    grads = reading.cotangents
    for at in reversed(reading.path):
        record = reading.records[at]
        if type(record) is not tuple:
            continue
        incoming = [grads.get(i) for i in range(at, at + len(record[3] or (None,)))]
        if all(g is None for g in incoming) or not all(g is None or _sound(g) for g in incoming):
            continue
        if all(p not in grads or _sound(grads[p]) for p in record[1] if p >= 0):
            continue
        for i, contribution in enumerate(reading.vjp(at)):
            if contribution is not None and not _sound(contribution):
                if (origin := _origin_of_infinities(reading, reading.parents(at))) is not None:
                    return _diagnose_op(reading, symptom, *origin)  # the rule only propagates it
                inside = _diagnose_inside(record, incoming, symptom) if record[0].family in OPENED else None
                return inside or _diagnose_rule(reading, symptom, at, i, incoming[0], contribution)
    return Diagnosis(False, f"{symptom} Each rule returns finite numbers; their sum overflows.")


def _diagnose_rule(reading: Reading, symptom: str, at: int, i: int, g: Any, contribution: Any) -> Diagnosis:
    op = reading.operation(at)
    index = _first_bad(contribution)
    inputs = reading.inputs(at)
    names = _argument_names(op, len(inputs))
    numbers = _at(inputs, index, contribution.shape, names)
    incoming = None
    if g is not None and g.shape == contribution.shape:
        incoming = g[index].item()
        numbers["incoming gradient"] = incoming
    zero_came_in = incoming == 0 or (incoming is None and g is not None and not np.all(g) and g.size > 1)
    choice = _choice_after(reading, at) if zero_came_in and np.isnan(contribution[index]) else None
    scene = Scene(reading, at, op.name, numbers, contribution.dtype)
    numbers = {**numbers, f"gradient for {names[i]}": contribution[index].item()}
    if choice is not None:
        chosen, called = (public_names().public_name(name) for name in (reading.operation(choice).name, op.name))
        where = short(reading.line(choice))
        remedy = (
            f"This is the `where` trap: {chosen}{f' at {where}' if where else ''} does not select this value, so it "
            f"receives a gradient of 0; but both branches are computed, the derivative of {called} is "
            "infinite here, and 0 * inf is NaN. Make the input of the op safe, not only its result: "
            f"{_safe_form(op.name)}. Or use tape.gradient(..., nan_safe=True)."
        )
    else:
        remedy = backward_remedy(scene)
    return Diagnosis(
        False, symptom, "backward", op.name, at, reading.line(at), index, numbers, _count(contribution), remedy,
        choice is not None,
    )  # fmt: skip


def _diagnose_inside(record: Any, incoming: list[Any], symptom: str) -> Diagnosis | None:
    """Finds the origin inside a function call, conditional or loop, if its ops can be replayed."""
    op, _, saved, _ = record
    found = replay_record(op, saved, incoming)
    if found is None:
        return None
    tape, lines = found
    diagnosis = diagnose(tape)
    if diagnosis.ok or diagnosis.position is None:
        return None
    where = f"{symptom} It is inside the function {op.name}." if op.family == "call" else symptom
    return replace(diagnosis, symptom=where, line=lines.get(diagnosis.position))


def _safe_form(op: str) -> str:
    called = f"{public_names().public_name(op)}(safe)"
    call = {"div": "1 / safe", "reciprocal": "1 / safe", "pow": "safe ** p"}.get(op, called)
    return f"safe = tf.where(ok, x, 1.0); y = tf.where(ok, {call}, 0.0)"


_CHOICES = ("where", "masked", "maximum", "minimum", "multiply_no_nan", "divide_no_nan", "max", "min", "relu")


def _choice_after(reading: Reading, at: int) -> int | None:
    """Returns the nearest record after `at`, on the path to the target, that selects among its inputs' values."""
    reached = {at}
    for i in reading.path:
        record = reading.records[i]
        if i > at and type(record) is tuple and reached.intersection(record[1]):
            if record[0].name in _CHOICES:
                return i
            reached.add(i)
    return None


def _sound(array: Any) -> bool:
    return array.dtype.kind not in "fcV" or bool(np.isfinite(array).all())


def _first_bad(array: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape))


def _count(array: Any) -> str:
    """Formats a count: `2 NaN and 1 inf among 12 entries`."""
    nan = int(np.isnan(array).sum())
    infinite = int(np.isinf(array).sum())
    kinds = [f"{n} {kind}" for n, kind in ((nan, "NaN"), (infinite, "inf")) if n]
    if array.size == 1:
        return str(array.reshape(())[()])
    return f"{' and '.join(kinds)} among {array.size} entries"


def _argument_names(op: Any, count: int) -> list[str]:
    names = [name for name in getattr(op, "args", ()) if not name.startswith("*")]
    return (names + [f"input {i}" for i in range(len(names), count)])[:count]


def _at(inputs: list[Any], index: tuple[int, ...], shape: tuple[int, ...], names: list[str]) -> dict[str, float]:
    """Returns the inputs' values at `index` of `shape`, for those that broadcast to it."""
    found = {}
    for name, x in zip(names, inputs, strict=True):
        if x is None or x.dtype.kind not in "fciub":
            continue
        try:
            found[name] = np.broadcast_to(x, shape)[index].item()
        except ValueError:
            continue
    return found
