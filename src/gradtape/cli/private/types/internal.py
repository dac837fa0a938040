"""`tensorflow.python.types.internal`: classes that mark values of the runtime."""

from __future__ import annotations

import gradtape

from ..abstract import Abstract


class _NativeObject:
    """A value of the runtime, such as a tensor or a variable."""


class _TypeSpec(_NativeObject):
    """A description of values."""


NativeObject = Abstract(_NativeObject, gradtape.Tensor, gradtape.Variable)
TypeSpec = Abstract(_TypeSpec, gradtape.TypeSpec)
IndexedSlices = Abstract(_NativeObject, gradtape.IndexedSlices)
RaggedTensor = Abstract(_NativeObject, gradtape.RaggedTensor)
