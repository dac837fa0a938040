"""`tf.data.experimental`: functions for `Dataset.apply` that have become methods of datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsInt

from ..api.namespace import resolve
from ..core import dtypes
from ..core.type_hints import TensorLike
from .datasets import Dataset

NAMESPACES = ("data.experimental",)
__all__ = [
    "RandomDataset", "Reducer", "at", "bucket_by_sequence_length", "copy_to_device",
    "enable_debug_mode", "from_list", "group_by_reducer", "group_by_window", "map_and_batch", "parallel_interleave",
    "prefetch_to_device", "rejection_resample", "shuffle_and_repeat",
]  # fmt: skip

Transformation = Callable[[Dataset], Dataset]


def RandomDataset(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
    """An infinite dataset of random numbers: `Dataset.random`.

    >>> len(list(tf.data.experimental.RandomDataset(1).take(2)))
    2
    """
    return Dataset.random(seed, rerandomize_each_iteration)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """Creates a dataset from the elements of a list, which may be nested structures.

    >>> [int(x["a"]) for x in tf.data.experimental.from_list([{"a": 1}, {"a": 2}])]
    [1, 2]
    """
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    if not isinstance(elements, list):
        raise ValueError(f"Invalid `elements`. `elements` must be a list, got {type(elements).__name__}.")
    return Dataset.from_tensor_slices(_stack_elements(elements))


def _stack_elements(elements: list[Any]) -> Any:
    """Stacks the elements component by component; lists are converted to tensors, as everywhere in `tf.data`."""
    first = elements[0]
    if isinstance(first, dict):
        return {key: _stack_elements([element[key] for element in elements]) for key in first}
    if isinstance(first, tuple):
        return tuple(_stack_elements(list(parts)) for parts in zip(*elements, strict=True))
    return resolve("stack")([resolve("convert_to_tensor")(element) for element in elements])


def at(dataset: Dataset, index: SupportsInt) -> Any:
    """Returns the element of a dataset at an index; for a shuffled dataset, in an order that stays the same.

    Supported for transformations that compute an element from few others (`map`, `batch`, `shuffle`, `zip`, `take` and
    similar ones); raises `UnimplementedError` for the rest.

    >>> int(tf.data.experimental.at(tf.data.Dataset.range(5), 3))
    3
    """
    return dataset._element_at(int(index))


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
    window_size_func: Any = None,
) -> Transformation:  # fmt: skip
    """`Dataset.group_by_window`, for `apply`.

    >>> by_parity = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, data: data.batch(2), 2)
    >>> [x.numpy().tolist() for x in tf.data.Dataset.range(4).apply(by_parity)]
    [[0, 2], [1, 3]]
    """
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None,
    padding_values: Any = None, pad_to_bucket_boundary: bool = False, no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:  # fmt: skip
    """`Dataset.bucket_by_sequence_length`, for `apply`.

    >>> data = tf.data.Dataset.range(1, 4).map(lambda n: tf.ones([n]))
    >>> short = tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3], [2, 2])
    >>> [x.shape.as_list() for x in data.apply(short)]
    [[2, 2], [1, 3]]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def map_and_batch(
    map_func: Callable[..., Any], batch_size: TensorLike, num_parallel_batches: Any = None,
    drop_remainder: bool = False, num_parallel_calls: Any = None,
) -> Transformation:  # fmt: skip
    """`map`, then `batch`, for `apply`.

    >>> squares = tf.data.experimental.map_and_batch(lambda x: x * x, 2)
    >>> [x.numpy().tolist() for x in tf.data.Dataset.range(3).apply(squares)]
    [[0, 1], [4]]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set."
        )
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: int, block_length: int = 1, sloppy: bool = False,
    buffer_output_elements: Any = None, prefetch_input_elements: Any = None,
) -> Transformation:  # fmt: skip
    """`Dataset.interleave`, for `apply`: always in order, even if `sloppy` is set.

    >>> twice = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
    >>> [int(x) for x in tf.data.Dataset.range(2).apply(twice)]
    [0, 1, 0, 1]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Transformation:
    """`Dataset.rejection_resample`, for `apply`.

    >>> odd = tf.data.experimental.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.0, 1.0], [0.5, 0.5])
    >>> [int(x) for kind, x in tf.data.Dataset.range(5).apply(odd)]
    [1, 3]
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: int | None = None
) -> Transformation:
    """`shuffle`, then `repeat`, for `apply`.

    >>> mixed = tf.data.experimental.shuffle_and_repeat(3, count=2, seed=1)
    >>> sorted(int(x) for x in tf.data.Dataset.range(3).apply(mixed))
    [0, 0, 1, 1, 2, 2]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def prefetch_to_device(device: Any, buffer_size: TensorLike | None = None) -> Transformation:
    """Returns a transformation for `apply` that moves the elements to a device, some of them ahead of time.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.prefetch_to_device("/cpu:0"))]
    [0, 1]
    """
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(2 if buffer_size is None else buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """Returns a transformation for `apply` that moves the elements to a device.

    >>> [int(x) for x in tf.data.Dataset.range(2).apply(tf.data.experimental.copy_to_device("/cpu:0"))]
    [0, 1]
    """

    def put(*element: Any) -> Any:
        with resolve("device")(target_device):
            copied = resolve("nest.map_structure")(resolve("identity"), element)
        return copied[0] if len(copied) == 1 else copied

    return lambda dataset: dataset.map(put)


class Reducer:
    """The reduction of a group of elements: initial state, state update and final result.

    >>> add = tf.data.experimental.Reducer(lambda key: 0, lambda total, x: total + x, lambda total: total)
    >>> add.reduce_func(1, 2)
    3
    """

    __module__ = "gradtape.data.experimental"

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ) -> None:
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function that returns the initial state of a group, given its key."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function that returns the next state, given the previous one and an element."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function that returns the result, given the final state."""
        return self._functions[2]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Returns a transformation for `apply` that reduces the elements of each key to one, in order of the keys.

    >>> zero = tf.constant(0, tf.int64)
    >>> add = tf.data.experimental.Reducer(lambda key: zero, lambda total, x: total + x, lambda total: total)
    >>> by_parity = tf.data.experimental.group_by_reducer(lambda x: x % 2, add)
    >>> [int(x) for x in tf.data.Dataset.range(5).apply(by_parity)]
    [6, 4]
    """

    def apply(dataset: Dataset) -> Dataset:
        def groups() -> Any:
            states: dict[int, Any] = {}
            for element in dataset:
                parts = element if isinstance(element, tuple) else (element,)
                key = resolve("cast")(key_func(*parts), dtypes.int64)
                state = states[int(key)] if int(key) in states else reducer.init_func(key)
                states[int(key)] = reducer.reduce_func(state, *parts)
            for key in sorted(states):
                state = states[key]
                yield reducer.finalize_func(*(state if isinstance(state, tuple) else (state,)))

        first = next(iter(groups()), None)
        spec = resolve("nest.map_structure")(resolve("type_spec_from_value"), first)
        return Dataset.from_generator(groups, output_signature=spec)

    return apply


def enable_debug_mode() -> None:
    """Does nothing: functions of datasets already run eagerly, one element at a time, so that a debugger can step in.

    >>> tf.data.experimental.enable_debug_mode()
    """
