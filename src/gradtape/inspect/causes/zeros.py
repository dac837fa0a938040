"""Where a gradient that exists became nothing: the op whose rule gave zeros, None or numbers that are not finite.

A gradient of zeros has one of three reasons, and each is tested on the values before it is given. From the source on, a
random tangent is pushed through each op. The first op that makes nothing of it is the cause: its derivative is zero at
these values. Where the tangent goes on, but the gradient that arrives at the numbers it reaches is zero already, the
search goes on with the ops that use them. Otherwise the op's products of gradient and derivative cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor
from ...engine.registry.cotangents import finished
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.tape import GradientTape
from ..records.reading import Reading, known_array
from .wording import phrase


class Lost(NamedTuple):
    """What became of a gradient: a cause, a sentence, and the position of the op that made it so.

    A zero that is not `lasting` is one of this step: of an optimum, a sum that cancels, a factor that is trained.
    """

    cause: str
    sentence: str
    at: int | None = None
    lasting: bool = True


class Found(NamedTuple):
    """Why a gradient is zero."""

    because: str
    at: int | None
    lasting: bool = True


def why_zero(reading: Reading, at: int) -> Lost:
    """What became of the cotangents on the way from the targets to `at`."""
    state = _state(reading.cotangents.get(at))
    if state == "some":
        return Lost("connected", "the target depends on it, and its gradient is not zero")
    if state == "not finite":
        return Lost("not finite", "its gradient has infinities or NaNs: tape.diagnose() tells where they come from")
    if state == "none":
        if (integers := _integers(reading, at)) is not None:
            op, nth = reading.operation(integers), integers - _first(reading, integers) + 1
            sentence = (
                f"result {nth} of {phrase(op, reading.reference(integers))} is made of integers, as indices are, which "
                "have no derivative. Use its values"
            )
            return Lost("integer", sentence, integers)
        culprit = _last_with(reading, at, state)
        name = "an op" if culprit is None else phrase(reading.operation(culprit), reading.reference(culprit))
        sentence = f"{name} is on the way to the target, and its rule gives no gradient for this argument"
        return Lost("the rule gives none", sentence, culprit)
    found = _why(reading, at)
    inside = "" if found.at is None else f"in {_place(reading, found.at)}, "
    sentence = f"the target depends on it, but the gradient is zero: {inside}{found.because}"
    return Lost("zero", sentence, found.at, found.lasting)


def _place(reading: Reading, at: int) -> str:
    """What an op is called, without what it was given."""
    op = reading.operation(at)
    return phrase(op, reading.reference(at), short=True) if op is not None else reading.name(at)


def _first(reading: Reading, at: int) -> int:
    """The position of the first output of the op that made what stands at `at`."""
    record = reading.records[at]
    return record if type(record) is int else at


def _integers(reading: Reading, at: int) -> int | None:
    """The first output of integers of an op with several on the way from `at`: the indices of a sorting, say."""
    for position in reading.path:
        described = reading.log.several.get(_first(reading, position))
        if position > at and described and not described[position - _first(reading, position)][1].differentiable:
            return position
    return None


def _why(reading: Reading, at: int) -> Found:
    try:
        found = _Search(reading, at).found()
    except Exception:  # a rule of the user's that cannot be differentiated, a batch: less is known then
        found = None
    if found is not None:
        return found
    culprit = _last_with(reading, at, "zero")
    if culprit is None:
        return Found("the gradient that arrives at it is zero already", None)
    name = reading.operation(culprit).name
    return Found(f"a gradient that is not zero arrives at {name}, and what its rule hands on is", culprit)


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


_SMALLER = "Smaller inputs keep it alive, or a loss that takes logits"
_INSIDE = "Keep it within the bounds, or widen them"
_ZEROS = "it is multiplied by exact zeros"
_PRODUCTS = ("mul", "matmul", "contract", "conv", "multiply_no_nan")

# Each is said of an op whose derivative was found to be zero for all numbers that the source leads to.
_BECAUSE: dict[str, str | Callable[[_End], str | None]] = {
    "relu": "every input of relu that it leads to is negative or zero: a dead ReLU. tf.nn.leaky_relu does not die; a "
    "lower learning rate or other initial values help too",
    "relu6": "every input of relu6 that it leads to is outside of (0, 6)",
    "sigmoid": f"the sigmoid is saturated: its output is exactly 0 or 1. {_SMALLER}",
    "tanh": f"the tanh is saturated: its output is exactly -1 or 1. {_SMALLER}",
    "softmax": _softmax,
    "softplus": "the softplus is saturated at 0",
    "maximum": f"maximum takes the other argument everywhere: the value is clipped. {_INSIDE}",
    "minimum": f"minimum takes the other argument everywhere: the value is clipped. {_INSIDE}",
    "where": "where takes the other branch everywhere. Check its condition",
    "masked": "a mask leaves nothing of it. Check the mask",
    "mul": f"{_ZEROS}. Check where they come from",
    "matmul": f"{_ZEROS}. Check where they come from",
    "sign": "the derivative of sign is zero everywhere. x + tf.stop_gradient(tf.sign(x) - x) passes gradients straight "
    "through",
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

    def found(self) -> Found | None:
        """The reason, and the position of the op."""
        reading = self.reading
        waiting = [(self.start, np.ones(reading.cotangents[self.start].shape, bool))]
        seen = set()
        while waiting:
            at, reached = waiting.pop()
            users = [user for user in reading.users(at) if user in self.on_path]
            if at in reading.seeds and not users:
                return Found("the gradient that it starts with (output_gradients) is zero there", at, False)
            if (cancelling := self.cancelling(at, reached, users)) is not None:
                return cancelling
            for user in users:
                if user in seen:
                    continue
                seen.add(user)
                tangents = self.pushed(user, at, reached)
                if not any(map(np.any, tangents)):
                    return self.ended(user, at, reached)
                alive = [(user + i, t != 0) for i, t in enumerate(tangents) if np.any(t)]
                if any(np.any(self.cotangent(p)[reaches]) for p, reaches in alive):
                    return self.cancelled(user)
                waiting += alive
        return None

    def cotangent(self, at: int) -> Any:
        """What arrives at a position; for one that nothing arrives at, zero."""
        g = self.reading.cotangents.get(at)
        return np.zeros(1, bool) if g is None else g

    def cancelling(self, at: int, reached: Any, users: list[int]) -> Found | None:
        """Whether each of several users hands something on, and only their sum is zero."""
        for user in users:
            parents = self.reading.records[user][1]
            given = [g for p, g in zip(parents, self.reading.vjp(user), strict=True) if p == at and g is not None]
            if (len(users) > 1 or len(given) > 1) and any(np.any(g[reached]) for g in given):
                names = " and ".join(dict.fromkeys(self.reading.operation(user).name for user in users))
                return Found(f"what comes back through its uses ({names}) adds up to zero", user, False)
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

    def ended(self, user: int, at: int, reached: Any) -> Found:
        """The derivative of the op at `user` is zero at the values it had."""
        name = self.reading.operation(user).name
        if name in _PRODUCTS and (found := self.by_zeros(user, at)) is not None:
            return found
        return Found(self.because(user, reached), user, self.is_flat(user, at, reached))

    def because(self, user: int, reached: Any) -> str:
        """What is to be said of an op that makes nothing of a tangent."""
        name = self.reading.operation(user).name
        because = _BECAUSE.get(name)
        if callable(because):
            because = because(_End(name, self.reading.values.get(user), reached))
        if because is not None:
            return because
        return f"the derivative of {name} is exactly zero for the values that it leads to"

    def by_zeros(self, product: int, at: int) -> Found | None:
        """What made the factor that is zero, if that is on the tape."""
        made = next((p for p in self.reading.parents(product) if p != at and self.is_zero(p)), None)
        while made is not None and self.reading.records[made] is not None:
            before = next((p for p in self.reading.parents(made) if self.is_zero(p)), None)
            if before is None:
                made = _first(self.reading, made)
                if (said := _BECAUSE.get(self.reading.operation(made).name)) is not None and isinstance(said, str):
                    return Found(said, made, self.is_flat(made))
                return Found(f"{_ZEROS}, which {_place(self.reading, made)} gives", product, self.is_flat(made))
            made = before
        if made is None:
            return None
        return Found(f"{_ZEROS}, the value of {self.reading.name(made)}", product, False)  # which is trained itself

    def is_zero(self, at: int) -> bool:
        """Whether the value at a position is known to be zero in every entry."""
        value = self.reading.values.get(at)
        return value is not None and value.size > 0 and not np.any(value)

    def is_flat(self, user: int, at: int | None = None, reached: Any = True) -> bool:
        """Whether the derivative of an op stays zero when what it was given moves a little: it is no optimum.

        That is its derivative by the value at `at` where it is `reached`, or by all that it was given.
        """
        note = self.reading.log.notes.get(user)
        op, parents, *_ = self.reading.records[user]
        if note is None or getattr(op, "family", None) in ("call", "custom") or getattr(op, "effect", False):
            return True
        with dispatch.recorded_by(()):
            inputs = [self._moved(x) if p >= 0 else x for x, p in zip(note[3], parents, strict=True)]
            wanted = parents if at is None else [p if p == at else -1 for p in parents]
            asked = [x for x, p in zip(inputs, wanted, strict=True) if p >= 0 and x.dtype.differentiable]
            with GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(asked)
                outputs = dispatch.run(op, inputs, note[4])
            found = tape.gradient([y for y in _listed(outputs) if y.dtype.differentiable], asked)
        return not any(g is not None and np.any(np.where(reached, _dense(g), 0)) for g in found)

    def _moved(self, x: Tensor) -> Tensor:
        value = known_array(x)
        if value.dtype.kind != "f":
            return x
        noise = self.rng.uniform(-1e-3, 1e-3, value.shape)
        return Tensor(np.asarray(value + noise * (1 + np.abs(value))).astype(value.dtype))

    def cancelled(self, user: int) -> Found:
        """Something arrives at the op at `user`, its derivative is not zero, and nothing goes on."""
        name = self.reading.operation(user).name
        g = self.cotangent(user)
        if name == "softmax" and np.all(g == g.flat[0]):
            return Found("the target depends on all outputs of the softmax alike, and they always add up to 1", user)
        if any(given is not None and np.any(given) for given in self.reading.vjp(user, scale=_MUCH)):
            return Found(
                f"the gradient that arrives and the derivative are not zero, but their product is too small for "
                f"{g.dtype}. Scale the loss, as tf.keras.mixed_precision.LossScaleOptimizer does, or use float32",
                user,
            )
        return Found(
            f"neither the gradient that arrives at {name} nor its derivative is zero, but their products cancel, or "
            f"are too small for {g.dtype}",
            user,
            False,
        )


_MUCH = 1024.0  # a scale of the loss that saves what underflows


def _listed(outputs: Any) -> tuple[Any, ...]:
    return outputs if type(outputs) is tuple else (outputs,)


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
