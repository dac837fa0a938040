"""`tensorflow.python.framework.tensor_util`."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """Returns the value of a tensor if it is known during tracing, else None."""
    return gradtape.get_static_value(tensor, partial)


def constant_value_as_shape(tensor: Any) -> Any:
    """Returns the value of a tensor as a shape, in which -1 and unknown sizes are None."""
    value = constant_value(tensor)
    if value is None:
        return gradtape.TensorShape([None] * tensor.shape[0] if tensor.shape.rank else None)
    return gradtape.TensorShape([None if size == -1 else int(size) for size in np.asarray(value)])


def try_evaluate_constant(tensor: Any) -> Any:
    """Returns the value of a tensor if it is known during tracing, else None."""
    return constant_value(tensor)
