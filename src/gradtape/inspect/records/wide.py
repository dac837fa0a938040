"""Tensors that compute in float64 whatever dtype they report.

A Keras model computes in float32: it casts its inputs, and its variables have that dtype, so finite differences of its
values would be dominated by rounding. A `WideTensor` replaces an argument: it reports float32, holds a float64 value,
and every result computed from it is wide as well. A cast to another floating dtype changes the reported dtype and
rounds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...engine.run import dispatch
from ...engine.run.namespace import ops

_COMPLEX = {dtypes.float64: dtypes.complex128}  # complex64 for all others


class WideTensor(Tensor):
    """Holds `value`, of float64 or complex128, and reports `dtype`."""

    __slots__ = ("level", "seen", "value")

    def __init__(self, value: Tensor, dtype: DType, level: int, seen: set[DType]) -> None:
        self.value = value
        self.level = level
        self.seen = seen  # the reported floating dtypes of all op inputs, shared by all tensors of this level
        self.dtype = dtype
        self.tracer = None

    @property
    def dims(self) -> tuple[int, ...]:
        return self.value.dims

    def __getattr__(self, name: str) -> Any:
        if name == "array":  # reading the value yields the reported dtype
            return np.asarray(self.value.array).astype(self.dtype.numpy)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Runs `op` in float64. Recorders below this level record that run; those above record the op itself."""
        level = self.level
        recorders = dispatch.thread.recorders
        self.seen.update(x.dtype for x in inputs if x.dtype.differentiable)
        with dispatch.recorded_by(tuple(r for r in recorders if r.level < level)):
            if op.name == "cast" and attrs["dtype"].is_floating:
                # A tensor of its own: a value that is cast twice has two cotangents.
                result: Any = WideTensor(ops.identity(self.value), attrs["dtype"], level, self.seen)
            else:
                result = dispatch.run(op, [_widen(x, level) for x in inputs], attrs)
                several = type(result) is tuple
                wrapped = tuple(self._said(y) for y in (result if several else (result,)))
                result = wrapped if several else wrapped[0]
        inner = tuple(r for r in recorders if r.level > level)
        if inner and any(x.tracer is not None for x in inputs):
            dispatch.RecorderGroup(inner).record(op, inputs, result, attrs)
        return result

    def _said(self, y: Tensor) -> Tensor:
        """Wraps a result in the dtype it would have had."""
        real = dtypes.float64 if self.dtype in (dtypes.float64, dtypes.complex128) else dtypes.float32
        if y.dtype is dtypes.complex128:
            return WideTensor(y, _COMPLEX.get(real, dtypes.complex64), self.level, self.seen)
        if y.dtype is dtypes.float64:
            return WideTensor(y, real if self.dtype.is_complex else self.dtype, self.level, self.seen)
        return y


def _widen(x: Tensor, level: int) -> Tensor:
    if type(x) is WideTensor and x.level == level:
        return x.value
    if x.dtype.is_floating or x.dtype.is_complex:
        return ops.cast(x, dtype=dtypes.complex128 if x.dtype.is_complex else dtypes.float64)
    return x


def widen_arrays(arrays: Sequence[Any], said: Sequence[DType]) -> list[Tensor]:
    """Wraps arrays in tensors that report these dtypes."""
    level, seen = dispatch.next_level(), set[DType]()
    return [
        WideTensor(Tensor(np.array(a, np.complex128 if np.iscomplexobj(a) else np.float64)), dtype, level, seen)
        for a, dtype in zip(arrays, said, strict=True)
    ]
