"""Where a gradient that exists became nothing: the op whose rule gave zeros, None or numbers that are not finite.

A gradient of zeros has one of three reasons, and each is tested on the values before it is given. From the source on, a
random tangent is pushed through each op. The first op that makes nothing of it is the cause: its derivative is zero at
these values. Where the tangent goes on, but the gradient that arrives at the numbers it reaches is zero already, the
search goes on with the ops that use them. Otherwise the op's products of gradient and derivative cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...engine.registry.cotangents import finished
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.tape import GradientTape
from ..records.reading import Reading, known_array


def why_zero(reading: Reading, at: int) -> tuple[str, str, int | None]:
    """What became of the cotangents on the way from the targets to `at`: a cause, a sentence, and where.

    That is the position of the op that made it so.
    """
    state = _state(reading.cotangents.get(at))
    if state == "some":
        return "connected", "the target depends on it, and its gradient is not zero", None
    if state == "not finite":
        return "not finite", "its gradient has infinities or NaNs: tape.diagnose() tells where they come from", None
    if state == "none":
        culprit = _last_with(reading, at, state)
        name = "nothing" if culprit is None else reading.operation(culprit).name
        sentence = f"{name} is on the way to the target, and its rule gives no gradient for this argument"
        return "the rule gives none", sentence, culprit
    because, culprit = _why(reading, at)
    return "zero", f"the target depends on it, but the gradient is zero: {because}", culprit


def _why(reading: Reading, at: int) -> tuple[str, int | None]:
    try:
        found = _Search(reading, at).found()
    except Exception:  # a rule of the user's that cannot be differentiated, a batch: less is known then
        found = None
    if found is not None:
        return found
    culprit = _last_with(reading, at, "zero")
    if culprit is None:
        return "the gradient that arrives at it is zero already", None
    name = reading.operation(culprit).name
    return f"a gradient that is not zero arrives at {name}, and what its rule hands on is", culprit


@dataclass(frozen=True)
class _End:
    """An op at which a tangent ends: its derivative there is zero. Its result, and its arguments, as far as known."""

    op: str
    y: Any
    reached: Any  # of the argument: where there was a tangent

    @property
    def saturated(self) -> bool:
        """Whether each row of a softmax has a 1."""
        return self.y is not None and bool(np.all(np.max(self.y, axis=-1) == 1))


def _softmax(end: _End) -> str | None:
    if end.saturated:
        return "the softmax is saturated: one probability is exactly 1"
    if end.y is not None and end.y.shape == end.reached.shape and not np.any(end.y[end.reached]):
        return "the probabilities that softmax gives it are exactly 0"
    return None


# Each is said of an op whose derivative was found to be zero for all numbers that the source leads to.
_BECAUSE: dict[str, str | Callable[[_End], str | None]] = {
    "relu": "every input of relu that it leads to is negative or zero: a dead ReLU",
    "relu6": "every input of relu6 that it leads to is outside of (0, 6)",
    "sigmoid": "the sigmoid is saturated: its output is exactly 0 or 1",
    "tanh": "the tanh is saturated: its output is exactly -1 or 1",
    "softmax": _softmax,
    "softplus": "the softplus is saturated at 0",
    "maximum": "maximum takes the other argument everywhere: the value is clipped",
    "minimum": "minimum takes the other argument everywhere: the value is clipped",
    "where": "where takes the other branch everywhere",
    "masked": "a mask leaves nothing of it",
    "mul": "it is multiplied by exact zeros",
    "matmul": "it is multiplied by exact zeros",
    "sign": "the derivative of sign is zero everywhere",
    "max": "another element is the maximum",
    "min": "another element is the minimum",
    "slice": "only other elements are used",
    "gather_rows": "only other rows are used",
}


class _Search:
    """From a position whose cotangent is zero on towards the target, along a tangent."""

    def __init__(self, reading: Reading, at: int) -> None:
        self.reading = reading
        self.start = at
        self.on_path = set(reading.path)
        self.rng = np.random.default_rng(0)

    def found(self) -> tuple[str, int | None] | None:
        """The reason, and the position of the op."""
        reading = self.reading
        waiting = [(self.start, np.ones(reading.cotangents[self.start].shape, bool))]
        seen = set()
        while waiting:
            at, reached = waiting.pop()
            users = [user for user in reading.users(at) if user in self.on_path]
            if at in reading.seeds and not users:
                return "the gradient that it starts with (output_gradients) is zero there", at
            if (cancelling := self.cancelling(at, reached, users)) is not None:
                return cancelling
            for user in users:
                if user in seen:
                    continue
                seen.add(user)
                tangents = self.pushed(user, at, reached)
                if not any(map(np.any, tangents)):
                    return self.ended(user, reached), user
                alive = [(user + i, t != 0) for i, t in enumerate(tangents) if np.any(t)]
                if any(np.any(self.cotangent(p)[reaches]) for p, reaches in alive):
                    return self.cancelled(user), user
                waiting += alive
        return None

    def cotangent(self, at: int) -> Any:
        """What arrives at a position; for one that nothing arrives at, zero."""
        g = self.reading.cotangents.get(at)
        return np.zeros(1, bool) if g is None else g

    def cancelling(self, at: int, reached: Any, users: list[int]) -> tuple[str, int | None] | None:
        """Whether each of several users hands something on, and only their sum is zero."""
        for user in users:
            parents = self.reading.records[user][1]
            given = [g for p, g in zip(parents, self.reading.vjp(user), strict=True) if p == at and g is not None]
            if (len(users) > 1 or len(given) > 1) and any(np.any(g[reached]) for g in given):
                names = " and ".join(dict.fromkeys(self.reading.operation(user).name for user in users))
                return f"what comes back through its uses ({names}) adds up to zero", user
        return None

    def pushed(self, user: int, at: int, reached: Any) -> list[Any]:
        """The tangents of the outputs of a record, for a random one of the value at `at` where it is `reached`.

        A rule is linear in the cotangent, so its derivative by it is the op's derivative, transposed back.
        """
        op, parents, saved, described = self.reading.records[user]
        count = len(described or (None,))
        with dispatch.recorded_by(()):
            gs = [self._given(user + i, described and described[i]) for i in range(count)]
            with GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(gs)
                asked = tuple(p if p == at else -1 for p in parents)
                found = op.vjp(ops, gs[0] if described is None else tuple(gs), saved, asked)
                handed = [finished(ops, g) for p, g in zip(parents, found, strict=True) if p == at and g is not None]
            tangents = [self._tangent(g, reached) for g in handed]
            found = tape.gradient(handed, gs, tangents) if handed else [None] * count
        shapes = [g.dims for g in gs]
        return [np.zeros(s) if t is None else _dense(t) for t, s in zip(found, shapes, strict=True)]

    def _given(self, at: int, described: Any) -> Tensor:
        """The cotangent at an output, as a tensor of its own."""
        g = self.reading.cotangents.get(at)
        if g is None:
            shape, dtype = described
            return Tensor(np.zeros(shape, dtype.numpy))
        return Tensor(np.array(g))

    def _tangent(self, like: Tensor, reached: Any) -> Tensor:
        noise = 1.0 + self.rng.random(like.dims)
        return Tensor(np.where(reached, noise, 0.0).astype(like.dtype.numpy))

    def ended(self, user: int, reached: Any) -> str:
        name = self.reading.operation(user).name
        because = _BECAUSE.get(name)
        if callable(because):
            because = because(_End(name, self.reading.values.get(user), reached))
        if because is not None:
            return because
        return f"the derivative of {name} is exactly zero for the values that it leads to"

    def cancelled(self, user: int) -> str:
        name = self.reading.operation(user).name
        g = self.cotangent(user)
        if name == "softmax" and np.all(g == g.flat[0]):
            return "the target depends on all outputs of the softmax alike, and they always add up to 1"
        return (
            f"neither the gradient that arrives at {name} nor its derivative is zero, but their products cancel, or "
            f"are too small for {g.dtype}"
        )


def _dense(g: Any) -> Any:
    with dispatch.recorded_by(()):
        return known_array(finished(ops, g))


def _last_with(reading: Reading, at: int, state: str) -> int | None:
    """The op nearest to the target that was given a cotangent and handed on `state`, on the way to `at`."""
    known = reading.cotangents
    below = {at}
    for position in reading.path:  # in order of execution: from `at` to the target
        record = reading.records[position]
        if type(record) is not tuple:
            continue
        if any(p in below and _state(known.get(p)) == state for p in record[1]):
            if any(_state(known.get(i)) == "some" for i in range(position, position + len(record[3] or (None,)))):
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
