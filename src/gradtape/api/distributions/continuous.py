"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from ...core.tensor import Tensor
from ..namespace import root as tf
from .distribution import FULLY_REPARAMETERIZED, Distribution, broadcast_dims, derived_seed, to_parameters

NAMESPACES = ("compat.v1.distributions",)
__all__ = ["Beta", "Exponential", "Gamma", "Laplace", "Normal", "StudentT", "Uniform"]


class _Univariate(Distribution):
    """A distribution of numbers whose parameters are broadcast together and must be positive if named so."""

    def __init__(
        self, given: dict[str, Any], positive: tuple[str, ...], validate_args: bool, allow_nan_stats: bool, name: str,
        arguments: dict[str, Any],
    ) -> None:  # fmt: skip
        self._given = dict(zip(given, to_parameters(*given.values()), strict=True))
        if validate_args:
            for key in positive:
                tf.debugging.assert_positive(self._given[key])
        dtype = next(iter(self._given.values())).dtype
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, {**arguments}, None, name
        )

    def _batch_shape(self) -> tuple[int, ...]:
        return broadcast_dims(*self._given.values())

    def _spread(self, value: Tensor) -> Tensor:
        """Returns a value for each copy."""
        return tf.broadcast_to(value, self._batch_shape())

    def _drawn_shape(self, n: int) -> list[int]:
        return [n, *self._batch_shape()]


class _LocationScale(_Univariate):
    loc = property(lambda self: self._given["loc"], doc="The location.")
    scale = property(lambda self: self._given["scale"], doc="The scale.")

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _mean(self) -> Tensor:
        return self._spread(self.loc)

    _mode = _mean


