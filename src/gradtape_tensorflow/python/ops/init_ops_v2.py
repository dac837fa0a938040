"""`tensorflow.python.ops.init_ops_v2`: initializers of TensorFlow 2; with a seed, a draw is the same in every call."""

from __future__ import annotations

import math
from typing import Any

import gradtape
from gradtape.api.nn.initializers import (
    Initializer,
    compute_fans,
    draw,
    partition_shape,
    random_normal_initializer,
)

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("uniform", "truncated_normal", "untruncated_normal")
_TRUNCATED_STDDEV = 0.87962566103423978  # of the normal distribution, truncated at two standard deviations
_PARTITION_SHAPE, _PARTITION_OFFSET = "partition_shape", "partition_offset"


def _assert_float_dtype(dtype: Any) -> Any:
    """Returns the dtype; raises unless it is floating point."""
    dtype = gradtape.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    return dtype


class TruncatedNormal(random_normal_initializer):
    """Draws normal numbers within two standard deviations of the mean."""

    def __call__(self, shape: Any, dtype: Any = gradtape.float32, **kwargs: Any) -> gradtape.Tensor:
        """Returns a draw of this shape."""
        shape, dtype = partition_shape(shape, kwargs), _assert_float_dtype(dtype)
        return draw("truncated_normal", self.seed, shape, self.mean, self.stddev, dtype)


class VarianceScaling(Initializer):
    """Draws numbers whose variance is `scale` divided by the number of inputs, outputs, or their mean."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: int | None = None
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in _MODES:
            raise ValueError(f"Argument `mode` should be one of {_MODES}. Received: {mode}")
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(f"Argument `distribution` should be one of {_DISTRIBUTIONS}. Received: {distribution}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape: Any, dtype: Any = gradtape.float32, **kwargs: Any) -> gradtape.Tensor:
        """Returns a draw of this shape."""
        part, dtype = partition_shape(shape, kwargs), _assert_float_dtype(dtype)
        fan_in, fan_out = compute_fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return draw("uniform", self.seed, part, -limit, limit, dtype)
        if self.distribution == "untruncated_normal":
            return draw("normal", self.seed, part, 0.0, math.sqrt(variance), dtype)
        return draw("truncated_normal", self.seed, part, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed}


class GlorotUniform(VarianceScaling):
    """Draws uniform numbers with variance 1 / (mean of inputs and outputs)."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {"seed": self.seed}


class GlorotNormal(VarianceScaling):
    """Draws truncated normal numbers with variance 1 / (mean of inputs and outputs)."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {"seed": self.seed}


glorot_uniform = GlorotUniform
glorot_normal = GlorotNormal
