"""Writes `tests/data/range_ends.txt.gz`, the references of `range_ends.py`. Requires mpmath.

    python tests/fuzz/_range_end_references.py tests/data/range_ends.txt.gz [OP ...]

A line of a function of one real argument is `real OP x f f' f'' |x f'''|`; of two, `binary OP a b f f_a f_b`, then
`|a f_aa| + |b f_ab|` and `|a f_ab| + |b f_bb|`; three arguments (`ternary`) likewise; of a complex one, `complex OP z f
f' |z f''|`, a complex number as two; of vectors, see `vector_line`. A derivative that the op does not have is `-`.
Derivatives are closed forms, or central differences in a precision that leaves dozens of digits. The last numbers say
how much an error of one rounding in the arguments changes the derivatives.
"""

from __future__ import annotations

import gzip
import itertools
import math
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import mpmath as mp
from _range_end_points import complex_points, pair_points, points_of_partials, real_points, vector_points

SECONDS_PER_POINT = 8


def _erfcinv(p: Any) -> Any:
    """Computes the inverse of erfc by Newton's method, on the logarithm for small `p`."""
    if not 0 < p < 2:
        raise ValueError
    if p > 1:
        return -_erfcinv(2 - p)
    scale = 2 / mp.sqrt(mp.pi)
    if p > 0.4:
        return _solved(lambda x: mp.erfc(x) - p, lambda x: -scale * mp.exp(-x * x), (1 - p) / scale)
    target = mp.log(p)
    start = mp.sqrt(max(-target - mp.log(mp.sqrt(-target) * mp.sqrt(mp.pi)), mp.mpf(0.1)))
    return _solved(
        lambda x: mp.log(mp.erfc(x)) - target, lambda x: -scale * mp.exp(-x * x) / mp.erfc(x), start
    )


def _solved(f: Callable[[Any], Any], slope: Callable[[Any], Any], x: Any) -> Any:
    for _ in range(200):
        step = f(x) / slope(x)
        x = x - step
        if abs(step) <= abs(x) * mp.mpf(2) ** (100 - mp.mp.prec):
            break
    return x


def _erfinv(x: Any) -> Any:
    if abs(x) < 0.6:
        scale = 2 / mp.sqrt(mp.pi)
        return _solved(lambda y: mp.erf(y) - x, lambda y: scale * mp.exp(-y * y), x / scale)
    return _erfcinv(1 - x) if x > 0 else -_erfcinv(1 + x)


