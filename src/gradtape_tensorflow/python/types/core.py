"""`tensorflow.python.types.core`: the base of everything that declares itself a tensor."""

from __future__ import annotations

import abc

import gradtape


class Tensor(abc.ABC):  # noqa: B024  libraries derive from it, and define what they need
    """The base of all tensors. Libraries subclass it for values that convert to tensors."""

    is_tensor_like = True  # for `tf.is_tensor`


Tensor.register(gradtape.Tensor)
Tensor.register(gradtape.Variable)
