"""`tf.types.experimental`: names for annotations and checks, and the tracing protocol."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable as PythonCallable
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from ..graph.function.trace_types import SupportsTracingProtocol, TraceType
from ..state.variable import Variable

NAMESPACES = ("types.experimental",)
__all__ = [
    "AtomicFunction", "Callable", "ConcreteFunction", "FunctionType", "GenericFunction", "PolymorphicFunction",
    "SupportsTracingProtocol", "TensorLike", "TraceType",
]  # fmt: skip

PolymorphicFunction = GenericFunction = Function
Callable = Function | ConcreteFunction
TensorLike = Tensor | Variable | int | float | bool | str | bytes | complex | tuple | list | np.ndarray | np.generic


class FunctionType(inspect.Signature, metaclass=abc.ABCMeta):
    """The parameters and the result of a function; Python's `inspect.Signature` with TensorFlow's name.

    >>> tf.types.experimental.FunctionType.from_callable(lambda x, y=1: x)
    <FunctionType (x, y=1)>
    """

    __module__ = "gradtape.types.experimental"

    @classmethod
    def from_callable(cls, obj: PythonCallable[..., Any], *, follow_wrapped: bool = True) -> FunctionType:  # type: ignore[override]
        """Returns the type of a Python function."""
        return super().from_callable(obj, follow_wrapped=follow_wrapped)


class AtomicFunction(abc.ABC):
    """The base class of graphs that are called as functions; gradtape's are called by their `ConcreteFunction`.

    >>> isinstance(tf.function(lambda x: x), tf.types.experimental.AtomicFunction)
    False
    """

    __module__ = "gradtape.types.experimental"

    @property
    @abc.abstractmethod
    def function_type(self) -> FunctionType:
        """The type of the function."""

    def call_with_captures(self, args: Any, kwargs: Any, captures: Any) -> Any:
        """Calls the function with arguments and captured tensors."""
        raise NotImplementedError("call_with_captures is for subclasses to define")
