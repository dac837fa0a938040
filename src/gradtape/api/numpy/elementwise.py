"""`tf.experimental.numpy`: functions of one or two arrays, element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from .promotion import cast, floating, own, promoted, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "bitwise_and",
    "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate", "cos", "cosh", "deg2rad", "divide", "equal",
    "exp", "exp2", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "isfinite", "isinf",
    "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "negative", "not_equal", "power", "rad2deg",
    "reciprocal", "remainder", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "true_divide",
]  # fmt: skip


def _documented(name: str, function: Any, arguments: str, dtype: str) -> Any:
    """`function` under NumPy's name, with an example."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""NumPy's `{name}`, on tensors and whatever becomes one.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.{name}({arguments}).dtype
    tf.{dtype}
    """
    return function


def _unary(name: str, compute: str | Callable[[Tensor], Any], kind: str = "floating") -> Any:
    """A function of one array, of floating point numbers, of numbers as they are (`same`), or of truth values."""

    def function(x: Any) -> Tensor:
        value = tensor(x)
        if kind == "floating":
            value = floating(value)
        elif kind == "bool":
            value = cast(value, dtypes.bool)
        return own(compute)(value) if isinstance(compute, str) else compute(value)

    result = "bool" if kind in ("bool", "test") else "float64"
    return _documented(name, function, "[True]" if kind == "bool" else "[1.0]", result)


def _binary(name: str, compute: str | Callable[[Tensor, Tensor], Any], kind: str = "same", result: str = "") -> Any:
    """A function of two arrays in the dtype NumPy finds for both."""

    def function(x1: Any, x2: Any) -> Tensor:
        a, b = promoted(x1, x2)
        if kind == "floating":
            a, b = floating(a), floating(b)
        elif kind == "bool":
            a, b = cast(a, dtypes.bool), cast(b, dtypes.bool)
        return own(compute)(a, b) if isinstance(compute, str) else compute(a, b)

    values = {"bool": "[True], [False]", "bits": "[6], [3]"}.get(kind, "[1.0], 2")
    return _documented(name, function, values, result or {"bool": "bool", "bits": "int64"}.get(kind, "float64"))


def _rounded(name: str) -> Callable[[Tensor], Any]:
    return lambda x: own(name)(x) if x.dtype.is_floating else x


arccos, arccosh, arcsin = _unary("arccos", "acos"), _unary("arccosh", "acosh"), _unary("arcsin", "asin")
arcsinh, arctan, arctanh = _unary("arcsinh", "asinh"), _unary("arctan", "atan"), _unary("arctanh", "atanh")
cos, cosh, sin, sinh = _unary("cos", "cos"), _unary("cosh", "cosh"), _unary("sin", "sin"), _unary("sinh", "sinh")
tan, tanh, exp, expm1 = _unary("tan", "tan"), _unary("tanh", "tanh"), _unary("exp", "exp"), _unary("expm1", "expm1")
log, log1p, sqrt = _unary("log", "log"), _unary("log1p", "log1p"), _unary("sqrt", "sqrt")
log2 = _unary("log2", lambda x: own("log")(x) / math.log(2))
log10 = _unary("log10", lambda x: own("log")(x) / math.log(10))
exp2 = _unary("exp2", lambda x: own("exp")(x * math.log(2)))
cbrt = _unary("cbrt", lambda x: own("sign")(x) * own("pow")(own("abs")(x), 1 / 3))
deg2rad = _unary("deg2rad", lambda x: x * (math.pi / 180))
rad2deg = _unary("rad2deg", lambda x: x * (180 / math.pi))
reciprocal = _unary("reciprocal", "reciprocal", "same")
abs, absolute = _unary("abs", "abs", "same"), _unary("absolute", "abs", "same")
negative, square = _unary("negative", "negative", "same"), _unary("square", "square", "same")
conj, conjugate = _unary("conj", "conj", "same"), _unary("conjugate", "conj", "same")
ceil, floor = _unary("ceil", _rounded("ceil"), "same"), _unary("floor", _rounded("floor"), "same")
isfinite = _unary("isfinite", lambda x: own("is_finite")(floating(x)), "test")
isinf = _unary("isinf", lambda x: own("is_inf")(floating(x)), "test")
isnan = _unary("isnan", lambda x: own("is_nan")(floating(x)), "test")
logical_not = _unary("logical_not", "logical_not", "bool")

add, subtract, multiply = _binary("add", "add"), _binary("subtract", "subtract"), _binary("multiply", "multiply")
divide, true_divide = _binary("divide", "divide", "floating"), _binary("true_divide", "divide", "floating")
floor_divide = _binary("floor_divide", operator.floordiv)
mod, remainder = _binary("mod", "floormod"), _binary("remainder", "floormod")
power, maximum, minimum = _binary("power", "pow"), _binary("maximum", "maximum"), _binary("minimum", "minimum")
arctan2 = _binary("arctan2", "atan2", "floating")
hypot = _binary("hypot", lambda a, b: own("sqrt")(a * a + b * b), "floating")


def _log_of_sum(a: Tensor, b: Tensor) -> Tensor:
    largest = own("maximum")(a, b)
    return largest + own("log1p")(own("exp")(-own("abs")(a - b)))


logaddexp = _binary("logaddexp", _log_of_sum, "floating")
equal, not_equal = _binary("equal", "equal", result="bool"), _binary("not_equal", "not_equal", result="bool")
less, less_equal = _binary("less", "less", result="bool"), _binary("less_equal", "less_equal", result="bool")
greater = _binary("greater", "greater", result="bool")
greater_equal = _binary("greater_equal", "greater_equal", result="bool")
logical_and, logical_or = _binary("logical_and", "logical_and", "bool"), _binary("logical_or", "logical_or", "bool")
logical_xor = _binary("logical_xor", "logical_xor", "bool")
bitwise_and = _binary("bitwise_and", operator.and_, "bits")
bitwise_or = _binary("bitwise_or", operator.or_, "bits")
bitwise_xor = _binary("bitwise_xor", operator.xor, "bits")
