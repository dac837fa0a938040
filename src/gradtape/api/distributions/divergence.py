"""Kullback-Leibler divergences of pairs of distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ..namespace import root as tf
from .continuous import Beta, Gamma, Normal
from .discrete import Bernoulli, Categorical, Dirichlet
from .distribution import Distribution

NAMESPACES = ("compat.v1.distributions",)
__all__ = ["RegisterKL", "kl_divergence"]

_Function = Callable[..., Any]
_divergences: dict[tuple[type, type], _Function] = {}


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """Returns the Kullback-Leibler divergence of two distributions.

    >>> import gradtape as tf
    >>> normal = tf.compat.v1.distributions.Normal
    >>> float(tf.compat.v1.distributions.kl_divergence(normal(1.0, 1.0), normal(0.0, 1.0)))
    0.5
    """
    kinds = ((a, b) for a in type(distribution_a).__mro__ for b in type(distribution_b).__mro__)
    found = next((_divergences[pair] for pair in kinds if pair in _divergences), None)
    if found is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    value = found(distribution_a, distribution_b, name=name)
    if not allow_nan_stats:
        tf.debugging.assert_equal(
            tf.math.is_nan(value), False, "KL calculation returned NaN values, and allow_nan_stats=False"
        )
    return value


class RegisterKL:
    """A decorator of the function that computes the divergence of two classes of distributions.

    >>> import gradtape as tf
    >>> class Mine(tf.compat.v1.distributions.Normal): ...
    >>> @tf.compat.v1.distributions.RegisterKL(Mine, Mine)
    ... def divergence(a, b, name=None):
    ...     return tf.constant(7.0)
    >>> float(tf.compat.v1.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)))
    7.0
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: _Function) -> _Function:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _divergences:
            names = f"{self._key[0].__name__} and {self._key[1].__name__}"
            raise ValueError(f"KL({names}) has already been registered to: {_divergences[self._key]}")
        _divergences[self._key] = kl_fn
        return kl_fn


@RegisterKL(Normal, Normal)
def _normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    ratio = tf.square(a.scale / b.scale)
    return tf.square(a.loc - b.loc) / (2.0 * tf.square(b.scale)) + 0.5 * (ratio - 1.0 - tf.math.log(ratio))


@RegisterKL(Gamma, Gamma)
def _gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    lgamma = tf.math.lgamma
    return (
        (a.concentration - b.concentration) * tf.math.digamma(a.concentration)
        + lgamma(b.concentration) - lgamma(a.concentration)
        + b.concentration * (tf.math.log(a.rate) - tf.math.log(b.rate))
        + a.concentration * (b.rate / a.rate - 1.0)
    )  # fmt: skip


@RegisterKL(Beta, Beta)
def _beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    pairs = [(getattr(a, key), getattr(b, key)) for key in ("concentration1", "concentration0", "total_concentration")]
    first, second, total = ((mine - other) * tf.math.digamma(mine) for mine, other in pairs)
    return b._log_normalization() - a._log_normalization() + first + second - total


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    softplus = tf.nn.softplus
    return (
        tf.sigmoid(a.logits) * (softplus(-b.logits) - softplus(-a.logits))
        + tf.sigmoid(-a.logits) * (softplus(b.logits) - softplus(a.logits))
    )  # fmt: skip


@RegisterKL(Categorical, Categorical)
def _categorical(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
    return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, -1)


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    change = tf.math.digamma(a.concentration) - tf.math.digamma(a.total_concentration)[..., None]
    weighted = tf.reduce_sum((a.concentration - b.concentration) * change, -1)
    return weighted - tf.math.lbeta(a.concentration) + tf.math.lbeta(b.concentration)
