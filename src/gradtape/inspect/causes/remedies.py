"""Suggests remedies for ops and gradient rules that give non-finite numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.extension_points import public_names
from ..records.reading import Reading, source_text

_PROBABILITIES = {"softmax", "sigmoid"}
_SQUARES = {"square", "half_square", "power_2", "mul", "squared_difference"}

_EAGERLY = "It is inside this function: tf.config.run_functions_eagerly(True) records its ops one by one."


_IN_FLOAT32 = (
    "Keep sums, losses and softmaxes in float32, or use bfloat16; Keras' mixed_float16 policy scales the loss for you."
)
_MATRICES = {
    "cholesky": "The derivative of a Cholesky factor is infinite where the matrix is singular. Add jitter to its "
    "diagonal: k + 1e-6 * tf.eye(n).",
    "eigh": "Eigenvectors of equal eigenvalues have no derivative. Use the eigenvalues alone, or add a small random "
    "symmetric matrix to separate them.",
    "svd": "Singular vectors of equal or zero singular values have no derivative. Use the singular values alone "
    "(compute_uv=False), or add a small random matrix to separate them.",
    "qr": "The derivative of a QR decomposition needs a matrix of full rank. Add a small random matrix.",
}


@dataclass(frozen=True)
class Scene:
    """An op on a tape, with the numbers at the index where it is not finite."""

    reading: Reading
    at: int
    op: str
    values: dict[str, Any]
    dtype: Any

    def names_before(self, steps: int = 3) -> Iterator[str]:
        """Yields the names of the ops that produced the op's inputs, at most `steps` ops back."""
        front = {self.at}
        for _ in range(steps):
            front = {p for at in front for p in self.reading.parents(at)}
            for at in front:
                if (op := self.reading.operation(at)) is not None:
                    yield op.name

    def names_after(self, steps: int = 2) -> Iterator[str]:
        """Yields the names of the ops that use the op's output, at most `steps` ops ahead."""
        front = {self.at}
        for _ in range(steps):
            front = {user for at in front for user in self.reading.users(at)}
            for at in front:
                yield self.reading.operation(at).name

    @property
    def small(self) -> str:
        """A small number that is not zero in the op's dtype."""
        return "1e-4" if self.dtype == np.float16 else "1e-7"

    @property
    def smaller(self) -> str:
        """The same under a square root."""
        return "1e-4" if self.dtype == np.float16 else "1e-12"

    @property
    def vanished(self) -> str:
        """In half precision, a remark about an epsilon that underflows to zero."""
        if self.dtype != np.float16:
            return ""
        literal = self._literal_that_vanishes()
        which = "An epsilon such as 1e-8" if literal is None else f"The epsilon {literal}"
        return f" {which} is 0 in float16, whose smallest number is 6e-8. Use 1e-4, or compute this in float32."

    def _literal_that_vanishes(self) -> str | None:
        """Returns a literal in the op's source line that is zero in half precision."""
        line = source_text(self.reading.line(self.at))
        found = re.findall(r"(?<![\w.])\d*\.?\d+e-\d+|(?<![\w.])0\.0\d+", line, re.IGNORECASE)
        return next((text for text in found if float(text) and not float(np.float16(float(text)))), None)

    @property
    def family(self) -> str:
        """The family of the op."""
        return self.reading.operation(self.at).family

    @property
    def x(self) -> float:
        """The op's first input, NaN if it is unknown."""
        value = next(iter(self.values.values()), math.nan)
        return value.real if isinstance(value, complex) else value

    @property
    def second(self) -> float:
        """The op's second input."""
        value = [*self.values.values(), math.nan, math.nan][1]
        return value.real if isinstance(value, complex) else value


