"""Comparisons, logic and selection."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...ops.elementwise import logic

NAMESPACES = ("math", "")
__all__ = [
    "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "logical_xor", "not_equal", "where",
]  # fmt: skip


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x == y` elementwise.

    >>> import gradtape as tf
    >>> tf.equal([1, 2], [1, 3]).numpy()
    array([ True, False])
    """
    return logic.equal.call(x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x != y` elementwise.

    >>> import gradtape as tf
    >>> tf.not_equal([1, 2], [1, 3]).numpy()
    array([False,  True])
    """
    return logic.not_equal.call(x, y)


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x < y` elementwise.

    >>> import gradtape as tf
    >>> tf.less([1, 2], 2).numpy()
    array([ True, False])
    """
    return logic.less.call(x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x <= y` elementwise.

    >>> import gradtape as tf
    >>> tf.less_equal([1, 2], 1).numpy()
    array([ True, False])
    """
    return logic.less_equal.call(x, y)


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x > y` elementwise.

    >>> import gradtape as tf
    >>> tf.greater([1, 2], 1).numpy()
    array([False,  True])
    """
    return logic.greater.call(x, y)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Returns `x >= y` elementwise.

    >>> import gradtape as tf
    >>> tf.greater_equal([1, 2], 2).numpy()
    array([False,  True])
    """
    return logic.greater_equal.call(x, y)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Returns elementwise whether `x` is neither infinite nor NaN.

    >>> import gradtape as tf
    >>> tf.math.is_finite([1.0, float("nan")]).numpy()
    array([ True, False])
    """
    return logic.is_finite.call(x)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Returns elementwise whether `x` is infinite.

    >>> import gradtape as tf
    >>> tf.math.is_inf([1.0, float("inf")]).numpy()
    array([False,  True])
    """
    return logic.is_inf.call(x)


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Returns elementwise whether `x` is NaN.

    >>> import gradtape as tf
    >>> tf.math.is_nan([1.0, float("nan")]).numpy()
    array([False,  True])
    """
    return logic.is_nan.call(x)


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Logical AND.

    >>> import gradtape as tf
    >>> tf.logical_and([True, False], True).numpy()
    array([ True, False])
    """
    return logic.logical_and.call(*_truths(x, y))


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Logical OR.

    >>> import gradtape as tf
    >>> tf.logical_or([True, False], False).numpy()
    array([ True, False])
    """
    return logic.logical_or.call(*_truths(x, y))


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Logical NOT.

    >>> import gradtape as tf
    >>> tf.logical_not([True, False]).numpy()
    array([False,  True])
    """
    return logic.logical_not.call(*_truths(x))


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Logical exclusive OR.

    >>> import gradtape as tf
    >>> tf.math.logical_xor([True, False], True).numpy()
    array([False,  True])
    """
    return logic.logical_xor.call(*_truths(x, y))


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Selects `x` where `condition` is true and `y` elsewhere; without them, returns the indices of true elements.

    >>> import gradtape as tf
    >>> tf.where([True, False], [1.0, 2.0], 0.0).numpy()
    array([1., 0.], dtype=float32)
    """
    if x is None and y is None:
        condition = to_tensor(condition)
        if not condition.dims or condition.dtype is dtypes.string:
            raise InvalidArgumentError(
                f"where(condition) takes numbers or bools in at least 1 dimension, got {condition!r} [Op:Where]"
            )
        return ops.nonzero(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    known = is_tensor_like(condition)
    condition = to_tensor(condition, None if known else dtypes.bool)
    if not condition.dtype.is_bool:
        raise InvalidArgumentError(
            "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but is a "
            f"{condition.dtype.kernel_name()} tensor [Op:SelectV2]. Compare it with something, or use tf.cast"
        )
    return logic.where.call(condition, x, y)


def _truths(*values: Any) -> list[Any]:
    """Python values must be bools; numbers in NumPy arrays are converted."""
    return [x if is_tensor_like(x) else to_tensor(x, dtype=dtypes.bool) for x in values]
