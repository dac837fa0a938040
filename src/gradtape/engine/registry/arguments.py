"""Converts an op's arguments to tensors of matching dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import DType
from ...core.tensor import Tensor, is_tensor_like
from ..run import dispatch
from ..run.convert import to_tensor
from .op import Op


def match_dtypes(op: Op, values: Sequence[Any], matching: tuple[int, ...]) -> list[Tensor]:
    """Converts the values to tensors; those at `matching` agree in dtype, and numbers take the first tensor's."""
    first = values[0]
    if isinstance(first, Tensor) and first.dtype.kind & op.kinds and len(matching) == len(values):
        if all([isinstance(x, Tensor) and x.dtype is first.dtype for x in values]):
            return list(values)
    hint: DType | None = next((values[i].dtype for i in matching if is_tensor_like(values[i])), None)
    inputs: list[Tensor] = []
    for i, value in enumerate(values):
        if i not in matching:
            inputs.append(to_tensor(value))
            continue
        x = to_tensor(value, None if is_tensor_like(value) else hint)
        if hint is None:
            hint = x.dtype
        elif x.dtype is not hint:
            raise dispatch.mixed_dtypes(op, i, hint, x.dtype)
        if not x.dtype.kind & op.kinds:
            raise dispatch.wrong_kind(op, x.dtype)
        inputs.append(x)
    return inputs
