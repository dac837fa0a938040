"""`tf.distribute` on the one device there is: training loops written for several replicas run with one.

Such a strategy has nothing to copy and nothing to add up. What is kept is who is asked from where: `scope` is above the
replicas, what `run` calls is in the only one.
"""

from __future__ import annotations

import abc
import enum
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core import dtypes, nest
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..math.reductions import reduce_mean, reduce_sum

NAMESPACES = ("distribute",)
__all__ = [
    "DistributedDataset", "InputContext", "MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "ReplicaContext",
    "Strategy", "TPUStrategy", "experimental_set_strategy", "get_replica_context", "get_strategy", "has_strategy",
    "in_cross_replica_context",
]  # fmt: skip


class ReduceOp(enum.Enum):
    """How the values of all replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


class DistributedDataset(abc.ABC):
    """What a dataset is when replicas share it. With one replica it is the dataset itself, and nothing is of this type.

    >>> import gradtape as tf
    >>> dataset = tf.data.Dataset.range(2)
    >>> isinstance(tf.distribute.get_strategy().experimental_distribute_dataset(dataset), tf.data.Dataset)
    True
    """

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """One pass through the dataset."""

    @property
    @abc.abstractmethod
    def element_spec(self) -> Any:
        """The specs of an element."""

    @abc.abstractmethod
    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Goes through the dataset with a state."""


class InputContext:
    """What a function that makes a dataset is told: which of how many pipelines it makes."""

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    num_input_pipelines: int
    input_pipeline_id: int
    num_replicas_in_sync: int

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The share of each replica; ValueError if the batch cannot be divided among them."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self.num_replicas_in_sync}"
            )
        return global_batch_size // self.num_replicas_in_sync

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: {self.num_input_pipelines})"
        )


class Strategy:
    """One replica, which has everything to itself.

    >>> import gradtape as tf
    >>> strategy = tf.distribute.get_strategy()
    >>> losses = strategy.run(lambda x: x * 2.0, args=(tf.constant([1.0, 2.0]),))
    >>> float(strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=0))
    6.0
    """

    def __init__(self, extended: Any) -> None:
        raise NotImplementedError(
            "gradtape has no strategies of one's own: use tf.distribute.MirroredStrategy() or OneDeviceStrategy(device)"
        )

    @property
    def num_replicas_in_sync(self) -> int:
        """1: there is one device."""
        return 1

    @property
    def cluster_resolver(self) -> None:
        """None: there is no cluster."""
        return None

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Makes this the strategy that `tf.distribute.get_strategy` gives; models and variables are made inside."""
        _check_above_replicas()
        _check_same(self)
        with _entered(self, in_replica=False):
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """`fn(*args, **kwargs)`, as the only replica."""
        _check_above_replicas()
        _check_same(self)
        with _entered(self, in_replica=True):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The value of the only replica; along `axis`, unless it is None, its sum or mean."""
        along = reduce_sum if _as_reduce_op(reduce_op) is ReduceOp.SUM else reduce_mean
        if axis is None:
            return nest.map_structure(to_tensor, value)
        x = to_tensor(value)
        if along is reduce_mean and x.dtype.is_integer:  # a mean of counts is no count
            x = ops.cast(x, dtype=dtypes.float64)
        return along(x, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """The values of all replicas, one after the other along `axis`: that of the only one."""
        return nest.map_structure(to_tensor, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of all replicas: a tuple of one."""
        return (value,)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself: the only replica gets whole batches."""
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """What `dataset_fn` makes for the only pipeline."""
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ReplicaContext], Any]) -> Any:
        """What `value_fn` gives for the only replica."""
        return value_fn(ReplicaContext(self, 0))


