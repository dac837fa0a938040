"""The classes of ragged tensors, with all their methods and operators.

Import them from here: `ragged_tensor.py` has the class without what is implemented by means of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import InvalidArgumentError
from ..core.extension_points import foreign_operands
from ..core.operators import EQUALITIES, ORDERINGS, REFLECTED, UNARY
from ..core.tensor import is_tensor_like
from ..engine.registry.op import registry
from ..engine.run.convert import to_tensor
from . import conversion, elementwise, indexing
from .elementwise import on_flat_values
from .partition import RowPartition
from .ragged_tensor import RaggedTensor, elsewhere
from .ragged_tensor import axis_of as axis_of
from .spec import RaggedTensorSpec

NAMESPACES = ("", "experimental")
__all__ = ["RaggedTensor", "RaggedTensorSpec", "RowPartition"]

elsewhere.from_tensor = conversion.from_tensor
elsewhere.from_sparse = conversion.from_sparse
elsewhere.to_dense = conversion.to_dense
elsewhere.to_sparse = conversion.to_sparse
elsewhere.merge_dims = conversion.merge_dims
elsewhere.item = indexing.item
elsewhere.applied = elementwise.applied
elsewhere.written = conversion.written
elsewhere.spec = RaggedTensorSpec


def _on_rows(op: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *other: _of_rows_or_others(op, function, self, *other)


def _reflected(op: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: _of_rows_or_others(op, function, other, self)


def _of_rows_or_others(op: str, function: Callable[..., Any], *values: Any) -> Any:
    """Apply an operator to ragged values, or to those of another class that has taken over the operator."""
    if any([isinstance(x, RaggedTensor) for x in values]) or foreign_operands.installed is None:
        return on_flat_values(function, values)
    return foreign_operands(op, values)


def _compared(function: Callable[..., Any], when_different: bool) -> Callable[..., Any]:
    """Implement `==` and `!=`: values whose rows cannot be matched differ as a whole."""

    def call(self: RaggedTensor, y: object) -> Any:
        if not isinstance(y, RaggedTensor) and not is_tensor_like(y):
            try:
                y = to_tensor(y, self.dtype)
            except (TypeError, ValueError):
                return when_different
        try:
            return on_flat_values(function, (self, y))
        except (InvalidArgumentError, ValueError):  # their row lengths differ
            return when_different

    return call


_BINARY = tuple(row for row in REFLECTED if row.name != "matmul")  # `tf.matmul` has a rule of its own
for _row in _BINARY + ORDERINGS + UNARY:
    _only_bools = _row.name == "invert"  # as in TensorFlow
    _function = registry[_row.bool_op].call if _only_bools else _row.function
    setattr(RaggedTensor, _row.method, _on_rows(_row.op, _function))
for _row in _BINARY:
    setattr(RaggedTensor, _row.reflected, _reflected(_row.op, _row.function))
for _row in EQUALITIES:
    setattr(RaggedTensor, _row.method, _compared(registry[_row.op].call, _row.name == "ne"))
