"""The base of lookup tables: dtypes, and sparse or ragged keys."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.owners import Owner
from ...core.tensor import Tensor
from ...core.tracebacks import bounded
from ...core.type_hints import ValueLike
from ...engine.run.convert import to_tensor
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor

_KEYS = (dtypes.string, dtypes.int64, dtypes.int32)


class KeyValueDtypes:
    """The dtypes of the keys and values of a table or of its initializer."""

    _key_dtype: DType
    _value_dtype: DType

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype


@bounded
class LookupTable(KeyValueDtypes, Owner):
    """A table from keys of one dtype to values of another."""

    lookup: Any

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str | None) -> None:
        self._key_dtype, self._value_dtype, self._name = as_dtype(key_dtype), as_dtype(value_dtype), name
        if self._key_dtype not in _KEYS:
            raise errors.NotFoundError(
                f"There is no table with keys of {self._key_dtype.name}: use {', '.join(kind.name for kind in _KEYS)}"
            )

    def __copy__(self) -> Self:
        return self

    @property
    def name(self) -> str | None:
        """The name of the table."""
        return self._name

    @property
    def resource_handle(self) -> Any:
        """The table itself, as there is no runtime with handles."""
        return self

    def __getitem__(self, keys: Any) -> Any:
        """Returns the values of `keys`."""
        return self.lookup(keys)


def over_values(function: Any, keys: ValueLike) -> Any:
    """Applies `function` of dense keys to the values of a sparse or ragged tensor, which keeps its form."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, function(keys.values), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(function(keys.flat_values))
    return function(keys)


def converted(value: Any, dtype: DType, what: str) -> Tensor:
    """Converts an argument to a tensor of the table's dtype; rejects a tensor of another dtype."""
    if isinstance(value, Tensor) and value.dtype is not dtype:
        raise TypeError(f"Dtype of argument `{what}` must be {dtype!r}, received: {value.dtype!r}")
    return to_tensor(value, dtype)


def array_of(tensor: Tensor) -> Any:
    """Returns a tensor's array, also for a scalar; strings are bytes."""
    return np.array(tensor.array, object) if isinstance(tensor.array, bytes) else np.asarray(tensor.array)
