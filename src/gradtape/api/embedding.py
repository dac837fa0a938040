"""Looking rows of tables up: the gradient of a lookup is sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..engine.convert import to_tensor
from ..engine.op import ops
from ..tensor import Tensor

NAMESPACES = ("nn",)
__all__ = ["embedding_lookup"]


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """The rows of `params` that `ids` names; a list of tables is one table, cut between rows.

    Args:
      max_norm: rows whose norm is larger are scaled down to it.

    >>> import gradtape as tf
    >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0, 1]).numpy()
    array([[3., 4.],
           [1., 2.],
           [3., 4.]], dtype=float32)
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, list | tuple):
        if not params:
            raise ValueError("params should not be an empty list or tuple. Received: params=[]")
        tables = [to_tensor(table) for table in params]
        table = tables[0] if len(tables) == 1 else ops.concat(*tables, axis=0)
    else:
        table = to_tensor(params)
    index = to_tensor(ids)
    _check_range(index, table.dims[0])
    rows = ops.gather_rows(table, index)
    return rows if max_norm is None else _clipped(rows, len(index.dims), max_norm)


def _check_range(index: Tensor, count: int) -> None:
    if type(index) is not Tensor:
        return  # one of a batch, whose values are not known here
    values = np.asarray(index.array)
    wrong = (values < 0) | (values >= count)
    if wrong.any():
        at = [int(i[0]) for i in np.nonzero(np.atleast_1d(wrong))]
        raise errors.InvalidArgumentError(
            f"indices{at if values.ndim else ''} = {np.atleast_1d(values)[tuple(at)]} is not in [0, {count}) "
            "[Op:GatherV2]. An id is the number of a row of params"
        )


def _clipped(rows: Tensor, lead: int, max_norm: Any) -> Tensor:
    """`rows` scaled down to norm `max_norm` where theirs is larger."""
    axes = tuple(range(lead, len(rows.dims)))
    squares = ops.sum(ops.square(rows), axis=axes, keepdims=True)
    positive = squares > 0
    norms = ops.where(positive, ops.sqrt(ops.where(positive, squares, ops.ones_like(squares))), squares)
    return rows * max_norm / ops.maximum(norms, max_norm)
