"""`tensorflow.python.ops.variables`: the base class of all variables, including gradtape's."""

from __future__ import annotations

from typing import Any

import gradtape

from ..abstract import Abstract


class _Variable:
    """A variable of any kind: libraries subclass it with their own constructors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("Variable is abstract: a subclass must define its constructor")


Variable = Abstract(_Variable, gradtape.Variable)
VariableMetaclass = type(gradtape.Variable)


class PartitionedVariable:
    """The class of a variable in parts of TensorFlow 1, which no variable has here; libraries ask by isinstance."""


class RefVariable:
    """The class of a variable of TensorFlow 1's graphs, which no variable has here; libraries ask by isinstance."""


def report_uninitialized_variables(*args: Any, **kwargs: Any) -> Any:
    """Returns the names of the variables without a value: none."""
    return gradtape.constant([], gradtape.string)
