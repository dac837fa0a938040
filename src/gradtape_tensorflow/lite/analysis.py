"""Tools for converted models, which need TensorFlow's compiled library: their errors say so."""

from __future__ import annotations

from typing import Any

from gradtape.core import errors

from .converter import INSTEAD
from .experimental_settings import QuantizationDebugOptions

NAMESPACES = ("lite.experimental",)
__all__ = ["QuantizationDebugger"]


class QuantizationDebugger:
    """Raises an error: debug a model where TensorFlow is installed.

    >>> tf.lite.experimental.QuantizationDebugger()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.lite.experimental"

    options: QuantizationDebugOptions

    def __init__(
        self,
        quant_debug_model_path: str | None = None,
        quant_debug_model_content: bytes | None = None,
        float_model_path: str | None = None,
        float_model_content: bytes | None = None,
        debug_dataset: Any = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: Any = None,
    ) -> None:
        raise errors.UnimplementedError(INSTEAD)

    def get_debug_quantized_model(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(INSTEAD)

    def get_nondebug_quantized_model(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(INSTEAD)

    def layer_statistics_dump(self, file: Any) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(INSTEAD)

    def run(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(INSTEAD)
