"""`Strategy.extended`: the cross-replica interface that optimizers and layers use."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core import nest
from ..engine.run.distribution_context import cross_replica_context, place
from ..state.variable import Variable
from .reductions import as_reduce_op, gather_values, reduce_value, spread, workers_of
from .replicas import get_replica_context, require_replica
from .values import DistributedValues, select_replica
from .variables import DistributedVariable, update


class StrategyExtended:
    """Additional API of a strategy, for libraries that are distribution-aware.

    >>> strategy = tf.distribute.get_strategy()
    >>> float(strategy.extended.update(tf.Variable(1.0), lambda v, x: v.assign_add(x), args=(2.0,)))
    3.0
    """

    __module__ = "gradtape.distribute"

    def __init__(self, container_strategy: Any) -> None:
        self._strategy = weakref.ref(container_strategy)
        self._created: weakref.WeakValueDictionary[int, Variable] = weakref.WeakValueDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._container_strategy(), "extended")

    def _container_strategy(self) -> Any:
        return self._strategy()

    def _count(self) -> int:
        return int(self._container_strategy().num_replicas_in_sync)

    def _local(self) -> int:
        return len(self.worker_devices)

    def created(self, variable: Variable) -> None:
        """Registers a variable created in the scope."""
        self._created[id(variable)] = variable

    @property
    def variables(self) -> list[Variable]:
        """The live distributed variables created in the scope, in creation order."""
        return sorted(self._created.values(), key=lambda variable: variable._created)

    @property
    def _global_batch_size(self) -> bool:
        """Whether the batch size of a dataset is that of all replicas together."""
        return True

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device of each replica."""
        return tuple(self._container_strategy()._device_names)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables: those of the replicas."""
        return self.worker_devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        """False: the replicas may have batches of different sizes."""
        return False

    @property
    def experimental_between_graph(self) -> bool:
        """False: a single program controls all replicas."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """True: variables are initialized on creation."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this process writes checkpoints: only the first worker does."""
        workers = workers_of(self._container_strategy())
        return workers is None or workers.rank == 0

    should_save_summary = should_checkpoint

    def _use_merge_call(self) -> bool:
        return self._count() > 1

    def _in_multi_worker_mode(self) -> bool:
        return workers_of(self._container_strategy()) is not None

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """All-reduces a value over the replicas. Every replica gets the result, whatever the destinations are."""
        self._check_above()
        return self._mirrored(reduce_value(as_reduce_op(reduce_op), value, self._count()))

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """Calls `reduce_to` for each pair."""
        return [self.reduce_to(reduce_op, value, at, options) for value, at in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Mirrors a tensor to all replicas."""
        self._check_above()
        return self._mirrored(tensor)

    def _mirrored(self, value: Any) -> Any:
        """Mirrors a value to all replicas; a strategy of one replica that mirrors no variables returns it as it is."""
        return value if self._local() == 1 and not self._container_strategy()._mirrors else spread(value, self._local())

    def gathered(self, value: Any, axis: int) -> Any:
        """Concatenates the values of all replicas along `axis` and mirrors the result."""
        if not isinstance(value, DistributedValues):
            return value
        if place.spmd is not None:
            return place.spmd.gathered(value._primary, axis)
        found = gather_values(value.values, axis)
        workers = workers_of(self._container_strategy())
        return spread(found if workers is None else workers.rows(found, axis % len(found.dims)), self._local())

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls `fn(var, *args, **kwargs)` for each replica's copy of the variable; `fn` may assign to it.

        Called for each replica, it merges their arguments first.
        """
        replica = get_replica_context()
        if replica is not None and place.strategy is not None:
            return replica._update(var, fn, args, kwargs, group)
        with cross_replica_context(self._container_strategy()):
            result = update(var, fn, tuple(args), dict(kwargs or {}))
        return result if group else nest.map_structure(self._container_strategy().experimental_local_results, result)

    def read_var(self, v: Any) -> Any:
        """Returns the value of a variable in cross-replica context."""
        with cross_replica_context(self._container_strategy()):
            return v.read_value()

    def value_container(self, value: Any) -> Any:
        """Returns the distributed variable that a replica's copy belongs to."""
        for variable in self.variables:
            storage: Any = variable._storage
            if any([part is value for part in getattr(storage, "copies", getattr(variable, "_values", ()))]):
                return variable
        return value

    def variable_created_in_scope(self, v: Any) -> bool:
        """Returns whether the variable was created in the scope of this strategy."""
        own = getattr(v, "distribute_strategy", None)
        return own is self._container_strategy() if isinstance(v, DistributedVariable) else self._count() == 1

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Context manager: new variables are placed like this one, on the devices of all replicas."""
        if not isinstance(colocate_with_variable, Variable) or not self.variable_created_in_scope(
            colocate_with_variable
        ):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), "
                f"not: {colocate_with_variable!r}"
            )
        yield

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Same as `Strategy.run`; a single replica, too, takes its components of values."""
        strategy = self._container_strategy()
        if strategy.num_replicas_in_sync == 1:
            args, kwargs = select_replica(0, (tuple(args), dict(kwargs or {})))
        return strategy.run(fn, args, kwargs)

    def _get_local_replica_id(self, replica_id_in_sync_group: Any) -> Any:
        workers = workers_of(self._container_strategy())
        return replica_id_in_sync_group - (0 if workers is None else workers.first)

    def _replica_ctx_all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        return require_replica().all_reduce(reduce_op, value, options)

    def _replica_ctx_update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return require_replica()._update(var, fn, args, kwargs, group)

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return local_results(value, self._local())

    def _check_above(self) -> None:
        if place.strategy is not None and place.in_replica:
            raise RuntimeError(
                "Method requires being in cross-replica context, use get_replica_context().merge_call()"
            )


def local_results(value: Any, count: int) -> tuple[Any, ...]:
    """Returns the value of each of the `count` replicas of this process; a nest becomes one nest per replica."""
    if not nest.is_nested(value):
        return tuple(value.values) if isinstance(value, DistributedValues) else (value,)
    leaves = [local_results(leaf, count) for leaf in nest.flatten(value)]
    rows: Sequence[Any] = [leaf if len(leaf) == count else leaf * count for leaf in leaves]
    return tuple([nest.pack_sequence_as(value, [row[i] for row in rows]) for i in range(count)])
