"""Distributions of classes and counts, and of the probabilities of classes."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ...engine.run.convert import to_array
from ..namespace import root as tf
from .distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    broadcast_dims,
    derived_seed,
    to_parameters,
)  # fmt: skip

NAMESPACES = ("compat.v1.distributions",)
__all__ = ["Bernoulli", "Categorical", "Dirichlet", "DirichletMultinomial", "Multinomial"]


def _logits_and_probs(logits: Any, probs: Any, multidimensional: bool) -> tuple[Tensor, Tensor]:
    """Returns log-odds, or logarithms of unnormalized probabilities, and probabilities, of which one is given."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        (given,) = to_parameters(logits)
        return given, tf.nn.softmax(given) if multidimensional else tf.sigmoid(given)
    (given,) = to_parameters(probs)
    log = tf.math.log(given)
    return log if multidimensional else log - tf.math.log1p(-given), given


def _check_probs(probs: Tensor, multidimensional: bool) -> None:
    tf.debugging.assert_non_negative(probs, "probs does not lie in the unit interval.")
    tf.debugging.assert_less_equal(probs, tf.ones([], probs.dtype), "probs does not lie in the unit interval.")
    if multidimensional:
        total = tf.reduce_sum(probs, -1)
        tf.debugging.assert_near(total, tf.ones([], probs.dtype), message="probs does not sum to 1.")


def _log_combinations(total: Tensor, counts: Tensor) -> Tensor:
    """Returns the logarithm of the number of orders in which counts can occur."""
    return tf.math.lgamma(total + 1.0) - tf.reduce_sum(tf.math.lgamma(counts + 1.0), -1)


def _check_counts(counts: Tensor, total: Tensor) -> None:
    tf.debugging.assert_non_negative(counts, "counts must be non-negative.")
    tf.debugging.assert_equal(counts, tf.floor(counts), "counts cannot contain fractional components.")
    tf.debugging.assert_equal(total, tf.reduce_sum(counts, -1), "counts must sum to `self.total_count`")


class Bernoulli(Distribution):
    """The distribution of 1 with a probability, and else 0.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Bernoulli(probs=0.25).variance())
    0.1875
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Bernoulli",
    ) -> None:  # fmt: skip
        arguments = locals()
        self._logits, self._probs = _logits_and_probs(logits, probs, False)
        if validate_args and probs is not None:
            _check_probs(self._probs, False)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, None, name)

    logits = property(lambda self: self._logits, doc="The log-odds of 1.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    def _batch_shape(self) -> tuple[int, ...]:
        return self._logits.dims

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        drawn = tf.random.uniform([n, *self._batch_shape()], dtype=self._probs.dtype, seed=seed)
        return tf.cast(drawn < self._probs, self.dtype)

    def _log_prob(self, event: Tensor) -> Tensor:
        if self.validate_args:
            tf.debugging.assert_equal((event == 0) | (event == 1), True, "event must be 0 or 1")
        event = tf.cast(event, self._logits.dtype)
        dims = broadcast_dims(event, self._logits)
        labels, logits = tf.broadcast_to(event, dims), tf.broadcast_to(self._logits, dims)
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _entropy(self) -> Tensor:
        return -self._logits * (tf.sigmoid(self._logits) - 1.0) + tf.nn.softplus(-self._logits)

    def _mean(self) -> Tensor:
        return tf.identity(self._probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return tf.cast(self._probs > 0.5, self.dtype)


class Categorical(Distribution):
    """The distribution of class numbers.

    >>> import gradtape as tf
    >>> int(tf.compat.v1.distributions.Categorical(probs=[0.25, 0.75]).mode())
    1
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Categorical",
    ) -> None:  # fmt: skip
        arguments = locals()
        self._logits, self._probs = _logits_and_probs(logits, probs, True)
        if validate_args and probs is not None:
            _check_probs(self._probs, True)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, None, name)

    logits = property(lambda self: self._logits, doc="The logarithms of unnormalized probabilities.")
    probs = property(lambda self: self._probs, doc="The probabilities of the classes.")
    event_size = property(lambda self: tf.constant(self._logits.dims[-1]), doc="The number of classes.")

    def _batch_shape(self) -> tuple[int, ...]:
        return self._logits.dims[:-1]

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        rows = tf.reshape(self._logits, [-1, self._logits.dims[-1]])
        drawn = tf.transpose(tf.random.categorical(rows, n, tf.int64, seed))
        return tf.cast(tf.reshape(drawn, [n, *self._batch_shape()]), self.dtype)

    def _log_prob(self, k: Tensor) -> Tensor:
        k = tf.cast(k, tf.int32)
        dims = broadcast_dims(k, self._logits[..., 0])
        logits = tf.broadcast_to(self._logits, [*dims, self._logits.dims[-1]])
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.broadcast_to(k, dims), logits=logits)

    def _cdf(self, k: Tensor) -> Tensor:
        dims = broadcast_dims(k, self._logits[..., 0])
        counted = tf.range(self._logits.dims[-1]) < tf.cast(tf.broadcast_to(k, dims), tf.int32)[..., None]
        return tf.reduce_sum(tf.where(counted, self._probs, tf.zeros_like(self._probs)), -1)

    def _entropy(self) -> Tensor:
        return -tf.reduce_sum(tf.nn.log_softmax(self._logits) * self._probs, -1)

    def _mode(self) -> Tensor:
        return tf.cast(tf.argmax(self._logits, -1), self.dtype)


