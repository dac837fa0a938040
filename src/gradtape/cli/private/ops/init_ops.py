"""`tensorflow.python.ops.init_ops`: initializers of TensorFlow 1, which have a dtype."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape.api.compat import v1_initializers as v1
from gradtape.api.nn.initializers import compute_fans

Initializer = v1.Initializer
Zeros = v1.zeros_initializer
Ones = v1.ones_initializer
Constant = v1.constant_initializer
RandomUniform = v1.random_uniform_initializer
RandomNormal = v1.random_normal_initializer
TruncatedNormal = v1.truncated_normal_initializer
UniformUnitScaling = v1.uniform_unit_scaling_initializer
VarianceScaling = v1.variance_scaling_initializer
GlorotUniform = v1.glorot_uniform_initializer
GlorotNormal = v1.glorot_normal_initializer
Orthogonal = v1.orthogonal_initializer
_compute_fans = compute_fans


class Identity(v1.Initializer):
    """Creates the identity matrix, times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = gradtape.float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def _made(self, shape: Any, dtype: Any) -> gradtape.Tensor:
        if len(shape) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
                f"shape={shape}"
            )
        return self.gain * gradtape.eye(*shape, dtype=dtype)


identity_initializer = Identity


def lecun_normal(seed: int | None = None) -> Any:
    """Returns an initializer with truncated normal numbers of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> Any:
    """Returns an initializer with uniform numbers of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> Any:
    """Returns an initializer with truncated normal numbers of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> Any:
    """Returns an initializer with uniform numbers of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)
