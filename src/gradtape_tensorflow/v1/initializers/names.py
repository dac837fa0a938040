"""`tf.compat.v1.initializers`: TensorFlow 1's initializers under their short names."""

from __future__ import annotations

from typing import Any

from gradtape.api.namespace import resolve
from gradtape.core import dtypes
from gradtape.core.tensor import Tensor

from .classes import (
    Initializer,
    constant_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    orthogonal_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    truncated_normal_initializer,
    uniform_unit_scaling_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)

NAMESPACES = ("compat.v1.initializers",)
__all__ = [
    "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal",
    "lecun_uniform", "ones", "orthogonal", "random_normal", "random_uniform", "truncated_normal",
    "uniform_unit_scaling", "variance_scaling", "zeros",
]  # fmt: skip

constant, zeros, ones, orthogonal = constant_initializer, zeros_initializer, ones_initializer, orthogonal_initializer
glorot_normal, glorot_uniform = glorot_normal_initializer, glorot_uniform_initializer
random_normal, random_uniform = random_normal_initializer, random_uniform_initializer
truncated_normal, uniform_unit_scaling = truncated_normal_initializer, uniform_unit_scaling_initializer
variance_scaling = variance_scaling_initializer


class identity(Initializer):
    """Creates the identity matrix, times `gain`.

    >>> tf.compat.v1.initializers.identity(2.0)([2, 2]).numpy().tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    __module__ = "gradtape.compat.v1.initializers"

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        if len(shape) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
                f"shape={shape}"
            )
        return resolve("eye")(*shape, dtype=dtype) * self.gain


def lecun_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that draws from a truncated normal distribution of variance 1 / fan in.

    >>> tf.compat.v1.initializers.lecun_normal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed=seed)


def lecun_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that draws from a uniform distribution of variance 1 / fan in.

    >>> tf.compat.v1.initializers.lecun_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed=seed)


def he_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that draws from a truncated normal distribution of variance 2 / fan in.

    >>> tf.compat.v1.initializers.he_normal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed=seed)


def he_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Returns an initializer that draws from a uniform distribution of variance 2 / fan in.

    >>> tf.compat.v1.initializers.he_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed=seed)
