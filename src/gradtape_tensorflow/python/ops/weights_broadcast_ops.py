"""`tensorflow.python.ops.weights_broadcast_ops`: weights of the shape of values."""

from __future__ import annotations

from typing import Any

import gradtape


def broadcast_weights(weights: Any, values: Any) -> Any:
    """Broadcasts weights to the shape of values, if each of their sizes is 1 or the same."""
    weights, values = gradtape.convert_to_tensor(weights), gradtape.convert_to_tensor(values)
    if weights.shape.rank == 0 or (weights.shape.is_fully_defined() and weights.shape == values.shape):
        return weights if weights.shape.rank else gradtape.multiply(weights, gradtape.ones_like(values, weights.dtype))
    if None not in (weights.shape.rank, values.shape.rank) and weights.shape.rank != values.shape.rank:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.shape.rank}. "
            f"weights.rank={weights.shape.rank}. values.shape={values.shape}. weights.shape={weights.shape}."
        )
    for given, wanted in zip(weights.shape, values.shape, strict=True):
        if None not in (given, wanted) and given not in (1, wanted):
            raise ValueError(
                f"weights can not be broadcast to values. Mismatch at dim. values.shape={values.shape}. "
                f"weights.shape={weights.shape}."
            )
    return gradtape.multiply(weights, gradtape.ones_like(values, weights.dtype))