class MirroredStrategy(Strategy):
    """What TensorFlow's is on a machine with one device.

    >>> import gradtape as tf
    >>> strategy = tf.distribute.MirroredStrategy()
    >>> with strategy.scope():
    ...     w = tf.Variable(2.0)
    >>> strategy.num_replicas_in_sync, float(strategy.run(lambda: w * 3.0))
    (1, 6.0)
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        if devices is not None and len(devices) != 1:
            raise ValueError(f"There is one device, /cpu:0, got devices={devices!r}. Leave `devices` out")


class TPUStrategy(Strategy):
    """There are no TPUs; a class may derive from it all the same.

    >>> import gradtape as tf
    >>> tf.distribute.TPUStrategy()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: ...
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise ValueError(
            "Please provide a TPU Name to connect to: gradtape knows of no TPUs. Use tf.distribute.MirroredStrategy()"
        )


class OneDeviceStrategy(Strategy):
    """Everything on one device, which there is only one of.

    >>> import gradtape as tf
    >>> tf.distribute.OneDeviceStrategy("/cpu:0").run(lambda: 3)
    3
    """

    def __init__(self, device: str) -> None:
        self._device = device


class _DefaultStrategy(Strategy):
    """The strategy where none was chosen."""

    def __init__(self) -> None:
        pass


class ReplicaContext:
    """What a replica, the function that `Strategy.run` calls, may ask about itself and tell the others."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: int) -> None:
        self.strategy = strategy
        self.replica_id_in_sync_group = replica_id_in_sync_group

    strategy: Strategy
    replica_id_in_sync_group: int

    @property
    def num_replicas_in_sync(self) -> int:
        """1: there is one device."""
        return 1

    @property
    def devices(self) -> tuple[str, ...]:
        """The only device."""
        return ("/device:CPU:0",)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas: the value of this one."""
        _as_reduce_op(reduce_op)
        return nest.map_structure(to_tensor, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Tensor:
        """The values of all replicas, one after the other along `axis`: that of this one."""
        return nest.map_structure(to_tensor, value)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args, **kwargs)`, above the replicas."""
        with _entered(self.strategy, in_replica=False):
            return merge_fn(self.strategy, *args, **(kwargs or {}))


class _Place(threading.local):
    """Where this thread is: which strategy was chosen, and whether inside of its replica."""

    strategy: Strategy | None = None
    in_replica = True


_place = _Place()
_DEFAULT = _DefaultStrategy()


@contextmanager
def _entered(strategy: Strategy, in_replica: bool) -> Iterator[None]:
    before = _place.strategy, _place.in_replica
    _place.strategy, _place.in_replica = (None if strategy is _DEFAULT else strategy), in_replica
    try:
        yield
    finally:
        _place.strategy, _place.in_replica = before


def _check_above_replicas() -> None:
    if _place.strategy is not None and _place.in_replica:
        raise RuntimeError(
            "Method requires being in cross-replica context, use get_replica_context().merge_call(): this is already "
            "what a strategy runs"
        )


def _check_same(strategy: Strategy) -> None:
    if _place.strategy is not None and _place.strategy is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {_place.strategy} is not {strategy}. Leave the scope of "
            "the first one before"
        )


def _as_reduce_op(given: Any) -> ReduceOp:
    return ReduceOp(given.upper() if isinstance(given, str) else given)


def get_strategy() -> Strategy:
    """The strategy whose scope this is in, or the default one.

    >>> import gradtape as tf
    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return _place.strategy or _DEFAULT


def has_strategy() -> bool:
    """Whether a strategy was chosen.

    >>> import gradtape as tf
    >>> tf.distribute.has_strategy()
    False
    """
    return _place.strategy is not None


def in_cross_replica_context() -> bool:
    """Whether this is above the replicas: in a strategy's scope, but not in what it runs.

    >>> import gradtape as tf
    >>> tf.distribute.in_cross_replica_context()
    False
    """
    return not _place.in_replica


def get_replica_context() -> ReplicaContext | None:
    """The replica this is in; None above them.

    >>> import gradtape as tf
    >>> tf.distribute.get_replica_context().replica_id_in_sync_group
    0
    """
    return ReplicaContext(get_strategy(), 0) if _place.in_replica else None


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Chooses a strategy for all that follows, without a scope; None takes it back.

    >>> import gradtape as tf
    >>> tf.distribute.experimental_set_strategy(None)
    """
    _place.strategy, _place.in_replica = strategy, strategy is None
