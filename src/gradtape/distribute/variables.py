"""Distributed variables: mirrored ones, identical on all replicas, and sync-on-read ones, aggregated when read.

A mirrored variable stores one value for all replicas and is copied on the first divergent write: without an
aggregation, each replica writes to its own copy. A sync-on-read variable has one component per replica from the start.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core import nest
from ..core.scopes import holding, scoped, unscoped
from ..core.tensor import Tensor, text_of, wrap
from ..engine.run import dispatch
from ..engine.run.convert import readable, register, to_tensor
from ..engine.run.dispatch import thread
from ..engine.run.distribution_context import cross_replica_context, place, replica_of
from ..engine.run.namespace import ops
from ..graph.trace.conversion_status import ConversionNeeded
from ..state.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    convert_variable,
    variable_creator_scope,
)
from .reductions import ReduceOp, reduce_value, workers_of
from .replicas import get_replica_context
from .shards import MirroredStorage, PerReplicaStorage, part_of, placeholder_of
from .values import DistributedValues, PerReplica, is_mirrored, select_replica

SCATTERS = ("scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_max", "scatter_min", "scatter_update")
_NUMBERS = re.compile(r"_\d+(?=/|$)")  # suffixes that make names unique
_CHOOSING = ("scatter_max", "scatter_min", "scatter_update")  # these have no sum over replicas
_NONE, _SUM, _MEAN = VariableAggregation.NONE, VariableAggregation.SUM, VariableAggregation.MEAN


class DistributedVariable(Variable, DistributedValues):
    """A variable created in the scope of a strategy with several replicas."""

    is_distributed = True
    is_mirrored: bool
    _strategy: Any  # without a default: a class that wraps a variable takes it from there

    def _begin(self, strategy: Any) -> None:
        """Completes the initialization after `Variable.__init__`."""
        check_aggregation(self)
        self._strategy = strategy

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that created the variable."""
        return self._strategy

    def _count(self) -> int:
        return int(self._strategy.num_replicas_in_sync)

    def _local(self) -> int:
        return len(self._strategy.extended.worker_devices)

    def _marked(self, read: Tensor) -> Tensor:
        """Records the read of a component as a read of the whole variable: tapes do not track components."""
        for recorder in thread.recorders:
            read.tracer = recorder.tracer_of(self, read.tracer)
        return read

    def _read_of(self, part: Variable) -> Tensor:
        trace = thread.trace
        if trace is not None:
            with dispatch.recorded_by(()):
                read = trace.read(part)
            return self._marked(read)
        return self._marked(wrap(part._storage.host(), part.dtype))

    def __reduce__(self) -> Any:
        return plain, (self.numpy(), self._trainable, self._title.removesuffix(":0"))

    def __repr__(self) -> str:
        if thread.trace is not None:
            return f"<{type(self).__name__} '{self._title}' shape={self._shape} dtype={self.dtype.name}>"
        name, rows = self._title.removesuffix(":0"), []
        for i in range(self._local()):
            shown = f"{name}/replica_{i}:0" if i else self._title
            value = text_of(wrap(self._part(i)._storage.host(), self.dtype)._shown(), repr)
            rows.append(f"  {i}: <tf.Variable '{shown}' shape={self._shape} dtype={self.dtype.name}, numpy={value}>")
        return f"{type(self).__name__}:{{\n" + ",\n".join(rows) + "\n}"

    __str__ = __repr__

    def _part(self, replica: int) -> Variable:
        raise NotImplementedError

    def _get(self) -> Variable:
        context = replica_of(self._strategy)
        return self._part(0 if context is None else context.local_id)

    @property
    def _distribute_strategy(self) -> Any:
        return self._strategy

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(self._strategy.extended.worker_devices)

    @property
    def device(self) -> str:
        """The device of the current replica; in cross-replica context, that of the first."""
        context = replica_of(self._strategy)
        return self._devices[0 if context is None else context.local_id]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        arguments = {
            "initial_value": self._part(0)._storage.host(), "trainable": self._trainable,
            "aggregation": self._aggregation, "synchronization": self._synchronization,
            "shape": self._shape, "constraint": self.constraint, "name": self._title.removesuffix(":0"),
        }  # fmt: skip
        made: Any = _create_variable(self._strategy, arguments)
        memo[id(self)] = made
        if not isinstance(self._storage, MirroredStorage) or self._storage.copies:
            for own, other in zip(made._values, self._values, strict=True):
                own._storage.take(other._storage.host())
        return made

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replaces the value; subclasses define the semantics in replica and cross-replica context."""
        return self._updated_by(Variable.assign, value, {"read_value": read_value})

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to the value."""
        return self._updated_by(Variable.assign_add, delta, {"read_value": read_value})

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from the value."""
        return self._updated_by(Variable.assign_sub, delta, {"read_value": read_value})

    def _updated_by(self, method: Callable[..., Any], value: Any, options: dict[str, Any]) -> Any:
        raise NotImplementedError


def check_aggregation(variable: Any) -> None:
    if variable.aggregation is _MEAN and not (variable.dtype.is_floating or variable.dtype.is_complex):
        raise ValueError(
            "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not supported, "
            f"please use a different aggregation or dtype, got {variable.dtype.name}"
        )


def plain(value: Any, trainable: bool, name: str) -> Variable:
    """Unpickles a variable; in the scope of a strategy it becomes a variable of that strategy."""
    return Variable(value, trainable=trainable, name=name)


class MirroredVariable(DistributedVariable):
    """A variable with the same value on each replica."""

    is_mirrored = True
    _storage: MirroredStorage

    def _store(self, value: Tensor) -> MirroredStorage:
        return MirroredStorage(value.array, value.dtype)

    @property
    def _values(self) -> tuple[Variable, ...]:  # type: ignore[override]
        self._diverge()
        return (self, *self._storage.copies)

    @property
    def values(self) -> tuple[Variable, ...]:
        """The copy of each replica; the first is the variable itself."""
        return self._values

    def _part(self, replica: int) -> Variable:
        copies = self._storage.copies
        return self if replica == 0 or not copies else copies[replica - 1]

    def _as_tensor(self) -> Tensor:
        copies = self._storage.copies
        if copies and place.spmd is None:
            context = replica_of(self._strategy)
            at = place.updated if context is None else context.local_id
            if at:
                return self._read_of(copies[at - 1])
        return super()._as_tensor()

    def _diverge(self) -> None:
        """Gives each replica a copy of its own (copy-on-write)."""
        if self._storage.copies or self._local() == 1:
            return
        self._make_copies()
        if thread.trace is not None:  # the trace so far reads and writes the single value: retrace
            raise ConversionNeeded

    def _make_copies(self) -> None:
        options = {"trainable": self._trainable, "shape": self._shape}
        with dispatch.traced_by(None), holding(place, strategy=None, context=None, in_replica=True):
            name = self._title.removesuffix(":0")
            self._storage.copies = tuple([
                part_of(self.numpy(), f"{name}/replica_{i}", options, self._strategy, i)
                for i in range(1, self._local())
            ])  # fmt: skip
        for copy in self._storage.copies:
            copy._distributed_container = weakref.ref(self)  # type: ignore[attr-defined]  # by which optimizers know it

    def take_shards(self, array: Any) -> None:
        """Takes an array on the devices of all replicas as the value. The caller holds `updating`."""
        storage = self._storage
        storage.take_xla(array)
        if storage.may_differ and not storage.copies:
            self._make_copies()
        storage.take_shards(array)

    def _updated_by(self, method: Callable[..., Any], value: Any, options: dict[str, Any]) -> Any:
        """Applies an assignment by context: in a replica, in cross-replica context, or in an update of one copy."""
        if place.as_one:
            return method(self, value, **options)
        context = replica_of(self._strategy)
        if context is None:
            if place.updated is not None:
                if place.updates_each:
                    self._diverge()
                return method(self._part(place.updated), value, **options)
            with cross_replica_context(self._strategy):
                return update(self, method, (value,), options)
        if self._aggregation is _NONE:
            if place.spmd is None:
                self._diverge()
                method(self._part(context.local_id), value, **options)
            else:
                self._storage.may_differ = True
                method(self, value, **options)
            return self

        def merge(strategy: Any, value: Any) -> Any:
            if self._aggregation is _MEAN and not self.dtype.is_floating and isinstance(value, PerReplica):
                raise ValueError(
                    "Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation in replica "
                    "context. Either change the variable dtype to float or update it in cross-replica context."
                )
            return update(self, method, (aggregate(self, value),), options)

        context.merge_call(merge, (value,))
        return self


def _scatter(name: str) -> Callable[..., Any]:
    method = getattr(Variable, name)

    def scatter(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        chooses = method.__name__ in _CHOOSING and self._aggregation in (_SUM, _MEAN)
        if chooses and replica_of(self._strategy) is not None:
            raise NotImplementedError(
                f"{method.__name__} is only supported for mirrored variable (variable created within certain "
                "`tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` aggregation, got: "
                f"{self._aggregation}."
            )
        return self._updated_by(method, sparse_delta, {})

    scatter.__name__, scatter.__doc__ = name, method.__doc__
    return scatter


for _name in SCATTERS:
    setattr(MirroredVariable, _name, _scatter(_name))


class SyncOnReadVariable(DistributedVariable):
    """A variable with one value per replica; a cross-replica read returns the sum, the mean or the first."""

    is_mirrored = False
    _values: tuple[Variable, ...] = ()  # the component of each replica

    def _store(self, value: Tensor) -> PerReplicaStorage:
        return PerReplicaStorage(value.array, value.dtype, self)

    def _begin(self, strategy: Any) -> None:
        super()._begin(strategy)
        start, name = self._storage.host(), self._title.removesuffix(":0")
        options = {"trainable": False, "shape": self._shape}
        with dispatch.traced_by(None), holding(place, strategy=None, context=None, in_replica=True):
            names = [name, *[f"{name}/replica_{i}" for i in range(1, self._local())]]
            made = [part_of(start, each, options, strategy, i) for i, each in enumerate(names)]
        self._values = tuple(made)
        self.local = placeholder_of(self)  # placeholder for the component in SPMD programs

    @property
    def values(self) -> tuple[Variable, ...]:
        """The component of each replica."""
        return self._values

    def _part(self, replica: int) -> Variable:
        return self._values[replica]

    def _as_tensor(self) -> Tensor:
        if place.as_one:
            return super()._as_tensor()
        context = replica_of(self._strategy)
        at = place.updated if context is None else context.local_id
        if context is not None and place.spmd is not None:
            return self._read_of(self.local)
        if at is not None:
            return self._read_of(self._values[at])
        with cross_replica_context(self._strategy):
            if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                return self._first()
            op = ReduceOp.from_variable_aggregation(self._aggregation)
            found: Tensor = to_tensor(reduce_value(op, self._all(), self._count()))
            return found

    def _all(self) -> PerReplica:
        if place.spmd is not None:
            return PerReplica([self._read_of(self.local)] * self._count())
        return PerReplica([self._read_of(part) for part in self._values])

    def _first(self) -> Tensor:
        if place.spmd is None:
            own, workers = self._read_of(self._values[0]), workers_of(self._strategy)
            return own if workers is None else workers.first_value(own)  # type: ignore[no-any-return]
        first: Tensor = place.spmd.of_all(self._read_of(self.local))[0]
        return first

    def _updated_by(self, method: Callable[..., Any], value: Any, options: dict[str, Any]) -> Any:
        if place.as_one:
            return method(self, value, **options)
        context = replica_of(self._strategy)
        if context is not None:
            part = self.local if place.spmd is not None else self._values[context.local_id]
            method(part, value, **options)
        elif place.updated is not None:
            method(self._values[place.updated], value, **options)
        else:
            self._update_all(method, value, options)
        return self

    def _update_all(self, method: Callable[..., Any], value: Any, options: dict[str, Any]) -> None:
        """Assigns in cross-replica context."""
        if self._aggregation is _SUM:
            if method is not Variable.assign:
                raise ValueError(
                    f"SyncOnReadVariable does not support `{method.__name__}` in cross-replica context when aggregation"
                    " is set to `tf.VariableAggregation.SUM`."
                )
            value = to_tensor(value, dtype=self.dtype)  # dividing keeps the sum over replicas equal to the value
            value = ops.cast(value / self._count(), dtype=self.dtype)
        parts = (self.local,) if place.spmd is not None else self._values
        for i, part in enumerate(parts):
            method(part, select_replica(i, value), **options)

    def _scatter(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("Variables with `synchronization=ON_READ` doesn't support `scatter` of rows")


def aggregate(variable: DistributedVariable, value: Any) -> Any:
    """Aggregates the values that all replicas assign to a mirrored variable."""
    if variable._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        first = value.values[0] if isinstance(value, PerReplica) else value
        workers = workers_of(variable._strategy) if place.spmd is None else None
        return first if workers is None else workers.first_value(first)
    op = ReduceOp.from_variable_aggregation(variable._aggregation)
    return reduce_value(op, value, variable._count())


@contextmanager
def _updating(replica: int, each: bool = False) -> Iterator[None]:
    with holding(place, updated=replica, updates_each=each):
        yield


def update(variable: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Calls `fn(copy, *args, **kwargs)` for each copy of a variable, in cross-replica context."""
    if not isinstance(variable, DistributedVariable):
        return fn(variable, *select_replica(0, args), **select_replica(0, kwargs))
    differ = any([isinstance(x, PerReplica) and not is_mirrored(x) for x in nest.flatten((args, kwargs))])
    if place.spmd is not None:
        if differ and isinstance(variable, MirroredVariable):
            variable._storage.may_differ = True
        with _updating(0):
            here = variable.local if isinstance(variable, SyncOnReadVariable) else variable
            return fn(here, *select_replica(0, args), **select_replica(0, kwargs))
    if isinstance(variable, SyncOnReadVariable):
        parts: tuple[Variable, ...] = variable._values
    else:
        parts = variable._values if differ else (variable, *variable._storage.copies)  # type: ignore[attr-defined]
    results = []
    for i, part in enumerate(parts):
        with _updating(i, each=len(parts) > 1):
            results.append(fn(part, *select_replica(i, args), **select_replica(i, kwargs)))
    return variable if results[0] is parts[0] else results[0]


