"""Compiles an elementwise formula to one CUDA kernel: each step is a line of C++, found by its NumPy name.

PyTorch's jiterator compiles the kernel, for tensors of all shapes and strides and of one floating-point dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
from torch.cuda import jiterator  # type: ignore[import-not-found,unused-ignore]

from .library import RENAMED

_COMPUTED_IN = {"float32": "float", "float64": "double", "float16": "float", "bfloat16": "float"}
_MOST_INPUTS = 8  # of a kernel of the jiterator

# Functions of floats with the same name in C++, or with PyTorch's.
_FUNCTIONS = set(
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh "
    "arctanh arctan2 floor ceil trunc erf erfc erfinv hypot isnan isinf isfinite fabs copysign".split()
)
_TEXTS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-{0}",
    "positive": "{0}", "square": "{0} * {0}", "conjugate": "{0}", "reciprocal": "1 / {0}", "absolute": "fabs({0})",
    "equal": "{0} == {1}", "not_equal": "{0} != {1}", "less": "{0} < {1}", "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}", "greater_equal": "{0} >= {1}",
    "logical_and": "{0} && {1}", "logical_or": "{0} || {1}", "logical_not": "!{0}", "logical_xor": "!{0} != !{1}",
    "maximum": "({0} >= {1} || {0} != {0}) ? {0} : {1}", "minimum": "({0} <= {1} || {0} != {0}) ? {0} : {1}",
    "where": "{0} ? {1} : {2}", "astype": "{0}", "sign": "{0} != {0} ? {0} : ({0} > 0) - ({0} < 0)",
    "expit": "1 / (1 + exp(-{0}))", "gammaln": "lgamma({0})", "rint": "rint({0})",
}  # fmt: skip


class _Unwritable(Exception):
    """A step without a known C++ equivalent."""


def fuse(formula: Any) -> Callable[..., Any] | None:
    """Compiles a kernel for tensors of the formula's input dtype, or scalars; None if it cannot be written in C++."""
    dtypes = {x.dtype.name for x in (*formula.inputs, formula.result)}
    name = dtypes.pop()
    if dtypes or name not in _COMPUTED_IN or len(formula.inputs) > _MOST_INPUTS:
        return None
    number = _COMPUTED_IN[name]
    try:
        names = {symbol: f"i{n}" for n, symbol in enumerate(formula.inputs)}
        lines = [f"const {number} i{n} = x{n};" for n in range(len(formula.inputs))]
        for n, step in enumerate(formula.steps):
            names[step.output] = f"t{n}"
            lines.append(_line(step, names, number, name))
    except _Unwritable:
        return None
    body = " ".join(lines)
    count = len(formula.inputs)

    @cache
    def kernel(numbers: tuple[int, ...]) -> Callable[..., Any]:
        """The kernel for inputs of which these are numbers, which follow the tensors."""
        order = [n for n in range(count) if n not in numbers] + list(numbers)
        given = ", ".join(f"T x{n}" for n in order)
        text = f"template <typename T> T formula({given}) {{ {body} return {names[formula.result]}; }}"
        return jiterator._create_jit_fn(text, **{f"x{n}": 0.0 for n in numbers})

    of_tensors = kernel(())

    def run(*arrays: Any) -> Any:
        there = [type(x) is torch.Tensor and x.is_cuda for x in arrays]
        if all(there):
            return of_tensors(*arrays)
        numbers = tuple([n for n, is_there in enumerate(there) if not is_there])
        values = {f"x{n}": float(arrays[n]) for n in numbers}
        return kernel(numbers)(*[x for x, is_there in zip(arrays, there, strict=True) if is_there], **values)

    return run


@cache
def compile_formula(parameters: str, text: str, dtype: Any, **numbers: float) -> Callable[..., Any]:
    """Compiles a formula in C++ of tensors of this dtype, followed by numbers with these defaults.

    It is computed in the dtype that the text calls `W`: halves in float.
    """
    wide = "double" if dtype is torch.float64 else "float"
    given = ", ".join(f"T {name}_" for name in parameters.split())
    lines = " ".join(f"const W {name} = {name}_;" for name in parameters.split())
    code = f"template <typename T> T formula({given}) {{ typedef {wide} W; {lines} return (T)({text}); }}"
    return jiterator._create_jit_fn(code, **{f"{name}_": value for name, value in numbers.items()})


def _line(step: Any, names: dict[Any, str], number: str, dtype: str) -> str:
    """Returns a step of a formula as a line of C++."""
    kind = {dtype: number, "bool": "bool"}.get(step.output.dtype.name)
    if kind is None:
        raise _Unwritable(step.output.dtype.name)
    given = [_literal(x, number, dtype) if isinstance(x, np.generic) else names[x] for x in step.inputs]
    return f"const {kind} {names[step.output]} = {_text(step.function.__name__, given)};"


def _literal(x: Any, number: str, dtype: str) -> str:
    if x.dtype.kind == "b":
        return "true" if x else "false"
    if x.dtype.name != dtype or not np.isfinite(x):
        raise _Unwritable(repr(x))
    return f"(({number}){float(x).hex()})"


def _text(name: str, given: list[str]) -> str:
    if name in _FUNCTIONS:
        return f"{RENAMED.get(name, name)}({', '.join(given)})"
    text = _TEXTS.get(name)
    if text is None:
        raise _Unwritable(name)
    return text.format(*given)
