"""One kernel of CUDA from the steps of an elementwise formula: each step is a line of C++, by NumPy's name for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

_TYPES = {
    "float32": "float", "float64": "double", "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long",
}  # fmt: skip
_FLOATS = ("float32", "float64")

# What C++ calls it as NumPy does, for floats.
_SAME = set(
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh floor ceil trunc rint erf erfc erfinv "
    "hypot isnan isinf isfinite fabs copysign".split()
)
_RENAMED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "gammaln": "lgamma",
}  # fmt: skip
_TEXTS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "negative": "-{0}", "positive": "{0}",
    "square": "{0} * {0}", "conjugate": "{0}",
    "equal": "{0} == {1}", "not_equal": "{0} != {1}", "less": "{0} < {1}", "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}", "greater_equal": "{0} >= {1}",
    "logical_and": "{0} && {1}", "logical_or": "{0} || {1}", "logical_not": "!{0}", "logical_xor": "!{0} != !{1}",
    "maximum": "({0} >= {1} || {0} != {0}) ? {0} : {1}", "minimum": "({0} <= {1} || {0} != {0}) ? {0} : {1}",
    "absolute": "{0} < 0 ? -{0} : {0}", "where": "{0} ? {1} : {2}", "astype": "{0}",
}  # fmt: skip
_FLOAT_TEXTS = {
    "divide": "{0} / {1}", "reciprocal": "1 / {0}", "absolute": "fabs({0})",
    "sign": "{0} != {0} ? {0} : ({0} > 0) - ({0} < 0)", "expit": "1 / (1 + exp(-{0}))",
}  # fmt: skip


class _Unwritable(Exception):
    """A step that C++ is not known to do as NumPy does."""


def fuse(formula: Any) -> Callable[..., Any] | None:
    """A kernel that gives the formula's result for arrays of its inputs' dtypes, or numbers; None if there is none."""
    try:
        names = {symbol: f"i{n}" for n, symbol in enumerate(formula.inputs)}
        lines = []
        for n, step in enumerate(formula.steps):
            text = _text(step, [_number(x) if isinstance(x, np.generic) else names[x] for x in step.inputs])
            names[step.output] = f"t{n}"
            lines.append(f"const {_type(step.output)} t{n} = {text};")
        takes = ", ".join(f"{x.dtype.name} {names[x]}" for x in formula.inputs)
        lines.append(f"y = {names[formula.result]};")
        for x in formula.inputs:
            _type(x)
        return cupy.ElementwiseKernel(takes, f"{formula.result.dtype.name} y", "\n".join(lines), "gradtape_formula")
    except _Unwritable:
        return None


def _type(symbol: Any) -> str:
    found = _TYPES.get(symbol.dtype.name)
    if found is None:
        raise _Unwritable(symbol.dtype.name)
    return found


def _number(x: Any) -> str:
    """A number of a formula as C++ has it, of its own type."""
    if x.dtype.name not in _TYPES:
        raise _Unwritable(repr(x))
    if x.dtype.kind == "f":
        if not np.isfinite(x):
            raise _Unwritable(repr(x))
        text = float(x).hex()
        return f"({text}f)" if x.dtype == np.float32 else f"({text})"
    if x.dtype.kind == "b":
        return "true" if x else "false"
    return f"(({_TYPES[x.dtype.name]}){int(x)})"


def _text(step: Any, given: list[str]) -> str:
    name = step.function.__name__
    of_floats = all(x.dtype.name in _FLOATS for x in step.inputs if hasattr(x, "dtype"))
    if of_floats and (name in _SAME or name in _RENAMED):
        return f"{_RENAMED.get(name, name)}({', '.join(given)})"
    text = (_FLOAT_TEXTS.get(name) if of_floats else None) or _TEXTS.get(name)
    if text is None:
        raise _Unwritable(name)
    return text.format(*given)
