"""Functions of strings on ragged tensors that do more than go element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...state.ragged import indices
from ...state.ragged.elementwise import on_flat_values
from ..text import strings
from .reductions import along


def join(inputs: Any, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.join`."""
    return on_flat_values(lambda *flat: strings.join(flat, separator), inputs)


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.reduce_join`."""

    def whole(x: Any, axis: Any, keepdims: bool) -> Tensor:
        return strings.reduce_join(x, axis, keepdims, separator)

    return along(inputs, axis, keepdims, whole, lambda x, ids, count: joined_segments(x, ids, count, separator))


def joined_segments(x: Tensor, ids: Any, count: Any, separator: str) -> Tensor:
    """The strings with the same number joined, in their order; an empty string for a number that none has."""
    size, between = indices.looked_at(count), separator.encode()

    def joined(array: Any, numbers: Any) -> Any:
        result = np.full((size, *array.shape[1:]), b"", dtype=object)
        for place in np.ndindex(array.shape[1:]):
            rows: list[list[bytes]] = [[] for _ in range(size)]
            for number, value in zip(numbers.tolist(), array[(slice(None), *place)], strict=True):
                if number >= 0:
                    rows[number].append(value)
            result[(slice(None), *place)] = [between.join(row) for row in rows]
        return result

    return ops.map_text(x, to_tensor(ids, None, dtypes.int64), function=joined)
