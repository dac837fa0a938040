"""Distributed datasets: global batches split among the replicas, or a separate batch for each replica."""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core import devices, nest
from ..core.composites import CompositeTensor
from ..core.device_kinds import Device
from ..core.errors import NotFoundError, OutOfRangeError, UnimplementedError
from ..core.pickling import Unpicklable
from ..core.tensor import Tensor, wrap
from ..data.elements.structure import batch_spec, leaves, map_leaves, row_count, row_spec
from ..data.iterators import Iterator as DatasetIterator
from ..data.iterators import Optional
from ..data.options import AutoShardPolicy
from ..data.pipeline import INFINITE_CARDINALITY
from ..data.sharding import batch_size, by_files, split_batches
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from ..engine.run.distribution_context import place
from ..graph.trace.traced import Untraceable
from ..sparse.tensor import SparseTensor
from .values import PerReplica, PerReplicaSpec, Uneven, regroup, select_replica


class InputReplicationMode(enum.Enum):
    """How many datasets a dataset function creates: one per worker process, or one per replica.

    >>> tf.distribute.InputReplicationMode.PER_WORKER.value
    'PER_WORKER'
    """

    __module__ = "gradtape.distribute"

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class _InputOptions(NamedTuple):
    experimental_fetch_to_device: Any = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class InputOptions(_InputOptions):
    """Options for reading a distributed dataset. Elements are always produced on demand, whatever the options.

    >>> tf.distribute.InputOptions(experimental_fetch_to_device=False).experimental_per_replica_buffer_size
    1
    """

    __module__ = "gradtape.distribute"

    __slots__ = ()

    def __new__(
        cls,
        experimental_fetch_to_device: Any = None,
        experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device: bool = False,
        experimental_per_replica_buffer_size: int = 1,
    ) -> InputOptions:
        fetched = True if experimental_fetch_to_device is None else experimental_fetch_to_device
        return super().__new__(
            cls, fetched, experimental_replication_mode, experimental_place_dataset_on_device,
            experimental_per_replica_buffer_size,
        )  # fmt: skip


def check_options(options: InputOptions | None) -> bool:
    """Returns whether a function creates one dataset per replica; raises ValueError for contradictory options."""
    if options is None:
        return False
    each = options.experimental_replication_mode is InputReplicationMode.PER_REPLICA
    if options.experimental_place_dataset_on_device and not each:
        raise ValueError(
            "When `experimental_place_dataset_on_device` is set for dataset placement, you must also specify "
            "`PER_REPLICA` for the replication mode"
        )
    if options.experimental_place_dataset_on_device and options.experimental_fetch_to_device:
        raise ValueError(
            "`experimental_place_dataset_on_device` can not be set to True when experimental_fetch_to_device is True "
            "and replication mode is set to `PER_REPLICA`"
        )
    return each


class InputContext:
    """The argument of a dataset function: the index of the input pipeline and the number of pipelines.

    >>> tf.distribute.InputContext(num_replicas_in_sync=2).get_per_replica_batch_size(8)
    4
    """

    __module__ = "gradtape.distribute"

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ) -> None:
        self._pipelines = num_input_pipelines
        self._number = input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """The number of input pipelines: one per worker process."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The index of this pipeline."""
        return self._number

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas that share a global batch."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Returns the batch size of each replica; raises ValueError if the global batch is not divisible."""
        if global_batch_size % self._replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._replicas}"
            )
        return global_batch_size // self._replicas

    def __str__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self._number}, total: {self._pipelines})"


class DistributedDataset(Unpicklable, abc.ABC):
    """A dataset whose elements have one component per replica. With a single replica it is the dataset itself.

    >>> dataset = tf.data.Dataset.range(2)
    >>> isinstance(tf.distribute.get_strategy().experimental_distribute_dataset(dataset), tf.data.Dataset)
    True
    """

    __module__ = "gradtape.distribute"

    _instead = "pickle the dataset, and distribute it where it is loaded"

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Starts a pass over the dataset."""

    @property
    @abc.abstractmethod
    def element_spec(self) -> Any:
        """The specs of an element."""

    @abc.abstractmethod
    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Folds the elements into a state."""