def forward_remedy(scene: Scene) -> str:
    """Suggests what to do about an op that makes infinities or NaNs from finite numbers."""
    op, x, called = scene.op, scene.x, public_names().public_name(scene.op)
    if scene.family == "call":
        return _EAGERLY
    if op in ("log", "log2", "log10") and _PROBABILITIES.intersection(scene.names_before()):
        return (
            "A probability was rounded to 0 before its logarithm was taken. Compute from the logits: "
            "tf.nn.log_softmax, tf.nn.softmax_cross_entropy_with_logits, or from_logits=True in a Keras loss without a "
            "softmax before it."
        )
    if op in ("softmax", "log_softmax") and np.isinf(x):
        return "The softmax of a row that is entirely masked with -inf is undefined. Mask with -1e9, or skip such rows."
    if op == "mean" and any(x is not None and not x.size for x in scene.reading.inputs(scene.at)):
        return (
            "The mean of an empty tensor is NaN: a mask or a slice has removed all elements. Check for that, or use "
            "divide_no_nan."
        )
    if op in ("log", "log2", "log10", "log1p"):
        least = -1 if op == "log1p" else 0
        if x < least:
            return f"{called} is not defined below {least}. Check where the negative number comes from."
        return (
            f"{called}({least}) is -inf. Use {called}(tf.maximum(x, {scene.small})), or tf.math.xlogy for x * log(y)."
            f"{scene.vanished}"
        )
    if op == "exp" and "div" in scene.names_after(3):
        return (
            "This looks like a handwritten softmax: exp overflows for large logits. Use tf.nn.softmax, or for a loss "
            "tf.nn.softmax_cross_entropy_with_logits, which subtract the largest logit first."
        )
    if op == "exp" and {"log", "log1p"}.intersection(scene.names_after(3)):
        return "exp overflows before log is applied. Use tf.reduce_logsumexp, or tf.nn.softplus for log(1 + exp x)."
    if op in ("exp", "expm1", "exp2", "sinh", "cosh"):
        largest = math.log(float(np.finfo(scene.dtype).max)) if scene.dtype.kind == "f" else math.inf
        return f"{called} overflows beyond about {largest:.0f} in {scene.dtype}. Clip its input, or use logarithms."
    if op in ("div", "reciprocal", "rsqrt", "xdivy"):
        if scene.dtype == np.float16 and (scene.second if op in ("div", "xdivy") else x):
            return f"The quotient exceeds 65504, the largest float16 number. {_IN_FLOAT32}"
        return f"A division by zero. Use tf.math.divide_no_nan, or add a small number to the divisor.{scene.vanished}"
    if op in ("sqrt", "power_half"):
        return (
            "The square root of a negative number. Rounding can make a variance negative: apply tf.maximum(x, 0.0) "
            "first."
        )
    if op == "pow":
        if x < 0:
            return (
                "A negative base with a fractional exponent has no real power. Use tf.abs(x), or an integer exponent."
            )
        if x == 0:
            return "0 to a negative power is infinite. Add a small number to the base."
        return "The power overflows. Check the exponent, or work with logarithms."
    if op == "cholesky":
        return (
            "The matrix is not positive definite, perhaps only because of rounding. Add jitter to its diagonal, k + "
            "1e-6 * tf.eye(n), or more, compute it in float64, and check that it is symmetric."
        )
    if op in ("inv", "solve", "triangular_solve", "slogdet", "det", "pinv", "lu"):
        return (
            "The matrix is singular, or nearly so. Add a small multiple of tf.eye(n) to it, compute it in float64, or "
            "use tf.linalg.lstsq or tf.linalg.pinv."
        )
    if op in ("asin", "acos", "atanh", "acosh", "erfinv", "ndtri"):
        return f"{called} is not finite for this input. tf.clip_by_value keeps it inside its domain."
    if scene.dtype == np.float16 or op == "cast":
        return f"The largest float16 number is 65504. {_IN_FLOAT32}"
    return (
        "The numbers grew until they overflowed. Lower the learning rate, normalize the inputs, or clip the gradients "
        "(tf.clip_by_global_norm)."
    )


def backward_remedy(scene: Scene) -> str:
    """Suggests what to do about a gradient rule that makes infinities or NaNs from finite cotangents."""
    op, x, called = scene.op, scene.x, public_names().public_name(scene.op)
    if op in ("sqrt", "power_half") and "sum" in scene.names_before(1) and _SQUARES.intersection(scene.names_before(2)):
        return (
            "A norm has no derivative at 0: it is infinite there. Use tf.sqrt(tf.maximum(sum_of_squares, "
            f"{scene.smaller})), or the squared norm.{scene.vanished}"
        )
    if op in _MATRICES:
        return _MATRICES[op]
    if op == "euclidean_norm":
        return f"A norm has no derivative at 0. Add a small number: tf.sqrt(tf.reduce_sum(x * x) + {scene.smaller})."
    if op in ("sqrt", "power_half", "rsqrt"):
        return (
            f"The derivative of {called} is infinite at 0. Use {called}(tf.maximum(x, {scene.smaller}))."
            f"{scene.vanished}"
        )
    if op == "pow":
        if x == 0:
            return "A power with an exponent below 1 has an infinite derivative at 0. Add a small number to the base."
        return "The derivative of a power with respect to its exponent needs a positive base. Use tf.abs, or clip it."
    if op in ("log", "log2", "log10", "div", "reciprocal", "log1p"):
        return (
            f"The derivative of {called} is not finite here. Keep its input away from 0: tf.maximum(x, {scene.small})."
            f"{scene.vanished}"
        )
    if op in ("asin", "acos", "atanh", "acosh"):
        return (
            f"{called} has an infinite derivative at the boundary of its domain. Use tf.clip_by_value to stay inside."
        )
    if scene.family == "call":
        return _EAGERLY
    if scene.family == "custom":
        return f"The custom gradient of {called} (tf.custom_gradient) returned it: check its grad function."
    if scene.dtype == np.float16:
        return (
            "Gradients overflow in float16, whose largest number is 65504: scale the loss down, or use bfloat16 or "
            "float32."
        )
    if op in ("matmul", "mul", "contract", "conv"):
        return (
            "A product overflowed, or one of its factors was infinite in the forward pass. Lower the learning rate, "
            "clip gradients, or inspect the values with tape.report."
        )
    return f"The derivative of {called} is not finite for these values. Keep its input away from them, or clip it."
