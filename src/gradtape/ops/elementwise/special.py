"""Special functions: SciPy's kernels with analytic derivatives."""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import astype, into, is_jax, special
from ...backends.tuning import BLOCK, FEW
from ...engine.registry.families import elementwise
from ...engine.registry.op import sample
from .arithmetic import REAL_FLOATING


def _scipy(name):
    """Returns SciPy's function of one argument as a kernel; float16 is computed in float32 and rounded back."""
    return lambda xp, x: astype(getattr(special(xp), name)(x), x.dtype)


def _in_double(kernel):
    """Wraps a kernel to compute in float64: in float32, intermediate results cancel completely or underflow."""
    return lambda xp, *xs: astype(kernel(xp, *[astype(x, xp.float64) for x in xs]), xs[-1].dtype)


def _real(name, kernel, **record):
    return elementwise(name, _scipy(kernel) if isinstance(kernel, str) else kernel, on=REAL_FLOATING, **record)


# p in erf(x) = tanh(x p(x²)), fitted to a relative error of at most 1e-7. p increases with |x|.
_ERF = (1.1283792739739844, 0.10276905854627967, -1.9183648273156647e-4, -6.19780207549949e-4, 8.76358060625406e-5,
        -5.668249627494794e-6, 1.4184044585553182e-7)  # fmt: skip


def erf_of(xp, x):
    """The error function; for larger float32 arrays by NumPy's tanh, in a tenth of the time of SciPy's."""
    if not has_large_formula(xp, x):
        return special(xp).erf(x)
    square = x * x
    p = _ERF[-1] * square + _ERF[-2]
    for coefficient in _ERF[-3::-1]:
        p = into(xp.add, into(xp.multiply, p, square), coefficient)
    return into(xp.tanh, into(xp.multiply, p, x))


erf = _real(
    "erf", lambda xp, x: astype(erf_of(xp, x), x.dtype, copy=False),
    dx=lambda m, x: 2 / math.sqrt(math.pi) * m.exp(-x * x),
)  # fmt: skip


# R in ndtr(-t) = R(t) exp(-t²/2) as the continued fraction b0 / (t + c0 + b1 / (t + c1 + ...)), which has a third fewer
# steps than a quotient of polynomials and does not overflow. The relative error of R is at most 4.3e-7 for t from 0 to
# 14.6, beyond which float32 has no such numbers, and R(0) is 1/2.
_TAIL = (0.3988973446147767, 1.1139519979893449, -7.213122889435735, 23.269719346774178)
_TAIL_OFFSETS = (-0.005433033368062112, 1.2697282788798674, 6.093522458374093, -0.34380482522615324)


def ndtr_and_bell(xp, x):
    """The standard normal CDF of a large float32 array, and exp(-x²/2), both newly allocated.

    The relative error is at most 8e-7 from -2 on, and x² times 3e-8 more below: that of the rounded square.
    """
    t = abs(x)
    tail = t + _TAIL_OFFSETS[-1]
    for factor, offset in zip(_TAIL[:0:-1], _TAIL_OFFSETS[-2::-1], strict=True):
        tail = into(xp.add, into(xp.add, _over(xp, factor, tail), t), offset)
    tail = _over(xp, _TAIL[0], tail)
    bell = into(xp.exp, into(xp.multiply, into(xp.multiply, t, t), -0.5))
    tail = into(xp.multiply, tail, bell)
    above = into(xp.subtract, (x > 0).astype(x.dtype), tail)
    return into(xp.absolute, above), bell  # 1 - tail above 0, the tail itself below, without a branch


def _over(xp, number, x):
    """Computes `number / x` in place of `x` where arrays are mutable."""
    return np.divide(number, x, out=x) if type(x) is np.ndarray else number / x


def has_large_formula(xp, x):
    return xp is np and x.dtype == np.float32 and x.size >= FEW


def ndtr_of(xp, x):
    """The standard normal CDF, with a small relative error."""
    if has_large_formula(xp, x):
        return ndtr_and_bell(xp, x)[0]
    if xp is not np:
        return astype(0.5 * special(xp).erfc(x * -math.sqrt(0.5)), x.dtype)
    return astype(special(xp).ndtr(x), x.dtype)


