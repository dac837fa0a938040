"""Initializers: objects that create the initial value of a variable, given its shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ..arrays.conversion import constant
from ..arrays.creation import ones, zeros

NAMESPACES = ("",)
__all__ = [
    "constant_initializer", "ones_initializer", "random_normal_initializer", "random_uniform_initializer",
    "zeros_initializer",
]  # fmt: skip


class Initializer:
    """The base class of initializers, with a configuration to recreate them from."""

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Creates an initializer from the arguments in `config`."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _only_partitions(kwargs: dict[str, Any]) -> None:
    for name in kwargs:
        if name not in ("partition_shape", "partition_offset"):
            raise TypeError(
                f"Keyword argument should be one of ['partition_shape', 'partition_offset']. Received: {name}"
            )


def partition_shape(shape: Any, kwargs: dict[str, Any]) -> Any:
    """Returns the shape to create: that of a partition, if the keyword arguments name one."""
    _only_partitions(kwargs)
    return kwargs.get("partition_shape", shape)


def compute_fans(shape: Any) -> tuple[int, int]:
    """Returns how many inputs and outputs the weights of this shape connect, a convolution's included."""
    *window, fan_in, fan_out = (int(size) for size in (shape if len(shape) > 1 else [*shape, *shape] or [1, 1]))
    return math.prod(window) * fan_in, math.prod(window) * fan_out


def _numeric(dtype: Any) -> DType:
    target = as_dtype(dtype)
    if target is dtypes.string:
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {target}.")
    return target


class zeros_initializer(Initializer):
    """Creates zeros.

    >>> tf.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Returns zeros of this shape."""
        return zeros(partition_shape(shape, kwargs), _numeric(dtype))


zeros_initializer.__module__ = "gradtape"


class ones_initializer(Initializer):
    """Creates ones.

    >>> tf.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Returns ones of this shape."""
        return ones(partition_shape(shape, kwargs), _numeric(dtype))


ones_initializer.__module__ = "gradtape"


class constant_initializer(Initializer):
    """Creates tensors with one value, or with the values of a list of matching length.

    >>> tf.constant_initializer(3)([2], tf.float32).numpy()
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or tuple of "
                "values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """Returns the value in this shape."""
        return constant(self.value, dtype=dtype, shape=partition_shape(shape, kwargs))

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


constant_initializer.__module__ = "gradtape"


def draw(kind: str, seed: int | None, *arguments: Any) -> Tensor:
    """Returns a random tensor: a new one, or the one determined by the seed."""
    from ..namespace import resolve

    if seed is None:
        return resolve(f"random.{kind}")(*arguments)
    shape, *others = arguments
    return resolve(f"random.stateless_{kind}")(shape, [seed, 0], *others)


class random_uniform_initializer(Initializer):
    """Draws from a uniform distribution between `minval` and `maxval`.

    >>> tf.random_uniform_initializer(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Returns a draw of this shape; with a seed, the same one in every call."""
        target = as_dtype(dtype)
        if not target.is_floating and not target.is_integer:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {target}.")
        return draw("uniform", self.seed, partition_shape(shape, kwargs), self.minval, self.maxval, target)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


random_uniform_initializer.__module__ = "gradtape"


class random_normal_initializer(Initializer):
    """Draws from a normal distribution.

    >>> tf.random_normal_initializer(stddev=1.0, seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Returns a draw of this shape; with a seed, the same one in every call."""
        target = as_dtype(dtype)
        if not target.is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {target}.")
        return draw("normal", self.seed, partition_shape(shape, kwargs), self.mean, self.stddev, target)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


random_normal_initializer.__module__ = "gradtape"
