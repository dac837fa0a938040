"""String functions on ragged tensors that are not elementwise."""

from __future__ import annotations

from typing import Any

from ..api.strings import strings
from ..core.tensor import Tensor
from .elementwise import on_flat_values
from .reductions import along


def join(inputs: Any, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.join`."""
    return on_flat_values(lambda *flat: strings.join(flat, separator), inputs)


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None) -> Any:
    """`tf.strings.reduce_join`."""

    def whole(x: Any, axis: Any, keepdims: bool) -> Tensor:
        return strings.reduce_join(x, axis, keepdims, separator)

    return along(
        inputs, axis, keepdims, whole, lambda x, ids, count: strings.unsorted_segment_join(x, ids, count, separator)
    )
