"""Powers, exponentials, logarithms, trigonometric, hyperbolic and sigmoid functions."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.elementwise import arithmetic
from ...ops.elementwise import transcendental as functions

NAMESPACES = ("math", "")
__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "exp", "expm1", "log", "log1p",
    "log_sigmoid", "pow", "rsqrt", "sigmoid", "sin", "sinh", "softplus", "softsign", "sqrt", "square", "tan",
    "tanh", "xdivy", "xlog1py", "xlogy",
]  # fmt: skip


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x ** y` elementwise.

    >>> import gradtape as tf
    >>> tf.pow([2.0, 3.0], [3.0, 2.0]).numpy()
    array([8., 9.], dtype=float32)
    """
    return arithmetic.power(x, y)


def square(x: Any, name: str | None = None) -> Tensor:
    """`x * x`.

    >>> import gradtape as tf
    >>> tf.square([2.0, -3.0]).numpy()
    array([4., 9.], dtype=float32)
    """
    return arithmetic.square.call(x)


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root.

    >>> import gradtape as tf
    >>> tf.sqrt([4.0, 9.0]).numpy()
    array([2., 3.], dtype=float32)
    """
    return arithmetic.sqrt.call(x)


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """`1 / sqrt(x)`.

    >>> import gradtape as tf
    >>> tf.math.rsqrt([4.0, 16.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
    return arithmetic.rsqrt.call(x)


def exp(x: Any, name: str | None = None) -> Tensor:
    """The exponential function.

    >>> import gradtape as tf
    >>> tf.exp([0.0, 1.0]).numpy()
    array([1.      , 2.718282], dtype=float32)
    """
    return functions.exp.call(x)


def expm1(x: Any, name: str | None = None) -> Tensor:
    """`exp(x) - 1`, accurate for small `x`.

    >>> import gradtape as tf
    >>> tf.math.expm1([0.0, 1e-6]).numpy()
    array([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """
    return functions.expm1.call(x)


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm.

    >>> import gradtape as tf
    >>> tf.math.log([1.0, 2.0]).numpy()
    array([0.       , 0.6931472], dtype=float32)
    """
    return functions.log.call(x)


def log1p(x: Any, name: str | None = None) -> Tensor:
    """`log(1 + x)`, accurate for small `x`.

    >>> import gradtape as tf
    >>> tf.math.log1p([0.0, 1e-6]).numpy()
    array([0.000000e+00, 9.999995e-07], dtype=float32)
    """
    return functions.log1p.call(x)


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine.

    >>> import gradtape as tf
    >>> tf.sin([0.0, 1.0]).numpy()
    array([0.      , 0.841471], dtype=float32)
    """
    return functions.sin.call(x)


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine.

    >>> import gradtape as tf
    >>> tf.cos([0.0, 1.0]).numpy()
    array([1.       , 0.5403023], dtype=float32)
    """
    return functions.cos.call(x)


def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent.

    >>> import gradtape as tf
    >>> tf.tan([0.0, 1.0]).numpy()
    array([0.       , 1.5574077], dtype=float32)
    """
    return functions.tan.call(x)


def asin(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the sine.

    >>> import gradtape as tf
    >>> tf.asin([0.0, 0.5]).numpy()
    array([0.       , 0.5235988], dtype=float32)
    """
    return functions.asin.call(x)


def acos(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the cosine.

    >>> import gradtape as tf
    >>> tf.acos([1.0, 0.5]).numpy()
    array([0.       , 1.0471976], dtype=float32)
    """
    return functions.acos.call(x)


def atan(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the tangent.

    >>> import gradtape as tf
    >>> tf.atan([0.0, 1.0]).numpy()
    array([0.       , 0.7853982], dtype=float32)
    """
    return functions.atan.call(x)


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point `(x, y)`, between -π and π.

    >>> import gradtape as tf
    >>> tf.atan2([1.0, -1.0], [1.0, 0.0]).numpy()
    array([ 0.7853981, -1.5707964], dtype=float32)
    """
    return functions.atan2.call(y, x)


def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine.

    >>> import gradtape as tf
    >>> tf.sinh([0.0, 1.0]).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
    return functions.sinh.call(x)


def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine.

    >>> import gradtape as tf
    >>> tf.cosh([0.0, 1.0]).numpy()
    array([1.       , 1.5430807], dtype=float32)
    """
    return functions.cosh.call(x)


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent.

    >>> import gradtape as tf
    >>> tf.tanh([0.0, 1.0]).numpy()
    array([0.       , 0.7615942], dtype=float32)
    """
    return functions.tanh.call(x)


def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic sine.

    >>> import gradtape as tf
    >>> tf.asinh([0.0, 1.0]).numpy()
    array([0.       , 0.8813736], dtype=float32)
    """
    return functions.asinh.call(x)


def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic cosine.

    >>> import gradtape as tf
    >>> tf.acosh([1.0, 2.0]).numpy()
    array([0.      , 1.316958], dtype=float32)
    """
    return functions.acosh.call(x)


def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic tangent.

    >>> import gradtape as tf
    >>> tf.atanh([0.0, 0.5]).numpy()
    array([0.        , 0.54930615], dtype=float32)
    """
    return functions.atanh.call(x)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`, without overflow for any `x`.

    >>> import gradtape as tf
    >>> tf.sigmoid([0.0, 2.0]).numpy()
    array([0.5     , 0.880797], dtype=float32)
    """
    return functions.sigmoid.call(x)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """`log(sigmoid(x))`, without overflow for any `x`.

    >>> import gradtape as tf
    >>> tf.math.log_sigmoid([0.0, -200.0]).numpy()
    array([  -0.6931472, -200.       ], dtype=float32)
    """
    return functions.log_sigmoid.call(x)


def softplus(features: Any, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))`, without overflow for any `x`.

    >>> import gradtape as tf
    >>> tf.math.softplus([0.0, 200.0]).numpy()
    array([  0.6931472, 200.       ], dtype=float32)
    """
    return functions.softplus.call(features)


def softsign(features: Any, name: str | None = None) -> Tensor:
    """`x / (1 + abs(x))`.

    >>> import gradtape as tf
    >>> tf.math.softsign([1.0, -3.0]).numpy()
    array([ 0.5 , -0.75], dtype=float32)
    """
    return functions.softsign.call(features)


def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * log(y)`, and 0 where `x` is 0.

    >>> import gradtape as tf
    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.5]).numpy()
    array([0.       , 0.8109302], dtype=float32)
    """
    return functions.xlogy.call(x, y)


def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * log1p(y)`, and 0 where `x` is 0.

    >>> import gradtape as tf
    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.5]).numpy()
    array([0.        , 0.81093025], dtype=float32)
    """
    return functions.xlog1py.call(x, y)


def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`, and 0 where `x` is 0.

    >>> import gradtape as tf
    >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    return functions.xdivy.call(x, y)
