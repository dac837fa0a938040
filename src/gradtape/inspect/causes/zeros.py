"""Finds where a gradient vanishes: the op whose rule gives zeros, None or non-finite numbers.

A gradient of zeros has one of three causes, each tested on the recorded values before it is reported. The search pushes
a random tangent from the source through each op. If an op's output tangent is zero, that op is the cause: its
derivative is zero at these values. If the tangent is nonzero but the incoming cotangent is zero wherever it reaches,
the search continues with the ops that use those values. Otherwise the op's products of cotangent and derivative cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor
from ...engine.registry.cotangents import materialize
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.tape import Tape
from ...graph.trace.assigned import assigned
from ..records.event_log import ForwardOp, TracingLog
from ..records.layers import describe_layer
from ..records.reading import Reading, array_in_run
from .messages import phrase
from .rounding import cancelling_op, vanishes

ASSIGNED = (
    "its value was assigned to {}, and gradients stop at assignments: they flow to the variable, not to the assigned "
    "value. Use the value itself, or GradientTape(track_assign=True), which tracks assignments"
)


INTEGER_OUTPUT = "output {} of {} consists of integers, such as indices, which have no derivative. Use its values"


class Stays(Enum):
    """Whether a zero gradient is specific to this step, as at an optimum, or will persist in later steps."""

    NO = "no"  # a sum that cancels, a factor that is trained, a satisfied hinge
    IF_STRUCTURAL = "if it is zero for other values of the variables too"
    WITH_THIS_DATA = "as long as the data is like this"  # a mask, a weight of zero, a ReLU in a small batch
    YES = "yes"


class Lost(NamedTuple):
    """What happened to a gradient: a cause, a sentence, and the position of the responsible op."""

    cause: str
    sentence: str
    at: int | None = None
    stays: Stays = Stays.YES


class Found(NamedTuple):
    """The reason why a gradient is zero."""

    because: str
    at: int | None
    stays: Stays = Stays.YES


def why_zero(reading: Reading, at: int) -> Lost:
    """Explains what happened to the cotangents between the targets and `at`."""
    state = _state(reading.cotangents.get(at))
    if state == "some":
        if (at_op := cancelling_op(reading, at)) is not None:
            return _up_to_rounding(reading, at, at_op)
        return Lost("connected", "the target depends on it, and its gradient is not zero")
    if state == "not finite":
        sentence = "its gradient contains infinities or NaNs: tape.diagnose() shows where they come from"
        return Lost("not finite", sentence)
    if state == "none":
        if (integers := _integers(reading, at)) is not None:
            nth = integers - _first(reading, integers) + 1
            sentence = INTEGER_OUTPUT.format(nth, phrase(reading.operation(integers), reading.reference(integers)))
            return Lost("integer", sentence, integers)
        culprit = _last_with(reading, at, state)
        if culprit is not None and reading.operation(culprit) is assigned:
            return Lost("assign", ASSIGNED.format("a variable"), culprit)
        name = "an op" if culprit is None else phrase(reading.operation(culprit), reading.reference(culprit))
        sentence = f"{name} is on the path to the target, and its gradient function returns None for this argument"
        if culprit is not None and getattr(reading.operation(culprit), "family", None) == "custom":
            sentence += ". Return a gradient for it there (tf.custom_gradient)"
        return Lost("the rule gives none", sentence, culprit)
    found = _why(reading, at)
    inside = "" if found.at is None else f"in {_place(reading, found.at)}, "
    sentence = f"the target depends on it, but the gradient is zero: {inside}{found.because}"
    return Lost("zero", sentence, found.at, found.stays)


def _up_to_rounding(reading: Reading, at: int, user: int) -> Lost:
    """Describes a gradient that consists of rounding errors, left by the derivative of `user`.

    As for exact zeros, it stays if a derivative is zero, or a normalization is over one element. Otherwise a sum
    cancels, such as that of the gradient of a bias before a batch normalization.
    """
    search = _Search(reading, at)
    sentence = f"the target depends on it, but the gradient is zero: in {_place(reading, user)}, "
    if search.is_zero_up_to_rounding(user) or any(map(search.reduces_one_element, search.records_after(user)[:4])):
        sentence += "the terms of the derivative cancel up to rounding errors, as of a normalization over one element"
        return Lost("zero", sentence, user)
    return Lost("zero", f"{sentence}the gradients add up to zero, up to rounding errors", user, Stays.NO)


def _place(reading: Reading, at: int) -> str:
    """Names an op, without its arguments, and its layer."""
    op = reading.operation(at)
    forward = forward_op(reading, at)
    if forward is not None:
        return phrase(forward.op, forward.reference, short=True)
    if op is None:
        return reading.name(at)
    return phrase(op, reading.reference(at), short=True) + describe_layer(reading.log, at)


def forward_op(reading: Reading, at: int) -> ForwardOp | None:
    """Returns the inner tape's op whose gradient rule made the record at a position."""
    return reading.log.forward_ops.get(_first(reading, at)) if isinstance(reading.log, TracingLog) else None


