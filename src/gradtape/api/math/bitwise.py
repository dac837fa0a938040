"""Bitwise operations on integers."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.elementwise import bits

NAMESPACES = ("bitwise",)
__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]  # fmt: skip


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bitwise AND.

    >>> import gradtape as tf
    >>> tf.bitwise.bitwise_and([12, 10], 6).numpy()
    array([4, 2], dtype=int32)
    """
    return bits.bitwise_and.call(x, y)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bitwise OR.

    >>> import gradtape as tf
    >>> tf.bitwise.bitwise_or([12, 10], 6).numpy()
    array([14, 14], dtype=int32)
    """
    return bits.bitwise_or.call(x, y)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Bitwise exclusive OR.

    >>> import gradtape as tf
    >>> tf.bitwise.bitwise_xor([12, 10], 6).numpy()
    array([10, 12], dtype=int32)
    """
    return bits.bitwise_xor.call(x, y)


def invert(x: Any, name: str | None = None) -> Tensor:
    """Bitwise complement.

    >>> import gradtape as tf
    >>> tf.bitwise.invert([0, 5]).numpy()
    array([-1, -6], dtype=int32)
    """
    return bits.invert.call(x)


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Shifts the bits of `x` left by `y`, at most the width of the dtype minus 1.

    >>> import gradtape as tf
    >>> tf.bitwise.left_shift([1, 3], 2).numpy()
    array([ 4, 12], dtype=int32)
    """
    return bits.left_shift.call(x, y)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Shifts the bits of `x` right by `y`, at most the width of the dtype minus 1; the sign is preserved.

    >>> import gradtape as tf
    >>> tf.bitwise.right_shift([8, -8], 2).numpy()
    array([ 2, -2], dtype=int32)
    """
    return bits.right_shift.call(x, y)
