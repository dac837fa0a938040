"""`tensorflow.python.ops.metrics_impl`: TensorFlow 1's metrics, which TensorFlow 2 refuses to run eagerly, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import remove_squeezable_dimensions

_NAMES = """
accuracy auc average_precision_at_k false_negatives false_negatives_at_thresholds false_positives
false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance mean_iou mean_per_class_accuracy
mean_relative_error mean_squared_error mean_tensor percentage_below precision precision_at_k precision_at_thresholds
precision_at_top_k recall recall_at_k recall_at_thresholds recall_at_top_k root_mean_squared_error
sensitivity_at_specificity sparse_average_precision_at_k sparse_precision_at_k specificity_at_sensitivity true_negatives
true_negatives_at_thresholds true_positives true_positives_at_thresholds
"""


def _refusing(name: str) -> Callable[..., Any]:
    def metric(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"tf.metrics.{name} is not supported when eager execution is enabled. Use a class of tf.keras.metrics"
        )

    metric.__name__ = metric.__qualname__ = name
    return metric


globals().update({name: _refusing(name) for name in _NAMES.split()})


def _remove_squeezable_dimensions(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Removes last axes of size 1 from predictions or labels so that their ranks agree."""
    labels, predictions = remove_squeezable_dimensions(labels, predictions)
    return predictions, labels, weights