def _first(reading: Reading, at: int) -> int:
    """Returns the position of the first output of the op that produced the value at `at`."""
    record = reading.records[at]
    return record if type(record) is int else at


def _integers(reading: Reading, at: int) -> int | None:
    """Returns the first integer output of a multi-output op on the path from `at`, such as the indices of a sort."""
    for position in reading.path:
        described = reading.log.multi_output.get(_first(reading, position))
        if position > at and described and not described[position - _first(reading, position)][1].differentiable:
            return position
    return None


def _why(reading: Reading, at: int) -> Found:
    try:
        found = _Search(reading, at).search()
    except Exception:  # a user's rule that is not differentiable, a batched tensor: fall back
        found = None
    if found is not None:
        return found
    culprit = _last_with(reading, at, "zero")
    if culprit is None:
        return Found("it receives a gradient of zero", None)
    name = reading.operation(culprit).name
    if isinstance(said := _BECAUSE.get(name), str):
        return Found(said, culprit)
    return Found(f"{name} receives a nonzero gradient, and its rule returns zeros", culprit)


@dataclass(frozen=True)
class _End:
    """An op whose derivative is zero where the tangent arrives: its output, and where its argument is reached."""

    op: str
    y: Any
    reached: Any  # of the argument: where the tangent is nonzero
    axis: int = -1

    @property
    def saturated(self) -> bool:
        """Whether every row of a softmax contains a 1."""
        return self.y is not None and bool(np.all(np.max(self.y, axis=-1) == 1))


_ONE_CLASS = (
    "it is a softmax over one element, which is always 1. Use a sigmoid for two classes and one output, or one output "
    "per class; also check the axis"
)


def _cross_entropy(end: _End) -> str | None:
    return _ONE_CLASS if end.reached.ndim and end.reached.shape[-1] == 1 else None


def _softmax(end: _End) -> str | None:
    if end.y is not None and end.y.ndim and end.y.shape[end.axis] == 1:
        return _ONE_CLASS
    if end.saturated:
        return "the softmax is saturated: one probability is exactly 1"
    if end.y is not None and end.y.shape == end.reached.shape and not np.any(end.y[end.reached]):
        return "its softmax probabilities are exactly 0"
    return None


def constant_derivative(op: Any) -> str:
    """Describes an op whose second derivative is zero, or does not exist."""
    return f"the second derivative of {op.name} is zero, because {op.name} is piecewise linear"


