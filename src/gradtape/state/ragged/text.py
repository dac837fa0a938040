"""The text representation of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...engine.run.namespace import ops
from .tensor import RaggedTensor


def written(rt: RaggedTensor, count: int) -> Tensor:
    """Format all elements with brackets, as TensorFlow prints them: a string tensor."""

    def text(flat: Sequence[object], *nested: Any) -> Any:
        rows: Any = [_nested(value, count) for value in flat]
        for splits in reversed(nested):
            ends = splits.tolist()
            rows = [_joined(rows[i:j], count) for i, j in pairwise(ends)]
        return np.array(_joined(rows, count).encode(), dtype=object)

    return ops.map_text(rt.flat_values, *rt.nested_row_splits, function=text)


def _nested(value: object, count: int) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return _joined([_nested(part, count) for part in value], count)
    return _element(value)


def _joined(parts: list[str], count: int) -> str:
    if 0 < count and len(parts) > 2 * count:
        parts = [*parts[:count], "...", *parts[-count:]]
    return f"[{', '.join(parts)}]"


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        escaped = value.decode(errors="replace").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return f"({value.real:f},{value.imag:f})"
    return f"{float(value):f}" if isinstance(value, np.floating) else str(int(value))