ndtr = _real("ndtr", ndtr_of, dx=lambda m, x: m.exp(-0.5 * x * x) * math.sqrt(0.5 / math.pi))
erfc = _real("erfc", "erfc", dx=lambda m, x: -2 / math.sqrt(math.pi) * m.exp(-x * x))
erfinv = _real("erfinv", "erfinv", domain=(-0.9, 0.9), dx=lambda m, y: math.sqrt(math.pi) / 2 * m.exp(y * y))
erfcinv = _real("erfcinv", "erfcinv", domain=(0.2, 1.8), dx=lambda m, y: -math.sqrt(math.pi) / 2 * m.exp(y * y))
ndtri = _real("ndtri", "ndtri", domain=(0.1, 0.9), dx=lambda m, y: math.sqrt(2 * math.pi) * m.exp(y * y / 2))


def _lgamma(xp, x):
    """SciPy's `gammaln`, corrected where it overflows (subnormal numbers) and at -inf (inf, as for C's `lgamma`)."""
    y = astype(special(xp).gammaln(x), x.dtype)
    return xp.where(y == -np.inf, np.inf, y) if x.dtype.itemsize < 8 else xp.where(
        xp.isinf(y), -xp.log(xp.where(abs(x) < 1, abs(x), 0)), y
    )


lgamma = _real("lgamma", _lgamma, domain=(0.5, 4), dx=lambda m, x: m.digamma(x))
digamma = _real("digamma", "digamma", domain=(0.5, 4), dx=lambda m, x: m.polygamma(m.ones_like(x), x))


def _hurwitz(xp, s, q):
    """The Hurwitz zeta function.

    For q < 0, SciPy's adds a term for each integer up to -q, which may be 10**15, and JAX's is wrong below -9. For an
    integer s, the terms below q are subtracted from the sum over all integers, which has period 1, instead.
    """
    if xp is np and not np.any(q < 0):
        return _hurwitz_of_positive(np, s, q)
    is_sum = (q < 0) & (q != xp.floor(q)) & (s > 1) & (s == xp.floor(s))
    is_undefined = (q < 0) & (q != xp.floor(q)) & (s != 1)
    y = xp.where(is_undefined, math.nan, _hurwitz_of_positive(xp, s, xp.maximum(q, 0)))
    if xp is np and not np.any(is_sum):
        return y
    power, q = xp.where(is_sum, s, 2.0), xp.where(is_sum, q, -0.5)
    sign = xp.where(power < 2.0**53, 1 - 2 * (power % 2), 1.0)  # of (-1)**power
    distance = q - xp.rint(q)
    near = abs(distance)
    largest = xp.where((near == 0.5) & (sign < 0), 0.0, near**-power * (1 + sign * (near / (1 - near)) ** power))
    others = _hurwitz_of_positive(xp, power, 1 + near) + sign * _hurwitz_of_positive(xp, power, 2 - near)
    total = xp.where(distance < 0, sign, 1.0) * (largest + others)
    return xp.where(is_sum, total - sign * _hurwitz_of_positive(xp, power, 1 - q), y)


def _hurwitz_of_positive(xp, s, q):
    """The Hurwitz zeta function of q >= 0; for large q, where JAX's underflows, by the first terms of its series.

    For large s, both SciPy's and JAX's may be NaN: the sum is its largest term then.
    """
    y = special(xp).zeta(s, q)
    if xp is np and not np.isnan(y).any():
        return y
    y = xp.where(xp.isnan(y) & (s > 1) & (q > 0), q**-s, y)
    if xp is np:
        return y
    y = xp.where(q == 0, xp.where(s >= 1, np.inf, math.nan), y)
    far = (q > 1e7) & (s > 1) & (q < np.inf)
    base, power = xp.where(far, q, 1.0), xp.where(far, s, 2.0)
    half = base ** (0.5 - 0.5 * power)  # the result may be as small as the square of the smallest number
    return xp.where(far, half * (half * (1 / (power - 1) + 0.5 / base)), y)


