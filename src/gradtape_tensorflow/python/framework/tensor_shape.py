"""`tensorflow.python.framework.tensor_shape`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def as_dimension(value: Any) -> Any:
    """Converts a size, a dimension or None to a dimension."""
    dimension = gradtape.compat.v1.Dimension
    return value if isinstance(value, dimension) else dimension(value)


def dimension_at_index(shape: Any, index: int) -> Any:
    """Returns a dimension of a shape; one of unknown size if the rank is unknown."""
    shape = gradtape.TensorShape(shape)
    return as_dimension(None if shape.rank is None else gradtape.compat.dimension_value(shape[index]))


def unknown_shape(rank: int | None = None, **kwargs: Any) -> Any:
    """Returns a shape of unknown sizes."""
    rank = kwargs.pop("ndims", rank)
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return gradtape.TensorShape(None if rank is None else [None] * rank)


def unknown_dimension() -> Any:
    """Returns a dimension of unknown size."""
    return as_dimension(None)


def scalar() -> Any:
    """Returns the shape of a scalar."""
    return gradtape.TensorShape([])


def vector(length: Any) -> Any:
    """Returns the shape of a vector."""
    return gradtape.TensorShape([length])


def matrix(rows: Any, cols: Any) -> Any:
    """Returns the shape of a matrix."""
    return gradtape.TensorShape([rows, cols])
