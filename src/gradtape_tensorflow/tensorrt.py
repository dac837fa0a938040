"""`tf.experimental.tensorrt`: its settings, and a converter that says what to use instead."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core import errors

NAMESPACES = ("experimental.tensorrt",)
__all__ = ["ConversionParams", "Converter"]

_INSTEAD = (
    "gradtape does not convert models to TensorRT. Use tf.function(jit_compile=True), which compiles for GPUs, or save "
    "the model by tf.saved_model.save and convert it where TensorFlow is installed"
)


class ConversionParams(NamedTuple):
    """Parameters of a conversion.

    >>> tf.experimental.tensorrt.ConversionParams(precision_mode="FP16").precision_mode
    'FP16'
    """

    max_workspace_size_bytes: int = 1073741824
    precision_mode: str = "FP32"
    minimum_segment_size: int = 3
    maximum_cached_engines: int = 1
    use_calibration: bool = True
    allow_build_at_runtime: bool = True


ConversionParams.__module__ = "gradtape.experimental.tensorrt"


class Converter:
    """Raises an error: `tf.function(jit_compile=True)` compiles for GPUs.

    >>> tf.experimental.tensorrt.Converter("folder")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.experimental.tensorrt"

    def __init__(
        self,
        input_saved_model_dir: Any = None,
        input_saved_model_tags: Any = None,
        input_saved_model_signature_key: Any = None,
        use_dynamic_shape: Any = None,
        dynamic_shape_profile_strategy: Any = None,
        max_workspace_size_bytes: int = 1073741824,
        precision_mode: str = "FP32",
        minimum_segment_size: int = 3,
        maximum_cached_engines: int = 1,
        use_calibration: bool = True,
        allow_build_at_runtime: bool = True,
        conversion_params: Any = None,
    ) -> None:
        raise errors.UnimplementedError(_INSTEAD)

    def convert(self, calibration_input_fn: Any = None) -> Any:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def build(self, input_fn: Any) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def save(self, output_saved_model_dir: Any, save_gpu_specific_engines: bool = True, options: Any = None) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def summary(self, line_length: int = 160, detailed: bool = True, print_fn: Any = None) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)