def _polygamma(xp, n, x):
    functions = special(xp)
    higher = xp.where(n % 2 == 1, 1, -1) * functions.gamma(n + 1) * _hurwitz(xp, n + 1, x)
    y = xp.where(n == 0, functions.digamma(x), higher)
    return astype(xp.where((n < 0) | (n != xp.floor(n)), math.nan, y), x.dtype)


polygamma = _real(
    "polygamma", _in_double(_polygamma), args="n x", domain=(0.5, 4),
    samples=[sample(np.array([0.0, 1.0, 2.0]), (2, 3))], dn=None, dx=lambda m, n, x: m.polygamma(n + 1, x),
)  # fmt: skip


zeta = _real(
    "zeta", _in_double(_hurwitz), args="x q", domain=(1.5, 4), dx=None,
    dq=lambda m, x, q: -x * m.zeta(x + 1, q),
)  # fmt: skip


def _gamma_density(xp, a, x):
    """x**(a-1) exp(-x) / gamma(a): the derivative of `igamma` with respect to x.

    For large a its logarithm is a difference of numbers of the size of a log a. Near its peak it is computed from the
    distance to the peak and Stirling's series instead (Loader, Fast and accurate computation of binomial probabilities,
    2000).
    """
    near = (a > 10) & (x > 0.1 * a) & (x < 10 * a)
    center, place = xp.where(near, a, 10.0), xp.where(near, x, 10.0)
    distance = (place - center) / center
    r = 1 / (center * center)
    rest = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188))))) / center
    peaked = xp.exp(center * (xp.log1p(distance) - distance) - rest) * xp.sqrt(center / (2 * math.pi)) / place
    known = (x > 0) & (x < np.inf) & ~near
    power = xp.where(a == 1, 0.0, (a - 1) * xp.log(xp.where(known, x, xp.where(x == 0, 0.0, 1.0))))
    plain = xp.exp(power - xp.where(known, x, 0.0) - special(xp).gammaln(a))
    y = xp.where(near, peaked, xp.where(x == np.inf, 0.0, plain))
    return xp.where(x >= 0, y, math.nan)


gamma_density = _real(
    "gamma_density", _in_double(_gamma_density), args="a x", domain=(0.5, 3),
    samples=[sample((2, 3), (3,)), sample((2,), (2,), domain=(11, 20)), sample((), ())],
    da=lambda m, a, x, y: y * (m.log(x) - m.digamma(a)), dx=lambda m, a, x, y: y * (m.xdivy(a - 1, x) - 1),
)  # fmt: skip


def _bell(c):
    """The complete Bell polynomial of c[0], c[1], ...: the n-th derivative of exp(f) over exp(f), given those of f."""
    values = [1.0]
    for n in range(len(c)):
        values.append(sum(math.comb(n, k) * values[n - k] * c[k] for k in range(n + 1)))
    return values[-1]


_NODES = np.arange(-5, 8, 0.05)
_DISTANCES, _WEIGHTS = np.exp(_NODES - np.exp(-_NODES)), 0.05 * (1 + np.exp(-_NODES))


