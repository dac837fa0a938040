"""`tensorflow.python.types.core`: the base of everything that declares itself a tensor."""

from __future__ import annotations

import gradtape

from ..abstract import Abstract


class _Tensor:
    """The base of all tensors. Libraries subclass it for values that convert to tensors."""


Tensor = Symbol = Value = Abstract(_Tensor, gradtape.Tensor, gradtape.Variable)
