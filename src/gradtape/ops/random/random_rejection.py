"""Random numbers by rejection sampling, as functions of a Philox state: gamma, Poisson, binomial, truncated normal.

Number i of a draw owns the blocks from 256 i on: it takes candidates from there until one is accepted. All pending
numbers are tried at once. The methods are Marsaglia and Tsang's for gamma, Knuth's and Hörmann's for Poisson and
binomial, Robert's for the truncated normal.
"""

from __future__ import annotations

import numpy as np

from ...backends.arrays import astype, size_of, special
from ...core import dtypes
from ...engine.registry.families import constant, elementwise, opaque, unbroadcast
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import given_shape
from ...engine.run.randomness import BLOCKS_PER_NUMBER
from ..arrays.structure import as_integers
from . import philox
from .random import STATE


def _as_dtype(xp, x, dtype):
    return as_integers(xp, x, dtype.numpy) if dtype.is_integer else astype(x, dtype.numpy)


class _Buffered:
    """Numbers of one distribution from many streams at once: each block yields several, consumed in reverse."""

    def __init__(self, xp, state, next_block, numbers):
        self.xp, self.state, self.next_block, self.numbers = xp, state, next_block, numbers
        self.buffer = None
        self.left = xp.zeros(next_block.shape, xp.int64)

    def __call__(self, which):
        """The next number of each of the streams `which`."""
        empty = which[self.left[which] == 0]
        if len(empty) or self.buffer is None:
            fresh = self.numbers(self.xp, philox.words(self.xp, self.state, self.next_block[empty]))
            if self.buffer is None:
                self.buffer = self.xp.empty((len(self.left), fresh.shape[-1]), fresh.dtype)
            self.buffer[empty] = fresh
            self.left[empty] = fresh.shape[-1]
            self.next_block[empty] += 1
        self.left[which] -= 1
        return self.buffer[which, self.left[which]]


def _blocks(xp, count, each=BLOCKS_PER_NUMBER):
    """The first block of each of `count` numbers."""
    return xp.arange(count, dtype=xp.uint64) * each


def _accepted(xp, count, attempt):
    """Calls `attempt(waiting)`, which returns a mask of accepted numbers and their values, until none is pending."""
    out = xp.empty(count, xp.float64)
    waiting = xp.arange(count)
    while len(waiting):
        ok, values = attempt(waiting)
        out[waiting[ok]] = values[ok]
        waiting = waiting[~ok]
    return out


def _laid_out(xp, parameter, shape):
    """The parameter of each number, in drawing order: all samples of the first parameter come first."""
    inner = parameter.shape
    each = int(np.prod(shape[: len(shape) - len(inner)], dtype=int))
    return xp.repeat(astype(parameter.reshape(-1), xp.float64), each), each


def _restored(xp, drawn, each, shape):
    """Reshapes numbers in drawing order to an array of `shape`."""
    return drawn.reshape(-1, each).T.reshape(shape) if each else drawn.reshape(shape)


def _gamma(xp, state, alpha, *, shape):
    a, each = _laid_out(xp, alpha, shape)
    return astype(_restored(xp, _gamma_draws(xp, state, a), each, shape), alpha.dtype)


