"""Datasets whose elements the workers of a service compute."""

from __future__ import annotations

import enum
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.locks import fork_safe_lock
from ...core.tensor import Tensor, wrap
from ...datasets.dataset import Dataset
from ...datasets.pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ...engine.run.convert import to_tensor
from .servers import DispatchServer, dispatcher_at

NAMESPACES = ("data.experimental.service",)
__all__ = ["CrossTrainerCache", "ShardingPolicy", "distribute", "from_dataset_id", "register_dataset"]


class ShardingPolicy(enum.IntEnum):
    """How the elements of a dataset are divided among workers."""

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class CrossTrainerCache:
    """Lets several trainers read the same elements of a job.

    >>> import gradtape as tf
    >>> tf.data.experimental.service.CrossTrainerCache("first").trainer_id
    'first'
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


class _Job:
    """A pass over a dataset that readers share: each element goes to one reader.

    With `consumers`, element `n` goes to the reader `n % consumers`.
    """

    def __init__(self, elements: Iterator[Any], consumers: int | None) -> None:
        self._elements, self._lock = elements, fork_safe_lock()
        self._waiting: list[deque[Any]] = [deque() for _ in range(consumers or 0)]
        self._turns = itertools.cycle(range(consumers)) if consumers else iter(())

    def read(self, consumer: int | None) -> Iterator[Any]:
        """Yields the elements of a reader."""
        while True:
            with self._lock:
                try:
                    element = next(self._elements) if consumer is None else self._next_of(consumer)
                except StopIteration:
                    return
            yield element

    def _next_of(self, consumer: int) -> Any:
        while not self._waiting[consumer]:
            self._waiting[next(self._turns)].append(next(self._elements))
        return self._waiting[consumer].popleft()


def _elements(dataset: Any, policy: ShardingPolicy, workers: int) -> Iterator[Any]:
    """Yields the elements that the workers compute, one of each in turn."""
    if policy is ShardingPolicy.DYNAMIC:  # whichever worker computes an element: each is there once
        return iter(dataset)
    if policy in (ShardingPolicy.OFF, ShardingPolicy.HINT):
        return _in_turn([dataset] * workers)
    return _in_turn([dataset.shard(workers, i) for i in range(workers)])


def _in_turn(datasets: list[Any]) -> Iterator[Any]:
    passes = deque(iter(dataset) for dataset in datasets)
    while passes:
        found = passes.popleft()
        try:
            yield next(found)
        except StopIteration:
            continue
        passes.append(found)


def distribute(
    processing_mode: Any,
    service: str,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str | None = "AUTO",
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Callable[[Dataset], Dataset]:
    """Returns a function, for `Dataset.apply`, of a dataset that returns its elements as the workers compute them.

    >>> import gradtape as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> data = tf.data.Dataset.range(4).map(lambda x: x * x)
    >>> data = data.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target, job_name="shared"))
    >>> [int(x) for x in data]
    [0, 1, 4, 9]

    Args:
      processing_mode: a `ShardingPolicy`; `"parallel_epochs"` is `OFF`: each worker yields the whole dataset;
        `"distributed_epoch"` is `DYNAMIC`.
      service: the address of the dispatcher.
      job_name: readers with the same name share a pass, and each element goes to one of them.
      consumer_index: the number of this reader, if `num_consumers` readers take turns.
      num_consumers: the number of readers that take turns.
      compression: `"AUTO"` or None; nothing is sent, and so nothing is compressed.
      cross_trainer_cache: trainers with different ids get the same elements of a job.
    """
    policy = _policy_of(processing_mode)
    _check_compression(compression)
    address = _address_of(service)
    job = (job_name, consumer_index, num_consumers, cross_trainer_cache)
    _check_job(*job)

    def apply(dataset: Dataset) -> Dataset:
        return _reader(dataset, lambda: dataset, policy, address, job)

    return apply


def register_dataset(
    service: str, dataset: Dataset, compression: str | None = "AUTO", dataset_id: str | None = None
) -> Tensor:
    """Makes a dataset known to a dispatcher, and returns its id, for `from_dataset_id`.

    >>> import gradtape as tf
    >>> dispatcher = tf.data.experimental.service.DispatchServer()
    >>> tf.data.experimental.service.register_dataset(dispatcher.target, tf.data.Dataset.range(3)).numpy()
    b'1000'
    """
    _check_compression(compression)
    number = dispatcher_at(_address_of(service))._register(dataset, dataset_id)
    return wrap(np.array(number.encode(), object), dtypes.string)


def from_dataset_id(
    processing_mode: Any,
    service: str,
    dataset_id: Any,
    element_spec: Any = None,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Dataset:
    """Returns a registered dataset, whose elements the workers compute.

    >>> import gradtape as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> number = service.register_dataset(dispatcher.target, tf.data.Dataset.range(3))
    >>> [int(x) for x in service.from_dataset_id("parallel_epochs", dispatcher.target, number)]
    [0, 1, 2]

    Args:
      processing_mode: see `distribute`, also for the other arguments.
      service: the address of the dispatcher.
      dataset_id: what `register_dataset` has returned.
      element_spec: the specs of an element, which the dispatcher knows.
    """
    policy, address = _policy_of(processing_mode), _address_of(service)
    job = (job_name, consumer_index, num_consumers, cross_trainer_cache)
    _check_job(*job)
    value = to_tensor(dataset_id).numpy()
    key = value.decode() if isinstance(value, bytes) else str(value)

    def find() -> Any:
        found = dispatcher_at(address)._datasets.get(key)
        if found is None:
            raise ValueError(f"Failed to fetch element spec for dataset id {key} from tf.data service.")
        return found

    return _reader(find(), find, policy, address, job)


def _reader(
    source: Any, find: Callable[[], Any], policy: ShardingPolicy, address: str, job: tuple[Any, ...]
) -> Dataset:
    """Returns the dataset that reads from the service; its pass number `n` is part of the job's pass `n`."""
    name, consumer, consumers, cache = job
    passes = itertools.count()

    def begin(dispatcher: DispatchServer) -> _Job:
        workers = len(dispatcher._await_workers())
        return _Job(_elements(find(), policy, workers), consumers)

    def elements() -> Iterator[Any]:
        dispatcher, number = dispatcher_at(address), next(passes)
        if name is None:
            return begin(dispatcher).read(None)
        dispatcher._await_workers()
        key = (name, number, None if cache is None else cache.trainer_id)
        found: _Job = dispatcher._job(key, lambda: begin(dispatcher))
        return found.read(consumer)

    size = INFINITE_CARDINALITY if source._size == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY
    return Dataset("DataServiceDataset", elements, source._known, size, samples=source._samples)


def _policy_of(mode: Any) -> ShardingPolicy:
    if isinstance(mode, ShardingPolicy):
        return mode
    named = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}
    if isinstance(mode, str) and mode in named:
        return named[mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
        f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {mode!r}.'
    )


def _check_compression(compression: Any) -> None:
    if compression not in ("AUTO", None, "SNAPPY"):
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of ['AUTO', None, 'SNAPPY'].")


def _address_of(service: Any) -> str:
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    if service.count("://") > 1:
        raise ValueError(f"Malformed `service` string has multiple '://': {service}.")
    return service.rpartition("://")[2]


def _check_job(name: Any, consumer: Any, consumers: Any, cache: Any) -> None:
    if name is not None and not isinstance(name, str):
        raise ValueError(f"`job_name` must be a string, but `job_name` was of type {type(name)}. job_name={name}")
    if name == "":
        raise ValueError("`job_name` must not be empty")
    if (consumer is None) != (consumers is None):
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. "
            f"consumer_index={consumer}, num_consumers={consumers}"
        )
    if consumers is not None and name is None:
        raise ValueError(f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {consumers}.")