SMOOTH = "Use a smooth function, such as tf.tanh, tf.nn.softplus or tf.nn.gelu"
_SMALLER = "Use smaller inputs, or a loss that takes logits"
_INSIDE = "Keep it within the bounds, or widen them"
_ZEROS = "it is multiplied by exact zeros"
OF_ONE_ELEMENT = (
    "it is normalized over one element, as by BatchNormalization with a batch of one: minus its own mean, it is always "
    "0. Use larger batches, training=False for a single example, or a normalization over other axes"
)
_SATISFIED = "all examples satisfy the margin of this hinge, so they contribute no gradient"
NEVER_BEGINS = (
    "the weights on both sides of a product are all zero, so neither gets a gradient, and training never starts. Use "
    "random initial values, such as Keras' default glorot_uniform, for all but one of them"
)
_MEANS = ("mean", "moments", "variance", "std")
_SUMS = (
    "sum", "mean", "add", "mul", "div", "divide_no_nan", "square", "half_square", "power_2", "reshape", "squeeze",
    "identity", "add_n", "cast",
)  # fmt: skip
_PRODUCTS = ("mul", "matmul", "contract", "conv", "multiply_no_nan", "div", "divide_no_nan")

# Reasons for ops whose derivative was found to be zero at all elements that depend on the source.
_BECAUSE: dict[str, str | Callable[[_End], str | None]] = {
    "relu": "every input of relu that depends on it is negative or zero: a dead ReLU. Use tf.nn.leaky_relu, a lower "
    "learning rate or a different initialization",
    "leaky_relu": "every input of leaky_relu that depends on it is negative, where its slope is 0: a dead ReLU. Set a "
    "nonzero slope (alpha, or Keras' negative_slope)",
    "relu6": "every input of relu6 that depends on it is outside of (0, 6)",
    "sigmoid": f"the sigmoid is saturated: its output is exactly 0 or 1. {_SMALLER}",
    "tanh": f"the tanh is saturated: its output is exactly -1 or 1. {_SMALLER}",
    "softmax": _softmax,
    "log_softmax": _softmax,
    "softmax_cross_entropy": _cross_entropy,
    "sparse_softmax_cross_entropy": _cross_entropy,
    "softplus": "the softplus is saturated at 0",
    "maximum": f"maximum selects the other argument everywhere: the value is clipped. {_INSIDE}",
    "minimum": f"minimum selects the other argument everywhere: the value is clipped. {_INSIDE}",
    "where": "where selects the other branch everywhere. Check its condition",
    "masked": "the mask removes all of it. Check the mask",
    "mul": f"{_ZEROS}. Check where they come from",
    "matmul": f"{_ZEROS}. Check where they come from",
    "sign": "the derivative of sign is zero everywhere. To pass gradients straight through it, use x + "
    "tf.stop_gradient(tf.sign(x) - x)",
    "imag": "the imaginary part of real numbers is always 0. Use tf.math.real or tf.abs",
    "angle": "the angle of real numbers is always 0 or pi. Use tf.math.real or tf.abs",
    "svd": "singular vectors of equal singular values have no derivative, and the rule returns zeros. Use the singular "
    "values alone, or add a small random matrix to separate them",
    "max": "another element is the maximum",
    "min": "another element is the minimum",
    "slice": "only other elements are used",
    "gather_rows": "only other rows are used",
}


