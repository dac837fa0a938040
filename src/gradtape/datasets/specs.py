"""Specs of what an element may be made of beside tensors: nothing, datasets."""

from __future__ import annotations

from typing import Any

from ..core.shapes import TensorShape
from ..state.type_spec import LeafSpec, spec_of


class NoneTensorSpec(LeafSpec):
    """The spec of None."""

    __slots__ = ()

    def _serialize(self) -> tuple[Any, ...]:
        return ()


class DatasetSpec(LeafSpec):
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

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether the dataset, or one of that spec, could be of this spec."""
        return super().is_compatible_with(leaf_spec(spec_or_value))

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._shape


def leaf_spec(leaf: Any) -> Any:
    """The spec of one leaf of an element."""
    if leaf is None:
        return NoneTensorSpec()
    if hasattr(type(leaf), "element_spec"):
        return DatasetSpec(leaf.element_spec)
    return spec_of(leaf)
