"""Where a gradient that exists became nothing: the op whose rule gave zeros, None or numbers that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

from .reading import Reading

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


def why_zero(reading: Reading, at: int) -> tuple[str, str, int | None]:
    """What became of the cotangents on the way from the targets to `at`: a cause, a sentence, and where.

    The place is the position of the last op that was given something.
    """
    known = reading.cotangents
    g = known.get(at)
    state = _state(g)
    if state == "some":
        return "connected", "the target depends on it, and its gradient is not zero", None
    culprit = _last_with(reading, at, state)
    name = "nothing" if culprit is None else reading.operation(culprit).name
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


def _last_with(reading: Reading, at: int, state: str) -> int | None:
    """The op nearest to the target that was given a cotangent and handed on `state`, on the way to `at`."""
    known = reading.cotangents
    below = {at}
    for position in reading.path:  # in order of execution: from `at` to the target
        record = reading.records[position]
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
    if not np.isfinite(g).all():
        return "not finite"
    return "some" if np.any(g) or not g.size else "zero"