class DistributedIterator(Unpicklable, abc.ABC):
    """An iterator over a distributed dataset.

    >>> hasattr(tf.distribute.DistributedIterator, "get_next_as_optional")
    True
    """

    __module__ = "gradtape.distribute"

    _instead = "pickle the dataset, and distribute it where it is loaded"

    def __iter__(self) -> DistributedIterator:
        return self

    @abc.abstractmethod
    def __next__(self) -> Any:
        """Returns the next element."""

    @property
    @abc.abstractmethod
    def element_spec(self) -> Any:
        """The specs of an element."""

    def get_next(self) -> Any:
        """Returns the next element; raises `tf.errors.OutOfRangeError` at the end."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """Returns the next element as a `tf.experimental.Optional`, which is empty at the end."""
        try:
            return Optional(next(self), lambda: self.element_spec)
        except StopIteration:
            return Optional.empty(self.element_spec)


class _Pass(DistributedIterator):
    """An iterator over the source datasets of a distributed dataset."""

    def __init__(self, dataset: Any, parts: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._parts = parts
        self._iterator = _InTurn(dataset.sources)

    def __next__(self) -> Any:
        if place.context is not None:
            raise ValueError(
                "next(iterator) should be called from outside of replica_fn. e.g. strategy.run(replica_fn, "
                "args=(next(iterator),))"
            )
        if thread.trace is not None:
            raise Untraceable("the elements of a distributed dataset are computed at every call")
        return self._parts(self._iterator)

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._dataset.element_spec


class _InTurn:
    """A round-robin iterator over datasets; exhausted ones keep their turn and raise StopIteration."""

    def __init__(self, datasets: Sequence[Any]) -> None:
        self._iterators = [DatasetIterator(dataset) for dataset in datasets]
        self._at = 0

    def __iter__(self) -> _InTurn:
        return self

    def __next__(self) -> Any:
        now = self._iterators[self._at]
        self._at = (self._at + 1) % len(self._iterators)
        return next(now)


class Distributed(DistributedDataset):
    """A dataset for `count` replicas: splits global batches, or gives each replica an element of its own.

    Without splitting, each step takes `count` elements of a single dataset, or one element of each of `count` datasets.
    """

    def __init__(self, dataset: Any, count: int, splits: bool, places: Sequence[str] = ()) -> None:
        self.sources = dataset if isinstance(dataset, list) else [dataset]
        self._source = self.sources[0]
        self._count = self._own = count  # the number of components, and of those of this process
        self._splits = splits
        self._places = [devices.by_name(name) for name in places]  # the devices of the replicas

    def __iter__(self) -> Any:
        return _Pass(self, self._split if self._splits else self._together)

    def _split(self, elements: Any) -> Any:
        return self._regrouped(self.split(next(elements)))

    def split(self, element: Any) -> list[Any]:
        """Splits a global batch into one batch per replica, of equal size; the last ones may be short or empty."""
        sizes = {row_count(leaf) for leaf in leaves(element) if _has_rows(leaf)}
        if len(sizes) != 1:
            raise ValueError(
                "experimental_distribute_dataset splits batches among the replicas, and the components of an element "
                f"have {sorted(sizes) if sizes else 'no'} rows. Call `batch` on the dataset, or use "
                "distribute_datasets_from_function"
            )
        rows = -(-sizes.pop() // self._count)
        return [map_leaves(lambda x, i=i: _slice(x, i * rows, (i + 1) * rows), element) for i in range(self._count)]

    def _together(self, elements: Any) -> Any:
        """Returns the next elements, one per replica; when too few are left, the other replicas get empty batches."""
        found = [next(elements, None) for _ in range(self._count)]
        there = [x for x in found if x is not None]
        if not there or (len(there) < self._count and not self._may_be_empty()):
            raise StopIteration
        empty = map_leaves(_drop_rows, there[0])
        return self._regrouped([empty if x is None else x for x in found])

    def _may_be_empty(self) -> bool:
        """Returns whether a replica may get an empty batch: not if all batch shapes are static."""
        return not all([spec.shape.is_fully_defined() for spec in leaves(self._source.element_spec)])

    def _regrouped(self, parts: list[Any]) -> Any:
        """Places each component on the device of its replica and groups them."""
        for i, device in enumerate(self._places):
            if device is not devices.HOST:
                parts[i] = map_leaves(partial(_at, device), parts[i])
        return regroup(parts, always_wrap=True)

    @property
    def element_spec(self) -> Any:
        """The specs of an element: one per replica."""

        def one(spec: Any) -> Any:
            if self._splits and spec.shape.rank:
                size = spec.shape[0]
                spec = batch_spec(row_spec(spec), None if size is None or size % self._count else size // self._count)
            return PerReplicaSpec(*[spec] * self._own)

        return map_leaves(one, self._source.element_spec)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Folds the elements into a state."""
        state = initial_state
        for element in self:
            state = reduce_func(state, element)
        return nest.map_structure(to_tensor, state)

    @property
    def cardinality(self) -> int:
        """The cardinality of the source dataset."""
        return int(self._source.cardinality())


