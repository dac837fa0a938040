"""`tf.types.experimental`: names for annotations and checks, and the tracing protocol."""

from __future__ import annotations

import numpy as np

from ...core.tensor import Tensor
from ...graph.function.concrete_function import ConcreteFunction
from ...graph.function.function import Function
from ...graph.function.trace_types import SupportsTracingProtocol, TraceType
from ...state.variable import Variable

NAMESPACES = ("types.experimental",)
__all__ = [
    "Callable", "ConcreteFunction", "GenericFunction", "PolymorphicFunction", "SupportsTracingProtocol", "TensorLike",
    "TraceType",
]  # fmt: skip

PolymorphicFunction = GenericFunction = Function
Callable = Function | ConcreteFunction
TensorLike = Tensor | Variable | int | float | bool | str | bytes | complex | tuple | list | np.ndarray | np.generic
