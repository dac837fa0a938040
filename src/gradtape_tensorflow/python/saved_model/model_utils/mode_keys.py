"""`tensorflow.python.saved_model.model_utils.mode_keys`: the names of a model's modes."""

from __future__ import annotations


class KerasModeKeys:
    """The modes of Keras' models."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """The modes of estimators."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"
