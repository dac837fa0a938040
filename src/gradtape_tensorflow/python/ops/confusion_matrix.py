"""`tensorflow.python.ops.confusion_matrix`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Any, Any]:
    """Removes the last axis of one of two tensors, if it has size 1 and the ranks differ by one more than expected."""
    labels, predictions = gradtape.convert_to_tensor(labels), gradtape.convert_to_tensor(predictions)
    ranks = labels.shape.rank, predictions.shape.rank
    if None not in ranks:
        difference = ranks[1] - ranks[0] - expected_rank_diff
        if difference == 1 and predictions.shape[-1] in (1, None):
            predictions = gradtape.squeeze(predictions, [-1])
        elif difference == -1 and labels.shape[-1] in (1, None):
            labels = gradtape.squeeze(labels, [-1])
    return labels, predictions
