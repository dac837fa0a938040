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
