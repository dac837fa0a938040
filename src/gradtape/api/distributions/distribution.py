"""The base class of distributions: it derives public methods from what a distribution defines."""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import md5
from typing import Any

from ...core import dtypes
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ..namespace import root as tf

NAMESPACES = ("compat.v1.distributions",)
__all__ = ["FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType"]


class ReparameterizationType:
    """Whether gradients of samples reach the parameters: `FULLY_REPARAMETERIZED` or `NOT_REPARAMETERIZED`.

    >>> import gradtape as tf
    >>> tf.compat.v1.distributions.Normal(0.0, 1.0).reparameterization_type
    <Reparameterization Type: FULLY_REPARAMETERIZED>
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def to_parameters(*values: Any) -> list[Any]:
    """Converts parameters to tensors of one dtype: that of the first one with a dtype, else float32."""
    hint = next((dtypes.as_dtype(value.dtype) for value in values if hasattr(value, "dtype")), None)
    return [None if value is None else to_tensor(value, hint=hint or dtypes.float32) for value in values]


def broadcast_dims(*tensors: Tensor) -> tuple[int, ...]:
    """Returns the shape of tensors that are broadcast together."""
    dims: Any = TensorShape([])
    for tensor in tensors:
        dims = tf.broadcast_static_shape(dims, tensor.shape)
    return tuple(dims)


def derived_seed(seed: int | None, salt: str) -> int | None:
    """Returns the seed of another draw, as TensorFlow derives it."""
    return None if seed is None else int(md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


class Distribution:
    """The base class of distributions, which define `_log_prob` or `_prob`, `_sample_n`, `_mean` and others.

    A distribution has independent copies with other parameters, of `batch_shape`, and each sample has `event_shape`.

    >>> import gradtape as tf
    >>> normals = tf.compat.v1.distributions.Normal([0.0, 1.0], 2.0)
    >>> normals.sample(3).shape, normals.event_shape
    (TensorShape([3, 2]), TensorShape([]))
    """

    def __init__(
        self, dtype: Any, reparameterization_type: ReparameterizationType, validate_args: bool, allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None, graph_parents: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self._dtype = dtypes.as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = parameters or {}
        self._name = name or type(self).__name__

    @property
    def name(self) -> str:
        """The name."""
        return f"{self._name.rstrip('/')}/"

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {key: value for key, value in self._parameters.items() if key not in ("self", "__class__")}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients of samples reach the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether an undefined statistic is NaN instead of an error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Distribution:
        """Returns a distribution with some parameters replaced."""
        made: Distribution = type(self)(**{**self.parameters, **override_parameters_kwargs})
        return made

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the copies."""
        return TensorShape(self._batch_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Returns the shape of the copies as a tensor."""
        return to_tensor(list(self.batch_shape), dtypes.int32)

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample."""
        return TensorShape(self._event_shape())

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """Returns the shape of one sample as a tensor."""
        return to_tensor(list(self.event_shape), dtypes.int32)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Returns whether a sample is a number."""
        return to_tensor(len(self.event_shape) == 0)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Returns whether there is one copy."""
        return to_tensor(len(self.batch_shape) == 0)

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draws samples of the given shape."""
        shape = to_array(sample_shape).astype(int).reshape(-1).tolist() if not _is_empty(sample_shape) else []
        drawn = self._sample_n(math.prod(shape), seed)
        return tf.reshape(drawn, [*shape, *drawn.shape[1:]])

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """Returns the logarithm of the density, or of the probability."""
        x = self._value(value)
        return self._log_prob(x) if self._defines("_log_prob") else tf.math.log(self._prob(x))

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """Returns the density, or the probability."""
        x = self._value(value)
        return self._prob(x) if self._defines("_prob") else tf.exp(self._log_prob(x))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """Returns the logarithm of the cumulative distribution function."""
        x = self._value(value)
        return self._log_cdf(x) if self._defines("_log_cdf") else tf.math.log(self._cdf(x))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """Returns the probability of samples that do not exceed a value."""
        x = self._value(value)
        return self._cdf(x) if self._defines("_cdf") else tf.exp(self._log_cdf(x))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """Returns the logarithm of the probability of samples above a value."""
        return tf.math.log1p(-self.cdf(value))

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """Returns the probability of samples above a value."""
        return 1.0 - self.cdf(value)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """Returns the inverse of the cumulative distribution function."""
        return self._quantile(self._value(value))

    def entropy(self, name: str = "entropy") -> Tensor:
        """Returns the Shannon entropy in nats."""
        return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """Returns the mean."""
        return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """Returns the variance."""
        return self._variance() if self._defines("_variance") else tf.square(self._stddev())

    def stddev(self, name: str = "stddev") -> Tensor:
        """Returns the standard deviation."""
        return self._stddev() if self._defines("_stddev") else tf.sqrt(self._variance())

    def covariance(self, name: str = "covariance") -> Tensor:
        """Returns the covariance matrix of a vector."""
        return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """Returns the most probable value."""
        return self._mode()

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """Returns the cross entropy with another distribution."""
        return self.entropy() + self.kl_divergence(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """Returns the Kullback-Leibler divergence from another distribution."""
        return tf.compat.v1.distributions.kl_divergence(self, other, self.allow_nan_stats)

    def __repr__(self) -> str:
        shapes = f"batch_shape={tuple(self.batch_shape)} event_shape={tuple(self.event_shape)}"
        return f"<tfp.distributions.{type(self).__name__} '{self.name}' {shapes} dtype={self.dtype.name}>"

    def _value(self, value: Any) -> Tensor:
        return to_tensor(value, hint=self.dtype if self.dtype.is_floating else None)

    def _defines(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Distribution, method)

    def _defined_where(self, condition: Tensor, value: Tensor, check: Callable[[], Any]) -> Tensor:
        """Returns a statistic, with NaN where it is undefined, or raises the error of a check."""
        if not self.allow_nan_stats:
            check()
            return value
        return tf.where(condition, value, tf.constant(math.nan, value.dtype))

    def _undefined(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    # What distributions define.

    def _batch_shape(self) -> Any:
        raise self._undefined("batch_shape")

    def _event_shape(self) -> Any:
        return ()

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        raise self._undefined("sample_n")

    def _log_prob(self, value: Tensor) -> Tensor:
        raise self._undefined("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        raise self._undefined("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        raise self._undefined("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        raise self._undefined("cdf")

    def _quantile(self, value: Tensor) -> Tensor:
        raise self._undefined("quantile")

    def _entropy(self) -> Tensor:
        raise self._undefined("entropy")

    def _mean(self) -> Tensor:
        raise self._undefined("mean")

    def _variance(self) -> Tensor:
        raise self._undefined("variance")

    def _stddev(self) -> Tensor:
        raise self._undefined("stddev")

    def _covariance(self) -> Tensor:
        raise self._undefined("covariance")

    def _mode(self) -> Tensor:
        raise self._undefined("mode")


def _is_empty(shape: Any) -> bool:
    return isinstance(shape, tuple | list | TensorShape) and len(shape) == 0
