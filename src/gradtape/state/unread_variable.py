"""`UnreadVariable`: what an assignment of TensorFlow 1 returns, a variable and the op that has assigned it."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..engine.run.convert import readable, register
from ..engine.run.dispatch import thread
from .variable import Variable, convert_variable


class UnreadVariable(Variable):
    """A variable after an assignment: all but `op` is that of the variable, and so are its gradients."""

    op = None  # assignments are no ops when they are executed eagerly

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_variable"], name)

    def value(self) -> Tensor:
        """The current value of the variable."""
        return self._variable.value()

    def _replace(self, new: Tensor) -> None:
        self._variable._replace(new)


def assigned(result: Any) -> Variable:
    """Returns the result of an assignment: in a function the variable itself, whose `op` is None there."""
    return UnreadVariable(result) if isinstance(result, Variable) and thread.trace is None else result


register(UnreadVariable, convert_variable, 0)
readable.add(UnreadVariable)