class _Search:
    """Searches from a position with a zero cotangent towards the target, along a tangent."""

    def __init__(self, reading: Reading, at: int) -> None:
        self.reading = reading
        self.start = at
        self.on_path = set(reading.path)
        self.rng = np.random.default_rng(0)
        self.masks = {at: np.ones(reading.cotangents[at].shape, bool)}  # by position: where the tangent arrives
        self.ends: list[tuple[int, int, Any]] = []  # ops where it ends: an input, and where the tangent arrives at it

    def search(self) -> Found | None:
        """Returns the reason, with the position of the op.

        Where paths to the target part, each may end in an op of its own. The cause is the last that is on all of them,
        unless it selects or multiplies what another one has ended; or else the first.
        """
        found = self._follow()
        if not self.ends or (found is not None and found.at is not None and self.is_on_all_paths(found.at)):
            return found
        end = next((end for end in reversed(self.ends) if self.is_on_all_paths(end[0])), self.ends[0])
        others = [self.reading.first(p) for p in self.reading.records[end[0]][1] if p >= 0 and p not in self.masks]
        behind = [each for each in self.ends if not {each[0], *self.records_after(each[0])}.isdisjoint(others)]
        return self.explain_end(*(behind[-1] if behind else end))

    def _follow(self) -> Found | None:
        """Follows the tangent until it is gone or a reason is found other than an op where it ends."""
        reading, masks = self.reading, self.masks
        arrived, users = [self.start], set[int]()
        while True:
            for at in arrived:
                after = [user for user in reading.users(at) if user in self.on_path]
                if at in reading.seeds and not after:
                    return Found("the initial gradient (output_gradients) is zero there", at, Stays.NO)
                if (cancelling := self.cancelling(at, masks[at], after)) is not None:
                    return cancelling
                users.update(after)
            if not users:
                return None
            user = min(users)  # in order of execution, so that all of its inputs have been visited
            users.remove(user)
            inputs = [p for p in dict.fromkeys(reading.records[user][1]) if p in masks]
            tangents = [self.push_tangent(user, at, masks[at]) for at in inputs]
            reaches = [np.logical_or.reduce([t != 0 for t in of_output]) for of_output in zip(*tangents, strict=True)]
            alive = {user + i: mask for i, mask in enumerate(reaches) if np.any(mask)}
            if not alive:
                self.ends.append((user, inputs[0], masks[inputs[0]]))
            elif any(np.any(self.cotangent(p)[mask]) for p, mask in alive.items()):
                return self.explain_cancellation(user, inputs[0])
            masks.update(alive)
            arrived = [*alive]

    def is_on_all_paths(self, user: int) -> bool:
        """Whether every path from the start to a target leads through a record."""
        reached = {self.start}
        for at in self.reading.path:
            record = self.reading.records[at]
            if at == user or type(record) is not tuple or reached.isdisjoint(record[1]):
                continue
            reached.update(range(at, at + len(record[3] or (None,))))
        return reached.isdisjoint(self.reading.seeds)

    def cotangent(self, at: int) -> Any:
        """Returns the cotangent at a position, zero if there is none."""
        g = self.reading.cotangents.get(at)
        return np.zeros(1, bool) if g is None else g

    def cancelling(self, at: int, reached: Any, users: list[int]) -> Found | None:
        """Returns a reason if several uses contribute nonzero cotangents whose sum is zero."""
        for user in users:
            parents = self.reading.records[user][1]
            given = [g for p, g in zip(parents, self.reading.vjp(user), strict=True) if p == at and g is not None]
            if (len(users) > 1 or len(given) > 1) and any(np.any(g[reached]) for g in given):
                if (single := next(filter(self.is_of_one_element, users), None)) is not None:
                    return Found(OF_ONE_ELEMENT, single)
                names = " and ".join(dict.fromkeys(self.reading.operation(user).name for user in users))
                return Found(f"the gradients from its uses ({names}) add up to zero", user, Stays.NO)
        return None

    def is_of_one_element(self, user: int) -> bool:
        """Whether a record is the mean of one element, or a normalization over one."""
        inputs = self.reading.inputs(user)
        x, y = inputs[0] if inputs else None, self.reading.values.get(user)
        name = self.reading.operation(user).name
        if x is None or not x.ndim:
            return False
        return (name in _MEANS and y is not None and x.size == y.size) or (name == "layer_norm" and x.shape[-1] == 1)

    def reduces_one_element(self, user: int) -> bool:
        """Whether a record is a sum, mean or norm whose axes have one element."""
        inputs, y = self.reading.inputs(user), self.reading.values.get(user)
        x = inputs[0] if inputs else None
        is_reduction = self.reading.operation(user).name in (*_MEANS, "sum", "max", "norm")
        return is_reduction and x is not None and y is not None and bool(x.ndim) and x.size == y.size

    def is_zero_up_to_rounding(self, user: int) -> bool:
        """Whether the derivative of a record by one of its arguments leaves only rounding errors of any tangent."""
        y = self.reading.values.get(user)
        arguments = dict.fromkeys(p for p in self.reading.records[user][1] if p in self.on_path)
        return any(
            vanishes(self.push_tangent(user, p, np.True_), self.reading.values.get(p), y)
            for p in arguments
        )  # fmt: skip

    def mean_before(self, at: int, steps: int = 3) -> int | None:
        """Returns a mean of one element that a value was computed with, at most `steps` ops back."""
        front = {at}
        for _ in range(steps):
            for each in sorted(front):
                if self.reading.operation(each) is not None and self.is_of_one_element(self.reading.first(each)):
                    return self.reading.first(each)
            front = {p for each in front for p in self.reading.parents(each)}
        return None

    def push_tangent(self, user: int, at: int, reached: Any) -> list[Any]:
        """Returns the output tangents of a record for a random tangent of the value at `at` where it is `reached`.

        A rule is linear in the cotangent, so transposing the VJP gives the JVP (the double-backward trick).
        """
        op, parents, saved, described = self.reading.records[user]
        count = len(described or (None,))
        with dispatch.recorded_by(()):
            gs = [self._given(user + i, described and described[i]) for i in range(count)]
            with Tape(watch_accessed_variables=False) as tape:
                tape.watch(gs)
                asked = tuple(p if p == at else -1 for p in parents)
                found = op.vjp(ops, gs[0] if described is None else tuple(gs), saved, asked)
                handed = [materialize(ops, g) for p, g in zip(parents, found, strict=True) if p == at and g is not None]
            tangents = [self._tangent(g, reached) for g in handed]
            found = tape.vjp(handed, tangents, gs) if handed else [None] * count
        shapes = [g.dims for g in gs]
        return [np.zeros(s) if t is None else _dense(t) for t, s in zip(found, shapes, strict=True)]

    def _given(self, at: int, described: Any) -> Tensor:
        """Returns the cotangent of an output as a new tensor."""
        g = self.reading.cotangents.get(at)
        if g is None:
            shape, dtype = described
            return Tensor(np.zeros(shape, dtype.numpy))
        return Tensor(np.array(g))

    def _tangent(self, like: Tensor, reached: Any) -> Tensor:
        noise: Any = 1.0 + self.rng.random(like.dims)
        if np.dtype(like.dtype.numpy).kind == "c":  # neither part may be lost in an op that takes the other
            noise = noise + 1j * (1.0 + self.rng.random(like.dims))
        return Tensor(np.where(reached, noise, 0.0).astype(like.dtype.numpy))

    def explain_end(self, user: int, at: int, reached: Any) -> Found:
        """Explains an op whose derivative is zero at the recorded values."""
        name = self.reading.operation(user).name
        if name in _PRODUCTS and (found := self.by_zeros(user, at)) is not None:
            return found
        if self.is_hinge(user):
            return Found(_SATISFIED, user, Stays.NO)
        if (stuck := self.stuck_at_zero(user, at)) is not None:
            return stuck
        if not self.is_flat(user, at, reached):
            single = self.mean_before(user)
            return (
                Found(self.because(user, at, reached), user, Stays.IF_STRUCTURAL)
                if single is None
                else Found(OF_ONE_ELEMENT, single)
            )
        if self.is_of_one_element(user):
            return Found(OF_ONE_ELEMENT, user)
        x = self.reading.values.get(at)
        is_small_batch = x is not None and x.ndim > 1 and x.shape[0] < _MANY_EXAMPLES
        depends_on_data = name in _PRODUCTS or name in ("where", "masked") or is_small_batch
        return Found(self.because(user, at, reached), user, Stays.WITH_THIS_DATA if depends_on_data else Stays.YES)

    def is_hinge(self, user: int) -> bool:
        """Whether a record is a satisfied hinge: a margin clipped at zero that the target only sums.

        Such a loss is at its minimum.
        """
        name = self.reading.operation(user).name
        y = self.reading.values.get(user)
        if name not in ("relu", "maximum") or y is None or np.any(y):
            return False
        before, names = {user}, set[str]()
        for _ in range(4):
            before = {p for each in before for p in self.reading.parents(each)}
            names.update(op.name for each in before if (op := self.reading.operation(each)) is not None)
        if names.isdisjoint(("sub", "squared_difference")) and not names.issuperset(("neg", "add")):
            return False
        after = [self.reading.operation(each).name for each in self.records_after(user)]
        # A single margin is not summed; `relu` of a scalar may as well be a unit of the network.
        is_loss = not {"sum", "mean"}.isdisjoint(after) or (name == "maximum" and not y.ndim)
        return is_loss and all(name in _SUMS for name in after)

    def records_after(self, at: int) -> list[int]:
        """Returns the records on the path from a position to the targets."""
        found, reached = [], {at}
        for each in self.reading.path:
            record = self.reading.records[each]
            if each > at and type(record) is tuple and not reached.isdisjoint(record[1]):
                reached.update(range(each, each + len(record[3] or (None,))))
                found.append(each)
        return found

    def stuck_at_zero(self, user: int, at: int) -> Found | None:
        """Explains a ReLU of exact zeros, caused by a zero variable that stays zero because this derivative is zero."""
        if self.reading.operation(user).name not in ("relu", "relu6") or not self.is_zero(at):
            return None
        leaf = self.zero_leaf(at)
        return Found(NEVER_BEGINS, user) if leaf is not None and self.gets_nothing(leaf) else None

    def zero_leaf(self, at: int) -> int | None:
        """Returns the leaf that a value of zeros originates from."""
        while self.reading.records[at] is not None:
            before = next((p for p in self.reading.parents(at) if self.is_zero(p)), None)
            if before is None:
                return None
            at = before
        return at

    def gets_nothing(self, leaf: int) -> bool:
        """Whether a leaf is a source whose gradient is zero as well."""
        g = self.reading.cotangents.get(leaf)
        return g is not None and not np.any(g)

    def because(self, user: int, at: int, reached: Any) -> str:
        """Returns the explanation of an op whose output tangent is zero."""
        name = self.reading.operation(user).name
        forward = forward_op(self.reading, user)
        if forward is not None and self.reading.records[user][1].index(at) in forward.saved:
            return f"{constant_derivative(forward.op)}. {SMOOTH}"
        if forward is not None:
            name = forward.op.name
        because = _BECAUSE.get(name)
        if callable(because):
            note = self.reading.log.notes.get(user)
            axis = -1 if note is None else note[4].get("axis", -1)
            because = because(_End(name, self.reading.values.get(user), reached, axis))
        if because is not None:
            return because
        return f"the derivative of {name} is exactly zero for the values that depend on it"

    def by_zeros(self, product: int, at: int) -> Found | None:
        """Explains a product by the producer of its zero factor, if that is on the tape."""
        made = next((p for p in self.reading.parents(product) if p != at and self.is_zero(p)), None)
        while made is not None and self.reading.records[made] is not None:
            before = next((p for p in self.reading.parents(made) if self.is_zero(p)), None)
            if before is None:
                if (single := self.mean_before(made)) is not None:
                    return Found(OF_ONE_ELEMENT, single)
                made = _first(self.reading, made)
                y = self.reading.values[made]
                is_small_batch = y.ndim > 1 and y.shape[0] < _MANY_EXAMPLES
                lasts = Stays.WITH_THIS_DATA if is_small_batch else Stays.YES
                stays = lasts if self.is_flat(made) else Stays.IF_STRUCTURAL
                if (said := _BECAUSE.get(self.reading.operation(made).name)) is not None and isinstance(said, str):
                    return Found(said, made, stays)
                return Found(f"{_ZEROS}, which {_place(self.reading, made)} returns", product, stays)
            made = before
        if made is None:
            return None
        if self.gets_nothing(made):
            return Found(NEVER_BEGINS, product)
        return Found(f"{_ZEROS}, the value of {self.reading.name(made)}", product, Stays.NO)  # it is trained itself

    def is_zero(self, at: int) -> bool:
        """Whether the value at a position is known to be all zeros."""
        value = self.reading.values.get(at)
        return value is not None and value.size > 0 and not np.any(value)

    def is_flat(self, user: int, at: int | None = None, reached: Any = True) -> bool:
        """Whether the derivative of an op remains zero when its inputs are perturbed, so that it is not an optimum.

        The derivative is that with respect to the value at `at` where `reached`, or with respect to all inputs.
        """
        note = self.reading.log.notes.get(user)
        op, parents, *_ = self.reading.records[user]
        if note is None or getattr(op, "family", None) in ("call", "custom") or getattr(op, "effect", False):
            return True
        with dispatch.recorded_by(()):
            inputs = [self._perturb(x) if p >= 0 else x for x, p in zip(note[3], parents, strict=True)]
            wanted = parents if at is None else [p if p == at else -1 for p in parents]
            asked = [x for x, p in zip(inputs, wanted, strict=True) if p >= 0 and x.dtype.differentiable]
            with Tape(watch_accessed_variables=False) as tape:
                tape.watch(asked)
                outputs = dispatch.run(op, inputs, note[4])
            targets = [y for y in _as_tuple(outputs) if y.dtype.differentiable]
            found = tape.vjp(targets, [None] * len(targets), asked)
        return not any(g is not None and np.any(np.where(reached, _dense(g), 0)) for g in found)

    def _perturb(self, x: Tensor) -> Tensor:
        if not x.dtype.is_floating:
            return x
        value = array_in_run(x)
        wide = value.astype(np.float64)
        noise = self.rng.uniform(-1, 1, value.shape) * (0.03 if x.dtype.name == "bfloat16" else 4e-3)  # some roundings
        return Tensor(np.asarray(wide + noise * (1 + np.abs(wide))).astype(value.dtype), x.dtype)

    def explain_cancellation(self, user: int, at: int) -> Found:
        """Explains an op whose cotangent and derivative are nonzero, but whose product is zero."""
        name = self.reading.operation(user).name
        g = self.cotangent(user)
        if name in ("cast", "complex") and np.iscomplexobj(g) and not np.any(g.real):
            parts = (i for i in self.records_after(user) if self.reading.operation(i).name in ("imag", "angle"))
            taken = next(parts, user)
            return Found(str(_BECAUSE["imag" if taken == user else self.reading.operation(taken).name]), taken)
        if name == "softmax" and np.all(g == g.flat[0]):
            return Found("the target depends equally on all outputs of the softmax, and they always add up to 1", user)
        scaled = zip(self.reading.records[user][1], self.reading.vjp(user, scale=_MUCH), strict=True)
        if any(p == at and given is not None and np.any(given) for p, given in scaled):
            return Found(
                f"the incoming gradient and the derivative are nonzero, but their product is too small for {g.dtype}. "
                "Scale the loss, as tf.keras.mixed_precision.LossScaleOptimizer does, or use float32",
                user,
            )
        return Found(
            f"the incoming gradient of {name} and its derivative are nonzero, but their products cancel, or are too "
            f"small for {g.dtype}",
            user,
            Stays.NO,
        )


_MANY_EXAMPLES = 8  # a batch size at which a live unit is hardly inactive for all examples
_MUCH = 1024.0  # a loss scale that prevents underflow


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if type(outputs) is tuple else (outputs,)


def _dense(g: Any) -> Any:
    with dispatch.recorded_by(()):
        return array_in_run(materialize(ops, g))


def _last_with(reading: Reading, at: int, state: str) -> int | None:
    """Returns the op nearest to `at` that received a cotangent and passed on `state`, on the path from `at`."""
    known = reading.cotangents
    below = {at}
    received = ("some",) if state == "zero" else ("some", "zero", "not finite")  # an op turns even zeros into None
    for position in reading.path:  # in order of execution: from `at` to the target
        record = reading.records[position]
        if type(record) is not tuple:
            continue
        if any(p in below and _state(known.get(p)) == state for p in record[1]):
            if any(_state(known.get(i)) in received for i in range(position, position + len(record[3] or (None,)))):
                return position
            below.add(position)
    return None


def _state(g: Any) -> str:
    """Classifies a cotangent: none, not finite, zero or some."""
    if g is None:
        return "none"
    if not np.isfinite(g).all():
        return "not finite"
    return "some" if np.any(g) or not g.size else "zero"
