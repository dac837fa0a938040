"""`tf.distribute`: strategies that run a training loop on several replicas.

The implementation is in `gradtape/distribution`. With one replica, nothing is copied or reduced: `run` calls the
function directly, and variables are plain.
"""

from __future__ import annotations

import math
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from html import escape
from typing import Any, Self

from ..api.math.reductions import reduce_mean, reduce_sum
from ..api.runtime.operations import FUNCTION_VIEW
from ..core import devices, dtypes, nest
from ..core.device_spec import DeviceSpec
from ..core.extension_points import convert_function
from ..core.pickling import Unpicklable
from ..core.tracebacks import bounded
from ..data.dataset import Dataset
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from ..engine.run.distribution_context import (
    call_as_only_replica,
    check_above_replicas,
    check_same,
    cross_replica_context,
    place,
    set_default,
)
from ..engine.run.namespace import ops
from ..graph.executors.xla import mesh
from ..graph.function.function import Function
from ..state.variable import Variable, called_with_creator, variable_creator_scope
from . import collective_ops, sequential_runner
from .extended import StrategyExtended, local_results
from .input import (
    Calls,
    Distributed,
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputIterator,
    InputOptions,
    check_options,
)
from .input import InputReplicationMode as InputReplicationMode
from .options import ValueContext
from .reductions import ReduceOp, as_reduce_op, gather_values, gatherable, reduce_value
from .replicas import ReplicaContext, get_replica_context
from .single_replica import creator_of
from .spmd import runner as spmd
from .values import DistributedValues, PerReplica, regroup
from .variables import created_by

NAMESPACES = ("distribute",)
__all__ = [
    "DistributedDataset", "DistributedIterator", "DistributedValues", "InputContext", "InputOptions",
    "InputReplicationMode", "MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "ReplicaContext", "Strategy",
    "StrategyExtended", "experimental_set_strategy", "get_replica_context", "get_strategy", "has_strategy",
    "in_cross_replica_context",
]  # fmt: skip

_MOST_STEPS = 64