def _gamma_draws(xp, state, a):
    next_block = _blocks(xp, len(a))
    uniform = _Buffered(xp, state, next_block, philox.unit_doubles)
    normal = _Buffered(xp, state, next_block, philox.normal_doubles)
    out = xp.empty(len(a), xp.float64)
    exponential = xp.flatnonzero(a == 1)
    out[exponential] = -xp.log1p(-uniform(exponential))
    others = xp.flatnonzero(a != 1)
    small = a < 1
    d = a + xp.where(small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / xp.sqrt(d)

    def attempt(waiting):
        at = others[waiting]
        x = normal(at)
        v = 1 + c[at] * x
        positive = ~(v <= 0)  # NaN, from an invalid shape parameter, is accepted: otherwise the loop would not end
        ok = xp.zeros(len(at), bool)
        values = xp.zeros(len(at))
        at, x, v = at[positive], x[positive], v[positive] ** 3
        u = uniform(at)
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        accepted = squeezed | (xp.log(u) < 0.5 * x * x + d[at] * (1 - v + xp.log(v)))
        result = d[at] * v
        boosted = xp.flatnonzero(accepted & small[at])
        result[boosted] *= uniform(at[boosted]) ** (1 / a[at[boosted]])
        ok[positive], values[positive] = accepted, result
        return ok, values

    out[others] = _accepted(xp, len(others), attempt)
    return out


def _gamma_derivative(xp, alpha, x):
    """dx/da of a gamma number x at fixed rank (implicit reparameterization): -(∂P/∂a) / (∂P/∂x).

    P(a, x) is the regularized incomplete gamma function, whose derivative is summed term by term. For large a, and far
    out where the terms cancel, the rank is that of the normal number z in the Cornish-Fisher expansion of x.
    """
    sp = special(xp)
    dtype = x.dtype
    a, x = xp.broadcast_arrays(xp.asarray(alpha, xp.float64), xp.asarray(x, xp.float64))
    shape = a.shape
    a, x = a.reshape(-1), x.reshape(-1)
    out = xp.empty(len(a), xp.float64)
    large = (a > 1e4) | ((a > 50) & (x > a + 7 * xp.sqrt(a)))
    out[large] = _large_gamma_derivative(xp, a[large], x[large])
    a, x = a[~large], x[~large]
    # With the density factored out, term n is x^(n+1) Γ(a) / Γ(a+n+1), and its weight log x - ψ(a+n+1).
    term, log_x, psi = x / a, xp.log(x), sp.digamma(a + 1)
    total = term * (log_x - psi)
    n = 0
    while len(a):
        n += 1
        psi = psi + 1 / (a + n)
        term = term * (x / (a + n))
        change = term * (log_x - psi)
        total = total + change
        if not (xp.abs(change) > 1e-17 * xp.abs(total)).any() and n > (x - a).max():
            break
    out[~large] = xp.where(x > 0, -total, 0.0)
    return astype(out.reshape(shape), dtype)


def _large_gamma_derivative(xp, a, x):
    """Solves x = a + z √a + (z² - 1)/3 + (z³ - 7z)/(36 √a) + ... (Cornish-Fisher) for z by Newton's method."""
    root = xp.sqrt(a)
    z = (x - a) / root
    for _ in range(6):
        value = a + z * root + (z * z - 1) / 3 + (z**3 - 7 * z) / (36 * root)
        z = z - (value - x) / (root + 2 * z / 3 + (3 * z * z - 7) / (36 * root))
    return 1 + z / (2 * root) - (z**3 - 7 * z) / (72 * a * root)


random_gamma_grad = elementwise(
    "random_gamma_grad", _gamma_derivative, on=dtypes.FLOAT, domain=(0.5, 4.0), dalpha=None, dx=None
)


def _gamma_back(m, g, need, alpha, alpha_shape, y):
    return None, unbroadcast(m, g * m.random_gamma_grad(alpha, y), alpha_shape) if need[1] else None


random_gamma = opaque(
    "random_gamma", _gamma, vjp=_gamma_back, random=True, domain=(0.5, 3.0),
    shape=given_shape,
    samples=[sample(STATE, (3,), shape=(4, 3)), sample(STATE, (), shape=()), sample(STATE, (2,), shape=(0, 2))],
)  # fmt: skip


def _poisson(xp, state, rate, *, shape, dtype):
    rates, each = _laid_out(xp, rate, shape)
    highest = dtype.max if dtype.is_integer else np.inf
    uniform = _Buffered(xp, state, _blocks(xp, len(rates)), philox.unit_doubles)
    out = xp.full(len(rates), xp.inf)
    low, high = xp.flatnonzero(rates < 10), xp.flatnonzero((rates >= 10) & xp.isfinite(rates))
    out[xp.isnan(rates)] = xp.nan
    product, steps = xp.ones(len(low)), xp.zeros(len(low))

    def multiply(waiting):
        product[waiting] *= uniform(low[waiting])
        done = product[waiting] <= xp.exp(-rates[low[waiting]])
        values = steps[waiting]  # a copy
        steps[waiting] += 1
        return done, values

    out[low] = _accepted(xp, len(low), multiply)
    lgamma = special(xp).gammaln

    def transformed(waiting):
        at = high[waiting]
        lam = rates[at]
        b = 0.931 + 2.53 * xp.sqrt(lam)
        a = -0.059 + 0.02483 * b
        u = uniform(at) - 0.5
        v = uniform(at)
        us = 0.5 - xp.abs(u)
        k = xp.floor((2 * a / us + b) * u + lam + 0.43)
        inside = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        outside = (k < 0) | ((us < 0.013) & (v > us))
        s = xp.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b))
        t = -lam + k * xp.log(lam) - lgamma(xp.maximum(k, 0) + 1)
        return (inside | (~outside & (s <= t))) & (k <= highest), k

    out[high] = _accepted(xp, len(high), transformed)
    return _as_dtype(xp, _restored(xp, out, each, shape), dtype)


