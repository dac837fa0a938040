"""`tf.quantization.experimental`: messages that describe the quantization of a model."""

from __future__ import annotations

from typing import Any

from .generated import message_class

NAMESPACES = ("quantization.experimental",)
__all__ = ["QuantizationComponentSpec", "QuantizationMethod", "QuantizationOptions", "UnitWiseQuantizationSpec"]

QuantizationComponentSpec: type[Any]
QuantizationMethod: type[Any]
QuantizationOptions: type[Any]
UnitWiseQuantizationSpec: type[Any]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    return message_class(f"tensorflow.quantization.{name}")
