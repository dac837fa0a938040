"""`tf.lite.TFLiteConverter`, which gradtape does not have: its errors say what to use instead."""

from __future__ import annotations

from typing import Any

from gradtape.core import errors

NAMESPACES = ("lite",)
__all__ = ["TFLiteConverter"]

INSTEAD = (
    "gradtape does not convert models for LiteRT. Save the model by tf.saved_model.save(model, folder), and convert it "
    "where TensorFlow is installed: tf.lite.TFLiteConverter.from_saved_model(folder).convert()"
)


class TFLiteConverter:
    """Raises an error: convert a saved model where TensorFlow is installed.

    >>> tf.lite.TFLiteConverter.from_saved_model("folder")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.lite"

    def __init__(self, funcs: Any, trackable_obj: Any = None) -> None:
        raise errors.UnimplementedError(INSTEAD)

    @classmethod
    def from_concrete_functions(cls, funcs: Any, trackable_obj: Any = None) -> TFLiteConverter:
        """Raises an error."""
        return cls(funcs, trackable_obj)

    @classmethod
    def from_saved_model(cls, saved_model_dir: Any, signature_keys: Any = None, tags: Any = None) -> TFLiteConverter:
        """Raises an error."""
        return cls(None)

    @classmethod
    def from_keras_model(cls, model: Any) -> TFLiteConverter:
        """Raises an error."""
        return cls(None, model)

    @classmethod
    def experimental_from_jax(cls, serving_funcs: Any, inputs: Any) -> TFLiteConverter:
        """Raises an error."""
        return cls(serving_funcs)

    def convert(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(INSTEAD)