def _igamma_by_a(xp, a, x, *, order):
    """The `order`-th derivative with respect to a of P(a, x), the integral of the gamma density from 0 to x.

    Integrates the derivative of the density by double exponential quadrature: over (0, x) or, with the opposite sign,
    over (x, inf), whichever does not cancel.
    """
    functions, dtype = special(xp), x.dtype
    a, given = xp.asarray(a, dtype=xp.float64), xp.asarray(x, dtype=xp.float64)
    ends = (given == 0) | (given == np.inf) | (a == np.inf)  # P is 0 or 1 there, whatever the other argument
    exists = (given > 0) & (a > 0)  # zeta would take very long for large negative numbers
    x, a = xp.where(exists & ~ends, given, 1.0), xp.where(exists & ~ends, a, 1.0)
    lower = (x < a) | (x < 1)
    width = xp.where(lower, 1 / xp.minimum(a, xp.sqrt(a)), xp.sqrt(x))
    log_gamma = functions.gammaln(a)
    signed_factorials = [(-1) ** k * math.factorial(k) for k in range(1, order)]
    polygammas = [factor * functions.zeta(k + 1.0, a) for k, factor in enumerate(signed_factorials, 1)]
    constants = [-functions.digamma(a), *polygammas]

    def derivative_at(distance, weight):
        s = distance * width
        t = xp.where(lower, x * xp.exp(-s), x + s)
        log_t = xp.where(lower, xp.log(x) - s, xp.log(t))
        # Below x the integration variable is log t, and dt = t d(log t) turns t**(a-1) into t**a.
        density = xp.exp(log_t * xp.where(lower, a, a - 1) - t - log_gamma) * s * weight
        return density * _bell([log_t + constants[0], *constants[1:]])

    if is_jax(x) or (xp is np and _NODES.size * (a + x).size <= BLOCK):  # XLA runs an axis of nodes as one loop
        at_once = (-1, *[1] * (a + x).ndim)
        total = xp.sum(derivative_at(_DISTANCES.reshape(at_once), _WEIGHTS.reshape(at_once)), axis=0)
    else:
        total = sum(map(derivative_at, _DISTANCES.tolist(), _WEIGHTS.tolist()))
    value = xp.where(lower, total, -total)
    return astype(xp.where(ends, 0.0, xp.where(exists, value, math.nan)), dtype)


def _igamma_by_a_and_x(m, a, x, order):
    constants = [-m.polygamma(k * m.ones_like(a), a) for k in range(1, order)]
    return m.gamma_density(a, x) * _bell([m.log(x) - m.digamma(a), *constants])


igamma_by_a = _real(
    "igamma_by_a", _igamma_by_a, domain=(0.5, 3),
    samples=[sample((2, 3), (3,), order=1), sample((3,), (3,), order=2), sample((2,), (2,), domain=(5, 20), order=1)],
    da=lambda m, a, x, order: m.igamma_by_a(a, x, order=order + 1), dx=_igamma_by_a_and_x,
)  # fmt: skip
igamma = _real(
    "igamma", _in_double(lambda xp, a, x: special(xp).gammainc(a, x)), args="a x", domain=(0.5, 3),
    da=lambda m, a, x: m.igamma_by_a(a, x, order=1), dx=lambda m, a, x: m.gamma_density(a, x),
)  # fmt: skip
igammac = _real(
    "igammac", _in_double(lambda xp, a, x: special(xp).gammaincc(a, x)), args="a x", domain=(0.5, 3),
    da=lambda m, a, x: -m.igamma_by_a(a, x, order=1), dx=lambda m, a, x: -m.gamma_density(a, x),
)  # fmt: skip


def _stirling(x):
    """log Γ(x) - ((x - 1/2) log x - x + log(2π)/2) for x of at least 10."""
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x


