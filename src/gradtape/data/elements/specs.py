"""Specs of dataset elements other than tensors: None, datasets and optionals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.shapes import TensorShape
from ...state.type_spec import LeafSpec, register_type_spec_from_value_converter, spec_of


class NoneTensorSpec(LeafSpec):
    """The spec of None as a dataset element.

    >>> tf.NoneTensorSpec().is_compatible_with(None)
    True
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        """The class of None."""
        return type(None)

    @classmethod
    def from_value(cls, value: Any) -> NoneTensorSpec:
        """Returns the spec of None."""
        return cls()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether the argument is None or the spec of None."""
        return spec_or_value is None or type(spec_or_value) is NoneTensorSpec

    def most_specific_compatible_shape(self, other: Any) -> NoneTensorSpec:
        """Returns this spec if the other is equal; raises `ValueError` if not."""
        if type(other) is not NoneTensorSpec:
            raise ValueError(f"No `TypeSpec` is compatible with both {self} and {other}.")
        return self

    def _serialize(self) -> tuple[Any, ...]:
        return ()


NoneTensorSpec.__module__ = "gradtape"


class DatasetSpec(LeafSpec):
    """The spec of a dataset that is itself an element, as for `window`.

    >>> tf.data.Dataset.range(3).window(2).element_spec
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __module__ = "gradtape.data"

    __slots__ = ("_element_spec", "_shape")
    value_type: type  # set to `Dataset` by its module, which imports this one

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._element_spec

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Returns the spec of a dataset."""
        return DatasetSpec(value.element_spec, value.shape if isinstance(value, DatasetBatch) else ())

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a dataset or spec is compatible with this spec."""
        return super().is_compatible_with(leaf_spec(spec_or_value))

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._shape

    @property
    def shape(self) -> TensorShape:
        """The shape of a batch of datasets; [] for one dataset."""
        return self._shape

    @property
    def __batch_encoder__(self) -> Any:
        return DatasetSpec

    def batch(self, size: int | None) -> DatasetSpec:
        """Returns the spec of a batch of such datasets, as `Dataset.batch` creates."""
        return DatasetSpec(self._element_spec, [size, *self._shape])

    def unbatch(self) -> DatasetSpec:
        """Returns the spec of one dataset of the batch."""
        return DatasetSpec(self._element_spec, self._shape[1:])


class DatasetBatch:
    """A batch of datasets as a single leaf; `Dataset.unbatch` splits it."""

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = tuple(datasets)

    @property
    def element_spec(self) -> Any:
        """The specs of an element of one of the datasets."""
        return self.datasets[0].element_spec

    @property
    def shape(self) -> TensorShape:
        """The number of datasets, and the shape of each."""
        first = self.datasets[0]
        return TensorShape([len(self.datasets), *(first.shape if isinstance(first, DatasetBatch) else ())])

    def __repr__(self) -> str:
        return f"<a batch of {len(self.datasets)} datasets element_spec={self.element_spec}>"


class OptionalSpec(LeafSpec):
    """The spec of a `tf.experimental.Optional`: the specs of its value.

    >>> tf.type_spec_from_value(tf.experimental.Optional.from_value(3))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ("_element_spec",)
    value_type: type  # set to `Optional` by its module, which imports this one

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """Returns the spec of an optional."""
        return OptionalSpec(value.element_spec)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)


OptionalSpec.__module__ = "gradtape"


def leaf_spec(leaf: Any) -> Any:
    """Returns the spec of one leaf of an element."""
    if leaf is None:
        return NoneTensorSpec()
    return spec_of(leaf)


register_type_spec_from_value_converter(DatasetBatch, DatasetSpec.from_value)
