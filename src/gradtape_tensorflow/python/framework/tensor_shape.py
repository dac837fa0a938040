"""`tensorflow.python.framework.tensor_shape`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def unknown_shape(rank: int | None = None, **kwargs: Any) -> Any:
    """Returns a shape of unknown sizes."""
    rank = kwargs.pop("ndims", rank)
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return gradtape.TensorShape(None if rank is None else [None] * rank)
