"""Compiles an elementwise formula to one CUDA kernel: each step is a line of C++, found by its NumPy name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np

TYPES = {
    "float32": "float", "float64": "double", "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long",
}  # fmt: skip
_FLOATS = ("float32", "float64")

# Functions of floats with the same name in C++.
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


class Unwritable(Exception):
    """A step without a known C++ equivalent."""


def fuse(formula: Any) -> Callable[..., Any] | None:
    """Compiles a kernel for arrays of the formula's input dtypes, or scalars; None if a step has no C++ equivalent."""
    try:
        names = {symbol: f"i{n}" for n, symbol in enumerate(formula.inputs)}
        lines = []
        for n, step in enumerate(formula.steps):
            names[step.output] = f"t{n}"
            lines.append(line(step, names))
        results = (formula.result, *formula.others)
        for x in (*formula.inputs, *results):
            type_of(x)
        lines += [f"y{n} = {names[x]};" for n, x in enumerate(results)]
        return _Elementwise([x.dtype for x in formula.inputs], [x.dtype for x in results], "\n".join(lines))
    except Unwritable:
        return None


class _Elementwise:
    """The kernel of the lines that compute `y0`, ... from `i0`, ...: CuPy's, for arrays of all shapes and strides.

    For large contiguous arrays, broadcast at most along leading axes, it uses a vectorized kernel in which a thread
    processes four elements per memory access; that takes half the time.
    """

    def __init__(self, given: Sequence[Any], made: Sequence[Any], lines: str) -> None:
        self._given, self._made, self._lines = given, made, lines
        takes = ", ".join(f"{dtype.name} i{n}" for n, dtype in enumerate(given))
        gives = ", ".join(f"{dtype.name} y{n}" for n, dtype in enumerate(made))
        self._any = cupy.ElementwiseKernel(takes, gives, lines, "gradtape_formula")
        self._for_many: dict[str, Callable[..., Any]] = {}

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        if (arrays[0].size >= _MANY or arrays[-1].size >= _MANY) and (shape := _four_at_once(arrays)):
            return self._run_for_many(shape, arrays, out)
        return self._any(*arrays) if out is None else self._any(*arrays, out)

    def _run_for_many(self, shape: tuple[int, ...], arrays: Sequence[Any], out: Any) -> Any:
        outs = [cupy.ndarray(shape, dtype) for dtype in self._made] if out is None else [out]
        size = outs[0].size
        kinds, values, periods = "", [], []
        for x, dtype in zip(arrays, self._given, strict=True):
            is_array = type(x) is cupy.ndarray
            kinds += "n" if not is_array else "a" if x.size == size else "1" if x.size == 1 else "r"
            values.append(x if is_array else dtype.type(x))
            if kinds[-1] == "r":
                periods.append(np.uint32(x.size // 4))
        kernel = self._for_many.get(kinds) or self._for_many.setdefault(kinds, self._kernel(kinds))
        threads = size // 4
        kernel((-(-threads // _THREADS),), (_THREADS,), (*values, *outs, np.uint32(threads), *periods))
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _kernel(self, kinds: str) -> Callable[..., Any]:
        """Compiles the vectorized kernel for a combination of inputs.

        `kinds` has a letter per input: a full array (a), a repeated row (r), a single element of an array (1) or a
        number (n).
        """
        parameters, periods, loads, each = [], [], [], []
        for n, (kind, dtype) in enumerate(zip(kinds, self._given, strict=True)):
            c = TYPES[dtype.name]
            if kind == "n":
                parameters.append(f"const {c} i{n}")
                continue
            parameters.append(f"const {c}* p{n}")
            if kind == "r":
                periods.append(f"unsigned int c{n}")
            unit = c if kind == "1" else f"Four<{c}>"
            place = {"a": "i", "1": "0", "r": f"i % c{n}"}[kind]
            loads.append(f"const {unit} w{n} = ((const {unit}*)p{n})[{place}];")
            each.append(f"const {c} i{n} = w{n}{'' if kind == '1' else '.of[k]'};")
        made = [TYPES[dtype.name] for dtype in self._made]
        parameters += [*[f"{c}* out{n}" for n, c in enumerate(made)], "unsigned int n", *periods]
        loads += [f"Four<{c}> all{n};" for n, c in enumerate(made)]
        each += [f"{c} y{n};" for n, c in enumerate(made)]
        keeps = [f"all{n}.of[k] = y{n};" for n in range(len(made))]
        stores = [f"((Four<{c}>*)out{n})[i] = all{n};" for n, c in enumerate(made)]
        lines = ["\n".join(part) for part in (loads, [*each, self._lines, *keeps], stores)]
        text = _SOURCE % (", ".join(parameters), *lines)
        return cupy.RawKernel(text, "formula")


_MANY = 1 << 18  # elements from which memory bandwidth, not launch overhead, determines the time
_THREADS = 128
_SOURCE = f"""
template <class T> struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Four {{ T of[4]; }};
extern "C" __global__ void formula(%s) {{
unsigned int i = blockIdx.x * {_THREADS}u + threadIdx.x;
if (i >= n) return;
%s
#pragma unroll
for (int k = 0; k < 4; k++) {{
%s
}}
%s
}}
"""


def _four_at_once(arrays: Sequence[Any]) -> tuple[int, ...] | None:
    """Returns the result's shape if the vectorized kernel applies to the arrays and numbers, else None.

    It applies if every array is contiguous, aligned and broadcast along leading axes only, in multiples of four
    elements.
    """
    shape = max([x.shape for x in arrays if type(x) is cupy.ndarray], key=lambda s: (math.prod(s), len(s)))
    size = math.prod(shape)
    if size % 4 or size >= 1 << 33:
        return None
    for x in arrays:
        if type(x) is not cupy.ndarray or (x.size == 1 and x.ndim <= len(shape)):
            continue
        along_rows = x.ndim <= len(shape) and x.shape == shape[len(shape) - x.ndim :] and x.size % 4 == 0
        if not along_rows or not x.flags.c_contiguous or x.data.ptr % 16:
            return None
    return shape


def line(step: Any, names: dict[Any, str]) -> str:
    """Returns a step of a formula as a line of C++."""
    text = _text(step, [_number(x) if isinstance(x, np.generic) else names[x] for x in step.inputs])
    return f"const {type_of(step.output)} {names[step.output]} = {text};"


def type_of(symbol: Any) -> str:
    """Returns the C++ type of a symbol's dtype."""
    found = TYPES.get(symbol.dtype.name)
    if found is None:
        raise Unwritable(symbol.dtype.name)
    return found


def _number(x: Any) -> str:
    """Returns a number as a C++ literal of its own type."""
    if x.dtype.name not in TYPES:
        raise Unwritable(repr(x))
    if x.dtype.kind == "f":
        if not np.isfinite(x):
            raise Unwritable(repr(x))
        text = float(x).hex()
        return f"({text}f)" if x.dtype == np.float32 else f"({text})"
    if x.dtype.kind == "b":
        return "true" if x else "false"
    return f"(({TYPES[x.dtype.name]}){int(x)})"


def _text(step: Any, given: list[str]) -> str:
    name = step.function.__name__
    of_floats = all(x.dtype.name in _FLOATS for x in step.inputs if hasattr(x, "dtype"))
    if of_floats and (name in _SAME or name in _RENAMED):
        return f"{_RENAMED.get(name, name)}({', '.join(given)})"
    text = (_FLOAT_TEXTS.get(name) if of_floats else None) or _TEXTS.get(name)
    if text is None:
        raise Unwritable(name)
    return text.format(*given)
