"""Writes `tests/data/range_ends.txt.gz`, which `range_ends.py` compares with. It needs mpmath.

    python tests/fuzz/_range_end_references.py tests/data/range_ends.txt.gz [OP ...]

A line of a function of one real argument is `real OP x f f' f'' |x f'''|`; of two, `binary OP a b f f_a f_b`, then
`|a f_aa| + |b f_ab|` and `|a f_ab| + |b f_bb|`; of a complex one, `complex OP z f f' |z f''|`, a complex number as two.
Derivatives are central differences in a precision that leaves dozens of digits. The last numbers say how much an error
of one rounding in the arguments changes the derivatives.
"""

from __future__ import annotations

import gzip
import itertools
import math
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import mpmath as mp

SECONDS_PER_POINT = 2


def _erfcinv(p: Any) -> Any:
    """The inverse of erfc by Newton's method, for small `p` on the logarithm."""
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
    """`f` of positive numbers only."""

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
    "lgamma": _log_gamma,
    "digamma": mp.digamma,
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
    "bessel_k0": _positive(lambda x: mp.besselk(0, x)),
    "bessel_k0e": _positive(lambda x: mp.besselk(0, x) * mp.exp(x)),
    "bessel_k1": _positive(lambda x: mp.besselk(1, x)),
    "bessel_k1e": _positive(lambda x: mp.besselk(1, x) * mp.exp(x)),
    "bessel_y0": _positive(lambda x: mp.bessely(0, x)),
    "bessel_y1": _positive(lambda x: mp.bessely(1, x)),
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

FORMATS = {10: (-14, 15), 7: (-126, 127), 23: (-126, 127), 52: (-1022, 1023)}  # bits of a fraction: exponents


def real_points() -> list[float]:
    """The ends of the formats, what is next to 1, integers at the limit of the precision, and where exp overflows."""
    points = {0.25, 0.5, 1.0, 1.5, 1e4, 2.0**60, 2.0**64, 1e20, 1e30, 1e150, 1e160, 1e200}
    points.update(map(float, (2, 2.5, 3, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 20, 26, 40, 85, 88, 89, 100, 104, 128)))
    points.update(map(float, (200, 256, 300, 700, 709, 710, 745, 1000, 1024)))
    for bits, (lowest, highest) in FORMATS.items():
        step = 2.0**-bits
        points |= {step, step / 2, 1 - step / 2, 1 + step, 2 / step, 2 / step - 1, 2 / step + 2}
        points |= {2.0 ** (bits // 2), 2.0 ** -(bits // 2)}
        points |= {2.0**lowest, 2.0 ** (lowest - bits), 2.0**highest * (2 - step)}
    return sorted(itertools.chain(points, (-x for x in points)))


def pair_points() -> list[tuple[float, float]]:
    """Some pairs of the ends of the formats and of plain numbers."""
    points = {2.0**-10, 0.5, 1.0, 1 - 2.0**-11, 1 + 2.0**-10, 2.0, 3.5, 11.0, 100.0, 2048.0, 2.0**24, 2.0**64, 1e200}
    for bits, (lowest, highest) in FORMATS.items():
        points |= {2.0**lowest, 2.0**highest * (2 - 2.0**-bits)}
    signed = sorted(itertools.chain(points, (-x for x in points)))
    return random.Random(0).sample(list(itertools.product(signed, repeat=2)), 500)


def complex_points() -> list[complex]:
    """Numbers of all four quadrants whose parts are far apart in size."""
    parts = [2.0**-100, 2.0**-10, 0.5, 1.0, 3.0, 30.0, 60.0, 100.0, 2.0**33, 2.0**66, 2.0**100]
    pairs = random.Random(0).sample(list(itertools.product(parts, repeat=2)), 60)
    return [complex(a * sign, b * other) for a, b in pairs for sign in (1, -1) for other in (1, -1)]


class TooLong(Exception):
    """A point took more than the time for one."""


def _interrupt(*_: Any) -> None:
    raise TooLong


def _text(value: Any, digits: int = 20) -> str:
    return mp.nstr(value, digits, min_fixed=0, max_fixed=0)


def _finite(values: Iterable[Any], kind: type) -> None:
    if not all(isinstance(value, kind) and mp.isfinite(value) for value in values):
        raise ValueError


def _step(x: Any) -> Any:
    distance = abs(abs(x) - 1)
    return min(abs(x), distance if distance else abs(x)) * mp.mpf(2) ** -80


def _precision(name: str, *arguments: float) -> int:
    """Bits enough for third differences with steps that are 2**-80 of the arguments.

    A derivative of the smallest number next to a value of 1 needs a thousand more; the functions that would take too
    long with these have no such derivatives.
    """
    small = max(max(-math.frexp(x)[1], 0) for x in arguments)
    large = max(max(math.frexp(x)[1], 0) for x in arguments)
    least = 900 if name.startswith(("bessel", "fresnel", "dawsn", "expint", "spence", "erfcinv", "ndtri")) else 2500
    return least + 4 * min(small, 1100) + min(large, 1100)


def _smooth(low: Any, middle: Any, high: Any) -> None:
    """Refuses a kink: there the differences to both sides are not the same."""
    if abs(high - 2 * middle + low) > abs(high - low) * mp.mpf(2) ** -60 + abs(middle) * mp.mpf(2) ** -600:
        raise ValueError


def real_line(name: str, x: float) -> str:
    """One line of the file."""
    mp.mp.prec = _precision(name, x)
    at, h = mp.mpf(x), _step(mp.mpf(x))
    a, b, c, d, e = values = [REAL[name](at + k * h) for k in (-2, -1, 0, 1, 2)]
    _finite(values, mp.mpf)
    _smooth(b, c, d)
    third = abs(at * (e - 2 * d + 2 * b - a) / (2 * h**3))
    numbers = [c, (d - b) / (2 * h), (d - 2 * c + b) / h**2]
    return " ".join(["real", name, x.hex(), *map(_text, numbers), _text(third, 4)])


def binary_line(name: str, first: float, second: float) -> str:
    """One line of the file."""
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


def complex_line(name: str, z: complex) -> str:
    """One line of the file."""
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
    """Writes the lines of the ops named, or of all."""
    path, *names = sys.argv[1:]
    signal.signal(signal.SIGALRM, _interrupt)
    makers: list[tuple[Any, Any, Any]] = [
        (REAL, real_line, [(x,) for x in real_points()]),
        (BINARY, binary_line, pair_points()),
        (COMPLEX, complex_line, [(z,) for z in complex_points()]),
    ]
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for functions, line, points in makers:
            for name in names or functions:
                if name not in functions:
                    continue
                start, missing = time.monotonic(), 0
                for point in points:
                    signal.alarm(SECONDS_PER_POINT)
                    try:
                        file.write(line(name, *point).encode() + b"\n")
                    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                        pass  # outside of the domain, or at a kink
                    except (TooLong, mp.libmp.NoConvergence):
                        missing += 1
                    finally:
                        signal.alarm(0)
                seconds = time.monotonic() - start
                print(f"{line.__name__} {name}: {seconds:.0f} s, {missing} points took too long", file=sys.stderr)


if __name__ == "__main__":
    main()
