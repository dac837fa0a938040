"""Finds gradients that are zero up to rounding: the terms of a derivative cancel, and rounding errors remain.

The step is repeated in float64. A gradient of which nothing is left there consists of rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ml_dtypes import bfloat16, finfo

from ..records.reading import Reading
from ..records.repetition import Repetition, steps_of

_NOISE_RATIO = 1e-3  # of the exact cotangent to one that consists of rounding errors
_MANY_ROUNDINGS = 16
_EPS = {np.dtype(dtype): float(finfo(dtype).eps) for dtype in (np.float32, np.float16, bfloat16)}


def may_be_rounding(gradient: Any, targets: Sequence[Any]) -> bool:
    """Returns whether a gradient is so much smaller than the targets that it may consist of rounding errors."""
    if gradient.dtype not in _EPS or not gradient.size:
        return False
    size = max((_largest(x) for x in targets if x.dtype in _EPS and x.size), default=0.0)
    return size < np.inf and 0.0 < _largest(gradient) <= _MANY_ROUNDINGS * _EPS[gradient.dtype] * size


def cancelling_op(reading: Reading, at: int) -> int | None:
    """Returns the op whose derivative leaves only rounding errors at `at`; None if it leaves more, or none is known."""
    if not may_be_rounding(reading.cotangents[at], reading.target_values):
        return None
    try:
        exact = Repetition(reading, steps_of(reading), wide=True).cotangents
    except Exception:  # a step that cannot be repeated, such as a user's rule that computes with NumPy
        return None

    def is_noise(position: int) -> bool:
        g, e = reading.cotangents.get(position), exact.get(position)
        return g is not None and e is not None and 0.0 < _largest(g) and _largest(e) <= _NOISE_RATIO * _largest(g)

    if not is_noise(at):
        return None
    below = {at}
    for position in reading.path:  # in order of execution: from `at` to the target
        record = reading.records[position]
        if type(record) is tuple and not below.isdisjoint(record[1]):
            outputs = range(position, position + len(record[3] or (None,)))
            if not any(map(is_noise, outputs)):
                return position
            below.update(outputs)
    return None


def vanishes(tangents: Sequence[Any], x: Any, y: Any) -> bool:
    """Returns whether the derivative of `y` by `x` is zero up to rounding: these are its products with about one."""
    if x is None or y is None or x.dtype not in _EPS or x.shape != y.shape or not np.any(x):
        return False
    return max(map(_largest, tangents)) <= _MANY_ROUNDINGS * _EPS[x.dtype] * _largest(y) / _largest(x)


def _largest(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0))
