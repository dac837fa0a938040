"""Where a gradient that exists became nothing: the op whose rule gave zeros, None or numbers that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.backprop import between, sweep
from ..engine.cotangents import Products
from ..engine.log import Log
from ..engine.op import ops, raw
from ..engine.questions import ones
from ..slices import IndexedSlices
from ..tensor import Tensor

_BECAUSE = {
    "relu": "every input of relu that it leads to is negative: a dead ReLU",
    "relu6": "every input of relu6 that it leads to is outside of [0, 6]",
    "sigmoid": "the sigmoid is saturated: its output is exactly 0 or 1",
    "tanh": "the tanh is saturated: its output is exactly -1 or 1",
    "softmax": "the softmax is saturated: one probability is exactly 1",
    "softplus": "the softplus is saturated at 0",
    "maximum": "maximum takes the other argument everywhere: the value is clipped",
    "minimum": "minimum takes the other argument everywhere: the value is clipped",
    "where": "where takes the other branch everywhere",
    "masked": "a mask leaves nothing of it",
    "mul": "it is multiplied by exact zeros",
    "matmul": "it is multiplied by a matrix of exact zeros",
    "sign": "the derivative of sign is zero everywhere",
    "max": "another element is the maximum",
    "min": "another element is the minimum",
    "slice": "only other elements are used",
    "gather": "only other rows are used",
}


def why_zero(log: Log, targets: dict[int, Any], at: int) -> tuple[str, str, int | None]:
    """What became of the cotangents on the way from the targets (by position) to `at`: a cause, a sentence, and where.

    The place is the position of the last op that was given something.
    """
    known, path = cotangents(log, targets, at)
    g = known.get(at)
    state = _state(g)
    if state == "some":
        return "connected", "the target depends on it, and its gradient is not zero", None
    culprit = _last_with(log, known, path, at, state)
    name = "nothing" if culprit is None else log.records[culprit][0].name
    if state == "none":
        return (
            "the rule gives none",
            f"{name} is on the way to the target, and its rule gives no gradient for this argument",
            culprit,
        )
    if state == "not finite":
        return "not finite", "its gradient has infinities or NaNs: tape.diagnose() tells where they come from", None
    because = _BECAUSE.get(name, f"the derivative of {name} is exactly zero there")
    return "zero", f"the target depends on it, but the gradient is zero: {because}", culprit


def cotangents(log: Log, targets: dict[int, Any], at: int) -> tuple[dict[int, Any], list[int]]:
    """The cotangent of every position between `at` and the targets, and these positions."""
    path = between(log.records, targets, {at})
    known = set(path)
    found = {end: (ones(target).array if log.plain else ones(target)) for end, target in targets.items()}
    m = raw if log.plain else ops
    sweep(log.records, found, known, m=m, order=list(reversed(path)), need=known, release=False, hooks={})
    return {p: g for p, g in found.items() if p in known}, path


def _last_with(log: Log, known: dict[int, Any], path: list[int], at: int, state: str) -> int | None:
    """The op nearest to the target that was given a cotangent and handed on `state`, on the way to `at`."""
    below = {at}
    for position in path:  # in order of execution: from `at` to the target
        record = log.records[position]
        if type(record) is not tuple:
            continue
        if any(p in below and _state(known.get(p)) == state for p in record[1]):
            if _state(known.get(position)) == "some":
                return position
            below.add(position)
    return None


def _state(g: Any) -> str:
    """Of a cotangent: none, not finite, zero or some."""
    if g is None:
        return "none"
    if type(g) is Products:
        g = g.value()
    values = g.values if type(g) is IndexedSlices else g
    array = np.asarray(values.array if isinstance(values, Tensor) else values)
    if not np.isfinite(array).all():
        return "not finite"
    return "some" if np.any(array) or not array.size else "zero"
