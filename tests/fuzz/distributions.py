"""`tf.compat.v1.distributions` against SciPy: densities, moments, divergences, samples and gradients.

Parameters have random shapes that broadcast (0-d and empty ones among them) in single, double or half precision. A
gradient is compared with central differences of SciPy's density in double precision; the mean and the variance of
samples with the exact ones, within seven standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate, special, stats

import gradtape as tf

v1 = tf.compat.v1.distributions
_TOLERANCES = {"float16": 4e-2, "float32": 2e-4, "float64": 1e-8}
_SAMPLES = 2000
_STEP = 1e-6  # of a central difference


class Kind(NamedTuple):
    """A distribution: parameters by their kind, SciPy's frozen distribution of them, and values to ask it about."""

    make: Callable[..., Any]
    parameters: str  # for each: any number, a positive one, one between 0 and 1
    peer: Callable[..., Any]
    values: str


UNIVARIATE = {
    "Normal": Kind(v1.Normal, "np", lambda loc, scale: stats.norm(loc, scale), "n"),
    "Laplace": Kind(v1.Laplace, "np", lambda loc, scale: stats.laplace(loc, scale), "n"),
    "Uniform": Kind(lambda low, size: v1.Uniform(low, low + size), "np", lambda low, s: stats.uniform(low, s), "n"),
    "Gamma": Kind(v1.Gamma, "pp", lambda a, rate: stats.gamma(a, scale=1 / rate), "p"),
    "Exponential": Kind(v1.Exponential, "p", lambda rate: stats.expon(scale=1 / rate), "p"),
    "Beta": Kind(v1.Beta, "pp", stats.beta, "u"),
    "StudentT": Kind(v1.StudentT, "pnp", stats.t, "n"),
    "Bernoulli": Kind(lambda p: v1.Bernoulli(probs=p), "u", stats.bernoulli, "b"),
}
_SHAPES = [(), (1,), (3,), (2, 1), (2, 3), (0,), (0, 3)]


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["float32", "float64", "float64", "float16"]))
    if rng.random() < 0.3:
        return _of_classes(rng, dtype)
    name = str(rng.choice(sorted(UNIVARIATE)))
    kind = UNIVARIATE[name]
    shapes = _broadcastable(rng, len(kind.parameters) + 1)
    *given, x = (_numbers(rng, one, shape, dtype) for one, shape in zip(kind.parameters + kind.values, shapes,
                                                                     strict=True))  # fmt: skip
    found = _compare_densities(kind, given, x, dtype, rng.random() < 0.3)
    found += _compare_moments(kind, given, dtype)
    found += _compare_samples(kind, given, dtype, seed)
    if name in ("Normal", "Gamma", "Beta", "Bernoulli"):
        found += _compare_divergences(kind, rng, dtype)
    return [f"{name} of {dtype} {[a.tolist() for a in given]} at {x.tolist()}: {message}" for message in found]


