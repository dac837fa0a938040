"""Convolution of quantized values, by the formula of TensorFlow's kernel; it runs on the host and has no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..namespace import resolve
from ..runtime.system import numpy_function
from .quantized_values import as_quantized, integers_of

_F = np.float32
_Array = np.ndarray[Any, Any]


def quantized_conv2d(
    x: Any, filters: Any, ranges: list[Any], out_type: Any, strides: Any, padding: str, dilations: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the convolution of quantized images, and the range that its values cover.

    `ranges` are the least and the largest float of the images, and those of the filters.
    """
    images, kernel, result = to_tensor(x), to_tensor(filters), as_dtype(out_type)
    bounds = [ops.cast(to_tensor(bound), dtype=dtypes.float32) for bound in ranges]
    for name, value, rank in (("input", images, 4), ("filter", kernel, 4), *(("range", one, 0) for one in bounds)):
        if len(value.dims) != rank:
            raise errors.InvalidArgumentError(
                f"{name} must be rank {rank}, got shape {list(value.dims)} [Op:QuantizedConv2D]"
            )

    def run(x: _Array, filters: _Array, *bounds: _Array) -> tuple[_Array, _Array, _Array]:
        least_input, most_input, least_filter, most_filter = map(_F, bounds)
        shifted = [
            array.astype(np.float64) - _zero(low, high, dtype)
            for array, dtype, low, high in (
                (x, images.dtype, least_input, most_input), (filters, kernel.dtype, least_filter, most_filter)
            )
        ]  # fmt: skip
        sums = resolve("nn.conv2d")(*shifted, strides, padding, dilations=dilations).numpy()  # exact: below 2 ** 53
        step = _step(least_input, most_input, images.dtype) * _step(least_filter, most_filter, kernel.dtype)
        _, low, high = integers_of(result)
        return as_quantized(np.clip(sums, low, high), result), np.asarray(step * _F(low)), np.asarray(step * _F(high))

    output, low, high = numpy_function(run, [images, kernel, *bounds], [result, dtypes.float32, dtypes.float32])
    return output, low, high


def _step(low: Any, high: Any, dtype: dtypes.DType) -> Any:
    """Returns the difference between the floats of two adjacent integers."""
    _, least, most = integers_of(dtype)
    return _F((high - low) / _F(most - least))


def _zero(low: Any, high: Any, dtype: dtypes.DType) -> int:
    """Returns the integer for 0.0, which need not be one of the dtype's."""
    kind, least, _ = integers_of(dtype)
    steps = 2.0 ** (8 * kind.itemsize)
    scale = steps / ((float(high) - float(low)) * steps / (steps - 1))
    start = float(low) * scale
    return least - int(np.copysign(np.floor(abs(start) + 0.5), start))  # half away from zero
