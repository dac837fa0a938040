"""Specs of what an element may be made of beside tensors: nothing, datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.shapes import TensorShape
from ..state.sparse_tensor import SparseTensor
from ..state.specs import SparseTensorSpec, TypeSpec, spec_of


class _Alike(TypeSpec):
    """A spec whose fields are shapes, which may differ in what is known of them, and others, which may not."""

    __slots__ = ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of that spec could be of this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else leaf_spec(spec_or_value)
        return type(other) is type(self) and all(
            mine.is_compatible_with(its) if hasattr(mine, "is_compatible_with") else mine == its
            for mine, its in zip(self._fields(), other._fields(), strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this spec is of spec `other` too."""
        return type(other) is type(self) and all(
            mine.is_subtype_of(its) if hasattr(mine, "is_subtype_of") else mine == its
            for mine, its in zip(self._fields(), other._fields(), strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The most specific spec that this and all the others are instances of, or None."""
        fields = list(self._fields())
        for other in others:
            if type(other) is not type(self):
                return None
            for i, its in enumerate(other._fields()):
                if isinstance(its, TensorShape):
                    fields[i] = fields[i].most_specific_compatible_shape(its)
                elif fields[i] != its:
                    return None
        return type(self)(*fields)


class NoneTensorSpec(_Alike):
    """The spec of None."""

    __slots__ = ()

    def _fields(self) -> tuple[Any, ...]:
        return ()


class DatasetSpec(_Alike):
    """What a dataset's elements are, for a dataset that is itself an element, as of `window`.

    >>> import gradtape as tf
    >>> tf.data.Dataset.range(3).window(2).element_spec
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_element_spec", "_shape")
    value_type: type  # `Dataset`, which stands above its spec and says so itself

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._element_spec

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _fields(self) -> tuple[Any, ...]:
        return self._element_spec, self._shape


def leaf_spec(leaf: Any) -> Any:
    """The spec of one leaf of an element."""
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, SparseTensor):
        return SparseTensorSpec(leaf.shape, leaf.dtype)
    if hasattr(type(leaf), "element_spec"):
        return DatasetSpec(leaf.element_spec)
    return spec_of(leaf)