class Multinomial(Distribution):
    """The distribution of how often each class occurs in `total_count` draws.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.distributions.Multinomial(2.0, probs=[0.5, 0.5]).prob([1.0, 1.0]))
    0.5
    """

    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Multinomial",
    ) -> None:  # fmt: skip
        arguments = locals()
        self._logits, self._probs = _logits_and_probs(logits, probs, True)
        (_, self._total_count) = to_parameters(self._logits, total_count)
        if validate_args:
            tf.debugging.assert_non_negative(self._total_count, "total_count must be non-negative.")
            _check_probs(self._probs, True)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, None, name
        )

    total_count = property(lambda self: self._total_count, doc="The number of draws.")
    logits = property(lambda self: self._logits, doc="The logarithms of unnormalized probabilities.")
    probs = property(lambda self: self._probs, doc="The probabilities of the classes.")

    def _batch_shape(self) -> tuple[int, ...]:
        return broadcast_dims(self._total_count, self._probs[..., 0])

    def _event_shape(self) -> tuple[int, ...]:
        return self._probs.dims[-1:]

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        batch, classes = self._batch_shape(), self._probs.dims[-1]
        logits = tf.reshape(tf.broadcast_to(self._logits, [*batch, classes]), [-1, classes])
        return _drawn_counts(logits, tf.broadcast_to(self._total_count, batch), n, [*batch, classes], seed)

    def _log_prob(self, counts: Tensor) -> Tensor:
        if self.validate_args:
            _check_counts(counts, self._total_count)
        log_probs = tf.reduce_sum(counts * tf.nn.log_softmax(self._logits), -1)
        return log_probs + _log_combinations(self._total_count, counts)

    def _mean(self) -> Tensor:
        return self._probs * self._total_count[..., None]

    def _covariance(self) -> Tensor:
        p = self._probs * tf.ones_like(self._total_count)[..., None]
        outer = tf.matmul(self._mean()[..., None], p[..., None, :])
        return tf.linalg.set_diag(-outer, self._variance())

    def _variance(self) -> Tensor:
        p = self._probs * tf.ones_like(self._total_count)[..., None]
        return self._mean() * (1.0 - p)


def _drawn_counts(logits: Tensor, total: Tensor, n: int, shape: list[int], seed: int | None) -> Tensor:
    """Draws classes for each row of logits, `total` times, and counts them, `n` times."""
    most = int(to_array(total).max(initial=0))
    classes = tf.random.categorical(logits, n * most, tf.int32, seed)
    classes = tf.reshape(classes, [logits.dims[0], n, most])
    counted = tf.range(most) < tf.cast(tf.reshape(total, [-1, 1, 1]), tf.int32)
    ones = tf.one_hot(classes, logits.dims[-1], dtype=logits.dtype) * tf.cast(counted, logits.dtype)[..., None]
    return tf.reshape(tf.transpose(tf.reduce_sum(ones, 2), [1, 0, 2]), [n, *shape])


class _Concentrated(Distribution):
    """A distribution with a vector of concentrations."""

    _concentration: Tensor

    concentration = property(lambda self: self._concentration, doc="The weights of the classes.")
    total_concentration = property(lambda self: tf.reduce_sum(self._concentration, -1), doc="The sum of the weights.")

    def _event_shape(self) -> tuple[int, ...]:
        return self._concentration.dims[-1:]

    def _check_concentration(self) -> None:
        tf.debugging.assert_positive(self._concentration, "Concentration parameter must be positive.")
        tf.debugging.assert_less(1, self._concentration.dims[-1], "Rank 2 or higher events are needed.")


