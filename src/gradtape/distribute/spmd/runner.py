"""SPMD execution: a function is traced once, and XLA runs it on the devices of all replicas.

Code in cross-replica context runs identically on every device; code inside `Strategy.run` operates on the values of the
device's replica. The whole function, including loops over several steps, is thus a single program in which reductions
over replicas are collectives. `Strategy.run` inside a trace requests this by raising `DelegatedToRunner`, which hands
all calls of the function to a runner. If the function cannot become an SPMD program, it is traced with the replicas
unrolled sequentially.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.errors import FailedPreconditionError
from ...core.locks import cached_property
from ...core.scopes import holding
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, wrap
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...engine.run.distribution_context import cross_replica_context, in_replica, place
from ...engine.run.namespace import ops
from ...engine.run.randomness import drawing_for_each
from ...engine.tape.collector import recording_starts, recording_stops
from ...graph.function.jit_policy import JitPolicy
from ...graph.function.observers import unwatched
from ...graph.function.specialization import Specialization
from ...graph.function.trace_cache import TraceCache
from ...graph.ir.effects import EffectRecording
from ...graph.trace.closures import tracking
from ...graph.trace.results import taken_apart
from ...graph.trace.trace import Trace
from ...graph.trace.traced import DelegatedToRunner, Untraceable, value_of
from ...state.variable import Variable
from .. import collective_ops
from ..reductions import ReduceOp, workers_of
from ..replicas import ReplicaContext, vary_by_tensor
from ..shards import is_placeholder
from ..values import DistributedValues, Mirrored, PerReplica, PerReplicaSpec, Uneven, UnevenSpec, select_replica
from ..variables import DistributedVariable
from .divergence_check import Agreement

logger = logging.getLogger("gradtape")


class Replicas:
    """All replicas of the SPMD program being traced (`place.spmd`). Each traced value represents every replica's."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        self.count = int(strategy.num_replicas_in_sync)
        self.local = len(strategy.extended.worker_devices)  # the number of replicas of this process

    def total(self, op: ReduceOp, x: Any) -> Any:
        """Returns the sum or mean over all replicas."""
        if isinstance(x, IndexedSlices):
            values = collective_ops.all_rows(to_tensor(x.values), 0, self.count)
            indices = collective_ops.all_rows(to_tensor(x.indices), 0, self.count)
            return IndexedSlices(values if op is ReduceOp.SUM else values / self.count, indices, x.dense_shape)
        found = collective_ops.all_sum(to_tensor(x))
        return found if op is ReduceOp.SUM else found / self.count

    def gathered(self, x: Any, axis: int) -> Tensor:
        """Concatenates the values of all replicas along `axis`."""
        tensor = to_tensor(x)
        return collective_ops.all_rows(tensor, axis % max(len(tensor.dims), 1), self.count)

    def of_all(self, x: Any) -> tuple[Any, ...]:
        """Returns the value of each replica, by an all-gather."""
        if isinstance(x, CompositeTensor):
            parts = [self.of_all(part) for part in nest.flatten(x, expand_composites=True)]
            return tuple([nest.pack_sequence_as(x, row, expand_composites=True) for row in zip(*parts, strict=True)])
        tensor = to_tensor(x)
        rows = collective_ops.all_rows(ops.reshape(tensor, shape=(1, *tensor.dims)), 0, self.count)
        return tuple([rows[i] for i in range(self.count)])

    def chosen(self, values: Sequence[Any]) -> Any:
        """Selects the running replica's value among per-replica values that are captured by the program."""
        if workers_of(self.strategy) is not None:
            raise Untraceable("each process has different values in it, and therefore a different program")
        rows = [nest.flatten(value, expand_composites=True) for value in values]
        leaves = []
        for parts in zip(*rows, strict=True):
            tensors = list(map(to_tensor, parts))
            if len({(x.dims, x.dtype) for x in tensors}) > 1:
                raise Untraceable(_UNEQUAL)
            stacked = [ops.reshape(x, shape=(1, *x.dims)) for x in tensors]
            leaves.append(ops.gather(ops.concat(*stacked, axis=0), collective_ops.number(), axis=0, batch=0))
        return nest.pack_sequence_as(values[0], leaves, expand_composites=True)

    def along(self, op: ReduceOp, value: Any, axis: Any) -> Tensor:
        """Returns the sum or mean along `axis` over the entries of all replicas."""
        x = to_tensor(value._primary if isinstance(value, DistributedValues) else value)
        axes = tuple([a % len(x.dims) for a in ([axis] if isinstance(axis, int) else axis)])
        found = ops.sum(x, axis=axes, keepdims=False)
        found = collective_ops.all_sum(found) if isinstance(value, DistributedValues) else found
        if op is ReduceOp.SUM:
            return found
        count = math.prod([x.dims[a] for a in axes]) * (self.count if isinstance(value, DistributedValues) else 1)
        return found / to_tensor(count, found.dtype)