def _broadcastable(rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
    while True:
        shapes = [_SHAPES[int(rng.integers(len(_SHAPES)))] for _ in range(count)]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            continue
        return shapes


def _numbers(rng: np.random.Generator, kind: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    draw = {"n": lambda: rng.normal(size=shape), "p": lambda: rng.uniform(0.3, 4, shape),
            "u": lambda: rng.uniform(0.05, 0.95, shape), "b": lambda: rng.integers(0, 2, shape)}  # fmt: skip
    return np.asarray(draw[kind]()).astype(dtype)


def _wide(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [a.astype(np.float64) for a in arrays]


def _compare_densities(kind: Kind, given: list[np.ndarray], x: np.ndarray, dtype: str, in_function: bool) -> list[str]:
    is_discrete = kind.values == "b"

    def density(*values: Any) -> Any:
        own = kind.make(*values[:-1])
        return own.log_prob(values[-1]), own.prob(values[-1])

    def peer(*values: Any) -> Any:
        own = kind.peer(*values[:-1])
        return own.logpmf(values[-1]) if is_discrete else own.logpdf(values[-1])

    tensors = [tf.constant(a) for a in (*given, x)]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        log, plain = (tf.function(density, autograph=False) if in_function else density)(*tensors)
    with np.errstate(all="ignore"):
        expected = peer(*_wide([*given, x]))
        problems = _differs("log_prob", log, expected, dtype) + _differs("prob", plain, np.exp(expected), dtype)
        if not is_discrete:
            own, other = kind.make(*tensors[:-1]), kind.peer(*_wide(given))
            problems += _differs("cdf", own.cdf(tensors[-1]), other.cdf(x.astype(np.float64)), dtype)
            problems += _differs("survival_function", own.survival_function(x), other.sf(x.astype(np.float64)), dtype)
            if own._defines("quantile") if hasattr(own, "_defines") else kind.make in (v1.Normal, v1.Uniform):
                at = special.ndtr(x.astype(np.float64)).astype(dtype)
                problems += _differs("quantile", own.quantile(at), other.ppf(at.astype(np.float64)), dtype)
        if dtype != "float16" and not problems and np.all(np.isfinite(expected)):
            count = len(tensors) - is_discrete
            gradients = tape.gradient(log, tensors[:count], unconnected_gradients="zero")
            for k, gradient in enumerate(gradients):
                wanted = _central_difference(peer, _wide([*given, x]), k)
                # The Laplace and uniform densities have corners, where a difference is none.
                same = np.isclose(gradient.numpy(), wanted, rtol=1e-3, atol=1e-3) | (np.abs(wanted) > 1e4)
                if gradient.numpy().shape != wanted.shape or not same.all():
                    problems.append(f"gradient {k} is {gradient.numpy()} instead of {wanted}")
    return problems


def _central_difference(function: Callable[..., Any], at: list[np.ndarray], k: int) -> np.ndarray:
    found = np.zeros(at[k].shape)
    for index in np.ndindex(*at[k].shape):
        ends = []
        for sign in (1, -1):
            moved = [a.copy() for a in at]
            moved[k][index] += sign * _STEP
            ends.append(np.sum(function(*moved)))
        found[index] = (ends[0] - ends[1]) / (2 * _STEP)
    return found


def _compare_moments(kind: Kind, given: list[np.ndarray], dtype: str) -> list[str]:
    own, peer = kind.make(*map(tf.constant, given)), kind.peer(*_wide(given))
    shape = np.broadcast_shapes(*(a.shape for a in given))
    if tuple(own.batch_shape) != shape or tuple(own.batch_shape_tensor().numpy()) != shape:
        return [f"batch_shape {own.batch_shape} instead of {shape}"]
    mean, variance = (np.broadcast_to(m, shape) for m in peer.stats(moments="mv"))
    problems = []
    with np.errstate(all="ignore"):
        if kind.make is v1.StudentT:
            mean = np.where(given[0] > 1, mean, np.nan)
            variance = np.where(given[0] > 1, variance, np.nan)
        exact = {"mean": mean, "variance": variance, "stddev": np.sqrt(variance)}
        exact["entropy"] = peer.entropy() if mean.size else mean  # SciPy computes none of no distributions
        for name, expected in exact.items():
            problems += _differs(name, getattr(own, name)(), np.broadcast_to(expected, shape), dtype)
    return problems


def _compare_samples(kind: Kind, given: list[np.ndarray], dtype: str, seed: int) -> list[str]:
    shape = np.broadcast_shapes(*(a.shape for a in given))
    tensors = [tf.constant(a) for a in given]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        own = kind.make(*tensors)
        drawn = own.sample([_SAMPLES // 2, 2], seed=seed)
        total = tf.reduce_mean(tf.cast(drawn, "float64"), [0, 1])
    if tuple(drawn.shape) != (_SAMPLES // 2, 2, *shape) or drawn.dtype != own.dtype:
        return [f"samples are {drawn.dtype} of {drawn.shape}"]
    values = drawn.numpy().astype(np.float64)
    if not np.all(np.isfinite(values)):
        return ["a sample is not finite"]
    mean, variance, kurtosis = (np.broadcast_to(m, shape) for m in kind.peer(*_wide(given)).stats(moments="mvk"))
    if kind.make is v1.StudentT or dtype == "float16":
        return []  # few moments exist, or the rounding is larger than the error of the mean
    error = 7 * np.sqrt(variance / _SAMPLES) + _TOLERANCES[dtype]
    problems = [] if np.all(np.abs(total.numpy() - mean) <= error) else [f"mean of samples {total.numpy()}, not {mean}"]
    error = 7 * variance * np.sqrt((kurtosis + 2) / _SAMPLES + 1e-9) + _TOLERANCES[dtype]
    if not np.all(np.abs(values.var(axis=(0, 1)) - variance) <= 2 * error):
        problems.append(f"variance of samples {values.var(axis=(0, 1))}, not {variance}")
    if own.reparameterization_type == v1.FULLY_REPARAMETERIZED and kind.make is not v1.Beta:
        wanted = [_central_difference(lambda *at: np.broadcast_to(kind.peer(*at).mean(), shape), _wide(given), k)
                  for k in range(len(given))]  # fmt: skip
        for k, (gradient, expected) in enumerate(zip(tape.gradient(total, tensors), wanted, strict=True)):
            if not np.allclose(gradient.numpy(), expected, rtol=0.3, atol=0.3):
                problems.append(f"gradient {k} of the mean of samples {gradient.numpy()}, not {expected}")
    return problems


def _compare_divergences(kind: Kind, rng: np.random.Generator, dtype: str) -> list[str]:
    given = [[_numbers(rng, one, (), dtype) for one in kind.parameters] for _ in range(2)]
    a, b = (kind.peer(*_wide(one)) for one in given)
    if kind.values == "b":
        expected = sum(a.pmf(k) * (a.logpmf(k) - b.logpmf(k)) for k in (0, 1))
    else:
        ends = [float(a.ppf(q)) for q in (0, 0.01, 0.5, 0.99, 1)]
        expected = sum(integrate.quad(lambda x: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), *part)[0]
                       for part in pairwise(ends))  # fmt: skip
    if not np.isfinite(expected):
        return []  # a density is infinite at the end of its support
    own, other = (kind.make(*map(tf.constant, one)) for one in given)
    tolerance = max(_TOLERANCES[dtype], 1e-5)  # that of the quadrature
    found = _differs("kl_divergence", v1.kl_divergence(own, other), expected, dtype, tolerance)
    found += _differs("cross_entropy", own.cross_entropy(other), expected + a.entropy(), dtype, tolerance)
    return [f"{message} of {given}" for message in found]


def _of_classes(rng: np.random.Generator, dtype: str) -> list[str]:
    """Compares a distribution of classes or of shares of classes."""
    classes, total = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    batch = _SHAPES[int(rng.integers(len(_SHAPES)))]
    weights = _numbers(rng, "p", (*batch, classes), dtype)
    shares = weights.astype(np.float64) / weights.astype(np.float64).sum(-1, keepdims=True)
    counts = rng.multinomial(total, np.ones(classes) / classes).astype(dtype)
    name = str(rng.choice(["Categorical", "Multinomial", "Dirichlet", "DirichletMultinomial"]))
    point = (shares.reshape(-1, classes)[:1].ravel() if shares.size else np.full(classes, 1 / classes)).astype(dtype)
    point = (point.astype(np.float64) / point.astype(np.float64).sum()).astype(dtype)
    own, x, peer = {
        "Categorical": (lambda: v1.Categorical(logits=np.log(weights)), np.argmax(counts).astype("int32"),
                        lambda w, p: _Classes(p)),
        "Multinomial": (lambda: v1.Multinomial(tf.constant(total, dtype), logits=np.log(weights)), counts,
                        lambda w, p: stats.multinomial(total, p)),
        "Dirichlet": (lambda: v1.Dirichlet(weights), point, lambda w, p: stats.dirichlet(w)),
        "DirichletMultinomial": (lambda: v1.DirichletMultinomial(tf.constant(total, dtype), weights), counts,
                                 lambda w, p: stats.dirichlet_multinomial(w, total)),
    }[name]  # fmt: skip
    found: list[str] = []
    own = own()
    rows = [peer(w, p) for w, p in zip(weights.astype(np.float64).reshape(-1, classes), shares.reshape(-1, classes),
                                       strict=True)]  # fmt: skip
    at = x if name != "Dirichlet" else x.astype(np.float64) / x.astype(np.float64).sum()
    density = [row.logpdf(at) if name == "Dirichlet" else row.logpmf(at.astype(int)) for row in rows]
    found += _differs("log_prob", own.log_prob(x), np.reshape(density, batch), dtype)
    if name != "Categorical":
        found += _differs("mean", own.mean(), np.reshape([r.mean() for r in rows], (*batch, classes)), dtype)
        matrices = [r.cov() for r in rows]
        found += _differs("covariance", own.covariance(), np.reshape(matrices, (*batch, classes, classes)), dtype)
        diagonals = np.reshape([np.diag(m) for m in matrices], (*batch, classes))
        found += _differs("variance", own.variance(), diagonals, dtype)
    if name in ("Categorical", "Dirichlet"):
        found += _differs("entropy", own.entropy(), np.reshape([r.entropy() for r in rows], batch), dtype)
    drawn = own.sample(500, seed=int(rng.integers(99)))
    if tuple(drawn.shape) != (500, *batch, *([] if name == "Categorical" else [classes])) or drawn.dtype != own.dtype:
        found.append(f"samples are {drawn.dtype} of {drawn.shape}")
    elif 0 not in drawn.shape:
        hits = tf.one_hot(drawn, classes).numpy() if name == "Categorical" else drawn.numpy().astype(np.float64)
        scale = {"Categorical": 1, "Dirichlet": 1}.get(name, total)
        if not np.allclose(hits.mean(0) / scale, shares, atol=7 * 0.5 / np.sqrt(500)):
            found.append(f"mean of samples {hits.mean(0) / scale} instead of {shares}")
    return [f"{name} of {dtype}, {total} of {weights.tolist()} at {x.tolist()}: {message}" for message in found]


class _Classes(NamedTuple):
    """A categorical distribution."""

    probs: np.ndarray

    def logpmf(self, k: Any) -> float:
        return float(np.log(self.probs[int(k)]))

    def entropy(self) -> float:
        return float(stats.entropy(self.probs))


def _differs(name: str, found: Any, expected: Any, dtype: str, tolerance: float | None = None) -> list[str]:
    a, b = np.asarray(found).astype(np.float64), np.asarray(expected, np.float64)
    if np.asarray(found).dtype != dtype:
        return [f"{name} has dtype {np.asarray(found).dtype} instead of {dtype}"]
    if a.shape != b.shape:
        return [f"{name} has shape {a.shape} instead of {b.shape}"]
    scale = 1 + np.abs(b[np.isfinite(b)]).max(initial=0)
    same = np.allclose(a, b, rtol=0, atol=(tolerance or _TOLERANCES[dtype]) * scale, equal_nan=True)
    return [] if same else [f"{name} {a.tolist()} instead of {b.tolist()}"]
