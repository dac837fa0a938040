"""One graph of a function: how it is run, on NumPy, by XLA or on a device, and how a call is recorded by a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from numpy import ndarray

from ...backends.arrays import ArrayModule
from ...core import nest
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import DeviceTensor, on_device, sent
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ...engine.run.randomness import Stream
from ...engine.tape import inspection
from ...engine.tape.log import Log
from ...state.device_variable import DeviceVariable
from ...state.specs import TypeSpec
from ...state.variable import Variable, updating
from ..control_flow.subgraphs import check_not_followed, check_not_tracked
from ..executors.devices import for_devices
from ..executors.numpy import executor
from ..executors.numpy.footprint import size
from ..executors.numpy.memory_planning import plan_memory
from ..ir.effects import ATTEMPTS, Changed, Check, Effect, draw, output, recording, replaying
from ..ir.graph import Graph, Value, all_nodes, replay
from ..passes.optimize import dead_code, optimize
from ..trace.assigned import assigned
from ..trace.closures import is_external, opened
from ..trace.derivative import Derivative
from ..trace.results import ONE_TENSOR
from .budgeted_derivative import BudgetedDerivative
from .observers import Watched, is_watched, unwatched

Budget = int | float | None  # bytes, or a fraction of what would be taken

_OPEN = nullcontext()


class NumpyProgram:
    """A graph as generated Python over NumPy's kernels, planned to a memory budget if there is one."""

    def __init__(self, graph: Graph, budget: Budget = None, prepared: bool = False) -> None:
        self._run = executor.written(graph) if prepared else executor.compile_graph(optimize(graph), budget)
        self._updated = [variable for variable, _ in graph.updates]
        self._variables = [variable for variable, _ in graph.variables]
        replaced = set(map(id, self._updated))
        self._replaced = [(i, v) for i, v in enumerate(self._variables, len(graph.inputs)) if id(v) in replaced]
        effects = {node.op for node in all_nodes(graph) if isinstance(node.op, Effect)}
        self._has_effects = bool(effects)
        self._flexible = [(v, value.shape) for v, value in graph.variables if not v.shape.is_fully_defined()]
        self._outputs = len(graph.outputs)
        # Computes outputs and updates from inputs and variables once more, and does nothing else; if that is possible.
        # What its draws and prints gave is given again: see `_repeat_of`.
        self.repeat = self._run if effects <= {draw, output} else None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs the graph, then carries out its updates, as if no other thread had run meanwhile.

        If one has changed a variable that was read and is to be replaced, the run is made again, with what its effects
        have given; the last attempt keeps the others out.
        """
        if not self._updated:
            return self._run(*(self._read(arrays) if self._variables else arrays))
        done: list[Any] = []
        for _ in range(ATTEMPTS - 1):
            results = self._attempt(arrays, done)
            if results is not None:
                return results
        with updating:
            results = self._attempt(arrays, done)
        assert results is not None
        return results

    def _read(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The arrays of the inputs, then those that the variables hold."""
        for variable, shape in self._flexible:
            if variable.dims != shape:
                raise Changed
        return [*arrays, *[v._settled() if (x := v._array) is None else x for v in self._variables]]

    def _attempt(self, inputs: Sequence[Any], done: list[Any]) -> Sequence[Any] | None:
        """The outputs, if the updates could be carried out; `done` is what effects have given before, or give now."""
        arrays = self._read(inputs)
        if self._has_effects:
            with replaying(done), recording() as done_now:
                results = self._run(*arrays)
            done[:] = done_now
        else:
            results = self._run(*arrays)
        with updating:
            for i, variable in self._replaced:
                if variable._array is not arrays[i] and not variable._holds(arrays[i]):
                    return None
            Variable._take_all("_take", self._updated, results[self._outputs :])
        return results[: self._outputs]


