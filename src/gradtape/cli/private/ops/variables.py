"""`tensorflow.python.ops.variables`: the base of all variables, of which gradtape's are one kind."""

from __future__ import annotations

from typing import Any

import gradtape

from ..abstract import Abstract


class _Variable:
    """A variable of any kind: a class of a library's says itself how it is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("Variable is abstract: a class derived from it says itself how it is made")


Variable = Abstract(_Variable, gradtape.Variable)
VariableMetaclass = type(gradtape.Variable)
