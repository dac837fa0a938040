"""`tf.compat.v1`: TensorFlow 1's initializers, which have a dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.api.namespace import resolve
from gradtape.api.nn.initializers import compute_fans
from gradtape.core import dtypes
from gradtape.core.tensor import Tensor

NAMESPACES = ("compat.v1",)
__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer", "ones_initializer",
    "orthogonal_initializer", "random_normal_initializer", "random_uniform_initializer",
    "truncated_normal_initializer", "uniform_unit_scaling_initializer", "variance_scaling_initializer",
    "zeros_initializer",
]  # fmt: skip


class Initializer:
    """Creates a variable's initial value: called with a shape, and optionally a dtype."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return self._made(shape, self.dtype if dtype is None else dtypes.as_dtype(dtype))

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {name: value.name if name == "dtype" else value for name, value in vars(self).items()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Creates an initializer from the arguments in `config`."""
        return cls(**config)


class zeros_initializer(Initializer):
    """Creates zeros.

    >>> tf.compat.v1.zeros_initializer()([2]).numpy().tolist()
    [0.0, 0.0]
    """

    __module__ = "gradtape.compat.v1"

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return resolve("zeros")(shape, dtype)


class ones_initializer(Initializer):
    """Creates ones.

    >>> tf.compat.v1.ones_initializer()([2]).numpy().tolist()
    [1.0, 1.0]
    """

    __module__ = "gradtape.compat.v1"

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return resolve("ones")(shape, dtype)


class constant_initializer(Initializer):
    """Creates tensors with one value, or with the given values in the requested shape.

    >>> tf.compat.v1.constant_initializer(3.0)([2]).numpy().tolist()
    [3.0, 3.0]
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python scalar, list "
                "or tuple of values, or numpy.ndarray."
            )
        super().__init__(dtype)
        self.value, self._verify_shape = value, verify_shape

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        own = np.shape(self.value)
        if self._verify_shape and own != tuple(shape):
            raise TypeError(f"Expected Tensor {self.value!s} with shape {tuple(shape)}, but got shape {own}.")
        return resolve("constant")(self.value, dtype, shape)


def _floating(dtype: Any) -> Any:
    if not dtypes.as_dtype(dtype).is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    return dtype


class random_uniform_initializer(Initializer):
    """Draws uniform numbers between two bounds.

    >>> tf.compat.v1.random_uniform_initializer(0.0, 1.0)([2]).shape
    TensorShape([2])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return resolve("random.uniform")(shape, self.minval, self.maxval, dtype, self.seed)


class random_normal_initializer(Initializer):
    """Draws normal numbers.

    >>> tf.compat.v1.random_normal_initializer()([2]).shape
    TensorShape([2])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return resolve("random.normal")(shape, self.mean, self.stddev, dtype, self.seed)


class truncated_normal_initializer(random_normal_initializer):
    """Draws normal numbers within two standard deviations of the mean.

    >>> tf.compat.v1.truncated_normal_initializer()([2]).shape
    TensorShape([2])
    """

    __module__ = "gradtape.compat.v1"

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return resolve("random.truncated_normal")(shape, self.mean, self.stddev, dtype, self.seed)


class uniform_unit_scaling_initializer(Initializer):
    """Draws uniform numbers that keep the variance of the inputs.

    >>> tf.compat.v1.uniform_unit_scaling_initializer()([2, 3]).shape
    TensorShape([2, 3])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, factor: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.factor, self.seed = factor, seed

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        limit = math.sqrt(3 / max(1.0, math.prod(float(size) for size in shape[:-1]))) * self.factor
        return resolve("random.uniform")(shape, -limit, limit, dtype, self.seed)


_CUT = 0.87962566103423978  # the standard deviation of a normal distribution truncated at 2


class variance_scaling_initializer(Initializer):
    """Draws numbers whose variance is `scale` divided by the number of inputs, outputs, or their mean.

    >>> tf.compat.v1.variance_scaling_initializer()([2, 3]).shape
    TensorShape([2, 3])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Any = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        super().__init__(_floating(dtype))
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        fan_in, fan_out = compute_fans(shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return resolve("random.uniform")(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return resolve("random.normal")(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        return resolve("random.truncated_normal")(shape, 0.0, math.sqrt(scale) / _CUT, dtype, self.seed)


class glorot_uniform_initializer(variance_scaling_initializer):
    """Draws uniform numbers with variance 1 / (mean of inputs and outputs): Xavier initialization.

    >>> tf.compat.v1.glorot_uniform_initializer()([2, 3]).shape
    TensorShape([2, 3])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class glorot_normal_initializer(variance_scaling_initializer):
    """Draws normal numbers with variance 1 / (mean of inputs and outputs): Xavier initialization.

    >>> tf.compat.v1.glorot_normal_initializer()([2, 3]).shape
    TensorShape([2, 3])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of this initializer."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class orthogonal_initializer(Initializer):
    """Creates a matrix with orthogonal rows or columns.

    >>> tf.compat.v1.orthogonal_initializer()([2, 3]).shape
    TensorShape([2, 3])
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        dims = [int(size) for size in shape]
        if len(dims) < 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received "
                f"shape={shape}"
            )
        rows, columns = math.prod(dims[:-1]), dims[-1]
        drawn = resolve("random.normal")([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed)
        q, r = resolve("linalg.qr")(drawn)
        q = q * resolve("math.sign")(resolve("linalg.diag_part")(r))
        return self.gain * resolve("reshape")(q if rows >= columns else resolve("linalg.matrix_transpose")(q), dims)