def program_of(graph: Graph, jit_compile: bool, budget: Budget = None) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The graph, ready to run on arrays."""
    if is_watched(graph):
        return Watched(program_of(unwatched(graph), jit_compile, budget), graph)
    if jit_compile:
        from ..executors.xla import executor

        return executor.compile_graph(graph, budget)
    return NumpyProgram(graph, budget)


def _repeat_of(forward: Any, performed: list[Any] | None) -> Callable[..., Sequence[Any]] | None:
    """What computes the results of a run again from its arrays, with what its effects gave; None if nothing can."""
    repeat: Callable[..., Sequence[Any]] | None = getattr(forward, "repeat", None)
    if repeat is None or not performed:
        return repeat
    again, given = repeat, performed

    def replayed(*arrays: Any) -> Sequence[Any]:
        with replaying(given):
            return again(*arrays)

    return replayed


class Specialization:
    """One graph of a function, with what it returns."""

    def __init__(
        self, graph: Graph, structure: Any, forms: list[Any], jit_compile: bool, externals: dict[Value, Tensor],
        recorded_streams: dict[int, Stream], budget: Budget = None, asks_a_tape: bool = False,
    ) -> None:  # fmt: skip
        self.graph = graph
        self._block = inspection.block
        self._asks_a_tape = asks_a_tape
        self.budget = budget
        self.externals = externals  # the constants of the graph that a tape may watch
        self.structure = structure
        self.forms = forms
        self.dtypes = [value.dtype for value in graph.outputs]
        self.jit_compile = jit_compile
        self._recorded_streams = recorded_streams
        # The device that a variable is on, if one is.
        self.home = next((v._module for v, _ in graph.variables if isinstance(v, DeviceVariable)), None)
        self._program: Any = None
        self.runs_as_traced = False  # whether the next run gives the numbers of a trace that computes, op by op
        self._derivatives: dict[Any, tuple[Derivative | BudgetedDerivative, Any, Any]] = {}  # by inputs, and budget
        self._opened: dict[tuple[Value, ...], Specialization] = {}

    @property
    def is_unseen(self) -> bool:
        """Whether it was made before the block of somebody who would look on to it."""
        return self._asks_a_tape and self._block is not inspection.block

    @cached_property
    def is_delicate(self) -> bool:
        """Whether it may do something, and then find that it is for other values: what is done must be remembered."""
        kinds = {isinstance(node.op, Effect) for node in all_nodes(self.graph) if isinstance(node.op, Check)}
        return len(kinds) == 2

    def opened(self) -> tuple[Specialization, list[Tensor]]:
        """The graph in which the constants that somebody follows are further inputs; and these."""
        constants = tuple([place for place, x in self.externals.items() if is_external(x)])
        if not constants:
            return self, []
        found = self._opened.get(constants)
        if found is None:
            graph = opened(self.graph, constants)
            found = self._opened[constants] = Specialization(
                graph, self.structure, self.forms, self.jit_compile, {}, self._recorded_streams, self.budget
            )
        return found, [self.externals[place] for place in constants]

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs for plain tensors, with nobody recording."""
        if self.runs_as_traced:
            self.runs_as_traced = False
            assert self.budget is not None
            graph = plan_memory(dead_code(self.graph), self.budget, for_once=True)
            program: Any = NumpyProgram(graph, prepared=True)
        else:
            if self._program is None:
                self._program = program_of(self.graph, self.jit_compile, self.budget)
            program = self._program
        results = program([x.array for x in tensors])
        return list(map(wrap, results, self.dtypes))

    def run_on_device(self, module: ArrayModule, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs for tensors of a device, or of the host, with nobody recording: compiled, or op by op."""
        if not self.jit_compile:
            return self._replayed(self._for_devices, [sent(module, x) if x.dims else x for x in tensors])
        if self._program is None:
            self._program = program_of(self.graph, self.jit_compile, self.budget)
        results = self._program.run([module.to_xla(x.buffer) if type(x) is DeviceTensor else x.array for x in tensors])
        return [on_device(module, module.from_xla(y), dtype) for y, dtype in zip(results, self.dtypes, strict=True)]

    def run_recorded(self, tensors: Sequence[Tensor], log: Log) -> list[Tensor]:
        """The outputs for plain tensors, with one tape recording: the call is one record."""
        inputs = [*tensors, *[v._as_tensor() for v, _ in self.graph.variables]]
        wanted = tuple([x.tracer is not None and dispatch.entry(x.tracers, log.key) is not None for x in inputs])
        for variable, _ in self.graph.updates:
            log.tracer_of(variable, None)
        if not any(wanted) or not self.dtypes:
            return self._run_unrecorded(tensors, inputs, log)
        with dispatch.recorded_by(()):
            derivative, forward, backward = self._derivative(inputs, wanted, self.budget or log.call_budget)
            with recording() if log.traces or log.repeats_calls else _OPEN as performed:
                results = forward([x.array for x in tensors])
        count = len(self.dtypes)
        outputs = [wrap(array, dtype) for array, dtype in zip(results[:count], self.dtypes, strict=True)]
        repeat = _repeat_of(forward, performed)
        call = FunctionCallOp(self.graph.name, derivative, backward, inputs, results[count:], repeat)
        call.performed = performed or ()
        log.record(call, inputs, tuple(outputs), {})
        return outputs

    def _run_unrecorded(self, tensors: Sequence[Tensor], inputs: Sequence[Tensor], log: Any) -> list[Tensor]:
        """The outputs of a call that is no record, as nothing comes out of it that has a derivative.

        A tape that traces is told of it: what comes out may depend on what the tape has recorded all the same.
        """
        with recording() if log.traces else _OPEN as performed, dispatch.recorded_by(()):
            bookmark = log.bookmark_call() if log.traces else None
            outputs = self.run(tensors)
        if bookmark is not None:
            log.note_call(bookmark, UnrecordedCall(self._used, performed or ()), inputs, outputs)
        return outputs

    def _derivative(
        self, inputs: Sequence[Tensor], wanted: tuple[bool, ...], budget: Budget
    ) -> tuple[Derivative | BudgetedDerivative, Any, Any]:
        """The derivative with respect to the `wanted` inputs, with its programs.

        It is planned to the function's own budget; to that of the tape that records, if it would keep more by itself.
        """
        found = self._derivatives.get((wanted, budget))
        if found is None:
            plain = [wrap(x.array, x.dtype) for x in inputs]
            derivative = Derivative(
                self.graph, plain, wanted, streams=self._recorded_streams, for_xla=self.jit_compile,
                awaits=self.budget is not None,
            )  # fmt: skip
            if budget is not None and (self.budget is not None or sum(map(size, derivative.kept)) > budget):
                found = self._budgeted(derivative, budget)
            else:
                forward = program_of(derivative.forward, self.jit_compile)
                found = (derivative, forward, program_of(derivative.backward, self.jit_compile))
                self._derivatives[wanted, self.budget] = found
            self._derivatives[wanted, budget] = found
        return found

    def _budgeted(self, derivative: Derivative, budget: int | float) -> tuple[BudgetedDerivative, Any, Any]:
        """A derivative within a memory budget, with its programs."""
        if self.jit_compile:
            from ..executors.xla.memory_planning import planned as planned_for_xla
            from ..executors.xla.stage_partitioning import in_stages

            planned = BudgetedDerivative(derivative, self.graph, lambda whole: planned_for_xla(whole, budget))
            original = (*derivative.forward.nodes, *derivative.backward.nodes)
            forward, backward = in_stages(planned.forward, original), in_stages(planned.backward, original)
            return planned, program_of(forward, True), program_of(backward, True)
        planned = BudgetedDerivative(
            derivative, self.graph, lambda whole: plan_memory(executor.prepared(optimize(whole)), budget)
        )
        return planned, NumpyProgram(planned.forward, None, True), NumpyProgram(planned.backward, None, True)

    @cached_property
    def _used(self) -> Graph:
        """The graph without what nobody uses, which might fail."""
        return dead_code(self.graph)

    @cached_property
    def _for_devices(self) -> Graph:
        graph = for_devices(self.graph)
        return graph if self.budget is None else plan_memory(graph, self.budget)

    @cached_property
    def _assigns_in_subgraphs(self) -> bool:
        """Whether a variable is assigned in a branch or a loop."""
        own = {id(node) for node in self.graph.nodes}
        return any(node.op is assigned and id(node) not in own for node in all_nodes(self.graph))

    def replayed(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs for tensors of any kind, with whoever records: op by op."""
        if self._assigns_in_subgraphs:
            check_not_tracked() if dispatch.thread.trace is None else check_not_followed()
        recorder = dispatch.thread.recorder
        # Several recorders may each make something of every op, as a sweep of an inner tape: the ops are what counts.
        is_told = dispatch.thread.trace is None and isinstance(recorder, Log) and recorder.traces
        return self._replayed(self._used, tensors, recorder if is_told else None)

    def _replayed(self, graph: Graph, tensors: Sequence[Tensor], log: Any = None) -> list[Tensor]:
        """Runs the graph op by op, then carries out its updates; a traced tape is told that it was one call."""
        with updating if self.graph.updates else _OPEN:
            inputs = [*tensors, *[v._as_tensor() for v, _ in self.graph.variables]]
            bookmark = None if log is None else log.bookmark_call()
            with _OPEN if log is None else recording() as performed:
                results = replay(graph, inputs)
            if bookmark is not None:
                log.note_call(bookmark, UnrecordedCall(graph, performed or ()), inputs, results)
            count = len(self.graph.outputs)
            for (variable, _), value in zip(self.graph.updates, results[count:], strict=True):
                variable._replace(value)
        return results[:count]

    def packed(self, outputs: Sequence[Any]) -> Any:
        """What the function returns, from the tensors in it, or from what stands for them."""
        if self.structure is ONE_TENSOR:
            return outputs[0]
        leaves = [leaf if at is None else outputs[at] for at, leaf in self.forms]
        return nest.pack_sequence_as(self.structure, leaves, expand_composites=True)

    def specified(self, specs: Sequence[Any]) -> Any:
        """The same of the specs of the tensors; a composite is its own spec, unless it has no tensors."""
        if self.structure is ONE_TENSOR:
            return specs[0]
        leaves = iter([leaf if at is None else specs[at] for at, leaf in self.forms])

        def one(form: Any) -> Any:
            its = [next(leaves) for _ in nest.flatten(form, expand_composites=True)]
            stays = isinstance(form, TypeSpec) and its
            return form if stays else nest.pack_sequence_as(form, its, expand_composites=True)

        return nest.map_structure(one, self.structure)


def _as_run(graph: Graph, performed: Sequence[Any]) -> Graph:
    """The graph, in which the states of random draws are those of one call, as far as they are known."""
    draws = [node.outputs[0] for node in graph.nodes if node.op is draw]
    others = [node for node in all_nodes(graph) if isinstance(node.op, Effect) and node.op not in (draw, output)]
    drawn = [state for state in performed if isinstance(state, ndarray)]
    if others or len(drawn) != len(draws):
        return graph
    known = {v: Value(v.shape, v.dtype, state) for v, state in zip(draws, drawn, strict=True)}
    return graph.substituted([node.on(known) for node in graph.nodes if node.op is not draw], known)


class UnrecordedCall:
    """A call that a traced tape was told of, though it is not one record there."""

    def __init__(self, graph: Graph, performed: Sequence[Any]) -> None:
        self.name, self.forward = graph.name, graph
        self.as_run = _as_run(graph, performed)


class FunctionCallOp(Unregistered):
    """The op of one call under a tape."""

    family = "call"
    performed: Sequence[Any] = ()  # what its effects have given, if the tape is a traced one

    def __init__(
        self, name: str, derivative: Derivative | BudgetedDerivative, backward: Any, inputs: Sequence[Tensor],
        kept: Iterable[Any], repeat: Callable[..., Sequence[Any]] | None = None,
    ) -> None:  # fmt: skip
        self.name = self.title = name
        self._derivative = derivative
        self._backward = backward
        self._inputs: Iterable[Tensor] = inputs
        self._kept = kept
        self._repeat = repeat  # from the arrays of the inputs: those of the outputs and then what is kept

    def lend(self, lender: Callable[..., tuple[Iterable[Tensor], Iterable[Any]]]) -> None:
        """Has a tape that may let go of values look after what is kept, and the inputs: see `budgets`."""
        dtypes = [value.dtype for value in self._derivative.kept]
        kept = [wrap(array, dtype) for array, dtype in zip(self._kept, dtypes, strict=True)]
        outputs = [value.dtype for value in self.forward.outputs]
        self._inputs, self._kept = lender(self._inputs, kept, outputs, self._repeat)

    @property
    def forward(self) -> Graph:
        """What the call computes, and keeps for the way back."""
        return self._derivative.forward

    @property
    def as_run(self) -> Graph:
        """The same, as it has run."""
        return _as_run(self.forward, self.performed)

    def vjp_raw(self, m: Any, gs: Any, saved: Any, parents: Any) -> list[Any]:
        """The cotangents of the inputs, by the compiled backward graph."""
        return self._derivative.cotangents.of(self._backward([*self._kept, *gs]))

    def vjp(self, m: Any, gs: Any, saved: Any, parents: Any) -> list[Any]:
        """The same for tensors of any kind, op by op; recorded, it starts from the inputs, which it depends on too."""
        if isinstance(self._derivative, BudgetedDerivative):
            return self._derivative.cotangents_of(self._inputs, self._kept, gs)
        if not dispatch.unrecorded():
            results = replay(self._derivative.joint, [*self._inputs, *gs])
        else:
            kept = [
                wrap(array, value.dtype)
                for array, value in zip(self._kept, self._derivative.backward.inputs, strict=False)
            ]
            results = replay(self._derivative.backward, [*kept, *gs])
        return self._derivative.cotangents.of(results)
