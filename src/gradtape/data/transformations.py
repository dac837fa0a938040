"""`tf.data.experimental`: older names of dataset functions."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import DTypeLike, ShapeLike, TensorLike
from .datasets import AUTOTUNE, Dataset
from .elements.specs import NoneTensorSpec, OptionalSpec
from .iterators import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ServiceOptions,
)
from .pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .resumable import END, CallableIterator

NAMESPACES = ("data.experimental", "experimental", "")
__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "SHARD_HINT", "UNKNOWN_CARDINALITY", "AutoShardPolicy", "AutotuneAlgorithm",
    "AutotuneOptions", "Counter", "DistributeOptions", "ExternalStatePolicy", "NoneTensorSpec", "OptimizationOptions",
    "Optional", "OptionalSpec", "ServiceOptions", "assert_cardinality", "cardinality", "choose_from_datasets",
    "dense_to_ragged_batch", "dense_to_sparse_batch", "enumerate_dataset", "get_next_as_optional",
    "get_single_element", "get_structure", "ignore_errors", "load", "sample_from_datasets", "save", "scan", "snapshot",
    "take_while", "unbatch", "unique",
]  # fmt: skip

SHARD_HINT = -1  # as the number of shards of `Dataset.shard`, for the policy `AutoShardPolicy.HINT`


def Counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = dtypes.int64) -> Dataset:
    """An infinite dataset of numbers: `Dataset.counter`.

    >>> list(tf.data.experimental.Counter().take(2).as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """
    return Dataset.counter(start, step, dtype)


def dense_to_ragged_batch(
    batch_size: TensorLike, drop_remainder: bool = False, row_splits_dtype: DTypeLike = dtypes.int64
) -> Callable[[Dataset], Dataset]:
    """A function for `Dataset.apply`: `Dataset.ragged_batch`.

    >>> data = tf.data.Dataset.range(3).map(tf.range).apply(tf.data.experimental.dense_to_ragged_batch(3))
    >>> [x.to_list() for x in data]
    [[[], [0], [0, 1]]]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def choose_from_datasets(datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False) -> Dataset:
    """Takes elements from the datasets selected by `choice_dataset`: `Dataset.choose_from_datasets`.

    >>> data = [tf.data.Dataset.from_tensors(3), tf.data.Dataset.from_tensors(4)]
    >>> chosen = tf.data.experimental.choose_from_datasets(data, tf.data.Dataset.from_tensors(tf.constant(1, tf.int64)))
    >>> [int(x) for x in chosen]
    [4]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Takes elements from randomly selected datasets: `Dataset.sample_from_datasets`.

    >>> data = [tf.data.Dataset.range(2), tf.data.Dataset.range(2)]
    >>> sorted(int(x) for x in tf.data.experimental.sample_from_datasets(data))
    [0, 0, 1, 1]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def cardinality(dataset: Dataset) -> Tensor:
    """Returns the number of elements: `dataset.cardinality()`.

    >>> int(tf.data.experimental.cardinality(tf.data.Dataset.range(4)))
    4
    """
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: int) -> Callable[[Dataset], Dataset]:
    """For `apply`: declares the number of elements, which is checked at the end of a pass.

    >>> data = tf.data.Dataset.range(6).filter(lambda x: x < 3)
    >>> len(data.apply(tf.data.experimental.assert_cardinality(3)))
    3
    """

    def counted(elements: Iterator[Any]) -> Iterator[Any]:
        count, ended = 0, False

        def step() -> Any:
            nonlocal count, ended
            element = next(elements, END)
            if element is not END:
                count += 1
                if 0 <= expected_cardinality < count:
                    raise errors.FailedPreconditionError(
                        f"Input dataset was expected to contain {_elements(expected_cardinality)} but contained at "
                        f"least {_elements(count)}."
                    )
                return element
            if ended or count == expected_cardinality:  # raised once, so that `ignore_errors` reaches the end
                raise StopIteration
            ended = True
            raise errors.FailedPreconditionError(
                f"Input dataset was expected to contain {_elements(expected_cardinality)} but contained only "
                f"{_elements(count)}."
            )

        return CallableIterator(step)

    def element_at(at: Callable[[int], Any], index: int) -> Any:
        try:
            return at(index)
        except errors.OutOfRangeError as error:
            raise errors.FailedPreconditionError(
                f"Input dataset was expected to contain {_elements(expected_cardinality)}: {error.message}"
            ) from None

    return lambda dataset: dataset._derived(
        "_AssertCardinalityDataset",
        counted,
        size=int(expected_cardinality),
        sampled=lambda elements: elements,
        element_at=element_at,
    )


def _elements(count: int) -> str:
    """A number of elements, in the words of a message."""
    if count == INFINITE_CARDINALITY:
        return "an infinite number of elements"
    return "1 element" if count == 1 else f"{count} elements"


def get_single_element(dataset: Dataset) -> Any:
    """Returns the only element of a dataset.

    >>> int(tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(3)))
    3
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Optional:
    """Returns the next element of an iterator as an optional value.

    >>> iterator = iter(tf.data.Dataset.range(1))
    >>> bool(tf.data.experimental.get_next_as_optional(iterator).has_value())
    True
    """
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """Returns the specs of an element.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(1))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    return dataset_or_iterator.element_spec


def ignore_errors(log_warning: bool = False) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.ignore_errors(log_warning)`.

    >>> data = tf.data.Dataset.from_tensor_slices([1.0, 0.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, ""))
    >>> [float(x) for x in data.apply(tf.data.experimental.ignore_errors())]
    [1.0]
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def dense_to_sparse_batch(batch_size: TensorLike, row_shape: ShapeLike) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.sparse_batch(batch_size, row_shape)`.

    >>> data = tf.data.Dataset.range(1, 3).map(tf.range).apply(tf.data.experimental.dense_to_sparse_batch(2, [4]))
    >>> [x.dense_shape.numpy().tolist() for x in data]
    [[2, 4]]
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def save(
    dataset: Dataset, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None
) -> None:
    """Writes a dataset to a folder: `dataset.save`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.data.experimental.save(tf.data.Dataset.range(2), folder)
    >>> len(tf.data.experimental.load(folder))
    2
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Dataset:
    """Loads the dataset in a folder: `Dataset.load`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.data.Dataset.from_tensors("text").save(folder)
    >>> list(tf.data.experimental.load(folder).as_numpy_iterator())
    [b'text']
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def snapshot(
    path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None
) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.snapshot(path)`.

    >>> import tempfile
    >>> data = tf.data.Dataset.range(2).apply(tf.data.experimental.snapshot(tempfile.mkdtemp()))
    >>> [int(x) for x in data]
    [0, 1]
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def enumerate_dataset(start: int = 0) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.enumerate(start)`.

    >>> data = tf.data.Dataset.range(5, 7).apply(tf.data.experimental.enumerate_dataset())
    >>> [(int(i), int(x)) for i, x in data]
    [(0, 5), (1, 6)]
    """
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.scan(initial_state, scan_func)`.

    >>> zero = tf.constant(0, tf.int64)
    >>> data = tf.data.Dataset.range(3).apply(tf.data.experimental.scan(zero, lambda s, x: (s + x, s + x)))
    >>> [int(x) for x in data]
    [0, 1, 3]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.take_while(predicate)`.

    >>> [int(x) for x in tf.data.Dataset.range(5).apply(tf.data.experimental.take_while(lambda x: x < 2))]
    [0, 1]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.unbatch()`.

    >>> [int(x) for x in tf.data.Dataset.range(3).batch(2).apply(tf.data.experimental.unbatch())]
    [0, 1, 2]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Callable[[Dataset], Dataset]:
    """For `apply`: `dataset.unique()`.

    >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([3, 3, 4]).apply(tf.data.experimental.unique())]
    [3, 4]
    """
    return lambda dataset: dataset.unique()


class ExternalStatePolicy(enum.Enum):
    """How to handle external state when a dataset is saved."""

    __module__ = "gradtape.data.experimental"

    WARN = 0
    IGNORE = 1
    FAIL = 2
