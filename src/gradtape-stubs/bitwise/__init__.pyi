# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Bitwise AND: `z = x & y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.bitwise_and([12, 10], 6).numpy()
    array([4, 2], dtype=int32)
    """
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Bitwise OR: `z = x | y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.bitwise_or([12, 10], 6).numpy()
    array([14, 14], dtype=int32)
    """
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Bitwise exclusive OR: `z = x ^ y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.bitwise_xor([12, 10], 6).numpy()
    array([10, 12], dtype=int32)
    """
def invert(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Bitwise complement: `y = ~x`.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; the result has that of `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.invert([0, 5]).numpy()
    array([-1, -6], dtype=int32)
    """
def left_shift(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Shifts the bits of `x` left by `y`, at most the width of the dtype minus 1: `z = x << y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.left_shift([1, 3], 2).numpy()
    array([ 4, 12], dtype=int32)
    """
def right_shift(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Shifts the bits of `x` right by `y`, at most the width of the dtype minus 1: `z = x >> y`; the sign is preserved.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.bitwise.right_shift([8, -8], 2).numpy()
    array([ 2, -2], dtype=int32)
    """