class _Everyone(ReplicaContext):
    """The replica context of an SPMD program, which represents every replica."""

    local_id = 0  # type: ignore[assignment]

    def __init__(self, replicas: Replicas) -> None:
        super().__init__(replicas.strategy, 0)
        self._replicas = replicas

    @property
    def replica_context(self) -> Any:
        """The key for tracing functions called by the replicas."""
        return (self._strategy, "all")

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """The replica id as a tensor."""
        return collective_ops.number()

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn` in cross-replica context, with values that represent those of all replicas."""
        given, named = _as_per_replica(self._replicas, (tuple(args), dict(kwargs or {})))
        with cross_replica_context(self._strategy):
            return select_replica(0, merge_fn(self._strategy, *given, **named))

    def _all_reduced(self, op: ReduceOp, given: Sequence[Any]) -> Sequence[Any]:
        return [self._replicas.total(op, x) for x in given]

    def _all_gathered(self, value: Tensor, axis: int) -> Tensor:
        return self._replicas.gathered(value, axis)


def _as_per_replica(replicas: Replicas, structure: Any) -> Any:
    """Wraps the tensors of a nest as `PerReplica` values."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, Tensor | CompositeTensor) and not isinstance(leaf, PerReplica):
            return PerReplica([leaf] * replicas.local)
        return leaf

    return nest.map_structure(one, structure)


def run(strategy: Any, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Implements `Strategy.run` while an SPMD program is traced."""
    replicas = place.spmd
    context = _Everyone(replicas)

    def draw(draw_one: Callable[[], Any], take: Any) -> Any:
        return vary_by_tensor(collective_ops.number())(draw_one, take)

    with in_replica(context), drawing_for_each(draw):
        result = fn(*select_replica(0, args), **select_replica(0, kwargs))
    return _as_per_replica(replicas, result)


def take_over(strategy: Any) -> None:
    """Requests an SPMD program for the function being traced, unless the sequential fallback is active."""
    if place.in_step is None and thread.trace is not None:
        raise DelegatedToRunner(lambda concrete: _Runner(concrete, strategy))


class _Runner:
    """Runs the calls of a function that contains `Strategy.run`: as an SPMD program, or with sequential replicas."""

    def __init__(self, concrete: TraceCache, strategy: Any) -> None:
        self._concrete = concrete
        self._strategy = strategy
        self._together: _Together | None = None
        self._in_step = TraceCache(
            concrete.name, concrete._names, concrete._around, self._call_in_step, self._eager, concrete.jit
        )
        self._why: dict[Any, str] = {}  # reasons for the fallback, by input shapes
        self._equal: set[Any] = set()  # input shapes on which all processes agree
        given = nest.flatten(concrete.arguments())
        self._uneven = any([isinstance(leaf, Uneven | UnevenSpec) for leaf in given])  # the same on all processes
        try:
            self._together = _Together(concrete, strategy)
        except Untraceable as reason:
            self._note(None, str(reason))

    def __call__(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        if thread.trace is not None:  # called while another function is traced, which decides
            return self._concrete._call(tensors, variables)
        shapes = tuple([x.dims for x in tensors])
        if self._together is not None and not self._uneven and shapes not in self._why and not thread.recorders:
            try:
                self._check_equal(shapes)
                return self._together(tensors, variables)
            except (Untraceable, ImportError, FailedPreconditionError) as reason:
                self._note(shapes, str(reason))
        first = not self._in_step.is_traced and (self._together is None or not self._together.is_traced)
        return self._in_step.run(self._in_step.variants_for(tensors, variables), tensors, variables, first)

    def _check_equal(self, shapes: Any) -> None:
        """Raises if input shapes differ between processes, as for a short last batch. All processes must call it."""
        workers = workers_of(self._strategy)
        if workers is not None and shapes not in self._equal:
            if not workers.agree(shapes, f"shapes given to {self._concrete.name}"):
                raise Untraceable(_UNEQUAL)
            self._equal.add(shapes)

    def _note(self, shapes: Any, reason: str) -> None:
        self._why[shapes] = reason
        if reason != self._strategy._why_in_step and reason != _UNEQUAL:
            self._strategy._why_in_step = reason
            logger.info("function %s runs its replicas one at a time: %s", self._concrete.name, reason)

    def _call_in_step(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        with holding(place, in_step=True):
            return self._concrete._call(tensors, variables)

    def _eager(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        return self._concrete.eager(tensors, variables)


_UNEQUAL = "the replicas have batches of different sizes"


class _ReplicasTrace(Trace):
    """The trace of an SPMD program."""

    def write(self, variable: Variable, value: Tensor) -> None:
        """Assigns `value` to `variable` in the trace; the values may differ between devices."""
        if place.context is not None and not (isinstance(variable, DistributedVariable) or is_placeholder(variable)):
            if not self.variables.is_local(variable):
                raise Untraceable(f"{variable.name}, made outside of the strategy's scope, is assigned in a replica")
        super().write(variable, value)


class _Together(TraceCache):
    """A trace cache whose graphs are SPMD programs."""

    def __init__(self, concrete: TraceCache, strategy: Any) -> None:
        super().__init__(
            concrete.name, concrete._names, concrete._around, concrete._call, self._refuse,
            JitPolicy(concrete.name, True),
        )
        self.arguments = concrete.arguments
        self._replicas = Replicas(strategy)
        self._strategy = strategy
        self._groups = _groups(concrete.arguments(), self._replicas.local)
        if concrete._budget is not None:
            logger.warning(
                "function %s runs as one program for all replicas: the memory of each replica is not planned, and the "
                "memory budget does not apply", self.name
            )  # fmt: skip

    def __call__(self, tensors: Sequence[Tensor], variables: Sequence[Any] = ()) -> Any:
        for first, count, _ in self._groups:
            if any([x.dims != tensors[first].dims for x in tensors[first + 1 : first + count]]):
                raise Untraceable(_UNEQUAL)
        return self.run(self.variants_for(tensors, variables), tensors, variables, not self.is_traced)

    def _refuse(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        raise Untraceable("it depends on values")

    def _from_now_on_eagerly(
        self, tensors: Sequence[Tensor], variables: Sequence[Any], reason: str, done: EffectRecording
    ) -> Any:  # fmt: skip
        self._variants = {}
        raise Untraceable(reason)

    def _run(self, variant: Specialization, tensors: Sequence[Tensor]) -> list[Tensor]:
        return variant.run(tensors)

    def _traced(
        self, tensors: Sequence[Tensor], variables: Sequence[Any], may_make_variables: bool, nested: bool = False
    ) -> tuple[Specialization, Any, list[Any]]:
        trace = _ReplicasTrace(self.name, for_xla=True)
        self._prepare(trace, may_make_variables)
        recording_starts(trace.key, at_once=True)
        try:
            with tracking(trace, self._around()), trace.entered(), holding(place, spmd=self._replicas):
                inputs = []
                for first, count, _ in self._groups:
                    inputs += [trace.input(value_of(tensors[first]), self._names[first])] * count
                result = nest.map_structure(self._as_returned, self._call(inputs, variables))
                structure, forms, outputs = taken_apart(result)
            each = {trace.place_of(leaf._primary) for leaf in nest.flatten(result) if _is_per_replica(leaf)}
            places = [trace.place_of(y) for y in outputs]
            unique = dict(zip(places, outputs, strict=True))
            graph = unwatched(trace.graph(list(unique.values())))  # only None gradients are explained
            agreement = Agreement(graph, [each_has_one for _, _, each_has_one in self._groups])
        finally:
            trace.release()
            recording_stops(trace.key)
        variant = _Program(self, graph, structure, forms, places, each, agreement)
        return variant, None, trace.variables.created

    def _as_returned(self, leaf: Any) -> Any:
        if not _is_per_replica(leaf):
            return leaf._primary if isinstance(leaf, PerReplica) else leaf
        first = leaf._primary
        if isinstance(first, CompositeTensor):
            raise Untraceable(f"a replica returns a {type(first).__name__}")
        return PerReplica([to_tensor(first)] * self._replicas.local)


def _is_per_replica(leaf: Any) -> bool:
    return isinstance(leaf, PerReplica) and not isinstance(leaf, Mirrored)


def _groups(arguments: Any, count: int) -> list[tuple[int, int, bool]]:
    """Returns (index of the first tensor, count, whether it is per-replica) for each value in the arguments."""
    groups, at = [], 0
    for leaf in nest.flatten(arguments):
        tensors = [x for x in nest.flatten(leaf, expand_composites=True) if _is_tensor(x)]
        if isinstance(leaf, PerReplicaSpec | PerReplica):
            if len(tensors) != count:
                raise Untraceable("a replica is given a composite tensor")
            groups.append((at, count, True))
        else:
            groups += [(at + i, 1, False) for i in range(len(tensors))]
        at += len(tensors)
    return groups


def _is_tensor(leaf: Any) -> bool:
    from ...graph.function.signature import is_given_tensor

    return is_given_tensor(leaf)


class _Program(Specialization):
    """An SPMD program specialized for input shapes."""

    def __init__(
        self, concrete: _Together, graph: Any, structure: Any, forms: Any, places: Sequence[Any], each: set[Any],
        agreement: Agreement,
    ) -> None:  # fmt: skip
        super().__init__(graph, structure, forms, concrete.jit, {}, {})
        self._groups = concrete._groups
        self._local = concrete._replicas.local
        self._strategy, self._name = concrete._strategy, concrete.name
        self._places = places
        self._each = each
        self._agreement = agreement

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Runs the program on the tensors of all replicas of this process."""
        self._agreement.check()
        workers = workers_of(self._strategy)
        given = [[x.array for x in tensors[first : first + count]] for first, count, _ in self._groups]
        with nullcontext() if workers is None else workers.running(self._description):
            results = dict(zip(self.graph.outputs, self._program(given), strict=True))
        seen: dict[Any, int] = {}
        outputs = []
        for place_ in self._places:
            found = results[place_]
            if place_ in self._each:
                row = seen.get(place_, 0)
                seen[place_] = row + 1
                found = found[row % self._local]
            outputs.append(wrap(found, place_.dtype))
        return outputs

    @cached_property
    def _program(self) -> Any:
        from .program import ReplicatedProgram

        per_output = [v in self._each for v in self.graph.outputs]
        return ReplicatedProgram(self.graph, self._strategy.mesh(), [per for _, _, per in self._groups], per_output)

    @cached_property
    def _description(self) -> str:
        """The description that the coordinator compares between processes."""
        workers = workers_of(self._strategy)
        return "" if workers is None else workers.described(self._name, self.graph)


