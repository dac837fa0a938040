"""`tensorflow.python.ops.ragged.ragged_util`: helpers for row splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtape
from gradtape import repeat

__all__ = ["assert_splits_match", "convert_to_int_tensor", "lengths_to_splits", "repeat", "repeat_ranges"]


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = gradtape.int32) -> gradtape.Tensor:
    """Returns the tensor in an integer dtype; anything but integers raises a TypeError."""
    tensor = gradtape.convert_to_tensor(tensor, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return gradtape.cast(tensor, dtype)


def lengths_to_splits(lengths: Any) -> gradtape.Tensor:
    """Returns the row splits of rows with these lengths."""
    return gradtape.concat([[0], gradtape.cumsum(lengths)], axis=-1)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> gradtape.Tensor:
    """Returns the rows of `params` between successive splits, each range `repeats` times."""
    splits = gradtape.convert_to_tensor(splits)
    starts, limits = repeat(splits[:-1], repeats, axis=0), repeat(splits[1:], repeats, axis=0)
    return gradtape.gather(params, gradtape.ragged.range(starts, limits).flat_values)


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Checks that all lists of nested splits are equal; returns no assertions, since the check is done."""
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError("Inputs must have identical ragged splits")
    for splits in others:
        for one, other in zip(first, splits, strict=True):
            gradtape.debugging.assert_equal(one, other, message="Inputs must have identical ragged splits")
    return []
