"""`tensorflow.python.ops.ragged.ragged_util`: helpers for row splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtape
from gradtape import repeat

__all__ = ["assert_splits_match", "repeat"]


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Checks that all lists of nested splits are equal; returns no assertions, since the check is done."""
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError("Inputs must have identical ragged splits")
    for splits in others:
        for one, other in zip(first, splits, strict=True):
            gradtape.debugging.assert_equal(one, other, message="Inputs must have identical ragged splits")
    return []
