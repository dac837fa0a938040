"""What usually helps where an op, or its derivative, is not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.tape.inspection import public_name
from ..records.reading import Reading

_PROBABILITIES = {"softmax", "sigmoid"}
_SQUARES = {"square", "half_square", "power_2", "mul", "squared_difference"}

_EAGERLY = "It is inside this function: tf.config.run_functions_eagerly(True) records what it does op by op."


@dataclass(frozen=True)
class Scene:
    """An op on a tape, with the numbers at the index where it is not finite."""

    reading: Reading
    at: int
    op: str
    values: dict[str, Any]
    dtype: Any

    def before(self, steps: int = 3) -> Iterator[str]:
        """The names of the ops that made the op's inputs, a few steps back."""
        front = {self.at}
        for _ in range(steps):
            front = {p for at in front for p in self.reading.parents(at)}
            for at in front:
                if (op := self.reading.operation(at)) is not None:
                    yield op.name

    def after(self, steps: int = 2) -> Iterator[str]:
        """The names of the ops that use the op's output, a few steps on."""
        front = {self.at}
        for _ in range(steps):
            front = {user for at in front for user in self.reading.users(at)}
            for at in front:
                yield self.reading.operation(at).name

    @property
    def family(self) -> str:
        """Which family the op is of."""
        return self.reading.operation(self.at).family

    @property
    def x(self) -> float:
        """The number the op was given, NaN if it is not known."""
        value = next(iter(self.values.values()), math.nan)
        return value.real if isinstance(value, complex) else value

    @property
    def second(self) -> float:
        """The second number it was given."""
        value = [*self.values.values(), math.nan, math.nan][1]
        return value.real if isinstance(value, complex) else value


def forward_remedy(scene: Scene) -> str:
    """What to do about an op that makes infinities or NaNs from finite numbers."""
    op, x, called = scene.op, scene.x, public_name(scene.op)
    if scene.family == "call":
        return _EAGERLY
    if op in ("log", "log2", "log10") and _PROBABILITIES.intersection(scene.before()):
        return (
            "A probability was rounded to 0 before its logarithm was taken. Work from the logits: tf.nn.log_softmax, "
            "tf.nn.softmax_cross_entropy_with_logits, or from_logits=True in a Keras loss without a softmax before it."
        )
    if op in ("softmax", "log_softmax") and np.isinf(x):
        return "A row in which all is masked with -inf has no softmax. Mask with -1e9, or leave such rows out."
    if op == "mean" and any(x is not None and not x.size for x in scene.reading.inputs(scene.at)):
        return "The mean of no numbers is NaN: a mask or a slice has left none. Look before, or use divide_no_nan."
    if op in ("log", "log2", "log10", "log1p"):
        least = -1 if op == "log1p" else 0
        if x < least:
            return f"{called} is not defined below {least}. Check where the negative number comes from."
        return f"{called}({least}) is -inf. Use {called}(tf.maximum(x, 1e-7)), or tf.math.xlogy for x * log(y)."
    if op == "exp" and "div" in scene.after(3):
        return (
            "This looks like a softmax by hand: exp overflows for large logits. Use tf.nn.softmax, or for a loss "
            "tf.nn.softmax_cross_entropy_with_logits, which subtract the largest logit first."
        )
    if op == "exp" and {"log", "log1p"}.intersection(scene.after(3)):
        return "exp overflows before log brings it back. Use tf.reduce_logsumexp, or tf.nn.softplus for log(1 + exp x)."
    if op in ("exp", "expm1", "exp2", "sinh", "cosh"):
        largest = math.log(float(np.finfo(scene.dtype).max)) if scene.dtype.kind == "f" else math.inf
        return f"{called} overflows beyond about {largest:.0f} in {scene.dtype}. Clip its input, or use logarithms."
    if op in ("div", "reciprocal", "rsqrt", "xdivy"):
        return "A division by zero. Use tf.math.divide_no_nan, or add a small number to the divisor."
    if op in ("sqrt", "power_half"):
        return "The square root of a negative number. Rounding can make a variance negative: tf.maximum(x, 0.0) first."
    if op == "pow":
        if x < 0:
            return "A negative base has no power with a fractional exponent. Use tf.abs(x), or an integer exponent."
        if x == 0:
            return "0 to a negative power is infinite. Add a small number to the base."
        return "The power overflows. Check the exponent, or work with logarithms."
    if op in ("asin", "acos", "atanh", "acosh", "erfinv", "ndtri"):
        return f"{called} is not finite for this input. tf.clip_by_value keeps it inside its domain."
    if scene.dtype == np.float16 or op == "cast":
        return (
            "float16 ends at 65504. Keep sums, losses and softmaxes in float32, or use bfloat16; Keras' "
            "mixed_float16 policy scales the loss for you."
        )
    return (
        "The numbers grew until they overflowed. Lower the learning rate, normalise the inputs, or clip the gradients "
        "(tf.clip_by_global_norm)."
    )


def backward_remedy(scene: Scene) -> str:
    """What to do about a rule that makes infinities or NaNs from finite cotangents."""
    op, x, called = scene.op, scene.x, public_name(scene.op)
    if op in ("sqrt", "power_half") and "sum" in scene.before(1) and _SQUARES.intersection(scene.before(2)):
        return (
            "A norm has no derivative at 0: it is infinite there. Use tf.sqrt(tf.maximum(sum_of_squares, 1e-12)), or "
            "the squared norm."
        )
    if op == "euclidean_norm":
        return "A norm has no derivative at 0. Add a small number: tf.sqrt(tf.reduce_sum(x * x) + 1e-12)."
    if op in ("sqrt", "power_half", "rsqrt"):
        return f"The derivative of {called} is infinite at 0. Use {called}(tf.maximum(x, 1e-12))."
    if op == "pow":
        if x == 0:
            return "A power below 1 has an infinite derivative at 0. Add a small number to the base."
        return "The derivative of a power with respect to its exponent needs a positive base. Use tf.abs, or clip it."
    if op in ("log", "log2", "log10", "div", "reciprocal", "log1p"):
        return f"The derivative of {called} is not finite here. Keep its input away from 0: tf.maximum(x, 1e-7)."
    if op in ("asin", "acos", "atanh", "acosh"):
        return f"{called} has an infinite derivative at the edge of its domain. tf.clip_by_value keeps away from it."
    if scene.family == "call":
        return _EAGERLY
    if scene.family == "custom":
        return f"The gradient that {called} brings itself (tf.custom_gradient) gave it: check its grad function there."
    if scene.dtype == np.float16:
        return "Gradients overflow in float16, which ends at 65504: scale the loss down, or use bfloat16 or float32."
    if op in ("matmul", "mul", "contract", "conv"):
        return (
            "A product overflowed, or met an infinite value that the forward pass kept. Lower the learning rate, clip "
            "gradients, or look at the values with tape.report."
        )
    return f"The derivative of {called} is not finite for these values. Keep its input away from them, or clip it."