random_poisson = constant(
    "random_poisson", _poisson,
    shape=given_shape,
    samples=[
        sample(STATE, (2,), shape=(3, 2), dtype=dtypes.int32, domain=(1.0, 30.0)),
        sample(STATE, (), shape=(0,), dtype=dtypes.float32, domain=(1.0, 3.0)),
    ],
)  # fmt: skip

_STIRLING_TAIL = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip

_BLOCKS_PER_FEW = 42  # for a binomial number with fewer than ten expected successes


def _stirling_tail(xp, k):
    """log k! minus Stirling's approximation of it."""
    square = (k + 1) ** 2
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return xp.where(k <= 9, xp.asarray(_STIRLING_TAIL)[astype(xp.clip(k, 0, 9), int)], series)


def _binomial(xp, state, counts, probs, *, shape, dtype):
    counts, probs = xp.broadcast_arrays(counts, probs)
    count, each = _laid_out(xp, counts, shape)
    prob, _ = _laid_out(xp, probs, shape)
    uniform = _Buffered(xp, state, _blocks(xp, len(count)), philox.unit_doubles)
    rarely = _Buffered(xp, state, _blocks(xp, len(count), _BLOCKS_PER_FEW), philox.unit_doubles)
    swapped = prob > 0.5
    p = xp.where(swapped, 1 - prob, prob)
    out = xp.where((xp.isnan(prob) & (count != 0)) | xp.isnan(count), xp.nan, 0.0)
    out[xp.isinf(count)] = xp.inf
    usable = (count > 0) & (p > 0) & xp.isfinite(count)
    few, many = xp.flatnonzero(usable & (count * p < 10)), xp.flatnonzero(usable & (count * p >= 10))
    reached, successes = xp.zeros(len(few)), xp.zeros(len(few))

    def geometric(waiting):
        at = few[waiting]
        reached[waiting] += xp.ceil(xp.log(rarely(at)) / xp.log1p(-p[at]))
        done = reached[waiting] > count[at]
        values = successes[waiting]  # a copy
        successes[waiting] += 1
        return done, values

    out[few] = _accepted(xp, len(few), geometric)

    def transformed(waiting):
        at = many[waiting]
        n, q = count[at], p[at]
        deviation = xp.sqrt(n * q * (1 - q))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * q
        r = q / (1 - q)
        mode = xp.floor((n + 1) * q)
        u = uniform(at) - 0.5
        v = uniform(at)
        us = 0.5 - xp.abs(u)
        k = xp.floor((2 * a / us + b) * u + n * q + 0.5)
        possible = (k >= 0) & (k <= n)
        j = xp.clip(k, 0, n)
        bound = (
            (mode + 0.5) * xp.log((mode + 1) / (r * (n - mode + 1)))
            + (n + 1) * xp.log((n - mode + 1) / (n - j + 1))
            + (j + 0.5) * xp.log(r * (n - j + 1) / (j + 1))
            + _stirling_tail(xp, mode) + _stirling_tail(xp, n - mode)
            - _stirling_tail(xp, j) - _stirling_tail(xp, n - j)
        )  # fmt: skip
        height = xp.log(v * (2.83 + 5.1 / b) * deviation / (a / (us * us) + b))
        return ((us >= 0.07) & (v <= 0.92 - 4.2 / b)) | (possible & (height <= bound)), k

    out[many] = _accepted(xp, len(many), transformed)
    out = xp.where(swapped & (count > 0), count - out, out)
    return _as_dtype(xp, _restored(xp, out, each, shape), dtype)


random_binomial = constant(
    "random_binomial", _binomial,
    shape=given_shape,
    samples=[
        sample(STATE, np.array([10.0, 100.0]), np.array([0.3, 0.6]), shape=(3, 2), dtype=dtypes.int32),
        sample(STATE, np.array(5.0), np.array([[0.1], [0.9]]), shape=(2, 1), dtype=dtypes.float32),
    ],
)  # fmt: skip


_NORMAL_ENOUGH = 1.3  # standard deviations inside the bounds beyond which candidates are normal numbers
_TRIED_AT_ONCE = 64


