"""The replica context (replica id, and collectives called from inside a replica), and random numbers in replicas.

All replicas advance the same random states, and each offsets the key by its replica id. Replica 0 therefore draws the
same numbers as a program without a strategy. A generator created outside the strategy's scope is a single stream that
the replicas consume in turn, as in TensorFlow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, nest
from ..core.pickling import Unpicklable
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor
from ..core.tracebacks import bounded
from ..engine.run.convert import to_tensor
from ..engine.run.distribution_context import cross_replica_context, place
from ..engine.run.namespace import ops
from ..engine.tape.custom import custom_call
from .reductions import ReduceOp, as_reduce_op, copy_tensor, workers_of

_STEP = 0x9E3779B97F4A7C15  # SplitMix64's golden-ratio constant: odd and large, so replica keys avoid other seeds
_MODULUS = 1 << 64


@bounded
class ReplicaContext(Unpicklable):
    """The context of a replica inside `Strategy.run`: its id, its device, and collectives with the other replicas.

    >>> context = tf.distribute.get_replica_context()
    >>> float(context.all_reduce("sum", 2.0)), context.num_replicas_in_sync
    (2.0, 1)
    """

    __module__ = "gradtape.distribute"

    _instead = "it is that of a replica that runs. Call tf.distribute.get_replica_context()"

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        """The strategy that runs this replica."""
        return self._strategy

    @property
    def local_id(self) -> int:
        """The index of this replica among the replicas of this process."""
        workers = workers_of(self._strategy)
        return int(self._id) - (0 if workers is None else workers.first)

    @property
    def replica_context(self) -> Any:
        """The key for tracing functions called by this replica; None if it is the only one."""
        return None if self.num_replicas_in_sync == 1 else (self._strategy, self._id)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica id as a tensor."""
        return to_tensor(self._id, dtypes.int32)

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return int(self._strategy.num_replicas_in_sync)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica, in a tuple."""
        return (self._strategy.extended.worker_devices[self.local_id],)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, *args, **kwargs)` once, in cross-replica context, while the replicas wait.

        The arguments of all replicas are passed as `PerReplica` values, and each replica gets its component of the
        result.
        """
        with cross_replica_context(self._strategy):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the sum or mean of a nest of tensors over all replicas; gradients are reduced in the same way."""
        op = as_reduce_op(reduce_op)
        leaves = nest.flatten(value)
        found = [i for i, x in enumerate(leaves) if x is not None]
        given = [x if isinstance(x := leaves[i], IndexedSlices) else to_tensor(x) for i in found]
        for i, x in zip(found, self._all_reduced(op, given) if given else (), strict=True):
            leaves[i] = x
        return nest.pack_sequence_as(value, leaves)

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Calls `fn(var, *args, **kwargs)` for each replica's copy of the variable, with this replica's arguments."""

        def merge(strategy: Any, *given: Any, **named: Any) -> Any:
            return strategy.extended.update(var, fn, given, named, group)

        return self.merge_call(merge, args, kwargs)

    def _all_reduced(self, op: ReduceOp, given: Sequence[Any]) -> Sequence[Any]:
        if self.num_replicas_in_sync == 1:
            return given

        def all_of(*values: Any) -> Any:
            return self.merge_call(lambda strategy, *xs: [strategy.extended.reduce_to(op, x, x) for x in xs], values)

        if any([isinstance(x, IndexedSlices) for x in given]):
            return all_of(*given)  # type: ignore[no-any-return]

        def pair(*xs: Tensor) -> Any:
            return tuple(all_of(*map(copy_tensor, xs))), lambda *gs: self.all_reduce(op, gs)

        results: Sequence[Any] = custom_call(pair, "all_reduce", tuple(given), {})
        return results

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Concatenates the tensors of all replicas; the gradient is this replica's slice of the summed gradients."""
        leaves = nest.flatten(value)
        for x in leaves:
            if isinstance(x, IndexedSlices):
                raise NotImplementedError("all_gather does not support IndexedSlices")
        tensors = list(map(to_tensor, leaves))
        for x in tensors:
            if not x.dims:
                raise ValueError("all_gather of a scalar is not possible: there is no axis. Use tf.reshape(x, [1])")
        if self.num_replicas_in_sync > 1:
            tensors = [self._all_gathered(x, int(axis) % len(x.dims)) for x in tensors]
        return nest.pack_sequence_as(value, tensors)

    def _all_gathered(self, value: Tensor, axis: int) -> Tensor:
        def merge(strategy: Any, x: Any) -> Any:
            workers = workers_of(strategy)
            rows = sum([one.dims[axis] for one in x.values])
            starts, at = [], 0 if workers is None else workers.rows_before(rows)
            for one in x.values:
                starts.append(at)
                at += one.dims[axis]
            return strategy.extended.gathered(x, axis), starts

        def pair(x: Tensor) -> Any:
            whole, starts = self.merge_call(merge, (copy_tensor(x),))
            mine = slice(starts[self.local_id], starts[self.local_id] + x.dims[axis])

            def own_part(g: Tensor) -> Any:
                return self.all_reduce(ReduceOp.SUM, g)[(slice(None),) * axis + (mine,)]

            return whole, own_part

        result: Tensor = custom_call(pair, "all_gather", (value,), {})
        return result


def get_replica_context() -> ReplicaContext | None:
    """Returns the current replica context; None in cross-replica context.

    >>> int(tf.distribute.get_replica_context().replica_id_in_sync_group)
    0
    """
    if place.context is not None:
        return place.context  # type: ignore[no-any-return]
    return _only_one(place.strategy or place.default) if place.in_replica else None


@functools.lru_cache(1)
def _only_one(strategy: Any) -> ReplicaContext:
    """Returns the replica context of code outside `Strategy.run`, one object per strategy."""
    return ReplicaContext(strategy, 0)


def require_replica() -> ReplicaContext:
    """Returns the current replica context; raises RuntimeError in cross-replica context."""
    context = get_replica_context()
    if context is None:
        raise RuntimeError("This requires a replica context: call it in a function passed to `strategy.run`")
    return context


def vary_by_replica(replica: int, states: list[Any]) -> Callable[[Callable[[], Any], Any], Any]:
    """Returns the sampling hook of a replica; `states` holds the states drawn so far in this run by any replica."""
    drawn = 0

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        nonlocal drawn
        if hasattr(take, "variable"):  # a generator: either each replica has its own copy, or all consume one stream
            state = draw_one()
            if not getattr(take.variable, "is_distributed", False):
                return state
        else:
            if drawn == len(states):
                states.append(draw_one())
            drawn += 1
            state = states[drawn - 1]
        if replica == 0:
            return state
        change = np.array([0, 0, replica * _STEP % _MODULUS], np.uint64)
        return ops.add(state, to_tensor(change)) if isinstance(state, Tensor) else state + change

    return together


def vary_by_tensor(number: Tensor) -> Callable[[Callable[[], Any], Any], Any]:
    """Returns the sampling hook of an SPMD program, whose replica id is a tensor; same numbers as `vary_by_replica`."""

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        state = draw_one()
        key = ops.mul(ops.cast(number, dtype=dtypes.uint64), to_tensor(np.uint64(_STEP)))
        zero = to_tensor(np.zeros(1, np.uint64))
        return ops.add(to_tensor(state), ops.concat(zero, zero, ops.reshape(key, shape=(1,)), axis=0))

    return together