@bounded
class Strategy(Unpicklable):
    """Distributes a computation over replicas. The default strategy has a single replica.

    >>> strategy = tf.distribute.get_strategy()
    >>> losses = strategy.run(lambda x: x * 2.0, args=(tf.constant([1.0, 2.0]),))
    >>> float(strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=0))
    6.0
    """

    __module__ = "gradtape.distribute"

    _instead = "its devices belong to this process. Create a strategy in each process"

    _device_names: Sequence[str] = (devices.HOST.name,)
    _mirrors = False  # whether its variables are mirrored, even with one replica
    _should_use_with_coordinator = False  # Keras 2 asks whether a coordinator schedules its steps

    def __init__(self, extended: Any) -> None:
        raise NotImplementedError(
            "gradtape has no strategies of one's own: use tf.distribute.MirroredStrategy() or OneDeviceStrategy(device)"
        )

    def _begin(self, names: Sequence[str]) -> None:
        self._device_names = tuple(names)
        self._extended = StrategyExtended(self)
        self._functions: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self._creator = creator_of(self)  # of variables, if there is one replica
        self._mesh: Any = None
        self._why_in_step = ""  # why replicas run in sequence, if they do

    def __copy__(self) -> Self:
        return self  # variables refer to it

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def extended(self) -> StrategyExtended:
        """The interface for optimizers and layers."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return len(self._device_names)

    @property
    def cluster_resolver(self) -> Any:
        """None: there is no cluster."""
        return None

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Context manager: makes this the current strategy; create models and variables inside."""
        check_above_replicas()
        check_same(self)
        with ExitStack() as stack:
            stack.enter_context(cross_replica_context(self))
            if self.num_replicas_in_sync > 1:
                stack.enter_context(created_by(self))
            elif self._mirrors:
                stack.enter_context(variable_creator_scope(self._creator))
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Runs `fn(*args, **kwargs)` on each replica, with its part of distributed values; returns distributed values.

        In a `tf.function`, or if `fn` is one, all replicas are one XLA program on their devices. Otherwise, or if that
        is not possible, they run in lockstep, with the same results.
        """
        check_above_replicas()
        check_same(self)
        if place.strategy is None and type(self).scope is not Strategy.scope:  # its effects are for replicas too
            with self.scope():
                return self.run(fn, args, kwargs, options)
        if self.num_replicas_in_sync > 1:
            return self._run(fn, args if isinstance(args, PerReplica) else tuple(args), dict(kwargs or {}))
        if place.strategy is None and self._mirrors:
            replica = ReplicaContext(self, 0)
            return called_with_creator(self._creator, call_as_only_replica, replica, fn, args, kwargs or {})
        return call_as_only_replica(ReplicaContext(self, 0), fn, args, kwargs or {})

    def _run(self, fn: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        with ExitStack() as stack:
            if place.strategy is None:  # variables created by the replicas belong to it
                stack.enter_context(created_by(self))
            if place.spmd is not None:
                return spmd.run(self, fn, args, kwargs)
            if thread.trace is not None:
                spmd.take_over(self)
            elif isinstance(fn, Function) or thread.eager_steps is not None:
                return self._compiled(fn)(*args, **kwargs)
            return sequential_runner.run(self, fn, args, kwargs)

    def _compiled(self, fn: Any) -> Function:
        """Returns a function that runs `fn` on the replicas as one program."""
        definition, steps = _definition(fn), thread.eager_steps
        if definition is not None and steps is not None and (self, definition) in steps:
            return steps[self, definition][1]
        key = getattr(fn, "_core", fn)
        found = self._functions.get(key) if definition is None else None
        if found is None:
            inner = _as_tensors_from(fn.converted) if isinstance(fn, Function) else convert_function(fn, None)

            def run(*args: Any, **kwargs: Any) -> Any:
                return self._run(inner, args, kwargs)

            run.__name__ = getattr(fn, "__name__", "run")
            found = Function(run, autograph=False, graph_view=FUNCTION_VIEW)
            if definition is None or steps is None:
                self._functions[key] = found
            else:  # of this caller only: another one may run the same code with another result, such as another mode
                steps[self, definition] = (fn, found)  # `fn` keeps its closure alive, and so the key
                if len(steps) > _MOST_STEPS:
                    del steps[next(iter(steps))]
        return found

    def mesh(self) -> Any:
        """Returns JAX's devices of the replicas as a mesh with one axis."""
        if self._mesh is None:
            chosen = [devices.by_name(name) for name in self._device_names]
            self._mesh = mesh.make_mesh(mesh.jax_devices(chosen), (collective_ops.AXIS,))
        return self._mesh

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Reduces a value over all replicas; along `axis`, unless it is None, over all their entries."""
        check_above_replicas()
        check_same(self)
        op = as_reduce_op(reduce_op)
        if self.num_replicas_in_sync == 1:
            return _reduce_only_replica(op, value, axis)
        with cross_replica_context(self):
            if axis is None:
                return nest.map_structure(lambda x: _first(reduce_value(op, x, self.num_replicas_in_sync)), value)
            return nest.map_structure(lambda x: self._reduced_along(op, x, axis), value)

    def _reduced_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        if place.spmd is not None:
            return place.spmd.along(op, value, axis)
        parts = list(map(to_tensor, value.values)) if isinstance(value, DistributedValues) else [to_tensor(value)]
        sums = [reduce_sum(part, axis) for part in parts]
        found = to_tensor(reduce_value(ReduceOp.SUM, PerReplica(sums), len(sums)))
        if op is ReduceOp.SUM:
            return found
        counts = [part.dims[a] for part in parts for a in [axis]] if isinstance(axis, int) else [
            math.prod([part.dims[a] for a in axis]) for part in parts
        ]  # fmt: skip
        return found / to_tensor(sum(counts), found.dtype)

    def gather(self, value: Any, axis: int) -> Any:
        """Concatenates the values of all replicas along `axis`."""
        check_above_replicas()
        check_same(self)

        def one(x: Any) -> Any:
            if not isinstance(x, DistributedValues):
                return gatherable(x)
            return gather_values(x.values, int(axis))

        return nest.map_structure(one, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the value of each replica as a tuple; a tuple of one for a value that is not distributed."""
        return local_results(value, len(self._device_names))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The former name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """Does nothing: eager ops have already run."""

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Splits each global batch of the dataset among the replicas."""
        if self.num_replicas_in_sync == 1:
            return dataset
        if options is not None and options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA is only supported in "
                "`distribute_datasets_from_function`."
            )
        return Distributed(dataset, self.num_replicas_in_sync, True, self._places(options))

    def _places(self, options: Any) -> Sequence[str]:
        """Returns the devices for the replicas' data, or the host if the data should stay there."""
        return self._device_names if options is None or options.experimental_fetch_to_device else ()

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """Distributes the dataset that `dataset_fn(tf.distribute.InputContext)` returns: one element per replica."""
        count = self.num_replicas_in_sync
        each = check_options(options)
        if count == 1:
            return dataset_fn(InputContext())
        contexts = [InputContext(count, i, count) for i in range(count)] if each else [InputContext(1, 0, count)]
        return Distributed([dataset_fn(context) for context in contexts], count, False, self._places(options))

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The former name of `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Returns the values of `value_fn(tf.distribute.experimental.ValueContext)` for each replica."""
        count = self.num_replicas_in_sync
        values = [value_fn(ValueContext(i, count)) for i in range(count)]
        return values[0] if count == 1 else regroup(values, always_wrap=True)

    def make_dataset_iterator(self, dataset: Any) -> InputIterator:
        """Returns an iterator over passes of `experimental_distribute_dataset(dataset)`, started by `initialize`."""
        return InputIterator(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(
        self, input_fn: Callable[[Any], Any], replication_mode: Any = InputReplicationMode.PER_WORKER
    ) -> InputIterator:
        """Like `make_dataset_iterator` for the dataset or function of `input_fn(tf.distribute.InputContext)`."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        made: list[Any] = []

        def make(context: Any) -> Any:
            made.append(input_fn(context))
            return made[0] if isinstance(made[0], Dataset) else Dataset.range(0)

        elements = self.distribute_datasets_from_function(make)
        return InputIterator(elements if isinstance(made[0], Dataset) else Calls(made[0], len(self._device_names)))

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """`run(fn)` with the next element of an iterator, if given."""
        with self.scope():
            return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """`extended.colocate_vars_with`."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    def describe(self) -> str:
        """Describes the replicas, their devices, and which variables are mirrored or synchronized on read.

        >>> print(tf.distribute.OneDeviceStrategy("/cpu:0").describe())
        OneDeviceStrategy: 1 replica on CPU:0
        """
        count = self.num_replicas_in_sync
        names = ", ".join(name.rpartition("device:")[2] for name in self._device_names)
        lines = [f"{type(self).__name__}: {count} replica{'s' * (count > 1)} on {names}"]
        if self._why_in_step:
            lines.append(f"replicas run one after the other: {self._why_in_step}")
        for title, mirrored in (("mirrored", True), ("on read", False)):
            found = [v for v in self._extended.variables if v.is_mirrored is mirrored]  # type: ignore[attr-defined]
            total = sum(math.prod(v.dims) * v.dtype.size for v in found)
            if found:
                lines.append(f"{title}: {len(found)} variables, {total:,} bytes a replica")
                lines += [
                    f"  {v.name} {tuple(v.dims)} {v.dtype.name}, aggregation {v.aggregation.name}" for v in found
                ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Returns what notebooks show."""
        first, *others = self.describe().splitlines()
        return f"<p><b>{escape(first)}</b></p>" + (f"<pre>{escape(chr(10).join(others))}</pre>" if others else "")


def _definition(fn: Any) -> Any:
    """Returns the identity of a function: code, defaults and closure objects; None if unknown."""
    if isinstance(fn, types.MethodType):
        found = _definition(fn.__func__)
        return None if found is None else (*found, id(fn.__self__))
    if type(fn) is not types.FunctionType:
        return None
    try:
        around = tuple([id(cell.cell_contents) for cell in fn.__closure__ or ()])
    except ValueError:  # of a variable that does not exist yet
        return None
    defaults = (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values())
    return fn.__code__, tuple(map(id, defaults)), around


def _as_tensors_from(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `fn` for use inside another function: it returns variables as tensors."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return nest.map_structure(lambda x: to_tensor(x) if isinstance(x, Variable) else x, fn(*args, **kwargs))

    return run


def _first(value: Any) -> Any:
    """Returns a reduced value for the caller outside replicas."""
    while isinstance(value, PerReplica):
        value = value._values[0]
    return value if nest.is_composite(value) else to_tensor(value)


def _reduce_only_replica(op: ReduceOp, value: Any, axis: Any) -> Any:
    """Returns the value of the only replica; along `axis`, unless it is None, its sum or mean."""
    if axis is None:
        return nest.map_structure(to_tensor, value)
    x = to_tensor(value)
    if op is ReduceOp.SUM:
        return reduce_sum(x, axis)
    return reduce_mean(ops.cast(x, dtype=dtypes.float64) if x.dtype.is_integer else x, axis)  # not for counts


@bounded
class MirroredStrategy(Strategy):
    """A replica on each device of this machine: all GPUs, or the logical CPUs. Variables are mirrored.

    >>> strategy = tf.distribute.MirroredStrategy()
    >>> with strategy.scope():
    ...     w = tf.Variable(2.0)
    >>> strategy.num_replicas_in_sync, float(strategy.run(lambda: w * 3.0))
    (1, 6.0)

    Args:
      devices: the names of the devices, such as `["/gpu:0", "/gpu:1"]`.
      cross_device_ops: without effect: XLA decides how to reduce.
    """

    __module__ = "gradtape.distribute"

    _mirrors = True
    _collective_key_base = 0  # tests count it up, so that TensorFlow's collectives of two strategies do not mix

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        self._begin(canonical(devices))


@bounded
class OneDeviceStrategy(Strategy):
    """A strategy with one device.

    >>> tf.distribute.OneDeviceStrategy("/cpu:0").run(lambda: 3)
    3
    """

    __module__ = "gradtape.distribute"

    def __init__(self, device: str) -> None:
        self._begin(canonical([device]))
        self._device = device


class _DefaultStrategy(Strategy):
    """The strategy if none is selected."""

    def __init__(self) -> None:
        self._begin([devices.HOST.name])

    def __reduce__(self) -> tuple[Any, ...]:  # type: ignore[override]
        return _default_strategy, ()


def _default_strategy() -> Strategy:
    return _DEFAULT


def canonical(names: Sequence[str] | None) -> list[str]:
    """Returns the full names of existing devices; all of them if none are given."""
    if names is None:
        found = devices.logical_devices("GPU") or devices.logical_devices("CPU")
        return [device.name for device in found]
    if not names:
        raise ValueError("Got an empty `devices` list. Please make sure the `devices` you pass in is not empty.")
    there = devices.logical_devices()
    chosen = []
    for name in names:
        text = name if isinstance(name, str) else getattr(name, "name", name)
        spec = DeviceSpec.from_string(text if "/" in text else f"/device:{text}")
        device = devices.find(spec.device_type or "CPU", spec.device_index or 0)
        if device is None:
            raise ValueError(
                f"{name} is none of the devices there are: {[d.name for d in there]}. Logical CPUs are made by "
                "tf.config.set_logical_device_configuration, before devices are used"
            )
        chosen.append(device.name)
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"Duplicated devices in `devices`: {list(names)}. A replica has a device of its own")
    return chosen


_DEFAULT = _DefaultStrategy()
set_default(_DEFAULT)


def get_strategy() -> Strategy:
    """Returns the current strategy, or the default one.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return place.strategy or _DEFAULT


def has_strategy() -> bool:
    """Returns whether a strategy is selected.

    >>> tf.distribute.has_strategy()
    False
    """
    return place.strategy is not None and place.strategy is not _DEFAULT


def in_cross_replica_context() -> bool:
    """Returns whether the caller is in a strategy's scope but outside its replicas.

    >>> tf.distribute.in_cross_replica_context()
    False
    """
    return not place.in_replica


_chosen = ExitStack()  # the scope entered by `experimental_set_strategy`


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Selects a strategy without a scope; None deselects it.

    >>> tf.distribute.experimental_set_strategy(None)
    """
    _chosen.close()
    if strategy is not None:
        _chosen.enter_context(strategy.scope())