class OwnBatches(Distributed):
    """The worker's own batches, one per replica. Iteration ends when all workers are exhausted.

    Until then, an exhausted worker yields empty batches, so that all workers run the same number of steps.
    """

    def __init__(self, dataset: Any, workers: Any) -> None:
        super().__init__(dataset, workers.local, splits=False)
        self.workers = workers

    def __iter__(self) -> Any:
        return _PassOfAll(self, self._together)

    def _may_be_empty(self) -> bool:
        return True  # another worker may have more batches

    def never_ends(self) -> bool:
        """Returns whether the datasets of all workers are infinite."""
        return all(self.workers.of_each(self._source._size == INFINITE_CARDINALITY, "endless dataset"))

    def empty(self) -> Any:
        """Returns an empty batch for each replica."""

        def rows(spec: Any) -> Any:
            shape = [0, *[size or 0 for size in spec.shape[1:]]]
            return wrap(np.zeros(shape, spec.dtype.numpy), spec.dtype)

        one = map_leaves(rows, self._source.element_spec)
        return regroup([one] * self._count, always_wrap=True)


class _PassOfAll(_Pass):
    """An iterator synchronized between workers: each step exchanges batch shapes, unless all datasets are infinite."""

    _endless: bool | None = None
    _last: Any = None  # the last element, a template for empty batches

    def __next__(self) -> Any:
        if thread.trace is not None:
            return super().__next__()
        if self._endless is None:
            self._endless = self._dataset.never_ends()
        if self._endless:
            return super().__next__()
        try:
            found = self._last = super().__next__()
        except StopIteration:
            found = None
        shapes = None if found is None else [_shapes(select_replica(i, found)) for i in range(self._dataset._count)]
        of_all = self._dataset.workers.of_each(shapes, "shapes of batches")
        if not any(of_all):
            raise StopIteration
        found = self._empty() if found is None else found
        even = all([part == of_all[0][0] for parts in of_all for part in parts or [None]]) if of_all[0] else False
        return found if even else map_leaves(lambda x: Uneven(x.values), found)

    def _empty(self) -> Any:
        if self._last is None:
            return self._dataset.empty()
        return map_leaves(lambda x: PerReplica(list(map(_drop_rows, x.values))), self._last)


def _shapes(element: Any) -> list[Any]:
    """Returns the shape of each leaf of an element; for composite tensors, the number of rows."""

    def shape(x: Any) -> list[int]:
        return [row_count(x)] if isinstance(x, CompositeTensor) else list(getattr(x, "dims", ()))

    return list(map(shape, leaves(element)))


