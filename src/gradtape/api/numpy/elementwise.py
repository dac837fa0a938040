"""`tf.experimental.numpy`: elementwise functions of one or two arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ..namespace import resolve
from .promotion import broadcast, cast, floating, own, promoted, tensor

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "abs", "absolute", "add", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "around", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate", "cos",
    "cosh", "deg2rad", "divide", "divmod", "equal", "exp", "exp2", "expm1", "fabs", "fix", "float_power", "floor",
    "floor_divide", "gcd", "greater", "greater_equal", "heaviside", "hypot", "imag", "iscomplex", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "lcm", "less", "less_equal", "log", "log1p", "log2", "log10",
    "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod",
    "multiply", "negative", "nextafter", "not_equal", "positive", "power", "rad2deg", "real", "reciprocal",
    "remainder", "round", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
    "true_divide",
]  # fmt: skip


def _documented(name: str, function: Any, arguments: str, dtype: str) -> Any:
    """Returns `function` under NumPy's name, with an example."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""NumPy's `{name}`, on tensors and whatever becomes one.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.{name}({arguments}).dtype
    tf.{dtype}
    """
    return function


def _unary(name: str, compute: str | Callable[[Tensor], Any], kind: str = "floating") -> Any:
    """Creates a function of one array: of floats, of any numbers (`same`), or of bools."""

    def function(x: Any) -> Tensor:
        value = tensor(x)
        if kind == "floating":
            value = floating(value)
        elif kind == "bool":
            value = cast(value, dtypes.bool)
        return own(compute)(value) if isinstance(compute, str) else compute(value)

    result = {"bool": "bool", "test": "bool", "bits": "int64"}.get(kind, "float64")
    return _documented(name, function, {"bool": "[True]", "bits": "[1]"}.get(kind, "[1.0]"), result)


def _binary(name: str, compute: str | Callable[[Tensor, Tensor], Any], kind: str = "same", result: str = "") -> Any:
    """Creates a function of two arrays in the dtype that NumPy promotes them to."""

    def function(x1: Any, x2: Any) -> Tensor:
        a, b = promoted(x1, x2)
        if kind == "floating":
            a, b = floating(a), floating(b)
        elif kind == "bool":
            a, b = cast(a, dtypes.bool), cast(b, dtypes.bool)
        return own(compute)(a, b) if isinstance(compute, str) else compute(a, b)

    values = {"bool": "[True], [False]", "bits": "[6], [3]"}.get(kind, "[1.0], 2")
    return _documented(name, function, values, result or {"bool": "bool", "bits": "int64"}.get(kind, "float64"))


def _one_above(a: Tensor, b: Tensor) -> Tensor:
    return resolve("where")(own("greater")(a, 0), cast(tensor(1), b.dtype), b)


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
fabs, positive = _unary("fabs", "abs", "same"), _unary("positive", lambda x: x, "same")
conj, conjugate = _unary("conj", "conj", "same"), _unary("conjugate", "conj", "same")
ceil, floor = _unary("ceil", _rounded("ceil"), "same"), _unary("floor", _rounded("floor"), "same")
isfinite = _unary("isfinite", lambda x: own("is_finite")(floating(x)), "test")
isinf = _unary("isinf", lambda x: own("is_inf")(floating(x)), "test")
isnan = _unary("isnan", lambda x: own("is_nan")(floating(x)), "test")
isneginf = _unary("isneginf", lambda x: own("equal")(floating(x), -math.inf), "test")
isposinf = _unary("isposinf", lambda x: own("equal")(floating(x), math.inf), "test")
iscomplex = _unary("iscomplex", lambda x: own("not_equal")(own("imag")(x), 0), "test")
isreal = _unary("isreal", lambda x: own("equal")(own("imag")(x), 0), "test")
signbit = _unary("signbit", lambda x: own("less")(cast(x, dtypes.int8) if x.dtype.is_bool else x, 0), "test")
fix = _unary("fix", lambda x: resolve("where")(own("less")(x, 0), own("ceil")(x), own("floor")(x)))
bitwise_not = _unary("bitwise_not", lambda x: operator.invert(x), "bits")  # type: ignore[arg-type]
logical_not = _unary("logical_not", "logical_not", "bool")

add, subtract, multiply = _binary("add", "add"), _binary("subtract", "subtract"), _binary("multiply", "multiply")
divide, true_divide = _binary("divide", "divide", "floating"), _binary("true_divide", "divide", "floating")
floor_divide = _binary("floor_divide", operator.floordiv)
mod, remainder = _binary("mod", "floormod"), _binary("remainder", "floormod")
power, maximum, minimum = _binary("power", "pow"), _binary("maximum", "maximum"), _binary("minimum", "minimum")
arctan2 = _binary("arctan2", "atan2", "floating")
float_power, nextafter = _binary("float_power", "pow"), _binary("nextafter", "nextafter")
heaviside = _binary(
    "heaviside",
    lambda a, b: floating(resolve("where")(own("less")(a, 0), cast(tensor(0), b.dtype), _one_above(a, b))),
)
hypot = _binary("hypot", lambda a, b: own("sqrt")(a * a + b * b), "floating")


def _log_of_sum(a: Tensor, b: Tensor) -> Tensor:
    return _log_of_powers(a, b, 1.0)


def _log_of_powers(a: Tensor, b: Tensor, scale: float) -> Tensor:
    """The logarithm of a sum of powers of one base, whose own logarithm is `scale`."""
    apart = a - b
    near = own("maximum")(a, b) + own("log1p")(own("exp")(-own("abs")(apart) * scale)) / scale
    return resolve("where")(own("is_nan")(apart), a + b, near)  # NaN, or infinities of one sign


logaddexp = _binary("logaddexp", _log_of_sum, "floating")
logaddexp2 = _binary("logaddexp2", lambda a, b: _log_of_powers(a, b, math.log(2)), "floating")
equal, not_equal = _binary("equal", "equal", result="bool"), _binary("not_equal", "not_equal", result="bool")
less, less_equal = _binary("less", "less", result="bool"), _binary("less_equal", "less_equal", result="bool")
greater = _binary("greater", "greater", result="bool")
greater_equal = _binary("greater_equal", "greater_equal", result="bool")
logical_and, logical_or = _binary("logical_and", "logical_and", "bool"), _binary("logical_or", "logical_or", "bool")
logical_xor = _binary("logical_xor", "logical_xor", "bool")
bitwise_and = _binary("bitwise_and", operator.and_, "bits")
bitwise_or = _binary("bitwise_or", operator.or_, "bits")
bitwise_xor = _binary("bitwise_xor", operator.xor, "bits")


def _divisor(a: Tensor, b: Tensor) -> Tensor:
    """Euclid's algorithm, elementwise; stops at zero."""
    if not (a.dtype.is_integer and b.dtype.is_integer):
        raise ValueError(f"Arguments to gcd must be integers, got {a.dtype.name} and {b.dtype.name}.")
    a, b = broadcast(own("abs")(a), own("abs")(b))

    def step(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        zero = own("equal")(b, 0)
        rest = own("floormod")(a, resolve("where")(zero, resolve("ones_like")(b), b))
        return resolve("where")(zero, a, b), resolve("where")(zero, resolve("zeros_like")(b), rest)

    return resolve("while_loop")(lambda a, b: own("reduce_any")(own("not_equal")(b, 0)), step, (a, b))[0]


def _multiple(a: Tensor, b: Tensor) -> Tensor:
    divisor = own("maximum")(_divisor(a, b), 1)
    return own("abs")(a) * (own("abs")(b) // divisor)


gcd, lcm = _binary("gcd", _divisor, "bits"), _binary("lcm", _multiple, "bits")


def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """Returns the quotient rounded down, and the remainder.

    >>> import gradtape as tf
    >>> [int(x) for x in tf.experimental.numpy.divmod(-7, 3)]
    [-3, 2]
    """
    return floor_divide(x1, x2), mod(x1, x2)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Rounds to `decimals` decimal places, and half to even.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.around([1.25, 2.5], 1).numpy().tolist()
    [1.2, 2.5]
    """
    x = tensor(a)
    factor = 10.0**decimals
    return cast(own("round")(floating(x) * factor) / factor, x.dtype)


def round(a: Any, decimals: int = 0) -> Tensor:
    """Alias of `around`.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.round([1.5, 2.5]).numpy().tolist()
    [2.0, 2.0]
    """
    return around(a, decimals)


def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Tensor:
    """Returns -1, 0 or 1; for a complex number, the number of modulus 1 in its direction.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.sign([-2, 0]).numpy().tolist()
    [-1, 0]
    """
    given = [name for name, value in {"out": out, "where": where, **kwargs}.items() if value is not None]
    if given:
        raise ValueError(f"sign takes x alone, got {', '.join(given)}: tensors are not written into")
    return own("sign")(tensor(x))


def real(val: Any) -> Tensor:
    """Returns the real part.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.real(1 + 2j))
    1.0
    """
    return own("real")(tensor(val))


def imag(val: Any) -> Tensor:
    """Returns the imaginary part: zero if the dtype is not complex.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.imag(1 + 2j))
    2.0
    """
    return own("imag")(tensor(val))


def angle(z: Any, deg: bool = False) -> Tensor:
    """Returns the argument of a complex number: 0 or pi for a real one.

    >>> import gradtape as tf
    >>> float(tf.experimental.numpy.angle(1j, deg=True))
    90.0
    """
    angles = own("angle")(floating(tensor(z)))
    return angles * (180 / math.pi) if deg else angles


def sinc(x: Any) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.sinc([0.0, 0.5]).numpy().tolist()
    [1.0, 0.6366197723675814]
    """
    turned = floating(tensor(x)) * math.pi
    zero = own("equal")(turned, 0)
    safe = resolve("where")(zero, resolve("ones_like")(turned), turned)
    return resolve("where")(zero, resolve("ones_like")(turned), own("sin")(safe) / safe)
