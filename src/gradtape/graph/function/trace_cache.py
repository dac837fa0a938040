"""A function for one signature: which of its graphs a call runs, and when another one is traced."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.errors import InvalidArgumentError, InvalidArgumentInTraceError
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...engine.run.randomness import Stream
from ...engine.tape import inspection
from ...engine.tape.collector import recording_starts, recording_stops
from ...engine.tape.log import Log
from ...state.variable import Variable, updating
from ..control_flow import custom as _custom  # noqa: F401  custom gradients become part of graphs
from ..ir.effects import Changed, recording, replaying
from ..trace.closures import Following
from ..trace.conversion_status import ConversionNeeded
from ..trace.results import taken_apart
from ..trace.trace import Trace, value_of
from ..trace.traced import (
    DelegatedToRunner,
    InlineIntoCaller,
    NeedsXLA,
    RetraceFollowingConstants,
    Untraceable,
    check_scope,
)
from .signature import IdentityKey
from .specialization import Budget, Specialization

logger = logging.getLogger("gradtape")

_OUTDATED = object()  # instead of results: another thread has changed a variable while they were computed
_MOST_VARIANTS = 8  # after so many traces for different values of the same tensors, a function runs eagerly


class TraceCache:
    """A function for one signature: its graphs, by the shapes of its tensors and by the variables it is given."""

    def __init__(
        self, name: str, names: Sequence[str], around: Callable[[], Sequence[Tensor]], call: Callable[..., Any],
        eager: Callable[..., Any], jit_compile: bool, budget: Budget = None,
    ) -> None:  # fmt: skip
        self.name = name
        # Gives a call that it is for: positional and named arguments, with specs for tensors.
        self.arguments: Callable[[], tuple[Any, Any]] = lambda: ((), {})
        self._names = names  # of the parameters that the tensors are given for
        self._around = around  # gives the tensors that the Python function may use without being given them
        self.public: Any = None  # what `get_concrete_function` has given out for it
        self._call = call  # takes tensors and variables, runs the Python function on the arguments they belong to
        self._eager = self.eager = eager  # how it is run where it cannot be a graph; what that was at first
        self._jit_compile = jit_compile
        self._budget = budget
        self._variants: dict[Any, list[Specialization]] = {}
        self._runs_eagerly = self._tracks_all_external = False
        self._streams: dict[Any, Stream] = {}  # of its random ops, which all of its graphs share
        self._recorded_streams: dict[int, Stream] = {}  # those that stand for them where a tape records a call

    @property
    def is_traced(self) -> bool:
        """Whether there is a graph, or was one."""
        return self._runs_eagerly or any(self._variants.values())

    def variants(self) -> Iterable[list[Specialization]]:
        """The graphs there are."""
        return self._variants.values()

    def variants_for(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> list[Specialization]:
        """The graphs for these shapes and variables: one for each way in which values have mattered."""
        return self._variants.setdefault((tuple([x.dims for x in tensors]), tuple(map(IdentityKey, variables))), [])

    def __call__(self, tensors: Sequence[Tensor], variables: Sequence[Any] = ()) -> Any:
        """Calls the function on the tensors and variables in its arguments."""
        return self.run(self.variants_for(tensors, variables), tensors, variables, False)

    def run(
        self,
        variants: list[Specialization],
        tensors: Sequence[Tensor],
        variables: Sequence[Any],
        may_make_variables: bool,
    ) -> Any:
        """Runs that of the graphs that fits, or makes one."""
        result = self._run_fitting(variants, tensors, variables, may_make_variables)
        witness = dispatch.event_log
        if witness is not None and dispatch.thread.trace is None and variants and not self._runs_eagerly:
            witness.called(self.name, tensors, [v for v, _ in variants[0].graph.variables], result)
        return result

    def _run_fitting(
        self,
        variants: list[Specialization],
        tensors: Sequence[Tensor],
        variables: Sequence[Any],
        may_make_variables: bool,
    ) -> Any:
        if inspection.block is not None and dispatch.thread.trace is None:
            seen = [variant for variant in variants if not variant.is_unseen]
            if len(seen) < len(variants):
                variants[:] = seen
                return self._run_another(variants, 0, tensors, variables, may_make_variables, [], has_run=True)
        if variants and not variants[0].is_delicate:
            variant = variants[0]
            try:
                return variant.packed(self._run(variant, tensors))
            except Changed:
                return self._run_another(variants, 1, tensors, variables, may_make_variables, [])
            except Untraceable as reason:
                return self._from_now_on_eagerly(tensors, variables, str(reason))
        return self._run_another(variants, 0, tensors, variables, may_make_variables, [])

    def _run_another(
        self, variants: list[Specialization], first: int, tensors: Sequence[Tensor], variables: Sequence[Any],
        may_make_variables: bool, done: list[Any], has_run: bool = False,
    ) -> Any:  # fmt: skip
        """Tries the graphs from number `first` on: what one has done before it did not fit is not done again.

        If it has run as a graph that is given up, the numbers are to stay those of a run, not of a trace.
        """
        if self._runs_eagerly:
            return self._eager(tensors, variables)
        for i, variant in enumerate(variants[first:], first):
            try:
                with replaying(done), recording() as done_now:
                    outputs = self._run(variant, tensors)
            except Changed:
                done = done_now if len(done_now) > len(done) else done
                continue
            except Untraceable as reason:
                with replaying(done_now):
                    return self._from_now_on_eagerly(tensors, variables, str(reason))
            if i:
                variants.insert(0, variants.pop(i))
            return variant.packed(outputs)
        with replaying(done):
            return self._trace_and_run(variants, tensors, variables, may_make_variables, has_run)

    def _run(self, variant: Specialization, tensors: Sequence[Tensor]) -> list[Tensor]:
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

    def _run_elsewhere(self, variant: Specialization, tensors: Sequence[Tensor], recorder: Any) -> list[Tensor]:
        """Runs a graph on tensors of which some are not of the host, or on variables that are not."""
        module = next((x.module for x in tensors if type(x) is DeviceTensor), variant.home)
        if module is not None and recorder is None and all([type(x) in REAL for x in tensors]):
            return variant.run_on_device(module, tensors)
        check_scope(tensors)
        return variant.replayed(tensors)

    def _trace_and_run(
        self, variants: list[Specialization], tensors: Sequence[Tensor], variables: Sequence[Any],
        may_make_variables: bool, has_run: bool,
    ) -> Any:  # fmt: skip
        check_scope(tensors)
        if len(variants) >= _MOST_VARIANTS:
            why = "it depends on the values of its tensors in too many ways"
            return self._from_now_on_eagerly(tensors, variables, why)
        positions = {key: stream.position for key, stream in self._streams.items()}
        if dispatch.thread.trace is None and isinstance(dispatch.thread.recorder, Log):
            self._draw_as_recorded()
        try:
            with recording() as done:
                variant, results, made = self.traced(tensors, variables, may_make_variables)
            if made:  # a graph in which variables are made is of no use twice
                with replaying(done), recording() as done:
                    variant, results, _ = self.traced(tensors, variables, False)
        except InlineIntoCaller:
            with replaying(done):
                return self._eager(tensors, variables)
        except (Untraceable, Changed) as reason:
            return self._from_now_on_eagerly(tensors, variables, str(reason) or "a loop in it depends on values")
        except BaseException as error:
            self._draw_from(positions)
            if not isinstance(error, DelegatedToRunner) or dispatch.thread.trace is not None:
                raise
            self._runs_eagerly, self._variants = True, {}
            self.eager, self._eager = self._eager, error.runner(self)
            with replaying(done):
                return self._eager(tensors, variables)
        variants.insert(0, variant)
        variant.runs_as_traced = results is None and not variant.jit_compile
        here = variant.home is None and all(type(x) is Tensor for x in tensors)
        if results is not None and here and dispatch.unrecorded() and not has_run:
            found = results()
            if found is not _OUTDATED:
                return found
        self._draw_from(positions)  # what was drawn is now drawn by another graph, made of this one
        with replaying(done):
            try:
                return variant.packed(self._run(variant, tensors))
            except Changed:  # by another thread; or what NumPy found and XLA finds is not the same number
                return self._run_another(variants, 1, tensors, variables, False, done)
            except Untraceable as reason:
                return self._from_now_on_eagerly(tensors, variables, str(reason))

    def _draw_from(self, positions: dict[Any, int]) -> None:
        for key, stream in self._streams.items():
            stream.position = positions.get(key, 0)

    def _draw_as_recorded(self) -> None:
        """Puts the streams where those are that a call recorded by a tape draws from: it is traced, then recorded."""
        for stream in self._streams.values():
            recorded = stream
            while id(recorded) in self._recorded_streams:  # in a branch or a loop, by way of its own derivative
                recorded = self._recorded_streams[id(recorded)]
            stream.position = 0 if recorded is stream else recorded.position

    def _from_now_on_eagerly(self, tensors: Sequence[Tensor], variables: Sequence[Any], reason: str) -> Any:
        self._runs_eagerly = True
        self._variants = {}
        logger.warning("function %s runs eagerly: %s", self.name, reason)
        return self._eager(tensors, variables)

    def traced_for_good(
        self, tensors: Sequence[Tensor], variables: Sequence[Any], may_make_variables: bool
    ) -> Specialization:
        """The graph for these tensors, with nothing carried out."""
        variant, _, made = self.traced(tensors, variables, may_make_variables)
        return self.traced(tensors, variables, False)[0] if made else variant

    def traced_here(self, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Specialization:
        """The graph as a part of the one that is being made: to be looked at, not to be run."""
        return self._traced(tensors, variables, False, nested=True)[0]

    def traced(
        self, tensors: Sequence[Tensor], variables: Sequence[Any], may_make_variables: bool
    ) -> tuple[Specialization, Any, list[Any]]:
        """Runs the function on the values of these tensors, as a graph; gives the results by a call, once.

        A graph for XLA, or with a memory budget, has no results yet: None.
        """
        try:
            with recording() as done:
                return self._traced(tensors, variables, may_make_variables)
        except (ConversionNeeded, RetraceFollowingConstants, NeedsXLA) as reason:
            if isinstance(reason, RetraceFollowingConstants):
                if self._tracks_all_external:
                    raise
                self._tracks_all_external = True
            elif isinstance(reason, NeedsXLA):
                if dispatch.thread.trace is not None:  # a function around this one: that one is to be compiled
                    raise
                self._jit_compile = True
            with replaying(done):
                return self.traced(tensors, variables, may_make_variables)
        except InvalidArgumentError as error:
            if error.about_values or isinstance(error, InvalidArgumentInTraceError):
                raise
            again = InvalidArgumentInTraceError(error.message)
            vars(again).update(vars(error))
            raise again.with_traceback(error.__traceback__) from error.__cause__

    def _prepare(self, trace: Trace, may_make_variables: bool) -> None:
        """Tells a trace that begins what is known of the function."""
        trace.may_make_variables = may_make_variables
        trace.streams = self._streams
        if self._tracks_all_external:
            trace.tracks_external = trace.tracks_all_external = True

    def _traced(
        self, tensors: Sequence[Tensor], variables: Sequence[Any], may_make_variables: bool, nested: bool = False
    ) -> tuple[Specialization, Any, list[Any]]:
        trace = Trace(self.name, nested, self._jit_compile, self._budget is not None)
        self._prepare(trace, may_make_variables)
        # A trace is many small objects, none of them garbage, as a tape is.
        recording_starts(trace.key, at_once=True)
        try:
            with Following(trace, self._around()), trace.entered():
                inputs = [trace.input(value_of(x), name) for x, name in zip(tensors, self._names, strict=True)]
                structure, forms, outputs = taken_apart(self._call(inputs, variables))
            graph = trace.graph(outputs)
            if not trace.awaits:
                returned = [value_of(y) for y in outputs]
                read, written = trace.read_and_written()
                shows = trace.shows
        finally:
            trace.let_go()
            recording_stops(trace.key)

        def results() -> Any:
            with updating:
                if not all(variable._holds(array) for variable, array in read):
                    return _OUTDATED
                Variable._take_all("_take", [v for v, _ in written], [array for _, array in written])
            read.clear()  # the values of this run are used once
            written.clear()
            for show in shows:
                show()
            return variant.packed(returned)

        variant = Specialization(
            graph, structure, forms, self._jit_compile, trace.externals, self._recorded_streams,
            self._budget or trace.budget, trace.asks_a_tape,
        )  # fmt: skip
        return variant, None if trace.awaits else results, trace.variables_made
