"""Arguments of random functions: shapes, seeds and algorithms."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...core import errors
from ...core.dtypes import DType
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...engine.run.namespace import ops

NAMESPACES = ("random",)
__all__ = ["Algorithm"]


class Algorithm(enum.Enum):
    """The algorithms for random bits; gradtape has Philox, which `AUTO_SELECT` selects.

    >>> tf.random.Algorithm.PHILOX.value
    1
    """

    __module__ = "gradtape.random"

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def algorithm_number(alg: Any) -> int:
    """Returns the number of an algorithm given as an `Algorithm`, its name or its number."""
    if isinstance(alg, Algorithm):
        return int(alg.value)
    if isinstance(alg, str):
        name = alg.strip().lower().replace("-", "").replace("_", "")
        for member in Algorithm:
            if member.name.lower().replace("_", "") == name:
                return int(member.value)
    elif isinstance(alg, int | np.integer):
        if int(alg) in {member.value for member in Algorithm}:
            return int(alg)
    elif isinstance(alg, Tensor):
        return algorithm_number(int(alg))
    else:
        raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")
    raise ValueError(
        f"Argument `alg` got unsupported value {alg}. Supported values are 'philox', 'threefry' and 'auto_select'."
    )


def dims_of(shape: Any) -> tuple[int, ...]:
    """Converts a shape given as a tensor, a list, an array or a TensorShape to a tuple."""
    if isinstance(shape, TensorShape):
        return dims_of(shape.as_list())
    if isinstance(shape, list | tuple) and not len(shape):
        return ()
    array = np.asarray(to_tensor(shape).array)
    if array.dtype.kind not in "iu":
        if array.size:
            raise errors.InvalidArgumentError(
                f"Value for attr 'T' of {to_tensor(shape).dtype.kernel_name()} is not in the list of allowed values: "
                f"int32, int64: the shape given is {shape!r}"
            )
        return ()
    if array.ndim != 1:
        raise errors.InvalidArgumentError(
            f"shape must be a vector of {{int32,int64}}, got shape {list(array.shape)}. Write [{shape!r}]"
        )
    for n in array.tolist():
        if n < 0:
            raise errors.InvalidArgumentError(f"Dimension {n} must be >= 0: the shape given is {array.tolist()}")
    return tuple(array.tolist())


def scrambled(seed: Any, alg: Any = "auto_select") -> Tensor:
    """Returns the state of a stateless draw, from its seed of two integers."""
    if algorithm_number(alg) == Algorithm.THREEFRY.value:
        raise errors.InvalidArgumentError("ThreeFry is not available on this device. Use alg='philox'")
    seed = to_tensor(seed)
    if seed.dtype.name not in ("int32", "int64"):
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tseed' of {seed.dtype.kernel_name()} is not in the list of allowed values: int32, int64"
        )
    if seed.dims != (2,):
        raise errors.InvalidArgumentError(f"seed must have shape [2], not {list(seed.dims)}")
    return _told(ops.random_scramble(seed))


def as_state(seed: Any) -> Tensor:
    """Returns a drawn state as a tensor, which ops accept."""
    return seed if isinstance(seed, Tensor) else _told(Tensor(seed))


def _told(state: Tensor) -> Tensor:
    """Returns the state of a draw, and reports it to recorders."""
    recorder = thread.recorder
    if recorder is not None:
        recorder.drawn(state)
    return state


def bounds(minval: Any, maxval: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """Returns the bounds of a range as tensors; integer bounds must be scalars and in order."""
    low, high = to_tensor(minval, dtype=dtype), to_tensor(maxval, dtype=dtype)
    if dtype.is_integer:
        if low.dims or high.dims:
            raise errors.InvalidArgumentError(
                f"minval and maxval must be 0-D for an integer dtype, got shapes {list(low.dims)} and {list(high.dims)}"
            )
        if not low.array < high.array:
            raise errors.InvalidArgumentError(f"Need minval < maxval, got {low.array} >= {high.array}")
    return low, high
