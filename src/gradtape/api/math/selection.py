"""Selection by a condition."""

from __future__ import annotations

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, is_tensor_like
from ...core.type_hints import TensorLike, ValueLike
from ...engine.run.convert import to_tensor, wrong_input
from ...engine.run.namespace import ops
from ...ops.elementwise import logic

NAMESPACES = ("math", "")
__all__ = [
    "where",
]  # fmt: skip


def where(
    condition: TensorLike, x: ValueLike | None = None, y: ValueLike | None = None, name: str | None = None
) -> Tensor:
    """Selects `x` where `condition` is true and `y` elsewhere; without them, returns the indices of true elements.

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
            f"{wrong_input('SelectV2', 0, dtypes.bool, condition.dtype)}. Compare it with something, or use "
            "tf.cast(x, tf.bool)"
        )
    return logic.where.call(condition, x, y)
