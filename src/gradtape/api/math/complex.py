"""Functions of complex values."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...ops.elementwise import complex as parts
from ..arrays.creation import zeros_like

NAMESPACES = ("math", "dtypes", "")
__all__ = ["angle", "complex", "conj", "imag", "real"]


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Creates complex numbers from real and imaginary parts, both float32 or both float64.

    >>> tf.complex([1.0, 2.0], [3.0, 4.0]).numpy()
    array([1.+3.j, 2.+4.j], dtype=complex64)
    """
    real = to_tensor(real)
    imag = to_tensor(imag, hint=real.dtype)
    if real.dtype is not imag.dtype or real.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. They must be "
            "consistent, and one of [tf.float32, tf.float64]"
        )
    return parts.complex_.call(real, imag)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the complex conjugate; real values are unchanged.

    >>> tf.math.conj([1 + 2j]).numpy()
    array([1.-2.j])
    """
    x = _numeric(x)
    return parts.conj.call(x) if x.dtype.is_complex else x


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the real part; real values are unchanged.

    >>> tf.math.real([1 + 2j]).numpy()
    array([1.])
    """
    input = _numeric(input)
    return parts.real.call(input) if input.dtype.is_complex else input


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the imaginary part, 0 for real values.

    >>> tf.math.imag([1 + 2j]).numpy()
    array([2.])
    """
    input = to_tensor(input)
    return parts.imag.call(input) if input.dtype.is_complex else zeros_like(input)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the argument of a complex number, between -π and π; 0 or π for a real one.

    >>> tf.math.angle([1j, -1j]).numpy()
    array([ 1.57079633, -1.57079633])
    """
    input = to_tensor(input)
    if input.dtype.is_complex:
        return parts.angle.call(input)
    return ops.where(input < 0, to_tensor(math.pi, dtype=input.dtype), ops.zeros_like(input))


def _numeric(x: Any) -> Tensor:
    x = to_tensor(x)
    if not x.dtype.is_numeric:
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")
    return x