class Dirichlet(_Concentrated):
    """The distribution of probabilities of classes, with a weight for each class.

    >>> import gradtape as tf
    >>> tf.compat.v1.distributions.Dirichlet([1.0, 3.0]).mean().numpy().tolist()
    [0.25, 0.75]
    """

    def __init__(
        self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet"
    ) -> None:
        arguments = locals()
        (self._concentration,) = to_parameters(concentration)
        if validate_args:
            self._check_concentration()
        dtype = self._concentration.dtype
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, None, name)

    def _batch_shape(self) -> tuple[int, ...]:
        return self._concentration.dims[:-1]

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        drawn = tf.random.gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / tf.reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            tf.debugging.assert_positive(x, "samples must be positive")
            total = tf.reduce_sum(x, -1)
            tf.debugging.assert_near(tf.ones([], x.dtype), total, message="sample last-dimension must sum to `1`")
        return tf.reduce_sum(tf.math.xlogy(self._concentration - 1.0, x), -1) - tf.math.lbeta(self._concentration)

    def _entropy(self) -> Tensor:
        a, total, classes = self._concentration, self.total_concentration, float(self._concentration.dims[-1])
        parts = tf.reduce_sum((a - 1.0) * tf.math.digamma(a), -1)
        return tf.math.lbeta(a) + (total - classes) * tf.math.digamma(total) - parts

    def _mean(self) -> Tensor:
        return self._concentration / self.total_concentration[..., None]

    def _covariance(self) -> Tensor:
        scaled = self._scaled_mean()
        return tf.linalg.set_diag(-tf.matmul(scaled[..., None], scaled[..., None, :]), self._variance())

    def _variance(self) -> Tensor:
        scale = tf.math.rsqrt(1.0 + self.total_concentration)[..., None]
        return self._scaled_mean() * (scale - self._scaled_mean())

    def _scaled_mean(self) -> Tensor:
        return self._mean() * tf.math.rsqrt(1.0 + self.total_concentration)[..., None]

    def _mode(self) -> Tensor:
        a = self._concentration
        mode = (a - 1.0) / (self.total_concentration - float(a.dims[-1]))[..., None]

        def check() -> None:
            tf.debugging.assert_less(tf.ones([], self.dtype), a, "Mode undefined when any concentration <= 1")

        return self._defined_where(tf.reduce_all(a > 1.0, -1, keepdims=True), mode, check)


class DirichletMultinomial(_Concentrated):
    """The distribution of counts of a `Multinomial` whose probabilities have a `Dirichlet` distribution.

    >>> import gradtape as tf
    >>> tf.compat.v1.distributions.DirichletMultinomial(4.0, [1.0, 3.0]).mean().numpy().tolist()
    [1.0, 3.0]
    """

    def __init__(
        self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:  # fmt: skip
        arguments = locals()
        self._concentration, self._total_count = to_parameters(concentration, total_count)
        if validate_args:
            tf.debugging.assert_non_negative(self._total_count, "total_count must be non-negative.")
            self._check_concentration()
        dtype = self._concentration.dtype
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, arguments, None, name)

    total_count = property(lambda self: self._total_count, doc="The number of draws.")

    def _batch_shape(self) -> tuple[int, ...]:
        return broadcast_dims(self._total_count, self._concentration[..., 0])

    def _sample_n(self, n: int, seed: int | None = None) -> Tensor:
        batch, classes = self._batch_shape(), self._concentration.dims[-1]
        weights = tf.broadcast_to(self._concentration, [*batch, classes])
        drawn = tf.random.gamma([n], weights, dtype=self.dtype, seed=derived_seed(seed, "dirichlet_multinomial"))
        total = tf.broadcast_to(self._total_count, [n, *batch])
        counts = _drawn_counts(tf.reshape(tf.math.log(drawn), [-1, classes]), total, 1, [n, *batch, classes], seed)
        return counts[0]

    def _log_prob(self, counts: Tensor) -> Tensor:
        if self.validate_args:
            _check_counts(counts, self._total_count)
        ordered = tf.math.lbeta(self._concentration + counts) - tf.math.lbeta(self._concentration)
        return ordered + _log_combinations(self._total_count, counts)

    def _mean(self) -> Tensor:
        return self._total_count[..., None] * (self._concentration / self.total_concentration[..., None])

    def _scale(self) -> Tensor:
        total = self.total_concentration
        return tf.sqrt((total + self._total_count) / (1.0 + total))[..., None]

    def _covariance(self) -> Tensor:
        scale = self._scale()
        mean = self._mean() * scale
        share = self._concentration / self.total_concentration[..., None] * scale
        return tf.linalg.set_diag(-tf.matmul(mean[..., None], share[..., None, :]), self._variance())

    def _variance(self) -> Tensor:
        share = self._concentration / self.total_concentration[..., None]
        return self._mean() * (1.0 - share) * tf.square(self._scale())
