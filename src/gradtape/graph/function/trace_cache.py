"""The trace cache of a function for one signature: selects the specialization that a call runs, or traces a new one.

Invariant: side effects happen once per call. If a guard fails after effects were performed, the next specialization,
or the trace, replays their recorded results instead of performing them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ...core import logger, modes
from ...core.errors import InvalidArgumentError, InvalidArgumentInTraceError
from ...core.locks import BuildLock
from ...core.protocols import Tensors
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...engine.run.randomness import Stream, drawing_for_function
from ...engine.tape.collector import recording_starts, recording_stops
from ...engine.tape.log import Log
from ...state.storage import take, take_all, updating
from ...state.variable import Variable
from ..control_flow import custom as _custom  # noqa: F401  custom gradients become part of graphs
from ..ir.dynamic_sizes import DynamicSizes
from ..ir.effects import (
    Changed,
    EffectRecording,
    is_imagined,
    recording,
    replaying,
    replaying_all_but_draws,
    replaying_draws,
)
from ..trace import traced
from ..trace.closures import tracking
from ..trace.conversion_status import ConversionNeeded
from ..trace.random_streams import RandomStreams
from ..trace.results import taken_apart
from ..trace.trace import Trace
from .jit_policy import JitPolicy
from .signature import IdentityKey
from .specialization import Budget, Specialization

_OUTDATED = object()  # in place of results: another thread changed a variable while they were computed
MOST_VARIANTS = 8  # after this many traces for different values of the same tensors, a function runs eagerly


class FirstCall:
    """Whether a function has been called: only its first call creates variables. All of its trace caches share it."""

    def __init__(self) -> None:
        self.is_over = False
        self.lock = BuildLock()  # one thread traces the function at a time


class TraceCache:
    """The specializations of a function for one signature, by tensor shapes and by the identity of its variables."""

    def __init__(
        self, name: str, names: Sequence[str], around: Callable[[], Tensors], call: Callable[..., Any],
        eager: Callable[..., Any], jit: JitPolicy, budget: Budget = None, first_call: FirstCall | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self._first_call = FirstCall() if first_call is None else first_call
        self._stored = 0  # how many specializations have been stored so far
        # Returns example arguments, positional and keyword, with specs for tensors.
        self.arguments: Callable[[], tuple[Any, Any]] = lambda: ((), {})
        self._names = names  # of the parameters that hold the tensors
        self._around = around  # returns the tensors that the Python function may capture
        self.public: Any = None  # the `ConcreteFunction` that `get_concrete_function` has returned
        self._call = call  # runs the Python function on arguments packed from tensors and variables
        self._eager = self.eager = eager  # the fallback where no graph is possible; `eager` stays the original
        self.jit, self._budget = jit, budget
        self._traces_for_xla = bool(jit.requested)
        self._variants: dict[Any, list[Specialization]] = {}
        self._runs_eagerly = self._tracks_all_external = False
        self._streams: dict[Any, Stream] = {}  # random streams, shared by all specializations
        self._recorded_streams: dict[int, Stream] = {}  # their counterparts while a tape records a call

    @property
    def is_traced(self) -> bool:
        """Whether the function has been traced, even if it now runs eagerly."""
        return self._runs_eagerly or any(self.variants())

    def variants(self) -> Iterable[list[Specialization]]:
        """All specializations, grouped by shapes and variables."""
        return self._variants.values()

    def variants_for(self, tensors: Tensors, variables: Sequence[Any]) -> list[Specialization]:
        """The specializations for these shapes and variables: one per outcome of the value guards."""
        key = tuple([x.dims for x in tensors]), tuple(map(IdentityKey, variables))
        variants = self._variants.get(key)
        return self._variants.setdefault(key, self._new_variants()) if variants is None else variants

    def _new_variants(self) -> list[Specialization]:
        return []

    def __call__(self, tensors: Tensors, variables: Sequence[Any] = ()) -> Any:
        """Call the function on the tensors and variables of its arguments."""
        variants = self.variants_for(tensors, variables)
        result = self.run(variants, tensors, variables, False)
        if modes.active:
            self.report_call(variants, tensors, result)
        return result

    def report_call(self, variants: Sequence[Specialization], tensors: Tensors, result: Any) -> None:
        """Notify the active modes of a call that has run as a graph outside of a trace."""
        if dispatch.thread.trace is None and variants and not self._runs_eagerly:
            variables = [variable for variable, _ in variants[0].graph.variables]
            modes.graph_called(self.name, tensors, variables, result)

    def run(
        self, variants: list[Specialization], tensors: Tensors, variables: Sequence[Variable], may_make_variables: bool
    ) -> Any:
        """Run the specialization whose guards hold, or trace a new one."""
        if modes.active and modes.query_block() is not None and dispatch.thread.trace is None:
            if self._drop_unseen(variants):
                done = EffectRecording()
                return self._run_another(variants, 0, tensors, variables, may_make_variables, done, has_run=True)
        if variants and not variants[0].is_delicate:
            variant = variants[0]
            try:
                return variant.packed(self._run(variant, tensors))
            except Changed:
                return self._run_another(variants, 1, tensors, variables, may_make_variables, EffectRecording())
            except traced.Untraceable as reason:
                return self._from_now_on_eagerly(tensors, variables, str(reason), EffectRecording())
        return self._run_another(variants, 0, tensors, variables, may_make_variables, EffectRecording())

    def _drop_unseen(self, variants: list[Specialization]) -> bool:
        """Forget specializations without the observers of the active inspection block; return whether there are any."""
        seen = [variant for variant in variants if not variant.is_unseen]
        has_unseen = len(seen) < len(variants)
        variants[:] = seen
        return has_unseen

    def _run_another(
        self, variants: list[Specialization], first: int, tensors: Tensors, variables: Sequence[Any],
        may_make_variables: bool, done: EffectRecording, has_run: bool = False,
    ) -> Any:  # fmt: skip
        """Try the specializations from index `first` on; effects performed before a guard failed are replayed.

        `has_run` says that a discarded specialization has run before: results then come from a compiled run, not from
        the trace, so that numbers do not change.
        """
        first_call = self._first_call
        if self._runs_eagerly:
            if first_call.is_over:
                return self._run_eagerly(tensors, variables, done)
            with first_call.lock:  # another thread's first call may be creating variables
                result = self._run_eagerly(tensors, variables, done)
                first_call.is_over = True
                return result
        stored = self._stored
        for choices, inputs in self._candidates(variants, tensors):
            for i, variant in enumerate(choices[first:], first):
                try:
                    with replaying(done), recording() as done_now:
                        outputs = self._run(variant, inputs)
                except Changed:
                    done = done_now if len(done_now) > len(done) else done
                    continue
                except traced.Untraceable as reason:
                    return self._from_now_on_eagerly(tensors, variables, str(reason), done_now)
                if i:
                    choices.insert(0, choices.pop(i))
                return variant.packed(outputs)
            first = 0
        if self._is_full(variants):
            why = "it depends on the values of its tensors in too many ways"
            return self._from_now_on_eagerly(tensors, variables, why, done)
        with first_call.lock:
            run: Callable[[], Any]
            if self._stored != stored or self._runs_eagerly:
                run = partial(self._run_another, variants, 0, tensors, variables, False, done)
            else:
                may_make_variables = may_make_variables and not first_call.is_over
                is_graph, run = self._traced_run(variants, tensors, variables, may_make_variables, done, has_run)
                if not is_graph and not first_call.is_over:  # the run creates variables
                    result = run()
                    first_call.is_over = True
                    return result
                first_call.is_over = True
        return run()

    def _candidates(
        self, variants: list[Specialization], tensors: Tensors
    ) -> Iterable[tuple[list[Specialization], Tensors]]:
        """The specializations that a call may run, and the inputs of their graphs."""
        return ((variants, tensors),)

    def _is_full(self, variants: list[Specialization]) -> bool:
        """Whether there are too many specializations to trace another one."""
        return len(variants) >= MOST_VARIANTS

    def store(
        self, variants: list[Specialization], variant: Specialization, tensors: Tensors
    ) -> Tensors:
        """Store a new specialization as the first that calls try; return the inputs of its graph for this call."""
        variants.insert(0, variant)
        self._stored += 1
        return tensors

    def _run(self, variant: Specialization, tensors: Tensors) -> list[Tensor]:
        recorder = None if dispatch.unrecorded() else dispatch.thread.recorder
        if recorder is not None and variant.externals:
            variant, further = variant.opened()
            tensors = [*tensors, *further]
        for x in tensors:
            if type(x) is not Tensor:
                return self._run_elsewhere(variant, tensors, recorder)
        if variant.home is not None:
            return self._run_elsewhere(variant, tensors, recorder)
        if recorder is None:
            return variant.run(tensors)
        if dispatch.thread.trace is None and isinstance(recorder, Log) and not recorder.tracks:
            return variant.run_recorded(tensors, recorder)
        return variant.replayed(tensors)

    def _run_elsewhere(self, variant: Specialization, tensors: Tensors, recorder: Any) -> list[Tensor]:
        """Run a specialization for which some tensors, or its variables, are on a device or are not plain tensors."""
        module = next((x.module for x in tensors if type(x) is DeviceTensor), variant.home)
        if module is not None and all([type(x) in REAL for x in tensors]):
            if recorder is None:
                return variant.run_on_device(module, tensors)
            if dispatch.thread.trace is None and isinstance(recorder, Log) and not recorder.needs_ops:
                outputs = variant.run_recorded_on_device(module, tensors, recorder)
                if outputs is not None:
                    return outputs
        traced.check_scope(tensors)
        return variant.replayed(tensors)

    def _traced_run(
        self, variants: list[Specialization], tensors: Tensors, variables: Sequence[Any],
        may_make_variables: bool, performed: EffectRecording, has_run: bool,
    ) -> tuple[bool, Callable[[], Any]]:  # fmt: skip
        """Trace and store a specialization; return whether there is one, and a thunk that completes the call.

        The effects in `performed` are replayed.
        """
        traced.check_scope(tensors)
        positions = {key: stream.position for key, stream in self._streams.items()}
        if dispatch.thread.trace is None and isinstance(dispatch.thread.recorder, Log):
            self._draw_as_recorded()
        try:
            with replaying(performed), recording() as done:
                variant, results, made = self.traced(tensors, variables, may_make_variables)
            if made:  # a graph that creates variables cannot be reused: trace again, with other random streams
                self._streams.clear()
                with replaying_all_but_draws(done), recording() as done:
                    variant, results, _ = self.traced(tensors, variables, False)
        except (traced.InlineIntoCaller, traced.EndOfElements):
            return False, partial(self._run_eagerly, tensors, variables, done)
        except (traced.Untraceable, Changed) as reason:
            why = str(reason) or "a loop in it depends on values"
            return False, partial(self._from_now_on_eagerly, tensors, variables, why, done)
        except BaseException as error:
            self._draw_from(positions)
            if not isinstance(error, traced.DelegatedToRunner) or dispatch.thread.trace is not None:
                raise
            self._drop_graphs()
            self.eager, self._eager = self._eager, error.runner(self)
            return False, partial(self._run_eagerly, tensors, variables, done)
        inputs = self.store(variants, variant, tensors)
        variant.runs_as_traced = results is None and variant.budget is not None and not variant.jit.requested
        here = variant.home is None and all(type(x) is Tensor for x in inputs)
        is_result = results is not None and here and dispatch.unrecorded() and not has_run

        def run() -> Any:
            if is_result and (found := results()) is not _OUTDATED:
                return found
            self._draw_from(positions)  # the compiled graph draws again what the trace drew
            try:
                with replaying(done):
                    return variant.packed(self._run(variant, inputs))
            except Changed:  # by another thread; or the guarded numbers of NumPy and XLA differ
                return self._run_another(variants, 1, tensors, variables, False, done)
            except traced.Untraceable as reason:
                return self._from_now_on_eagerly(tensors, variables, str(reason), done)

        return True, run

    def _draw_from(self, positions: dict[Any, int]) -> None:
        for key, stream in self._streams.items():
            stream.position = positions.get(key, 0)

    def _draw_as_recorded(self) -> None:
        """Move the streams to the positions of their recorded counterparts: the call is traced, then recorded."""
        for stream in self._streams.values():
            recorded = stream
            while id(recorded) in self._recorded_streams:  # in a branch or a loop, via its own derivative
                recorded = self._recorded_streams[id(recorded)]
            stream.position = 0 if recorded is stream else recorded.position

    def _drop_graphs(self) -> None:
        """Forget all specializations, also in the lists that `variants_for` has returned to callers."""
        self._runs_eagerly = True
        for variants in self._variants.values():
            variants.clear()
        self._variants = {}

    def _from_now_on_eagerly(
        self, tensors: Tensors, variables: Sequence[Any], reason: str, done: EffectRecording
    ) -> Any:
        self._drop_graphs()
        logger.warning("function %s runs eagerly: %s", self.name, reason)
        return self._run_eagerly(tensors, variables, done)

    def _run_eagerly(self, tensors: Tensors, variables: Sequence[Any], done: EffectRecording) -> Any:
        """Run the Python function with the random streams of its graphs, or as a part of the trace in progress."""
        trace = dispatch.thread.trace
        if self._eager is not self.eager:
            with replaying(done):
                return self._eager(tensors, variables)
        if trace is not None:
            with replaying(done), trace.random.within_part(trace.random.next_path()):
                return self._eager(tensors, variables)
        with replaying_draws(done), drawing_for_function(RandomStreams(streams=self._streams)):
            return self._eager(tensors, variables)

    def traced_for_good(self, tensors: Tensors, variables: Sequence[Any], may_make_variables: bool) -> Specialization:
        """Trace the function for these tensors without performing effects or updates."""
        variant, _, made = self.traced(tensors, variables, may_make_variables)
        return self.traced(tensors, variables, False)[0] if made else variant

    def traced_here(self, tensors: Tensors, variables: Sequence[Any]) -> Specialization:
        """Trace the function as part of the enclosing trace, for inspection only."""
        return self._traced(tensors, variables, False, nested=True)[0]

    def traced(
        self, tensors: Tensors, variables: Sequence[Any], may_make_variables: bool
    ) -> tuple[Specialization, Any, list[Any]]:
        """Trace the function on the values of these tensors; return the specialization, a thunk, and created variables.

        The thunk commits the variable updates and returns the results of the trace; it may be called once. It is None
        for XLA and under a memory budget, where tracing computes no values.
        """
        try:
            with recording() as done:
                return self._traced(tensors, variables, may_make_variables)
        except (ConversionNeeded, traced.RetraceFollowingConstants, traced.NeedsXLA) as reason:
            if isinstance(reason, traced.RetraceFollowingConstants):
                if self._tracks_all_external:
                    raise
                self._tracks_all_external = True
            elif isinstance(reason, traced.NeedsXLA):
                if dispatch.thread.trace is not None:  # an enclosing function: that one must be compiled
                    raise
                self._traces_for_xla = True
                if reason.required:
                    self.jit = JitPolicy(self.name, True)
            with replaying(done):
                return self.traced(tensors, variables, may_make_variables)
        except InvalidArgumentError as error:
            if error.about_values or isinstance(error, InvalidArgumentInTraceError):
                raise
            raise InvalidArgumentInTraceError.of(error) from error.__cause__

    def _prepare(self, trace: Trace, may_make_variables: bool) -> None:
        """Initialize a new trace with the state of this cache."""
        trace.variables.may_create = may_make_variables
        trace.random.streams = self._streams
        if self._budget is None:
            trace.variables.compiled_on = self.jit.applies
        if self._tracks_all_external:
            trace.tracks_external = trace.tracks_all_external = True

    def _is_for_xla(self, tensors: Tensors) -> bool:
        """Whether XLA will run the graph traced for these tensors, as far as is known before the trace."""
        if self._traces_for_xla or self._budget is not None or dispatch.thread.trace is not None:
            return self._traces_for_xla
        return self.jit.applies(next((x.module for x in tensors if type(x) is DeviceTensor), None))

    def _traced(
        self, tensors: Tensors, variables: Sequence[Any], may_make_variables: bool, nested: bool = False
    ) -> tuple[Specialization, Any, list[Any]]:
        trace = Trace(self.name, nested, self._is_for_xla(tensors), self._budget is not None)
        self._prepare(trace, may_make_variables)
        if not (nested or trace.evaluator.is_lazy or is_imagined()):
            trace.sizes = DynamicSizes()
        # Like a tape, a trace allocates many small objects and no garbage: pause the collector.
        recording_starts(trace.key, at_once=True)
        try:
            with tracking(trace, self._around()), trace.entered():
                inputs = [trace.input(traced.value_of(x), name) for x, name in zip(tensors, self._names, strict=True)]
                structure, forms, outputs = taken_apart(self._call(inputs, variables))
            graph = trace.graph(outputs)
            if not trace.evaluator.is_lazy:
                returned = [traced.value_of(y) for y in outputs]
                read, written = trace.variables.arrays_replaced(), trace.variables.arrays_written()
                displays = trace.displays
        finally:
            trace.release()
            recording_stops(trace.key)

        def results() -> Any:
            variables, arrays = [variable for variable, _ in written], [array for _, array in written]
            with updating:
                if not all(variable._storage.holds(array) for variable, array in read):
                    return _OUTDATED
                take_all(take, variables, arrays)
            read.clear()  # release the values: they are used once
            written.clear()
            for display in displays:
                display()
            return variant.packed(returned)

        variant = Specialization(
            graph, structure, forms, self.jit, trace.externals, self._recorded_streams,
            self._budget or trace.budget, trace.asks_a_tape,
        )  # fmt: skip
        return variant, None if trace.evaluator.is_lazy else results, trace.variables.created
