"""`tensorflow.python.types.internal`: classes that mark values of the runtime."""

from __future__ import annotations

import abc

import gradtape


class NativeObject(abc.ABC):  # noqa: B024  libraries derive from it, and define what they need
    """A value of the runtime, such as a tensor or a variable."""


class TypeSpec(NativeObject):
    """A description of values."""


class IndexedSlices(NativeObject):
    """Rows of a tensor with their indices."""


class RaggedTensor(NativeObject):
    """A tensor with rows of different lengths."""


NativeObject.register(gradtape.Tensor)
NativeObject.register(gradtape.Variable)
TypeSpec.register(gradtape.TypeSpec)
IndexedSlices.register(gradtape.IndexedSlices)
RaggedTensor.register(gradtape.RaggedTensor)
