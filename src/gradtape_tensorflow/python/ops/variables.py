"""`tensorflow.python.ops.variables`: the classes of variables."""

from __future__ import annotations

import abc
from typing import Any

import gradtape


class Variable(abc.ABC):  # noqa: B024  libraries derive from it, and define what they need
    """The base of all variables: libraries subclass it with constructors of their own."""

    SaveSliceInfo = gradtape.Variable.SaveSliceInfo

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return gradtape.Variable(*args, **kwargs) if cls is Variable else super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("Variable is abstract: a subclass must define its constructor")


Variable.register(gradtape.Variable)


class PartitionedVariable:
    """The class of a variable in parts of TensorFlow 1, which no variable has here; libraries ask by isinstance."""


def report_uninitialized_variables(*args: Any, **kwargs: Any) -> Any:
    """Returns the names of the variables without a value: none."""
    return gradtape.constant([], gradtape.string)
