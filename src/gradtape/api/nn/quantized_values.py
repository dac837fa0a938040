"""`tf.quantization`: conversion between floats and quantized integers, by the formulas of TensorFlow's kernels.

They run on the host, eagerly and in functions. They have no gradients: TensorFlow raises LookupError, here they are
None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..runtime.system import numpy_function

NAMESPACES = ("quantization",)
__all__ = ["dequantize", "quantize", "quantized_concat"]

_KINDS = (dtypes.qint8, dtypes.quint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)
_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_ROUND_MODES = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
_F = np.float32
_Array = np.ndarray[Any, Any]


class QuantizeV2(NamedTuple):
    """The quantized values, and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


class QuantizedConcat(NamedTuple):
    """The joined values, and the range that they cover."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


class _Integers(NamedTuple):
    """The integers of a quantized dtype."""

    dtype: np.dtype[Any]
    low: int
    high: int

    @property
    def is_signed(self) -> bool:
        return self.low < 0


def integers_of(dtype: DType) -> _Integers:
    """Returns the integers of a quantized dtype."""
    plain = dtype.numpy[dtype.name]
    limits = np.iinfo(plain)
    return _Integers(plain, int(limits.min), int(limits.max))


def as_quantized(values: _Array, dtype: DType) -> _Array:
    """Returns integers as an array of a quantized dtype."""
    found = np.empty(values.shape, dtype.numpy)
    found[dtype.name] = values
    return found


def _check(what: str, given: Any, allowed: Sequence[Any]) -> None:
    if given not in allowed:
        names = ", ".join(f'"{x}"' if isinstance(x, str) else x.name for x in allowed)
        shown = f'"{given}"' if isinstance(given, str) else given.name
        raise errors.InvalidArgumentError(
            f"Value for attr '{what}' of {shown} is not in the list of allowed values: {names}"
        )


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    """Converts floats to integers of a quantized dtype; returns them with the range that they cover.

    >>> import gradtape as tf
    >>> x, low, high = tf.quantization.quantize([-1.0, 0.0, 1.0], -1.0, 1.0, tf.quint8)
    >>> x.numpy().tolist(), float(low), float(high)
    ([0, 128, 255], -1.0, 1.0)

    Args:
      input: the values, float32.
      min_range: the least value; with `axis`, a vector.
      max_range: the greatest value; with `axis`, a vector.
      T: the dtype: `tf.quint8`, `tf.qint8`, `tf.qint16`, `tf.quint16` or `tf.qint32`.
      mode: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`, which has no offset.
      round_mode: `HALF_AWAY_FROM_ZERO`, or `HALF_TO_EVEN` for `SCALED`.
      narrow_range: whether `SCALED` leaves out the least integer.
      axis: the axis along which slices have ranges of their own.
      ensure_minimum_range: the least size of the range, relative to its bounds.
    """
    dtype = as_dtype(T)
    _check("T", dtype, _KINDS)
    _check("mode", mode, _MODES)
    _check("round_mode", round_mode, _ROUND_MODES)
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise errors.InvalidArgumentError(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )

    def run(x: _Array, low: _Array, high: _Array) -> tuple[_Array, _Array, _Array]:
        low, high = _adjusted(low, high, ensure_minimum_range)
        shape = _broadcast_shape(x.ndim, axis)
        if mode == "SCALED":
            integers = integers_of(dtype)
            scale = _scale(low, high, integers, narrow_range)
            least = integers.low + narrow_range
            low, high = (_F(least) / scale).astype(_F), (_F(integers.high) / scale).astype(_F)
            spread = (np.clip(x, low.reshape(shape), high.reshape(shape)) * scale.reshape(shape)).astype(_F)
            found = _to_int(np.rint(spread) if round_mode == "HALF_TO_EVEN" else _round(spread), integers)
        else:
            function = _min_combined if mode == "MIN_COMBINED" else _min_first
            found = function(x, low.reshape(shape), high.reshape(shape), integers_of(dtype))
        return as_quantized(found, dtype), low, high

    given = [ops.cast(to_tensor(value), dtype=dtypes.float32) for value in (input, min_range, max_range)]
    output, low, high = numpy_function(run, given, [dtype, dtypes.float32, dtypes.float32])
    output.set_shape(given[0].shape)
    return QuantizeV2(output, low, high)


def _broadcast_shape(rank: int, axis: int | None) -> tuple[int, ...]:
    """Returns the shape in which ranges of slices broadcast."""
    if axis is None or axis == -1:
        return ()
    if not 0 <= axis < rank:
        raise errors.InvalidArgumentError(f"Axis must be less than input dimension({rank}), got {axis}")
    return tuple(-1 if i == axis else 1 for i in range(rank))


def _adjusted(low: _Array, high: _Array, least: float) -> tuple[_Array, _Array]:
    """Returns the range, with zero in it and not too small."""
    if np.any(high < low):
        raise errors.InvalidArgumentError("input_max_range must be larger than input_min_range.")
    lower = np.minimum(_F(0), low)
    margin = np.maximum(_F(1), np.maximum(np.abs(low), np.abs(high))) * _F(least)
    return lower.astype(_F), np.maximum(_F(0), np.maximum(high, lower + margin)).astype(_F)


def _round(x: _Array) -> _Array:
    """Rounds, halves away from zero."""
    return np.trunc(x + np.copysign(_F(0.5), x))


def _to_int(x: _Array, integers: _Integers) -> _Array:
    """Converts floats to integers; one that is too large for an int32 becomes the least, as in TensorFlow."""
    wide = x.astype(np.float64)
    if integers.high == 2**31 - 1:
        wide = np.where(wide > integers.high, float(integers.low), wide)
    return wide.astype(np.int64).astype(integers.dtype)


def _half(integers: _Integers) -> _F:
    return _F((integers.high - integers.low + 1) / 2 if integers.is_signed else 0)


def _min_combined(x: _Array, low: _Array, high: _Array, integers: _Integers) -> _Array:
    scale = ((float(integers.high) - integers.low) / (high - low)).astype(_F)
    spread = ((np.clip(x, low, high) - low) * scale).astype(_F)
    if integers.is_signed:
        return _to_int(_round(spread - _half(integers)), integers)
    return _to_int(np.trunc(spread + _F(0.5)), integers)


def _min_first(x: _Array, low: _Array, high: _Array, integers: _Integers) -> _Array:
    scale = (_F(float(integers.high) - integers.low) / (high - low)).astype(_F)
    spread = _round((x * scale).astype(_F)) - (_round((low * scale).astype(_F)) - _F(integers.low))
    top = _F(integers.high) if integers.high < 2**24 else np.nextafter(_F(integers.high), _F(0))
    return _to_int(np.clip(spread, _F(integers.low), top), integers)


def _scale(low: _Array, high: _Array, integers: _Integers, narrow: bool) -> _Array:
    """Returns the factor of `SCALED`, by which the whole range fits."""
    largest = np.finfo(_F).max
    least = _F(integers.low + narrow)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_low = np.where(least * low > 0, least / low, largest)
        of_high = np.where(high > 0, _F(integers.high) / high, largest)
    return np.minimum(of_low, of_high).astype(_F)


def dequantize(
    input: Any,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: Any = dtypes.float32,
) -> Tensor:
    """Converts integers of a quantized dtype to the floats that they stand for.

    >>> import gradtape as tf
    >>> x, low, high = tf.quantization.quantize([-1.0, 0.5, 1.0], -1.0, 1.0, tf.qint8, mode="SCALED")
    >>> tf.quantization.dequantize(x, low, high, mode="SCALED").numpy()
    array([-1.      ,  0.503937,  1.      ], dtype=float32)

    Args:
      input: the integers.
      min_range: the range that they cover, as `quantize` returns it.
      max_range: the range that they cover, as `quantize` returns it.
      mode: that of `quantize`.
      axis: that of `quantize`.
      narrow_range: that of `quantize`.
      dtype: float32 or bfloat16.
    """
    _check("mode", mode, _MODES)
    x = to_tensor(input)
    kind, wanted = x.dtype, as_dtype(dtype)
    _check("T", kind, _KINDS)
    _check("dtype", wanted, (dtypes.bfloat16, dtypes.float32))

    def run(values: _Array, low: _Array, high: _Array) -> _Array:
        shape = _broadcast_shape(values.ndim, axis)
        return _floats(values, low.reshape(shape), high.reshape(shape), integers_of(kind), mode, narrow_range)

    ranges = [ops.cast(to_tensor(value), dtype=dtypes.float32) for value in (min_range, max_range)]
    found = numpy_function(run, [x, *ranges], dtypes.float32)
    found.set_shape(x.shape)
    return found if wanted == dtypes.float32 else ops.cast(found, dtype=wanted)  # type: ignore[no-any-return]


def _floats(x: _Array, low: _Array, high: _Array, integers: _Integers, mode: str, narrow: bool) -> _Array:
    if mode == "SCALED":
        scale = high / _F(integers.high)
        if integers.is_signed:
            scale = np.maximum(low / _F(integers.low + narrow), scale)
        return (x.astype(_F) * scale).astype(_F)
    steps = _F(float(integers.high) - integers.low)
    scale = ((high - low) / steps).astype(_F)
    if mode == "MIN_COMBINED":
        return ((x.astype(_F) + _half(integers)) * scale + low).astype(_F)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.where(low == high, low, _round((low / scale).astype(_F)) * scale)
    return (start + (x.astype(np.float64) - integers.low).astype(_F) * scale).astype(_F)


def quantized_concat(
    concat_dim: Any,
    values: Sequence[Any],
    input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike],
    name: str | None = None,
) -> QuantizedConcat:
    """Joins quantized values along an axis, after converting them to the range that covers all of theirs.

    >>> import gradtape as tf
    >>> x, low, high = tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
    >>> y, start, end = tf.quantization.quantized_concat(0, [x, x], [low, 0.0], [high, 2.0])
    >>> y.numpy().tolist(), float(end)
    ([0, 128, 0, 255], 2.0)
    """
    tensors = [to_tensor(value) for value in values]
    if len({x.dtype for x in tensors}) != 1:
        raise errors.InvalidArgumentError(f"The values must have one dtype, got {[x.dtype.name for x in tensors]}")
    dtype, count = tensors[0].dtype, len(tensors)
    _check("T", dtype, _KINDS)
    integers = integers_of(dtype)

    def run(along: _Array, *given: _Array) -> tuple[_Array, _Array, _Array]:
        arrays, lows, highs = given[:count], given[count : 2 * count], given[2 * count :]
        low, high = np.minimum(_F(0), np.min(lows)), np.max(highs)
        if integers.is_signed:
            high = np.maximum(abs(low), abs(high))
            low = -high
        parts = []
        for part, start, end in zip(arrays, lows, highs, strict=True):
            if start != low or end != high:
                floats = _floats(part, start, end, integers, "MIN_FIRST", narrow=False)
                part = _min_first(floats, np.asarray(low, _F), np.asarray(high, _F), integers)
            parts.append(part)
        return as_quantized(np.concatenate(parts, int(along)), dtype), np.asarray(low, _F), np.asarray(high, _F)

    ranges = [ops.cast(to_tensor(value), dtype=dtypes.float32) for value in (*input_mins, *input_maxes)]
    found = numpy_function(run, [to_tensor(concat_dim), *tensors, *ranges], [dtype, dtypes.float32, dtypes.float32])
    return QuantizedConcat(*found)
