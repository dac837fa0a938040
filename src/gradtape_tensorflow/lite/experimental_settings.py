"""Settings of `tf.lite.experimental`."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from typing import Any

NAMESPACES = ("lite.experimental",)
__all__ = ["OpResolverType", "QuantizationDebugOptions"]


class OpResolverType(enum.Enum):
    """Which kernels an interpreter uses."""

    __module__ = "gradtape.lite.experimental"

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


@dataclasses.dataclass
class QuantizationDebugOptions:
    """Options of a `QuantizationDebugger`.

    >>> tf.lite.experimental.QuantizationDebugOptions(denylisted_ops=["CONV_2D"]).denylisted_ops
    ['CONV_2D']
    """

    __module__ = "gradtape.lite.experimental"

    layer_debug_metrics: Mapping[str, Callable[[Any], float]] | None = None
    model_debug_metrics: Mapping[str, Callable[..., float]] | None = None
    layer_direct_compare_metrics: Mapping[str, Callable[..., float]] | None = None
    denylisted_ops: list[str] | None = None
    denylisted_nodes: list[str] | None = None
    fully_quantize: bool = False

    def __post_init__(self) -> None:
        direct = self.layer_direct_compare_metrics or {}
        twice = set(self.layer_debug_metrics or {}) & set(direct)
        if twice:
            raise ValueError(f"Provided metrics have duplicate keys: {sorted(twice)}")
