"""Settings of converters and interpreters."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any

NAMESPACES = ("lite",)
__all__ = ["OpsSet", "Optimize", "RepresentativeDataset", "TargetSpec"]


class OpsSet(enum.Enum):
    """Which ops a converted model may use."""

    __module__ = "gradtape.lite"

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return str(self.value)


class Optimize(enum.Enum):
    """What a converter optimizes."""

    __module__ = "gradtape.lite"

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return str(self.value)


class RepresentativeDataset:
    """Typical inputs of a model, from which a converter estimates ranges.

    >>> next(iter(tf.lite.RepresentativeDataset(lambda: [[1.0]]).input_gen()))
    [1.0]

    Args:
      input_gen: a function that returns an iterable of inputs.
    """

    __module__ = "gradtape.lite"

    def __init__(self, input_gen: Callable[[], Iterable[Any]]) -> None:
        self.input_gen = input_gen


class TargetSpec:
    """The device that a model is converted for.

    >>> tf.lite.TargetSpec().supported_ops
    {<OpsSet.TFLITE_BUILTINS: 'TFLITE_BUILTINS'>}
    """

    __module__ = "gradtape.lite"

    def __init__(
        self,
        supported_ops: Any = None,
        supported_types: Any = None,
        experimental_select_user_tf_ops: Any = None,
        experimental_supported_backends: Any = None,
    ) -> None:
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types = set() if supported_types is None else supported_types
        chosen = experimental_select_user_tf_ops
        self.experimental_select_user_tf_ops = set() if chosen is None else chosen
        self.experimental_supported_backends = experimental_supported_backends