def shard_dataset(dataset: Any, workers: Any) -> Any:
    """Shards a dataset of global batches between workers by its auto-shard policy, as in TensorFlow.

    FILE assigns files to workers, DATA assigns rows of each batch, OFF gives every worker all data. AUTO means FILE if
    the dataset reads files, else DATA.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy is AutoShardPolicy.HINT:
        raise UnimplementedError(
            "AutoShardPolicy.HINT is not there: call `dataset.shard(number_of_workers, index)` where the hint is, and "
            "use AutoShardPolicy.OFF"
        )
    own = dataset if policy is AutoShardPolicy.OFF else None
    if policy in (AutoShardPolicy.AUTO, AutoShardPolicy.FILE):
        own = by_files(dataset, workers.count, workers.rank)
        if own is None and policy is AutoShardPolicy.FILE:
            raise NotFoundError(
                f"Found an unshardable source dataset: {dataset!r} is not made of files that its workers could share. "
                "Use AutoShardPolicy.DATA"
            )
    share = Share(dataset, workers)
    if own is None:
        return share
    parts = split_batches(own, batch_size(dataset), share._count, workers.first, share.split)
    return OwnBatches(parts, workers)


class Share(Distributed):
    """The components of each global batch that belong to the replicas of one worker."""

    def __init__(self, dataset: Any, workers: Any) -> None:
        super().__init__(dataset, workers.count * workers.local, splits=True)
        self._own = workers.local
        self._workers = workers

    def _split(self, elements: Any) -> Any:
        parts = self.split(next(elements))
        shapes = [_shapes(part) for part in parts]
        own = parts[self._workers.first : self._workers.first + self._workers.local]
        return regroup(own, always_wrap=True, kind=PerReplica if shapes.count(shapes[0]) == len(shapes) else Uneven)


class InputIterator:
    """The result of `make_dataset_iterator` and `make_input_fn_iterator`: an iterator that can be restarted.

    >>> iterator = tf.distribute.get_strategy().make_dataset_iterator(tf.data.Dataset.range(2))
    >>> iterator.initialize()
    >>> int(iterator.get_next())
    0
    """

    def __init__(self, elements: Any) -> None:
        self._elements = elements
        self._pass = iter(elements)

    def initialize(self) -> None:
        """Restarts the iteration."""
        self._pass = iter(self._elements)

    @property
    def initializer(self) -> None:
        """Same as `initialize`, for TF1-style programs that run it as a graph op."""
        self.initialize()

    def get_next(self) -> Any:
        """Returns the next element; raises `tf.errors.OutOfRangeError` at the end."""
        return self._pass.get_next()

    def get_next_as_optional(self) -> Any:
        """Returns the next element as a `tf.experimental.Optional`, which is empty at the end."""
        return self._pass.get_next_as_optional()


class Calls:
    """Calls a function once per replica for each element; ends when the function raises `tf.errors.OutOfRangeError`."""

    def __init__(self, function: Callable[[], Any], count: int) -> None:
        self._function = function
        self._count = count

    def __iter__(self) -> Calls:
        return self

    def __next__(self) -> Any:
        found = [self._function() for _ in range(self._count)]
        return found[0] if self._count == 1 else regroup(found, always_wrap=True)

    def get_next(self) -> Any:
        """Returns the next element."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None


def _has_rows(leaf: Any) -> bool:
    return isinstance(leaf, CompositeTensor) or bool(getattr(leaf, "dims", ()))


def _drop_rows(leaf: Any) -> Any:
    return _slice(leaf, 0, 0) if _has_rows(leaf) else leaf


def _at(device: Device, leaf: Any) -> Any:
    """Returns the leaf on `device`. Logical CPU devices share memory, so nothing is copied."""
    if type(leaf) is not Tensor or device.kind != devices.HOST.kind:
        return leaf
    there = wrap(leaf.array, leaf.dtype)
    there.placement = device
    return there


def _slice(leaf: Any, start: int, stop: int) -> Any:
    """Returns rows `start:stop` of a leaf."""
    if not isinstance(leaf, SparseTensor):
        return leaf[start:stop]
    indices, values = np.asarray(leaf.indices), np.asarray(leaf.values)
    inside = (indices[:, 0] >= start) & (indices[:, 0] < stop)
    shift = np.array([start] + [0] * (indices.shape[1] - 1))
    total, *rest = np.asarray(leaf.dense_shape).tolist()
    count = max(0, min(stop, total) - start)
    return SparseTensor(indices[inside] - shift, to_tensor(values[inside], leaf.dtype), [count, *rest])
