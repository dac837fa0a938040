"""Powers of 0, infinity and negative numbers: values and derivatives are those of TensorFlow's formulas in float64.

A value is that of C's `pow`. The derivative by the base is `b * a**(b - 1)`, that by the exponent `a**b * log(a)`, with
0 for the logarithm of what has none. A seed chooses a dtype, eager execution, a function or XLA, and whether the
exponent is a tensor, or a Python number, for which there are ops of their own.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np

import gradtape as tf

from .range_ends import COMPLEX_DTYPES, REAL_DTYPES, mode_of

BASES = (0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, np.nan)
EXPONENTS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 1.5, np.inf, -np.inf)
COMPLEX_BASES = (1.0, -1.0, 2.0, -2.0, 0.5, -3.0)
_ROUNDINGS = 8.0


def cases() -> list[tuple[str, Any]]:
    """Every dtype with exponents that are tensors, and with each that is a Python number."""
    return [*product([*REAL_DTYPES, *COMPLEX_DTYPES], (None, 0, 0.5, -0.5, 1, -1, 2, 3, 2.0, 1.5, float("inf")))]


def disagreements(seed: int) -> list[str]:
    """One dtype and kind of exponent in one mode, at all points."""
    return compare(*cases()[seed % len(cases())], mode_of(seed, len(cases())), random.Random(seed))


def compare(dtype: str, exponent: Any, mode: str, rng: random.Random) -> list[str]:
    """Every result that is not the formula's."""
    is_complex = dtype in COMPLEX_DTYPES
    if is_complex and exponent == np.inf:
        return []  # C leaves infinite powers of complex numbers open
    bases = COMPLEX_BASES if is_complex else BASES
    exponents = [n for n in EXPONENTS if not is_complex or np.isfinite(n)] if exponent is None else [exponent]
    points = [*product(bases, exponents)] * rng.choice([1, 1, 30])
    rng.shuffle(points)
    kind = getattr(tf, dtype).as_numpy_dtype
    a, b = (np.array(column).astype(kind) for column in zip(*points, strict=True))
    results = _run(a, b if exponent is None else exponent, mode)
    found = []
    with np.errstate(all="ignore"):
        for name, got, wanted in zip(("value", "by base", "by exponent"), results, _expected(a, b), strict=False):
            bits, lowest, _ = REAL_DTYPES[COMPLEX_DTYPES.get(dtype, dtype)]
            limit = _ROUNDINGS * 2.0**-bits * abs(wanted) + 4 * 2.0**lowest
            near = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | (abs(got - wanted) <= limit)
            found += [
                f"{mode} {dtype} {a[i].item()!r} ** {'' if exponent is None else 'Python '}{b[i].item()!r}, {name}: "
                f"{got[i].item()!r}, expected {wanted[i].item()!r}" for i in np.flatnonzero(~near)
            ]  # fmt: skip
    return list(dict.fromkeys(found))[:20]


def _expected(a: Any, b: Any) -> list[Any]:
    """TensorFlow's value and derivatives, in double precision."""
    with np.errstate(all="ignore"):
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        a, b = a.astype(wide), b.astype(wide)
        value = a**b
        has_log = a != 0 if wide is np.complex128 else a > 0
        by_exponent = value * np.where(has_log, np.log(np.where(has_log, a, 1)), 0)
        return [value, b * a ** (b - 1), by_exponent]


def _run(a: Any, b: Any, mode: str) -> list[Any]:
    with_exponent = isinstance(b, np.ndarray)

    def value_and_derivatives(a: Any, *exponents: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((a, *exponents))
            y = a ** (exponents[0] if exponents else b)
        return [y, *tape.gradient(y, (a, *exponents))]

    if mode != "eager":
        value_and_derivatives = tf.function(value_and_derivatives, jit_compile=mode == "xla" or None)
    with np.errstate(all="ignore"):
        given = [tf.constant(a), *([tf.constant(b)] if with_exponent else [])]
        results = value_and_derivatives(*given)
        if mode == "function":  # the second call is the first that runs the graph
            results = value_and_derivatives(*given)
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        found = [y.numpy().astype(wide) for y in results]
    return [y.conj() if order and wide is np.complex128 else y for order, y in enumerate(found)]