def _lgamma_to_20(xp, x):
    """log Γ(x) for x between 0 and 20, from that of x + 10."""
    product = x
    for k in range(1, 10):
        product = product * (x + k)
    z = x + 10
    return (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + _stirling(z) - xp.log(product)


def _betaln(xp, a, b):
    """The logarithm of the beta function, to 14 digits; by SciPy's it has 9, by XLA's `lgamma` 7.

    For large arguments the large terms of Stirling's series are subtracted analytically, as in TOMS 708.
    """
    p, q = xp.minimum(a, b), xp.maximum(a, b)
    small, large = xp.minimum(p, 10.0), xp.maximum(p, 10.0)  # each formula where it is valid
    q_small, q_large = xp.minimum(q, 10.0), xp.maximum(q, 10.0)
    both_small = _lgamma_to_20(xp, small) + _lgamma_to_20(xp, q_small) - _lgamma_to_20(xp, small + q_small)
    correction = _stirling(q_large) - _stirling(small + q_large)
    shrinking = (q_large - 0.5) * xp.log1p(-small / (small + q_large)) + small - small * xp.log(small + q_large)
    one_small = _lgamma_to_20(xp, small) + correction + shrinking
    share = large / (large + q_large)
    correction = _stirling(large) + _stirling(q_large) - _stirling(large + q_large)
    both_large = 0.5 * (math.log(2 * math.pi) - xp.log(q_large)) + correction + (large - 0.5) * xp.log(share)
    both_large = both_large + q_large * xp.log1p(-share)
    y = xp.where(q < 10, both_small, xp.where(p < 10, one_small, both_large))
    return xp.where((p > 0) & (q < np.inf), y, special(xp).betaln(a, b))


def _beta_density(xp, a, b, x):
    """x**(a-1) (1-x)**(b-1) / beta(a, b): the derivative of `betainc` with respect to x."""
    functions = special(xp)
    powers = functions.xlog1py(b - 1, -x) + functions.xlogy(a - 1, x)
    return xp.exp(powers - _betaln(xp, a, b))


def _betainc(xp, a, b, x):
    """SciPy's `betainc`; XLA's is, or is 1 less, a product with 1 / beta(a, b) for a factor, which is corrected."""
    functions = special(xp)
    y = functions.betainc(a, b, x)
    if xp is np:
        return y
    direct = x < (a + 1) / (a + b + 2)
    p, q = (functions.gammaln(xp.where(direct, *pair)) for pair in ((a, b), (b, a)))
    error = xp.expm1(p + (q - functions.gammaln(a + b)) - _betaln(xp, a, b))  # rounded as XLA's is
    corrected = xp.where(direct, y + y * error, y - (1 - y) * error)
    return xp.where((y > 0) & (y < 1) & xp.isfinite(error), corrected, y)


beta_density = _real(
    "beta_density", _in_double(_beta_density), args="a b x", domain=(0.2, 0.8),
    da=lambda m, a, b, x, y: y * (m.log(x) - m.digamma(a) + m.digamma(a + b)),
    db=lambda m, a, b, x, y: y * (m.log1p(-x) - m.digamma(b) + m.digamma(a + b)),
    dx=lambda m, a, b, x, y: y * (m.xdivy(a - 1, x) - m.xdivy(b - 1, 1 - x)),
)  # fmt: skip
betainc = _real(
    "betainc", _in_double(_betainc), args="a b x", domain=(0.2, 0.8),
    da=None, db=None, dx=lambda m, a, b, x: m.beta_density(a, b, x),
)  # fmt: skip


def _ratio(m, x, y, near_zero):
    """y / x, where both vanish at 0; `near_zero(x)` is exact to float64 precision for |x| < 1e-4.

    This matters beyond 0 itself: float16 has two digits of a y of 1e-5, and none of a difference in a second
    derivative.
    """
    near = m.abs(x) < 1e-4
    return m.where(near, near_zero(m.where(near, x, 0)), y / m.where(near, 1, x))


def _of_positive(name, pole):
    """SciPy's function of positive numbers; as in TensorFlow, negative numbers get the value of the pole at 0."""

    def kernel(xp, x):
        y = astype(getattr(special(xp), name)(x), x.dtype)
        if name in ("k0", "k0e"):  # SciPy's is inf at the smallest number
            y = xp.where((y == pole) & (x > 0), math.log(2) - np.euler_gamma - xp.log(xp.where(x > 0, x, 1)), y)
        return xp.where((x < 0) | xp.isnan(y) & (x < 1), pole, y)  # SciPy's k1 is NaN at subnormal numbers

    return kernel


def _i1_ratio(x):
    """I1(x) / x for small x."""
    return 0.5 + x * x / 16


bessel_i0 = _real("bessel_i0", "i0", dx=lambda m, x: m.bessel_i1(x))
bessel_i0e = _real("bessel_i0e", "i0e", dx=lambda m, x, y: m.bessel_i1e(x) - m.sign(x) * y)
bessel_i1 = _real("bessel_i1", "i1", dx=lambda m, x, y: m.bessel_i0(x) - _ratio(m, x, y, _i1_ratio))
bessel_i1e = _real(
    "bessel_i1e", "i1e",
    dx=lambda m, x, y: m.bessel_i0e(x) - m.sign(x) * y - _ratio(m, x, y, lambda x: _i1_ratio(x) * m.exp(-m.abs(x))),
)  # fmt: skip
bessel_j0 = _real("bessel_j0", "j0", dx=lambda m, x: -m.bessel_j1(x))
bessel_j1 = _real("bessel_j1", "j1", dx=lambda m, x, y: m.bessel_j0(x) - _ratio(m, x, y, lambda x: 0.5 - x * x / 16))
bessel_k0 = _real("bessel_k0", _of_positive("k0", np.inf), domain=(0.5, 3), dx=lambda m, x: -m.bessel_k1(x))
bessel_k0e = _real("bessel_k0e", _of_positive("k0e", np.inf), domain=(0.5, 3), dx=lambda m, x, y: y - m.bessel_k1e(x))
bessel_k1 = _real("bessel_k1", _of_positive("k1", np.inf), domain=(0.5, 3), dx=lambda m, x, y: -m.bessel_k0(x) - y / x)
bessel_k1e = _real(
    "bessel_k1e", _of_positive("k1e", np.inf), domain=(0.5, 3), dx=lambda m, x, y: y * (1 - 1 / x) - m.bessel_k0e(x)
)
bessel_y0 = _real("bessel_y0", _of_positive("y0", -np.inf), domain=(0.5, 3), dx=lambda m, x: -m.bessel_y1(x))
bessel_y1 = _real(
    "bessel_y1", _of_positive("y1", -np.inf), domain=(0.5, 3), dx=lambda m, x, y: m.bessel_y0(x) - y / x
)


def _dawsn_slope(m, x, y):
    """1 - 2xy, which cancels completely for large x: there the asymptotic series in r = 1 / x² is used."""
    far = m.abs(x) > 25
    r = m.square(m.reciprocal(m.where(far, x, 1)))
    series = 1.0
    for k in (8.5, 7.5, 6.5, 5.5, 4.5, 3.5, 2.5, 1.5):
        series = series * r * k + 1
    return m.where(far, -0.5 * r * series, 1 - 2 * (m.where(far, 0, x) * y))


dawsn = _real("dawsn", "dawsn", dx=_dawsn_slope)
expint = _real("expint", "expi", domain=(0.5, 2), dx=lambda m, x: (root := m.exp(0.5 * x)) / x * root)


def _fresnel(index):
    """One of SciPy's two Fresnel integrals; x is clipped, because SciPy squares it, where the integrals are ±0.5."""

    def kernel(xp, x):
        bounded = x if x.dtype.itemsize < 8 else xp.clip(x, -1e100, 1e100)
        return astype(special(xp).fresnel(bounded)[index], x.dtype)

    return kernel



def _fresnel_angle(m, x):
    """π/2 x² modulo 2π, without the square, which overflows.

    With the nearest integer n, x² = n² + 2n(x - n) + (x - n)², and only the last bit of n² matters.
    """
    n = m.rint(x)
    rest, odd = x - n, n - 2 * m.floor(0.5 * n)
    middle = n * rest
    return (odd + 2 * (middle - 2 * m.floor(0.5 * middle)) + rest * rest) * (math.pi / 2)


fresnel_sin = _real("fresnel_sin", _fresnel(0), dx=lambda m, x: m.sin(_fresnel_angle(m, x)))
fresnel_cos = _real("fresnel_cos", _fresnel(1), dx=lambda m, x: m.cos(_fresnel_angle(m, x)))


def _spence_slope(m, x):
    return -_ratio(m, x - 1, m.log(x), lambda d: 1 - d * (0.5 - d * (1 / 3 - d * 0.25)))


def _spence(xp, x):
    """SciPy's `spence`; JAX's divides by x, which gives NaN where the inverse is subnormal."""
    y = astype(special(xp).spence(x), x.dtype)
    if xp is np:
        return y
    return astype(xp.where(x > 1e20, -0.5 * xp.log(x) ** 2 - math.pi**2 / 6, y), x.dtype)


spence = _real("spence", _spence, domain=(0.2, 0.8), dx=_spence_slope)
