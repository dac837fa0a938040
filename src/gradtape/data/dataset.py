"""`Dataset`: the transformations from one dataset to another."""

from __future__ import annotations

import itertools
import logging
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, overload

import numpy as np

from ..backends.numpy.threads import CORES
from ..core import dtypes, errors, nest
from ..core.tensor import Tensor, wrap
from ..core.tracebacks import bounded
from ..engine.run.convert import to_tensor
from ..engine.run.randomness import seeds_of_op
from ..state.specs import TensorSpec
from ..state.type_spec import register_type_spec_from_value_converter
from . import caching, order
from .background import PrefetchIterator
from .batching import positive
from .calls import Call, begin_made, dataset_of, input_pass, truth
from .elements.specs import DatasetSpec
from .elements.structure import E, T, Ts, as_element, as_specs, common, copy_for_reader, leaves
from .pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, check_state, merge_options
from .resampling import resample
from .resumable import (
    CallableIterator,
    ChainIterator,
    SkipIterator,
    SliceIterator,
)
from .storing import Storing

logger = logging.getLogger("gradtape")
AUTOTUNE = -1
_AHEAD = 4  # elements that AUTOTUNE prefetches


def _passes(call: Call, elements: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Maps each element to a pass over the dataset that the function creates from it."""
    function, begin = call.begin(), begin_made()
    # `map` continues after an error, as `ignore_errors` requires; a generator would be finished.
    return map(lambda element: begin(dataset_of(function(element), "map_func")), elements)


def _specs_of_datasets(call: Call, elements: Iterator[Any]) -> Iterator[Any]:
    """Yields the element specs of the datasets that the function creates, which may be empty."""
    function = call.begin()
    return (dataset_of(function(element), "map_func")._known(may_run=True) for element in elements)


def _check_parallel_calls(count: Any) -> None:
    if count is not None and int(count) != AUTOTUNE:
        positive(count, "num_parallel_calls")


def _index(number: int) -> Tensor:
    return wrap(np.int64(number), dtypes.int64)


@bounded
class Dataset(Storing[T]):
    """A sequence of elements, computed lazily and again in every pass.

    Functions passed to `map` and similar methods are called eagerly on the tensors of an element, so Python control
    flow works on them; tapes do not record them.

    >>> data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda x: x * x).batch(2)
    >>> [x.numpy().tolist() for x in data]
    [[1.0, 4.0], [9.0]]
    """

    __module__ = "gradtape.data"

    @overload
    def map(
        self: Dataset[tuple[*Ts]], map_func: Callable[[*Ts], E], num_parallel_calls: int | None = ...,
        deterministic: bool | None = ..., synchronous: bool | None = ..., use_unbounded_threadpool: bool = ...,
        name: str | None = ...,
    ) -> Dataset[E]: ...  # fmt: skip
    @overload
    def map(
        self, map_func: Callable[[T], E], num_parallel_calls: int | None = ...,
        deterministic: bool | None = ..., synchronous: bool | None = ..., use_unbounded_threadpool: bool = ...,
        name: str | None = ...,
    ) -> Dataset[E]: ...  # fmt: skip
    @overload
    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: int | None = ...,
        deterministic: bool | None = ..., synchronous: bool | None = ..., use_unbounded_threadpool: bool = ...,
        name: str | None = ...,
    ) -> Dataset[Any]: ...  # fmt: skip
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Any:
        """Applies `map_func` to each element, in order and not in parallel.

        Args:
          map_func: a function of an element; of its components, if elements are tuples.
          num_parallel_calls: ignored; elements are computed in order. `prefetch` computes ahead in a thread.
          deterministic: ignored; the order is always deterministic.

        Returns:
          A new dataset.

        >>> [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 10)]
        [10, 11, 12]
        """
        call = self._call(map_func, transformation="MapDataset")
        _check_parallel_calls(num_parallel_calls)
        kind = "_MapDataset" if num_parallel_calls is None else "_ParallelMapDataset"
        return self._derived(
            kind,
            lambda elements: map(call.begin(), elements),
            specs_of_samples=lambda elements: map(as_specs, map(call.begin(), elements)),
            element_at=lambda at, index: call.begin()(at(index)),
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset[T]:
        """Keeps the elements for which `predicate` is true.

        Args:
          predicate: a function of an element, or of its components, that returns a scalar boolean tensor.

        Returns:
          A new dataset.

        Raises:
          ValueError: if the predicate returns anything else.

        >>> [int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0)]
        [0, 2, 4]
        """
        call = self._call(predicate, transformation="FilterDataset")
        return self._derived(
            "_FilterDataset",
            lambda elements: filter(truth(call.begin()), elements),
            size=UNKNOWN_CARDINALITY,
            sampled=lambda elements: elements,
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset[T]:
        """Stops before the first element for which `predicate` is false.

        >>> [int(x) for x in tf.data.Dataset.range(10).take_while(lambda x: x < 3)]
        [0, 1, 2]
        """
        call = self._call(predicate)
        return self._derived(
            "_TakeWhileDataset",
            lambda elements: itertools.takewhile(truth(call.begin()), elements),
            size=UNKNOWN_CARDINALITY,
            sampled=lambda elements: elements,
        )

    @overload
    def scan(
        self, initial_state: Any, scan_func: Callable[..., tuple[Any, E]], name: str | None = ...
    ) -> Dataset[E]: ...
    @overload
    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = ...) -> Dataset[Any]: ...
    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
        """Threads a state through the elements: `state, output = scan_func(state, element)`. Yields the outputs.

        >>> sums = tf.data.Dataset.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
        >>> [int(x) for x in sums]
        [0, 1, 3, 6, 10]
        """
        first, call = as_element(initial_state), self._call(scan_func)

        def outputs(elements: Iterator[Any]) -> Iterator[Any]:
            call_step, state = call.begin_with_arguments(), copy_for_reader(first)

            def step() -> Any:
                nonlocal state
                found = call_step(state, next(elements))
                if type(found) is not tuple or len(found) != 2:
                    raise TypeError(
                        "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output "
                        f"value but it returned {found!r}."
                    )
                check_state(state, found[0], "scan_func")
                state, output = found
                return output

            return CallableIterator(step)

        return self._derived(
            "_ScanDataset", outputs, specs_of_samples=lambda elements: map(as_specs, outputs(elements))
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset[tuple[Tensor, T]]:
        """Pairs each element with its index.

        >>> data = tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(5)
        >>> [(int(i), x.decode()) for i, x in data.as_numpy_iterator()]
        [(5, 'a'), (6, 'b')]
        """
        first = int(start)
        return self._derived(
            "_ZipDataset",
            lambda elements: zip(map(_index, itertools.count(first)), elements, strict=False),
            specs=lambda given: (TensorSpec([], dtypes.int64), given),
            element_at=lambda at, index: (_index(first + index), at(index)),
        )

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset[T]:
        """Shuffles elements with a buffer of `buffer_size` elements, from which each element is drawn at random.

        For given `seed` and `tf.random.set_seed`, the order is TensorFlow's. Passes have different orders, unless
        `reshuffle_each_iteration=False`.

        Args:
          buffer_size: the number of elements to draw from. A buffer of the size of the dataset shuffles it completely.
          seed: the seed of the order; None draws one from the global seed.
          reshuffle_each_iteration: whether each pass has an order of its own.

        Returns:
          A new dataset.

        Raises:
          tf.errors.InvalidArgumentError: if `buffer_size` is not positive.

        >>> tf.random.set_seed(5)
        >>> data = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> [int(x) for x in data], [int(x) for x in data]
        ([3, 4, 2, 1, 0], [2, 3, 1, 0, 4])
        """
        size = int(buffer_size)
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise errors.InvalidArgumentError(
                f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {buffer_size}"
            )
        seeds = seeds_of_op(None if seed is None else int(seed))
        passes = order.SeedGenerator(seeds, reshuffle_each_iteration is None or bool(reshuffle_each_iteration))
        room = None if size < 0 else min(size, sys.maxsize)
        return self._derived(
            "_ShuffleDataset",
            lambda elements: order.ShuffleIterator(elements, room, passes.begin()),
            sampled=lambda elements: elements,
            element_at=lambda at, index: at(passes.permutation(self._size)[index]),
            begins_late=True,  # as in TensorFlow: an unused pass does not consume seeds of a shuffle upstream
        )

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset[tuple[Tensor, T]]:
        """Resamples by rejection so that classes follow `target_dist`; yields pairs of class and element.

        Args:
          class_func: maps an element to its class, an int32 from 0 on.
          initial_dist: the class distribution of the dataset; estimated during iteration if not given.

        >>> tf.random.set_seed(5)
        >>> data = tf.data.Dataset.range(8).map(lambda x: x % 2)
        >>> found = data.rejection_resample(lambda x: tf.cast(x, tf.int32), [0.0, 1.0], [0.5, 0.5], seed=1)
        >>> [int(x) for kind, x in found]
        [1, 1, 1, 1]
        """
        return resample(self, class_func, target_dist, initial_dist, seed)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset[T]:
        """Repeats the dataset `count` times; infinitely if `count` is None or -1.

        Args:
          count: the number of passes.

        Returns:
          A new dataset.

        >>> [int(x) for x in tf.data.Dataset.range(2).repeat(3)]
        [0, 1, 0, 1, 0, 1]
        """
        times = None if count is None or int(count) < 0 else int(count)
        if times == 0 or self._size == 0:
            size = 0
        elif times is None:
            size = INFINITE_CARDINALITY
        else:
            size = self._size * times if self._size >= 0 else self._size
        return Dataset(
            "_RepeatDataset",
            lambda: order.RepeatIterator(input_pass(self._elements), times, self._kind == "_ShuffleDataset"),
            self._known,
            size,
            self._samples,
            self._options,
            lambda index: self._element_at(index % self._size),
        )._made_of([self], lambda of: of.repeat(count), self._rows)

    def take(self, count: Any, name: str | None = None) -> Dataset[T]:
        """Takes the first `count` elements; all of them if `count` is -1.

        Args:
          count: the number of elements.

        Returns:
          A new dataset.

        >>> [int(x) for x in tf.data.Dataset.range(5).take(2)]
        [0, 1]
        """
        number = int(count)
        stop = None if number < 0 else number
        if stop is None or self._size == UNKNOWN_CARDINALITY:
            size = self._size
        else:
            size = stop if self._size == INFINITE_CARDINALITY else min(stop, self._size)
        return self._derived(
            "_TakeDataset",
            lambda elements: SliceIterator(elements, 0, stop),
            size=size,
            sampled=lambda elements: elements,
            element_at=lambda at, index: at(index),
        )

    def skip(self, count: Any, name: str | None = None) -> Dataset[T]:
        """Skips the first `count` elements; all of them if `count` is -1.

        >>> [int(x) for x in tf.data.Dataset.range(5).skip(3)]
        [3, 4]
        """
        number = int(count)
        if number < 0:
            return self.take(0)
        return self._derived(
            "_SkipDataset",
            lambda elements: SkipIterator(elements, number),
            size=max(0, self._size - number) if self._size >= 0 else self._size,
            sampled=lambda elements: elements,
            element_at=lambda at, index: at(index + number),
        )

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset[T]:
        """Takes every `num_shards`-th element, starting at `index`.

        Args:
          num_shards: the number of shards, such as the number of workers.
          index: the number of this shard, from 0.

        Returns:
          A new dataset.

        Raises:
          tf.errors.InvalidArgumentError: if `index` is not less than `num_shards`.

        >>> [int(x) for x in tf.data.Dataset.range(7).shard(3, 1)]
        [1, 4]
        """
        count, first = positive(num_shards, "Number of shards"), int(index)
        if not 0 <= first < count:
            raise errors.InvalidArgumentError(f"Index must be between 0 and {count - 1} (currently index = {first}).")
        return self._derived(
            "_ShardDataset",
            lambda elements: SliceIterator(elements, first, None, count),
            size=max(0, -(-(self._size - first) // count)) if self._size >= 0 else self._size,
            sampled=lambda elements: elements,
            element_at=lambda at, index: at(first + count * index),
        )

    def concatenate(self, dataset: Dataset[T], name: str | None = None) -> Dataset[T]:
        """Appends the elements of another dataset.

        >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(5, 7))]
        [0, 1, 5, 6]
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset`, got {dataset!r}")

        def specs(may_run: bool) -> Any:
            mine, its = self._known(may_run), dataset._known(may_run)
            return None if mine is None or its is None else common(mine, its)

        specs(may_run=False)
        sizes, parts = (self._size, dataset._size), (self._elements, dataset._elements)
        return Dataset(
            "_ConcatenateDataset",
            lambda: ChainIterator(map(lambda begin: begin(), [input_pass(part, i) for i, part in enumerate(parts)])),
            specs,
            min(sizes, key=lambda size: (size != INFINITE_CARDINALITY, size)) if min(sizes) < 0 else sum(sizes),
            self._samples,
            merge_options([self, dataset]),
            lambda index: self._element_at(index) if index < self._size else dataset._element_at(index - self._size),
        )._made_of([self, dataset], lambda first, second: first.concatenate(second))

    @overload
    def flat_map(
        self: Dataset[tuple[*Ts]], map_func: Callable[[*Ts], Dataset[E]], name: str | None = ...
    ) -> Dataset[E]: ...
    @overload
    def flat_map(self, map_func: Callable[[T], Dataset[E]], name: str | None = ...) -> Dataset[E]: ...
    @overload
    def flat_map(self, map_func: Callable[..., Any], name: str | None = ...) -> Dataset[Any]: ...
    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """Maps each element to a dataset and concatenates these.

        >>> [int(x) for x in tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n))]
        [0, 0, 1, 0, 1, 2]
        """
        call = self._call(map_func, transformation="FlatMapDataset")
        made = self._derived(
            "_FlatMapDataset",
            lambda elements: ChainIterator(_passes(call, elements)),
            size=UNKNOWN_CARDINALITY,
            specs_of_samples=lambda elements: _specs_of_datasets(call, elements),
        )
        made._opened = call
        return made

    @overload
    def interleave(
        self: Dataset[tuple[*Ts]], map_func: Callable[[*Ts], Dataset[E]], cycle_length: int | None = ...,
        block_length: int | None = ..., num_parallel_calls: int | None = ..., deterministic: bool | None = ...,
        name: str | None = ...,
    ) -> Dataset[E]: ...  # fmt: skip
    @overload
    def interleave(
        self, map_func: Callable[[T], Dataset[E]], cycle_length: int | None = ...,
        block_length: int | None = ..., num_parallel_calls: int | None = ..., deterministic: bool | None = ...,
        name: str | None = ...,
    ) -> Dataset[E]: ...  # fmt: skip
    @overload
    def interleave(
        self, map_func: Callable[..., Any], cycle_length: int | None = ...,
        block_length: int | None = ..., num_parallel_calls: int | None = ..., deterministic: bool | None = ...,
        name: str | None = ...,
    ) -> Dataset[Any]: ...  # fmt: skip
    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Maps each element to a dataset and interleaves these, `block_length` elements at a time.

        Args:
          cycle_length: the number of datasets open at once; the number of processor cores by default.

        >>> data = tf.data.Dataset.range(1, 4).interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(3), 2, 2)
        >>> [int(x) for x in data]
        [1, 1, 2, 2, 1, 2, 3, 3, 3]
        """
        call = self._call(map_func, transformation="InterleaveDataset")
        cycle = CORES if cycle_length in (None, AUTOTUNE) else positive(cycle_length, "cycle_length")
        block = 1 if block_length is None else positive(block_length, "block_length")
        _check_parallel_calls(num_parallel_calls)
        if cycle_length is not None and num_parallel_calls is not None and num_parallel_calls > cycle_length > 0:
            raise errors.InvalidArgumentError(
                f"If `cycle_length` is set to a fixed value, `num_parallel_calls` must be less than or equal to it: "
                f"{num_parallel_calls} is more than {cycle_length}."
            )
        made = self._derived(
            "_InterleaveDataset" if num_parallel_calls is None else "_ParallelInterleaveDataset",
            lambda elements: order.InterleaveIterator(_passes(call, elements), cycle, block),
            size=UNKNOWN_CARDINALITY,
            specs_of_samples=lambda elements: _specs_of_datasets(call, elements),
        )
        made._opened = call
        return made

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset[T]:
        """Caches the elements of the first complete pass in memory, or in the file `<filename>.npz`.

        Args:
          filename: the path of the file, without its suffix; by default, the cache is in memory.

        Returns:
          A new dataset.

        >>> data = tf.data.Dataset.range(3).map(lambda x: x * x).cache()
        >>> [int(x) for x in data], [int(x) for x in data]
        ([0, 1, 4], [0, 1, 4])
        """
        name_of_file = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
        path = os.fsdecode(to_tensor(name_of_file, dtypes.string).array.item())
        store: Any = caching.MemoryCache(self._elements, self._size)
        if path:
            store = caching.FileCache(self._elements, path, lambda: self.element_spec)
        made = Dataset(
            "CacheDataset", store.begin, self._known, self._size, self._samples, self._options,
            lambda index: store.element_at(self._element_at, index),
        )  # fmt: skip
        return made._made_of([self], lambda of: of.cache(filename), self._rows)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset[T]:
        """Computes up to `buffer_size` elements ahead in a thread.

        Args:
          buffer_size: the number of elements; `tf.data.AUTOTUNE` lets gradtape choose it.

        Returns:
          A new dataset.

        >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE)]
        [0, 1, 2]
        """
        size = AUTOTUNE if buffer_size is None else int(buffer_size)
        ahead = _AHEAD if size == AUTOTUNE else size
        if ahead < 0:
            raise errors.InvalidArgumentError(f"buffer_size must be >= 0 or tf.data.AUTOTUNE, got {size}")
        return self._derived(
            "_PrefetchDataset",
            lambda elements: PrefetchIterator(elements, ahead) if ahead else elements,
            sampled=lambda elements: elements,
            element_at=lambda at, index: at(index),
        )

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset[T]:
        """Drops the elements whose computation raises a `tf.errors.OpError`.

        >>> data = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
        >>> finite = data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "a division")).ignore_errors()
        >>> [float(x) for x in finite]
        [1.0, 0.5]
        """

        def errorless(elements: Iterator[Any]) -> Iterator[Any]:
            def step() -> Any:
                while True:
                    try:
                        return next(elements)
                    except errors.OpError as error:
                        if log_warning:
                            logger.warning("Error raised with error message %s", error.message)

            return CallableIterator(step)

        return self._derived("_IgnoreErrorsDataset", errorless, size=UNKNOWN_CARDINALITY)

    def unique(self, name: str | None = None) -> Dataset[T]:
        """Drops repeated elements, which must be tensors of integers or strings.

        >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
        [1, 37, 2]
        """

        def check(specs: Any) -> Any:
            parts, kinds = leaves(specs), (dtypes.int32, dtypes.int64, dtypes.string)
            wrong = next((part for part in parts if getattr(part, "dtype", None) not in kinds), None)
            if wrong is not None:
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support {wrong!r} -- only `tf.int32`, `tf.int64`, and "
                    "`tf.string` are supported."
                )
            if len(parts) > 1 or nest.is_composite(parts[0]):
                raise errors.InvalidArgumentError(
                    f"UniqueDataset only supports inputs with a single component, a tensor, but the elements are "
                    f"{specs!r}"
                )
            return specs

        known = self._known(may_run=False)
        if known is not None:
            check(known)

        def first_ones(elements: Iterator[Any]) -> Iterator[Any]:
            seen: set[Any] = set()

            def is_first(element: Any) -> bool:
                (tensor,) = leaves(check(element))
                value = tensor.dims, *np.ravel(tensor.array).tolist()
                is_new = value not in seen
                seen.add(value)
                return is_new

            return filter(is_first, elements)

        return self._derived("_UniqueDataset", first_ones, size=UNKNOWN_CARDINALITY, specs=check)


DatasetSpec.value_type = Dataset
register_type_spec_from_value_converter(Dataset, DatasetSpec.from_value, allow_subclass=True)