def _bounded_normal(xp, state, mean, deviation, low, high, *, shape):
    """Normal numbers between bounds. All numbers come from one stream, one set of parameters after the other."""
    dtype = mean.dtype
    mean, deviation, low, high = xp.broadcast_arrays(mean, deviation, low, high)
    each = int(np.prod(shape[: len(shape) - mean.ndim], dtype=int))
    out = xp.empty((size_of(mean), each), dtype)
    block = 0
    for i, (mu, sigma, a, b) in enumerate(zip(*(p.reshape(-1) for p in (mean, deviation, low, high)), strict=True)):
        if not (sigma > 0 and a < b and (xp.isfinite(a) or xp.isfinite(b))):
            raise ValueError(
                f"Invalid parameters: mean {mu}, standard deviation {sigma}, bounds {a} and {b}; expected a positive "
                "standard deviation and minval < maxval, at least one of them finite"
            )
        if (xp.isinf(a) and a < 0) or b < mu:
            a, b, sigma = b, a, -sigma
        z, block = _between(xp, state, block, (a - mu) / sigma, (b - mu) / sigma, each, dtype)
        out[i] = z * sigma + mu
    return out.T.reshape(shape)


def _between(xp, state, block, low, high, count, dtype):
    """Draws `count` standard normal numbers between bounds, from `block` on; also returns the first unused block."""
    double = dtype == xp.float64
    units, normals = (
        (philox.unit_doubles, philox.normal_doubles) if double else (philox.unit_floats, philox.normal_floats)
    )
    far = xp.sqrt(low * low + 4)
    rate = (low + far) / 2
    stride = 1
    if (low < -_NORMAL_ENOUGH and high >= 0) or (high > _NORMAL_ENOUGH and low <= 0):

        def candidates(words):
            z = normals(xp, words)
            return z, (z >= low) & (z <= high)

    elif high - low < 2 * xp.exp(0.5 + low * (low - far) / 4) / (low + far):
        stride = 2  # one block of positions, one of heights

        def candidates(words):
            z = units(xp, words[0::2]) * (high - low) + low
            return z, units(xp, words[1::2]) <= xp.exp(((low * low if low >= 0 else 0) - z * z) / 2)

    else:

        def candidates(words):
            u = units(xp, words)
            z = -xp.log(u[..., 0::2]) / rate + low
            x = rate - z if low < rate else xp.full_like(z, low - rate)
            return z, (u[..., 1::2] <= xp.exp(-x * x / 2)) & (z < high)

    found = []
    while count:
        blocks = xp.arange(block, block + stride * _TRIED_AT_ONCE, dtype=xp.uint64)
        z, ok = candidates(philox.words(xp, state, blocks))
        where = xp.flatnonzero(ok)[:count]
        found.append(z.reshape(-1)[where])
        count -= len(where)
        block += stride * (_TRIED_AT_ONCE if count else int(where[-1]) // z.shape[-1] + 1)
    return (xp.concatenate(found) if found else xp.zeros(0, dtype)), block


def _bounded_normal_back(m, g, need, mean, deviation, low, high, y):
    """Implicit reparameterization: differentiates at a fixed rank between the bounds."""
    z, a, b = (y - mean) / deviation, (low - mean) / deviation, (high - mean) / deviation

    def below(x):
        return 0.5 * m.erfc(-x * np.sqrt(0.5).astype(x.dtype if isinstance(x.dtype, np.dtype) else x.dtype.numpy))

    rank = (below(z) - below(a)) / (below(b) - below(a))
    cotangents = (
        lambda: g,
        lambda: g * z,
        lambda: g * m.exp(0.5 * (z * z - a * a)) * (1 - rank),
        lambda: g * m.exp(0.5 * (z * z - b * b)) * rank,
    )
    return (None, *(
        unbroadcast(m, cotangent(), tuple(x.shape)) if asked else None
        for cotangent, asked, x in zip(cotangents, need[1:], (mean, deviation, low, high), strict=True)
    ))  # fmt: skip


random_bounded_normal = opaque(
    "random_bounded_normal", _bounded_normal, vjp=_bounded_normal_back, random=True,
    shape=given_shape,
    samples=[
        sample(STATE, np.zeros(2), np.array(1.0), np.array([[-2.0], [0.5]]), np.array(3.0), shape=(3, 2, 2)),
        sample(STATE, np.zeros(()), np.array(2.0), np.array(-0.1), np.array(0.1), shape=(4,)),
    ],
)  # fmt: skip
