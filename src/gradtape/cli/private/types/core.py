"""`tensorflow.python.types.core`: what says that it is a tensor, of whatever class."""

from __future__ import annotations

import gradtape

from ..abstract import Abstract


class _Tensor:
    """The base of all tensors. Libraries derive what they convert to tensors from it."""


Tensor = Symbol = Value = Abstract(_Tensor, gradtape.Tensor, gradtape.Variable)