def created_by(strategy: Any) -> Any:
    """Context manager: new variables belong to the strategy."""

    def create(next_creator: Callable[..., Any], **arguments: Any) -> Any:
        context = get_replica_context()
        if context is None or context.strategy is not strategy:
            return _create_variable(strategy, arguments)
        name = arguments["name"]
        full = scoped("Variable" if name is None else name)  # with the name scopes of the replica
        return context.merge_call(create_for_all, (), {**arguments, "name": full})

    def create_for_all(strategy: Any, **given: Any) -> Any:
        names = given["name"]._values if isinstance(given["name"], PerReplica) else [given["name"]]
        if len({_NUMBERS.sub("", name) for name in names}) > 1:
            raise RuntimeError(
                f"Tried to create variables with mismatching names in the replicas, which are to be one: {list(names)}"
            )
        with unscoped():
            return _create_variable(strategy, select_replica(0, given))

    return variable_creator_scope(create)


def kind_of(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns the variable class for creation arguments, and the arguments with defaults resolved."""
    synchronization = arguments["synchronization"]
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change the "
            f"`synchronization` for variable: {arguments['name']}"
        )
    if synchronization is VariableSynchronization.ON_READ:
        return SyncOnReadVariable, arguments
    if synchronization in (VariableSynchronization.AUTO, None):
        arguments = {**arguments, "synchronization": VariableSynchronization.ON_WRITE}
    return MirroredVariable, arguments


def _create_variable(strategy: Any, arguments: dict[str, Any]) -> Variable:
    kind, arguments = kind_of(arguments)
    variable = object.__new__(kind)
    Variable.__init__(variable, **arguments)
    if (workers := workers_of(strategy)) is not None:
        workers.begin(variable)
    variable._begin(strategy)
    strategy.extended.created(variable)
    return variable  # type: ignore[no-any-return]


for _kind in (MirroredVariable, SyncOnReadVariable):
    register(_kind, convert_variable, 0)
    readable.add(_kind)
