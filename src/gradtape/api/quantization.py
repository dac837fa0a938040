"""`tf.quantization`: values rounded as in a quantized model, with a straight-through gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import TensorLike
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from ..engine.tape.tape import Tape
from .control.custom_gradient import custom_gradient
from .tape_arguments import flat_targets

NAMESPACES = ("quantization",)
__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient", "quantize_and_dequantize", "quantize_and_dequantize_v2",
]  # fmt: skip


def fake_quant_with_min_max_args(
    inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Rounds `inputs` to `2 ** num_bits` steps between `min` and `max`, shifted so that 0 is one of them.

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
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`fake_quant_with_min_max_args` with limits that are tensors and have gradients.

    >>> limit = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.quantization.fake_quant_with_min_max_vars([0.3, 5.0], -1.0, limit, num_bits=2)
    >>> y.numpy().tolist(), float(tape.gradient(y, limit))
    ([0.0, 2.0], 1.0)
    """
    return _quantized(inputs, min, max, num_bits, narrow_range, (), "FakeQuantWithMinMaxVars")


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`fake_quant_with_min_max_vars` with limits for each entry of the last axis.

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
    over = tuple(range(len(x.dims) - len(dims)))  # the axes that share limits

    @custom_gradient
    def rounded(x: Any, low: Any, high: Any) -> Any:
        nothing = ops.logical_and(low == 0.0, high == 0.0)  # an empty range: everything is 0
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


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """The result of `fake_quant_with_min_max_vars_gradient`."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


class FakeQuantWithMinMaxVarsPerChannelGradient(FakeQuantWithMinMaxVarsGradient):
    """The result of `fake_quant_with_min_max_vars_per_channel_gradient`."""


def _backward(function: Any, gradients: Any, *inputs: Any) -> list[Tensor]:
    values = [to_tensor(x) for x in inputs]
    with Tape() as tape:
        tape.watch(values)
        y = function(*values)
    found: list[Any] = tape.vjp(*flat_targets(y, to_tensor(gradients)), values)
    return found


def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike, inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `fake_quant_with_min_max_args`: the incoming one where the input is within the limits.

    >>> tf.quantization.fake_quant_with_min_max_args_gradient([1.0, 2.0], [-9.0, 1.0]).numpy().tolist()
    [0.0, 2.0]
    """
    (back,) = _backward(lambda x: fake_quant_with_min_max_args(x, min, max, num_bits, narrow_range), gradients, inputs)
    return back


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:  # fmt: skip
    """Returns the gradients of `fake_quant_with_min_max_vars` with respect to the inputs and the limits.

    >>> back = tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, 2.0], [-9.0, 0.5], -1.0, 1.0)
    >>> float(back.backprop_wrt_min)
    1.0
    """
    return FakeQuantWithMinMaxVarsGradient(
        *_backward(
            lambda x, low, high: fake_quant_with_min_max_vars(x, low, high, num_bits, narrow_range),
            gradients, inputs, min, max,
        )
    )


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:  # fmt: skip
    """Returns the gradients of `fake_quant_with_min_max_vars_per_channel` with respect to the inputs and the limits.

    >>> back = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient([[2.0]], [[9.0]], [-1.0], [1.0])
    >>> back.backprop_wrt_max.numpy().tolist()
    [2.0]
    """
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        *_backward(
            lambda x, low, high: fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits, narrow_range),
            gradients, inputs, min, max,
        )
    )  # fmt: skip


def quantize_and_dequantize(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """Rounds `input` to steps around 0 up to the larger of two bounds, or its own; the gradient passes through.

    >>> tf.quantization.quantize_and_dequantize([0.3, 2.0], -1.0, 1.0, num_bits=2, range_given=True).numpy().tolist()
    [0.0, 1.0]
    """
    x = to_tensor(input)
    steps = _stepped(x, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis)
    return x + ops.stop_gradient(steps[0] - x)


def quantize_and_dequantize_v2(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """`quantize_and_dequantize` with the gradient of clipping: none outside the bounds.

    >>> tf.quantization.quantize_and_dequantize_v2([0.3, 2.0], -1.0, 1.0, num_bits=2, range_given=True).numpy().tolist()
    [0.0, 1.0]
    """
    x = to_tensor(input)
    rounded, low, high = _stepped(
        x, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis
    )
    clipped = ops.minimum(ops.maximum(x, ops.stop_gradient(low)), ops.stop_gradient(high))
    return clipped + ops.stop_gradient(rounded - clipped)


def _stepped(
    x: Tensor, low: Any, high: Any, signed: bool, bits: int, given: bool, mode: str, narrow: bool, axis: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the rounded values, and the bounds in a broadcastable shape."""
    if mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise errors.InvalidArgumentError(f"Round mode string must be one of HALF_TO_EVEN and HALF_UP, got {mode}")
    if axis is not None and not -len(x.dims) <= axis < len(x.dims):
        raise errors.InvalidArgumentError(
            f"Shape must be at least rank {axis + 1} but is rank {len(x.dims)}: invalid axis {axis}"
        )
    axis = None if axis is None else axis % len(x.dims)
    others = tuple(i for i in range(len(x.dims)) if i != axis)
    if given:
        shape = tuple(-1 if i == axis else 1 for i in range(len(x.dims))) if axis is not None else ()
        low, high = (ops.reshape(to_tensor(bound, hint=x.dtype), shape=shape) for bound in (low, high))
    else:
        low, high = (reduce(x, axis=others, keepdims=axis is not None) for reduce in (ops.min, ops.max))
    least = -(2 ** (bits - 1)) + (1 if narrow else 0) if signed else (1 if narrow else 0)
    most = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    far = to_tensor(x.dtype.max, x.dtype)
    by_low, by_high = (
        ops.where(ops.greater(bound * float(end), 0.0), float(end) / ops.where(ops.equal(bound, 0.0), far, bound), far)
        for bound, end in ((low, least), (high, most))
    )
    from_low = ops.less(by_low, by_high)
    scale = ops.stop_gradient(ops.where(from_low, by_low, by_high))
    step = ops.stop_gradient(ops.where(from_low, low / float(least or 1), high / float(most)))
    inside = ops.minimum(ops.maximum(x, step * float(least)), step * float(most)) * scale
    rounded = (ops.rint(inside) if mode == "HALF_TO_EVEN" else ops.floor(inside + 0.5)) * step
    return rounded, low, high