def _positive(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns `f` restricted to positive numbers."""

    def restricted(x: Any) -> Any:
        if x <= 0:
            raise ValueError
        return f(x)

    return restricted


def _log_gamma(x: Any) -> Any:
    return mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))


def _softplus(x: Any) -> Any:
    return x if x > 9000 else mp.log1p(mp.exp(x))


SELU_SCALE, SELU_LIMIT = (
    mp.mpmathify(s) for s in ("1.0507009873554804934193349852946", "1.7580993408473768599402175208123")
)

REAL: dict[str, Callable[[Any], Any]] = {
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "sqrt": _positive(mp.sqrt),
    "rsqrt": _positive(lambda x: 1 / mp.sqrt(x)),
    "power_3": lambda x: x**3,
    "power_half": _positive(mp.sqrt),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "relu": lambda x: max(x, mp.mpf(0)),
    "relu6": lambda x: min(max(x, mp.mpf(0)), mp.mpf(6)),
    "elu": lambda x: x if x > 0 else mp.expm1(x),
    "selu": lambda x: SELU_SCALE * x if x > 0 else SELU_LIMIT * mp.expm1(x),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpmathify("0.044715") * x**3))),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "exp": mp.exp,
    "expm1": mp.expm1,
    "log": _positive(mp.log),
    "log1p": lambda x: mp.log(1 + x),
    "exp2": lambda x: mp.mpf(2) ** x,
    "log2": _positive(lambda x: mp.log(x) / mp.log(2)),
    "log10": _positive(lambda x: mp.log(x) / mp.log(10)),
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "softsign": lambda x: x / (1 + abs(x)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "ndtr": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
    "erfinv": _erfinv,
    "erfcinv": _erfcinv,
    "ndtri": lambda p: -mp.sqrt(2) * _erfcinv(2 * p),
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "expint": mp.ei,
    "fresnel_sin": mp.fresnels,
    "fresnel_cos": mp.fresnelc,
    "spence": _positive(lambda x: mp.polylog(2, 1 - x)),
    "bessel_i0": lambda x: mp.besseli(0, x),
    "bessel_i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "bessel_i1": lambda x: mp.besseli(1, x),
    "bessel_i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "bessel_j0": lambda x: mp.besselj(0, x),
    "bessel_j1": lambda x: mp.besselj(1, x),
}


def _polygammas(first: int) -> Callable[[Any], list[Any]]:
    def derivatives(x: Any) -> list[Any]:
        if x <= 0 and x == mp.floor(x):
            raise ValueError  # a pole
        return [mp.psi(n, x) if n >= 0 else _log_gamma(x) for n in range(first, first + 4)]

    return derivatives


def _bessel(order: int, kind: str, scaled: bool = False) -> Callable[[Any], list[Any]]:
    """Returns `K` or `Y` of order 0 or 1 and its first three derivatives, by F0' = -F1 and F1' = ±F0 - F1 / x."""
    sign = 1 if kind == "y" else -1

    def derivatives(x: Any) -> list[Any]:
        if x <= 0:
            raise ValueError
        f0, f1 = _bessel_pair(kind, x)
        if scaled:
            f0, f1 = f0 * mp.exp(x), f1 * mp.exp(x)
        # A derivative is p f0 + q f1, with polynomials p and q in 1 / x, each a list of coefficients.
        p, q = ([mp.mpf(1)], [mp.mpf(0)]) if order == 0 else ([mp.mpf(0)], [mp.mpf(1)])
        found = []
        for _ in range(4):
            found.append(f0 * mp.polyval(p[::-1], 1 / x) + f1 * mp.polyval(q[::-1], 1 / x))
            p, q = _sum(_slope(p), [sign * c for c in q], p if scaled else []), _sum(
                _slope(q), [-c for c in p], [0, *[-c for c in q]], q if scaled else []
            )
        return found

    return derivatives


def _bessel_pair(kind: str, x: Any) -> tuple[Any, Any]:
    """Returns K or Y of order 0 and 1; far from 1 by the series, for which mpmath takes minutes."""
    if x < mp.mpf(2) ** -20:
        sign, half, log = (1 if kind == "k" else -1), x / 2, mp.log(x / 2)
        terms = [(sign * half**2) ** k / mp.factorial(k) ** 2 for k in range(20)]
        first = sum(t * (mp.psi(0, k + 1) - log) for k, t in enumerate(terms))
        second = sum(
            t / (k + 1) * half * (2 * log - mp.psi(0, k + 1) - mp.psi(0, k + 2)) for k, t in enumerate(terms)
        )
        return (first, 1 / x + second / 2) if kind == "k" else (-2 / mp.pi * first, (second - 2 / x) / mp.pi)
    if x < 1e5:
        function = mp.bessely if kind == "y" else mp.besselk
        return function(0, x), function(1, x)
    found = []
    for order in (0, 1):
        terms = [mp.mpf(1)]
        for k in range(1, 60):
            terms.append(terms[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x))
        if kind == "k":
            found.append(mp.sqrt(mp.pi / (2 * x)) * mp.exp(-x) * sum(terms))
        else:
            angle = x - (2 * order + 1) * mp.pi / 4
            even, odd = (sum((-1) ** k * t for k, t in enumerate(terms[i::2])) for i in (0, 1))
            found.append(mp.sqrt(2 / (mp.pi * x)) * (mp.sin(angle) * even + mp.cos(angle) * odd))
    return found[0], found[1]


def _slope(coefficients: list[Any]) -> list[Any]:
    """Differentiates a polynomial in 1 / x with respect to x."""
    return [0, *[-k * c for k, c in enumerate(coefficients)]]


def _sum(*polynomials: list[Any]) -> list[Any]:
    return [sum(terms) for terms in itertools.zip_longest(*polynomials, fillvalue=mp.mpf(0))]


# The function and its first three derivatives.
WITH_DERIVATIVES: dict[str, Callable[[Any], list[Any]]] = {
    "lgamma": _polygammas(-1),
    "digamma": _polygammas(0),
    "bessel_k0": _bessel(0, "k"),
    "bessel_k0e": _bessel(0, "k", scaled=True),
    "bessel_k1": _bessel(1, "k"),
    "bessel_k1e": _bessel(1, "k", scaled=True),
    "bessel_y0": _bessel(0, "y"),
    "bessel_y1": _bessel(1, "y"),
}


def _gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _igamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _igammac(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _polygamma(n: Any, x: Any) -> Any:
    """The polygamma function; for x < 0 by the reflection formula, whose derivatives are polynomials in cot πx."""
    n = int(n)
    if x > 0:
        return mp.psi(n, x)
    polynomial = [mp.mpf(1), mp.mpf(0)]  # highest power first, in units of π**(n + 1)
    for _ in range(n):
        degree = len(polynomial) - 1
        slope = [c * (degree - k) for k, c in enumerate(polynomial[:-1])]
        polynomial = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    reflection = mp.pi ** (n + 1) * mp.polyval(polynomial, mp.cot(mp.pi * x))
    return (-1) ** n * mp.psi(n, 1 - x) - reflection


def _zeta(x: Any, q: Any) -> Any:
    """The Hurwitz zeta function; for large q by the Euler-Maclaurin formula, which then needs no sum."""
    if q < 0:
        return (-1) ** int(x) * _polygamma(x - 1, q) / mp.factorial(int(x) - 1)
    if q < 1e6:
        return mp.zeta(x, q)
    total = q ** (1 - x) / (x - 1) + q**-x / 2
    for k in range(1, 40):
        total += mp.bernoulli(2 * k) / mp.factorial(2 * k) * mp.rf(x, 2 * k - 1) * q ** (-x - 2 * k + 1)
    return total


def _igamma_by_a(a: Any, x: Any) -> Any:
    """The derivative with respect to a, by central differences of the function that is not close to 1."""
    h = a * mp.mpf(2) ** -60
    f, sign = (_igamma, 1) if x < a else (_igammac, -1)
    return sign * (f(a + h, x) - f(a - h, x)) / (2 * h)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - log_beta)


# Functions of several arguments with their derivatives; None for one that the op does not have.
WITH_PARTIALS: dict[str, tuple[Callable[..., Any], tuple[Callable[..., Any] | None, ...]]] = {
    "igamma": (_igamma, (_igamma_by_a, _gamma_density)),
    "igammac": (_igammac, (lambda a, x: -_igamma_by_a(a, x), lambda a, x: -_gamma_density(a, x))),
    "zeta": (_zeta, (None, lambda x, q: -x * _zeta(x + 1, q))),
    "polygamma": (_polygamma, (None, lambda n, x: _polygamma(n + 1, x))),
    "betainc": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), (None, None, _beta_density)),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "div": lambda a, b: a / b,
    "pow": lambda a, b: _positive(lambda a: mp.exp(b * mp.log(a)))(a),
    "atan2": mp.atan2,
    "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "xlogy": lambda a, b: a * _positive(mp.log)(b),
    "xlog1py": lambda a, b: a * _positive(mp.log)(1 + b),
    "xdivy": lambda a, b: a / b,
    "logaddexp": lambda a, b: max(a, b) + _softplus(-abs(a - b)),
    "squared_difference": lambda a, b: (a - b) ** 2,
    "divide_no_nan": lambda a, b: a / b,
    "multiply_no_nan": lambda a, b: a * b,
    "sigmoid_cross_entropy": lambda labels, logits: _softplus(logits) - logits * labels,
}
_COMPLEX_NAMES = (
    "square reciprocal sqrt rsqrt power_3 exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh sigmoid"
)
_OF_ANY = {"sqrt": mp.sqrt, "rsqrt": lambda z: 1 / mp.sqrt(z), "log": mp.log}
COMPLEX: dict[str, Callable[[Any], Any]] = {name: _OF_ANY.get(name, REAL.get(name)) for name in _COMPLEX_NAMES.split()}



def _shares(xs: list[Any]) -> tuple[Any, list[Any]]:
    """Returns log Σ exp(x) and its gradient, the softmax."""
    top = max(xs)
    powers = [mp.exp(x - top) for x in xs]
    return top + mp.log(sum(powers)), [power / sum(powers) for power in powers]


def _curved(shares: list[Any]) -> list[Any]:
    """Returns the second derivative of log Σ exp(x) times (1, 2, 3)."""
    mean = sum(p * (i + 1) for i, p in enumerate(shares))
    return [p * (i + 1 - mean) for i, p in enumerate(shares)]


def _softmax(xs: list[Any]) -> list[list[Any]]:
    p = _shares(xs)[1]
    mean, square = (sum(share * (i + 1) ** k for i, share in enumerate(p)) for k in (1, 2))
    second = [
        share * ((i + 1) ** 2 - square) - 2 * mean * change
        for i, (share, change) in enumerate(zip(p, _curved(p), strict=True))
    ]
    return [p, _curved(p), second]


def _log_softmax(xs: list[Any]) -> list[list[Any]]:
    total, p = _shares(xs)
    return [[x - total for x in xs], [i + 1 - 6 * share for i, share in enumerate(p)], [-6 * c for c in _curved(p)]]


def _cross_entropy(*labels: Any) -> Callable[[list[Any]], list[list[Any]]]:
    def loss(xs: list[Any]) -> list[list[Any]]:
        total, p = _shares(xs)
        value = total - sum(label * x for label, x in zip(labels, xs, strict=True))
        return [[value], [share - label for share, label in zip(p, labels, strict=True)], _curved(p)]

    return loss


def _running(xs: list[Any]) -> list[list[Any]]:
    parts = [_shares(xs[: i + 1]) for i in range(3)]
    padded = [[*p, *[mp.mpf(0)] * (3 - len(p))] for _, p in parts]
    curves = [[*_curved(p), *[mp.mpf(0)] * (3 - len(p))] for _, p in parts]
    slopes, seconds = ([sum((k + 1) * row[i] for k, row in enumerate(m)) for i in range(3)] for m in (padded, curves))
    return [[total for total, _ in parts], slopes, seconds]


# Functions of three logits with both derivatives, in the format of `vector_line`.
LOGITS: dict[str, Callable[[list[Any]], list[list[Any]]]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _cross_entropy(0, 0, 0),
    "cumulative_logsumexp": _running,
    "softmax_cross_entropy": _cross_entropy(mp.mpf(1) / 4, mp.mpf(3) / 4, 0),
    "sparse_softmax_cross_entropy": _cross_entropy(0, 1, 0),
}


def _variance(xs: list[Any]) -> Any:
    mean = sum(xs) / len(xs)
    return sum((x - mean) ** 2 for x in xs) / len(xs)


def _norm(xs: list[Any]) -> Any:
    return mp.sqrt(sum(x * x for x in xs))


def _parts(z: Any) -> list[Any]:
    return [mp.re(z), mp.im(z)]


# Functions from vectors to vectors, by their names in `range_ends_composites.py`, and their arity.
VECTOR: dict[str, tuple[int, Callable[[list[Any]], list[Any]]]] = {
    "euclidean_norm": (3, lambda xs: [_norm(xs)]),
    "norm": (3, lambda xs: [_norm(xs)]),
    "l2_normalize": (3, lambda xs: [x / max(_norm(xs), mp.mpf(10) ** -6) for x in xs]),
    "variance": (3, lambda xs: [_variance(xs)]),
    "std": (3, lambda xs: [mp.sqrt(_variance(xs))]),
    "complex_abs": (2, lambda xs: [abs(mp.mpc(*xs))]),
    "complex_angle": (2, lambda xs: [mp.arg(mp.mpc(*xs))]),
    "complex_sqrt": (2, lambda xs: _parts(mp.sqrt(mp.mpc(*xs)))),
    "complex_log": (2, lambda xs: _parts(mp.log(mp.mpc(*xs)))),
    "complex_div": (4, lambda xs: _parts(mp.mpc(*xs[:2]) / mp.mpc(*xs[2:]))),
    "complex_pow": (4, lambda xs: _parts(mp.exp(mp.mpc(*xs[2:]) * mp.log(mp.mpc(*xs[:2]))))),
}


def vector_line(name: str, *xs: float) -> str:
    """Returns one line: `vector NAME x y g h`, lists joined by commas.

    With w = (1, 2, 3, ...), g is the gradient of w·y, and h that of w·g.
    """
    at = list(map(mp.mpf, xs))
    if name in LOGITS:
        mp.mp.prec = 600 + max(abs(math.frexp(x)[1]) for x in xs)
        results = LOGITS[name](at)
        return " ".join(["vector", name, ",".join(x.hex() for x in xs), *[",".join(map(_text, r)) for r in results]])
    mp.mp.prec = 1200 + 3 * max(abs(math.frexp(x)[1]) for x in xs)
    function, steps = VECTOR[name][1], [abs(x) * mp.mpf(2) ** -100 for x in at]

    def slopes(f: Callable[[list[Any]], Any], point: list[Any]) -> list[Any]:
        found = []
        for i, h in enumerate(steps):
            above, below = (f([*point[:i], point[i] + d, *point[i + 1 :]]) for d in (h, -h))
            found.append((above - below) / (2 * h))
        return found

    def weighted(ys: list[Any]) -> Any:
        return sum((i + 1) * y for i, y in enumerate(ys))

    values = function(at)
    gradient = slopes(lambda xs: weighted(function(xs)), at)
    second = slopes(lambda xs: weighted(slopes(lambda xs: weighted(function(xs)), xs)), at)
    _finite([*values, *gradient, *second], mp.mpf)
    lists = [",".join(map(_text, numbers)) for numbers in (values, gradient, second)]
    return " ".join(["vector", name, ",".join(x.hex() for x in xs), *lists])


class TooLong(Exception):
    """A point exceeded the time limit."""


def _interrupt(*_: Any) -> None:
    raise TooLong


def _text(value: Any, digits: int = 20) -> str:
    """Returns decimal digits; 0 or inf beyond the range of a long double, for which mpmath would take very long."""
    if value and abs(mp.mag(value)) > 17000:
        return ("inf" if value > 0 else "-inf") if mp.mag(value) > 0 else "0.0"
    return mp.nstr(value, digits, min_fixed=0, max_fixed=0)


def _finite(values: Iterable[Any], kind: type) -> None:
    if not all(isinstance(value, kind) and mp.isfinite(value) for value in values):
        raise ValueError


def _step(x: Any) -> Any:
    distance = abs(abs(x) - 1)
    return min(abs(x), distance if distance else abs(x)) * mp.mpf(2) ** -80


def _precision(name: str, *arguments: float) -> int:
    """Returns enough bits for third differences with steps of 2**-80 of the arguments.

    A derivative as small as the smallest number next to a value of 1 needs a thousand more bits; functions that would
    take too long have no such derivatives.
    """
    small = max(max(-math.frexp(x)[1], 0) for x in arguments)
    large = max(max(math.frexp(x)[1], 0) for x in arguments)
    least = 900 if name.startswith(("bessel", "fresnel", "dawsn", "expint", "spence", "erfcinv", "ndtri")) else 2500
    return least + 4 * min(small, 1100) + min(large, 1100)


def _smooth(low: Any, middle: Any, high: Any) -> None:
    """Rejects a kink, where the differences to both sides disagree."""
    if abs(high - 2 * middle + low) > abs(high - low) * mp.mpf(2) ** -60 + abs(middle) * mp.mpf(2) ** -600:
        raise ValueError


def real_line(name: str, x: float) -> str:
    """Returns one line of the file."""
    if name in WITH_DERIVATIVES:
        mp.mp.prec = 300 + 4 * max(math.frexp(x)[1], 0)
        values = WITH_DERIVATIVES[name](mp.mpf(x))
        _finite(values, mp.mpf)
        return " ".join(["real", name, x.hex(), *map(_text, values[:3]), _text(abs(x * values[3]), 4)])
    mp.mp.prec = _precision(name, x)
    at, h = mp.mpf(x), _step(mp.mpf(x))
    a, b, c, d, e = values = [REAL[name](at + k * h) for k in (-2, -1, 0, 1, 2)]
    _finite(values, mp.mpf)
    _smooth(b, c, d)
    third = abs(at * (e - 2 * d + 2 * b - a) / (2 * h**3))
    numbers = [c, (d - b) / (2 * h), (d - 2 * c + b) / h**2]
    return " ".join(["real", name, x.hex(), *map(_text, numbers), _text(third, 4)])


def binary_line(name: str, first: float, second: float) -> str:
    """Returns one line of the file."""
    mp.mp.prec = _precision(name, first, second)
    a, b = mp.mpf(first), mp.mpf(second)
    h, k = _step(a), _step(b)
    f = {(i, j): BINARY[name](a + i * h, b + j * k) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    _finite(f.values(), mp.mpf)
    _smooth(f[-1, 0], f[0, 0], f[1, 0])
    _smooth(f[0, -1], f[0, 0], f[0, 1])
    aa, bb = (f[1, 0] - 2 * f[0, 0] + f[-1, 0]) / h**2, (f[0, 1] - 2 * f[0, 0] + f[0, -1]) / k**2
    ab = (f[1, 1] - f[1, -1] - f[-1, 1] + f[-1, -1]) / (4 * h * k)
    numbers = [f[0, 0], (f[1, 0] - f[-1, 0]) / (2 * h), (f[0, 1] - f[0, -1]) / (2 * k)]
    condition = [abs(a * aa) + abs(b * ab), abs(a * ab) + abs(b * bb)]
    return " ".join([
        "binary", name, first.hex(), second.hex(), *map(_text, numbers), *[_text(value, 4) for value in condition]
    ])


def partials_line(name: str, *point: float) -> str:
    """Returns one line of the file."""
    mp.mp.prec = 600
    function, partials = WITH_PARTIALS[name]
    xs = list(map(mp.mpf, point))
    numbers = [mp.mpf(function(*xs)), *[None if f is None else mp.mpf(f(*xs)) for f in partials]]
    condition: list[Any] = []
    for f in partials:
        if f is None:
            condition.append(None)
            continue
        total = mp.mpf(0)
        for i, x in enumerate(xs):
            if not (name == "polygamma" and i == 0):  # an integer
                above, below = ([*xs[:i], x * (1 + h), *xs[i + 1 :]] for h in (mp.mpf(2) ** -50, -(mp.mpf(2) ** -50)))
                total += abs(f(*above) - f(*below)) * mp.mpf(2) ** 49
        condition.append(total)
    _finite([x for x in [*numbers, *condition] if x is not None], mp.mpf)
    kind = "binary" if len(xs) == 2 else "ternary"
    texts = ["-" if x is None else _text(x) for x in numbers] + ["-" if x is None else _text(x, 4) for x in condition]
    return " ".join([kind, name, *[x.hex() for x in point], *texts])


def complex_line(name: str, z: complex) -> str:
    """Returns one line of the file."""
    mp.mp.prec = _precision(name, z.real, z.imag)
    at = mp.mpc(z)
    h = min(abs(at.real), abs(at.imag)) * mp.mpf(2) ** -80
    b, c, d = values = [mp.mpc(COMPLEX[name](at + k * h)) for k in (-1, 0, 1)]
    _finite(values, mp.mpc)
    second = abs(at * (d - 2 * c + b) / h**2)
    slope = (d - b) / (2 * h)
    numbers = [c.real, c.imag, slope.real, slope.imag]
    return " ".join(["complex", name, z.real.hex(), z.imag.hex(), *map(_text, numbers), _text(second, 4)])


def main() -> None:
    """Writes the lines of the given ops, or of all."""
    path, *names = sys.argv[1:]
    signal.signal(signal.SIGALRM, _interrupt)
    makers: list[tuple[Any, dict[str, Any]]] = [
        (real_line, {name: [(x,) for x in real_points()] for name in [*REAL, *WITH_DERIVATIVES]}),
        (binary_line, dict.fromkeys(BINARY, pair_points())),
        (partials_line, points_of_partials()),
        (complex_line, {name: [(z,) for z in complex_points()] for name in COMPLEX}),
        (vector_line, dict.fromkeys(LOGITS, vector_points(3))),
        (vector_line, {name: vector_points(arity) for name, (arity, _) in VECTOR.items()}),
    ]
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for line, points_of in makers:
            for name in names or points_of:
                if name not in points_of:
                    continue
                start, missing = time.monotonic(), 0
                for point in points_of[name]:
                    signal.alarm(SECONDS_PER_POINT)
                    try:
                        file.write(line(name, *point).encode() + b"\n")
                    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                        pass  # outside the domain, or at a kink
                    except (TooLong, mp.libmp.NoConvergence):
                        missing += 1
                    finally:
                        signal.alarm(0)
                seconds = time.monotonic() - start
                print(f"{line.__name__} {name}: {seconds:.0f} s, {missing} points took too long", file=sys.stderr)


if __name__ == "__main__":
    main()