class Normal(_LocationScale):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> import gradtape as tf
    >>> round(float(tf.compat.v1.distributions.Normal(0.0, 1.0).prob(0.0)), 4)
    0.3989
    """

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal"
    ) -> None:
        super().__init__(
            {"loc": loc, "scale": scale}, ("scale",), validate_args, allow_nan_stats, name, locals()
        )

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        return tf.random.normal(self._drawn_shape(n), dtype=self.dtype, seed=seed) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        return -0.5 * tf.square(self._z(x)) - (0.5 * math.log(2 * math.pi) + tf.math.log(self.scale))

    def _cdf(self, x: Tensor) -> Tensor:
        return 0.5 * tf.math.erfc(-self._z(x) / math.sqrt(2))

    def _quantile(self, p: Tensor) -> Tensor:
        return tf.math.ndtri(p) * self.scale + self.loc

    def _entropy(self) -> Tensor:
        return self._spread(0.5 * math.log(2 * math.pi * math.e) + tf.math.log(self.scale))

    def _stddev(self) -> Tensor:
        return self._spread(self.scale)


class Laplace(_LocationScale):
    """The Laplace distribution, whose density falls exponentially on both sides of `loc`.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Laplace(0.0, 1.0).prob(0.0))
    0.5
    """

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace"
    ) -> None:
        super().__init__(
            {"loc": loc, "scale": scale}, ("scale",), validate_args, allow_nan_stats, name, locals()
        )

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        above = float(np.nextafter(-np.ones((), self.dtype.numpy), 0))  # as -1 gives infinity
        u = tf.random.uniform(self._drawn_shape(n), above, 1.0, self.dtype, seed)
        return self.loc - self.scale * tf.sign(u) * tf.math.log1p(-tf.abs(u))

    def _log_prob(self, x: Tensor) -> Tensor:
        return -tf.abs(self._z(x)) - math.log(2) - tf.math.log(self.scale)

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return 0.5 - 0.5 * tf.sign(z) * tf.math.expm1(-tf.abs(z))

    def _entropy(self) -> Tensor:
        return self._spread(math.log(2) + 1 + tf.math.log(self.scale))

    def _stddev(self) -> Tensor:
        return self._spread(math.sqrt(2) * self.scale)


class Uniform(_Univariate):
    """The uniform distribution on numbers from `low` on and below `high`.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Uniform(2.0, 6.0).mean())
    4.0
    """

    def __init__(
        self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:  # fmt: skip
        super().__init__({"low": low, "high": high}, (), validate_args, allow_nan_stats, name, locals())
        if validate_args:
            tf.debugging.assert_less(self.low, self.high, "uniform not defined when low >= high.")

    low = property(lambda self: self._given["low"], doc="The smallest number.")
    high = property(lambda self: self._given["high"], doc="The end of the range.")

    def range(self, name: str = "range") -> Tensor:
        """Returns `high - low`."""
        return self.high - self.low

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        return self.low + self.range() * tf.random.uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: Tensor) -> Tensor:
        x = tf.broadcast_to(x, broadcast_dims(x, *self._given.values()))
        density = tf.where((x < self.low) | (x >= self.high), tf.zeros_like(x), tf.ones_like(x) / self.range())
        return tf.where(tf.math.is_nan(x), x, density)

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.clip_by_value((x - self.low) / self.range(), 0.0, 1.0)

    def _quantile(self, p: Tensor) -> Tensor:
        return p * self.range() + self.low

    def _entropy(self) -> Tensor:
        return tf.math.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12)


class Gamma(_Univariate):
    """The gamma distribution with shape `concentration` and inverse scale `rate`.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Gamma(3.0, 2.0).mean())
    1.5
    """

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:  # fmt: skip
        given = {"concentration": concentration, "rate": rate}
        super().__init__(given, ("concentration", "rate"), validate_args, allow_nan_stats, name, locals())

    concentration = property(lambda self: self._given["concentration"], doc="The shape parameter.")
    rate = property(lambda self: self._given["rate"], doc="The inverse scale.")

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        return tf.random.gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        a, b = self.concentration, self.rate
        return tf.math.xlogy(a - 1.0, x) - b * x - (tf.math.lgamma(a) - a * tf.math.log(b))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.math.igamma(self.concentration, self.rate * x)

    def _entropy(self) -> Tensor:
        a = self.concentration
        return a - tf.math.log(self.rate) + tf.math.lgamma(a) + (1.0 - a) * tf.math.digamma(a)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / tf.square(self.rate)

    def _mode(self) -> Tensor:
        a = self.concentration

        def check() -> None:
            tf.debugging.assert_less(tf.ones_like(a), a, "mode not defined when any concentration <= 1")

        return self._defined_where(self._spread(a) > 1.0, (a - 1.0) / self.rate, check)


class Exponential(Gamma):
    """The exponential distribution: waiting times of events that occur at a `rate`.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Exponential(2.0).mean())
    0.5
    """

    def __init__(
        self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        (rate,) = to_parameters(rate)
        super().__init__(tf.ones_like(rate), rate, validate_args, allow_nan_stats, name)
        self._parameters = {
            "rate": rate, "validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name
        }  # fmt: skip

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        least = float(ml_dtypes.finfo(self.dtype.numpy).tiny)  # as 0 gives infinity
        return -tf.math.log(tf.random.uniform(self._drawn_shape(n), least, 1.0, self.dtype, seed)) / self.rate


class Beta(_Univariate):
    """The beta distribution of numbers between 0 and 1.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Beta(1.0, 3.0).mean())
    0.25
    """

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Beta",
    ) -> None:  # fmt: skip
        given = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(given, tuple(given), validate_args, allow_nan_stats, name, locals())

    concentration1 = property(lambda self: self._given["concentration1"], doc="The weight of 1.")
    concentration0 = property(lambda self: self._given["concentration0"], doc="The weight of 0.")
    total_concentration = property(lambda self: self.concentration1 + self.concentration0, doc="The sum of both.")

    def _log_normalization(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return tf.math.lgamma(a) + tf.math.lgamma(b) - tf.math.lgamma(a + b)

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        first, second = (
            tf.random.gamma([n], self._spread(a), dtype=self.dtype, seed=s)
            for a, s in ((self.concentration1, seed), (self.concentration0, derived_seed(seed, "beta")))
        )
        return first / (first + second)

    def _log_prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            tf.debugging.assert_positive(x, "sample must be positive")
            tf.debugging.assert_less(x, tf.ones([], x.dtype), "sample must be less than `1`.")
        parts = tf.math.xlogy(self.concentration1 - 1.0, x) + tf.math.xlog1py(self.concentration0 - 1.0, -x)
        return parts - self._log_normalization()

    def _cdf(self, x: Tensor) -> Tensor:
        dims = broadcast_dims(x, *self._given.values())
        return tf.math.betainc(*(tf.broadcast_to(v, dims) for v in (self.concentration1, self.concentration0, x)))

    def _entropy(self) -> Tensor:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        digamma = tf.math.digamma
        return (
            self._log_normalization() - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b)
            + (total - 2.0) * digamma(total)
        )  # fmt: skip

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0

        def check() -> None:
            for value in (a, b):
                tf.debugging.assert_less(tf.ones([], self.dtype), value, "Mode undefined for concentration <= 1.")

        return self._defined_where((a > 1.0) & (b > 1.0), (a - 1.0) / (a + b - 2.0), check)


class StudentT(_LocationScale):
    """Student's t-distribution with `df` degrees of freedom.

    >>> import gradtape as tf
    >>> round(float(tf.compat.v1.distributions.StudentT(3.0, 0.0, 1.0).prob(0.0)), 4)
    0.3676
    """

    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:  # fmt: skip
        given = {"df": df, "loc": loc, "scale": scale}
        super().__init__(given, ("df",), validate_args, allow_nan_stats, name, locals())

    df = property(lambda self: self._given["df"], doc="The degrees of freedom.")

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        normal = tf.random.normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        gamma = tf.random.gamma([n], self._spread(0.5 * self.df), 0.5, self.dtype, derived_seed(seed, "student_t"))
        return normal * tf.math.rsqrt(gamma / self.df) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        df, half = self.df, 0.5 * (self.df + 1.0)
        normalization = (
            tf.math.log(tf.abs(self.scale)) + 0.5 * tf.math.log(df) + 0.5 * math.log(math.pi)
            + tf.math.lgamma(0.5 * df) - tf.math.lgamma(half)
        )  # fmt: skip
        return -half * tf.math.log1p(tf.square(self._z(x)) / df) - normalization

    def _cdf(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / tf.abs(self.scale)
        dims = broadcast_dims(z, self.df)
        inside = self.df / (tf.square(z) + self.df)
        half = tf.constant(0.5, self.dtype)
        below = 0.5 * tf.math.betainc(*(tf.broadcast_to(v, dims) for v in (0.5 * self.df, half, inside)))
        return tf.where(z < 0.0, below, 1.0 - below)

    def _entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1.0)
        lgamma, digamma = tf.math.lgamma, tf.math.digamma
        beta = lgamma(half) + lgamma(tf.constant(0.5, self.dtype)) - lgamma(more)
        spread = tf.math.log(tf.abs(self.scale)) + 0.5 * tf.math.log(self.df)
        return self._spread(spread + beta + more * (digamma(more) - digamma(half)))

    def _mean(self) -> Tensor:
        def check() -> None:
            tf.debugging.assert_less(tf.ones([], self.dtype), self.df, "mean not defined for components of df <= 1")

        return self._defined_where(self._spread(self.df) > 1.0, self._spread(self.loc), check)

    def _variance(self) -> Tensor:
        df = self._spread(self.df)
        finite = tf.square(self.scale) * df / tf.where(df > 2.0, df - 2.0, tf.ones_like(df))
        value = tf.where(df > 2.0, finite, tf.constant(math.inf, self.dtype))

        def check() -> None:
            tf.debugging.assert_less(
                tf.ones([], self.dtype), self.df, "variance not defined for components of df <= 1"
            )

        return self._defined_where(df > 1.0, value, check)

    def _mode(self) -> Tensor:
        return tf.identity(self.loc)
