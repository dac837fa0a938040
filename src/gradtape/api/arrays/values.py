"""TensorFlow's value classes: tensors, variables, shapes, specs and containers."""

from __future__ import annotations

from ...core.scopes import get_current_name_scope, name_scope
from ...core.shapes import TensorShape
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...state.module import Module
from ...state.specs import IndexedSlicesSpec, SparseTensorSpec, TensorArraySpec, TensorSpec, TypeSpec, spec_of
from ...state.tensor_array import TensorArray
from ...state.variable import Variable, VariableAggregation, VariableSynchronization, variable_creator_scope

NAMESPACES = ("",)

__all__ = [
    "AggregationMethod", "IndexedSlices", "IndexedSlicesSpec", "Module", "SparseTensorSpec", "Tensor", "TensorArray",
    "TensorArraySpec", "TensorShape", "TensorSpec", "TypeSpec", "Variable", "VariableAggregation",
    "VariableSynchronization", "get_current_name_scope", "name_scope", "newaxis", "type_spec_from_value",
    "variable_creator_scope",
]  # fmt: skip

newaxis = None


class AggregationMethod:
    """How `tf.gradients` sums the gradients of a value used several times; all methods give the same sum.

    >>> tf.AggregationMethod.DEFAULT
    0
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


AggregationMethod.__module__ = "gradtape"


def type_spec_from_value(value: object) -> TypeSpec:
    """Returns the spec of a tensor, of slices, or of any value that converts to a tensor.

    >>> tf.type_spec_from_value([1.0, 2.0])
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    return spec_of(value)
