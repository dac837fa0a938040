"""`tf.quantization`: values rounded as in a quantized model; the gradient goes straight through the rounding."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..control.custom_gradient import custom_gradient

NAMESPACES = ("quantization",)
__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_per_channel",
]  # fmt: skip


def fake_quant_with_min_max_args(
    inputs: Any, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """`inputs` rounded to the `2 ** num_bits` steps between `min` and `max`, of which one is moved to 0.

    >>> import gradtape as tf
    >>> x = tf.Variable([-2.0, 0.3, 0.7])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.quantization.fake_quant_with_min_max_args(x, min=-1.0, max=2.0, num_bits=2)
    >>> y.numpy().tolist(), tape.gradient(y, x).numpy().tolist()
    ([-1.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    """
    if min >= max:
        raise errors.InvalidArgumentError(
            f"min has to be smaller than max, was: {min} >= {max} [Op:FakeQuantWithMinMaxArgs]"
        )
    return _quantized(inputs, min, max, num_bits, narrow_range, (), "FakeQuantWithMinMaxArgs")


def fake_quant_with_min_max_vars(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """`fake_quant_with_min_max_args` with limits that are tensors, and have gradients.

    >>> import gradtape as tf
    >>> limit = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.quantization.fake_quant_with_min_max_vars([0.3, 5.0], -1.0, limit, num_bits=2)
    >>> y.numpy().tolist(), float(tape.gradient(y, limit))
    ([0.0, 2.0], 1.0)
    """
    return _quantized(inputs, min, max, num_bits, narrow_range, (), "FakeQuantWithMinMaxVars")


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any, min: Any, max: Any, num_bits: int = 8, narrow_range: bool = False, name: str | None = None
) -> Tensor:
    """`fake_quant_with_min_max_vars` with limits for each entry of the last axis.

    >>> import gradtape as tf
    >>> x = tf.constant([[0.3, 0.3]])
    >>> tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [0.0, 0.0], [1.0, 3.0], num_bits=2).numpy().round(2)
    array([[0.33, 0.  ]], dtype=float32)
    """
    x = to_tensor(inputs, dtype=dtypes.float32)
    if not x.dims:
        raise errors.InvalidArgumentError("inputs must have a last axis, of channels, got a scalar")
    return _quantized(x, min, max, num_bits, narrow_range, x.dims[-1:], "FakeQuantWithMinMaxVarsPerChannel")


def _quantized(inputs: Any, low: Any, high: Any, bits: int, narrow: bool, dims: tuple[int, ...], title: str) -> Tensor:
    if not 2 <= bits <= 16:
        raise errors.InvalidArgumentError(f"num_bits must be between 2 and 16, inclusive, got {bits} [Op:{title}]")
    x, low, high = (to_tensor(value, dtype=dtypes.float32) for value in (inputs, low, high))
    for limit, what in ((low, "min"), (high, "max")):
        if len(limit.dims) != len(dims):
            raise errors.InvalidArgumentError(
                f"`{what}` must be rank {len(dims)} but is rank {len(limit.dims)} [Op:{title}]"
            )
        if limit.dims != dims:
            raise errors.InvalidArgumentError(
                f"{what} has incorrect size, expected {dims[0]} was {limit.dims[0]} [Op:{title}]"
            )
    first, last = float(narrow), float(2**bits - 1)
    over = tuple(range(len(x.dims) - len(dims)))  # the axes that share their limits

    @custom_gradient
    def rounded(x: Any, low: Any, high: Any) -> Any:
        nothing = ops.logical_and(low == 0.0, high == 0.0)  # no range at all: everything is 0
        step = ops.where(nothing, 1.0, (high - low) / (last - first))
        zero = ops.floor(ops.minimum(ops.maximum(first - low / step, first), last) + 0.5)
        least, most = (first - zero) * step, (last - zero) * step
        clipped = ops.minimum(ops.maximum(x, least), most)
        y = (ops.floor((clipped - least) * (1.0 / step) + 0.5) - (zero - first)) * step

        def backward(g: Any) -> Any:
            below, above = (ops.logical_and(side, ~nothing) for side in (x < least, x > most))
            outside = [ops.where(side, g, 0.0) for side in (below, above)]
            return g - outside[0] - outside[1], *[ops.sum(part, axis=over, keepdims=False) for part in outside]

        return ops.where(nothing, 0.0, y), backward

    return rounded(x, low, high)
