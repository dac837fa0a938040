"""Validation of arguments of linear algebra: square matrices, matching shapes and dtypes."""

from __future__ import annotations

from typing import Any

from ...core import dtypes, errors
from ...core.tensor import Tensor, is_tensor_like
from ...engine.registry.op import op_named
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor


def matrices(value: Any, op: str) -> Tensor:
    """Converts `value` to a tensor of at least two axes, for the op with that name."""
    x = to_tensor(value)
    if len(x.dims) < 2:
        raise errors.InvalidArgumentError(
            f"Input tensor 0 must have rank >= 2, got {len(x.dims)} [Op:{_node_name(op)}]: the shape is {x.shape}, the "
            "last two axes are the matrix's"
        )
    if x.dtype is dtypes.float16 and op != "inv":
        raise errors.NotFoundError(
            f"{_node_name(op)} is not available for float16. Use tf.cast(x, tf.float32) and cast the result back"
        )
    return x


def square_matrices(value: Any, op: str) -> Tensor:
    """Converts `value` to a tensor of square matrices."""
    x = matrices(value, op)
    if x.dims[-1] != x.dims[-2]:
        raise errors.InvalidArgumentError(
            f"Input matrix must be square. [Op:{_node_name(op)}] The shape is {x.shape}, its last two axes differ"
        )
    return x


def of_one_dtype(first: Any, second: Any, op: str) -> tuple[Tensor, Tensor]:
    """Converts two values to tensors of the same dtype; a non-tensor takes the dtype of the other."""
    known = first if is_tensor_like(first) else second
    hint = getattr(known, "dtype", None) if is_tensor_like(known) else None
    a, b = to_tensor(first, hint=hint), to_tensor(second, hint=hint)
    if hint is None and a.dtype is not b.dtype:
        b = to_tensor(second, hint=a.dtype)
    if a.dtype is not b.dtype:
        raise dispatch.mixed_dtypes(op_named(op), 1, a.dtype, b.dtype)
    return a, b


def _node_name(op: str) -> str:
    return dispatch.node_name(op_named(op))
