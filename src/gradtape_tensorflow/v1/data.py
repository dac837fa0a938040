"""`tf.compat.v1.data`: iterators and element types of datasets, as in older programs."""

from __future__ import annotations

from typing import Any, NoReturn

from gradtape.core import nest
from gradtape.core.tensor import Tensor
from gradtape.data.dataset import Dataset
from gradtape.data.iterators import Iterator
from gradtape.sparse.tensor import SparseTensor
from gradtape.state.specs import SparseTensorSpec, TensorSpec

NAMESPACES = ("compat.v1.data",)
__all__ = [
    "get_output_classes", "get_output_shapes", "get_output_types", "make_initializable_iterator",
    "make_one_shot_iterator",
]  # fmt: skip


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """Returns an iterator over one pass: `iter(dataset)`.

    >>> iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    >>> int(iterator.get_next()), int(iterator.get_next())
    (0, 1)
    """
    return iter(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> NoReturn:
    """Raises an error: it requires a graph and a session.

    >>> tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
    Traceback (most recent call last):
    RuntimeError: `make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead.
    """
    raise RuntimeError(
        "`make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead."
    )


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of an element, in its structure.

    >>> tf.compat.v1.data.get_output_types(tf.data.Dataset.range(2))
    tf.int64
    """
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the shapes of an element, in its structure.

    >>> tf.compat.v1.data.get_output_shapes(tf.data.Dataset.range(2).batch(2))
    TensorShape([None])
    """
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Returns the classes of an element: `tf.Tensor`, `tf.sparse.SparseTensor`, or the spec of other values.

    >>> tf.compat.v1.data.get_output_classes(tf.data.Dataset.range(2)) is tf.Tensor
    True
    """
    kinds = {TensorSpec: Tensor, SparseTensorSpec: SparseTensor}
    return nest.map_structure(lambda spec: kinds.get(type(spec), spec), dataset_or_iterator.element_spec)
