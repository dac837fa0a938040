"""One traced graph of a function: its execution on NumPy, XLA or a device, and its recording as one op by a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import partial
from typing import Any

from numpy import ndarray

from ...backends.arrays import ArrayModule
from ...backends.numpy.floating_point import REPORTS, run_program_silently, run_silently
from ...core import modes, nest
from ...core.dtypes import DType
from ...core.locks import BuildLock, SharedAttempt, cached_property
from ...core.protocols import OpNamespace
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL, DeviceTensor, on_device, send_to_device
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ...engine.run.randomness import Stream
from ...engine.tape.log import Log
from ...state.specs import TypeSpec
from ...state.storage import take, take_all, updating
from ..control_flow.subgraphs import check_not_followed, check_not_tracked
from ..executors.numpy import executor
from ..executors.numpy.footprint import size
from ..ir.effects import ATTEMPTS, Changed, Check, Effect, draw, output, recording, replaying
from ..ir.graph import Graph, Value, all_nodes, replay
from ..passes.optimize import dead_code, optimize
from ..trace.assigned import assigned
from ..trace.closures import is_external, opened
from ..trace.derivative import Derivative
from ..trace.lazy_tensors import lazy_copy
from ..trace.results import ONE_TENSOR
from .budgeted_derivative import BudgetedDerivative
from .jit_policy import JitPolicy
from .observers import Watched, is_watched, unwatched

Budget = int | float | None  # bytes, or a fraction of the unplanned peak

Program = Callable[[Sequence[Any]], Sequence[Any]]  # from the arrays of inputs to those of outputs
_OPEN = nullcontext()
_UNDECIDED = object()  # in place of a program that may be compiled later


class _WithoutXla(Enum):
    """In place of a device: NumPy runs the programs, until XLA has compiled those of the host."""

    ON_HOST = 1


_WITHOUT_XLA = _WithoutXla.ON_HOST


class _FirstProgram:
    """The attribute `_program` until an attribute of the instance replaces it: decides which program runs."""

    def __get__(self, specialization: Specialization | None, owner: type | None = None) -> Any:
        return self if specialization is None else specialization._decided_on_host()


class NumpyProgram:
    """A graph compiled to Python source over NumPy kernels, planned to a memory budget if there is one."""

    def __init__(self, graph: Graph, budget: Budget = None, prepared: bool = False) -> None:
        run = executor.written(graph) if prepared else executor.compile_graph(optimize(graph), budget)
        self._updated = [variable for variable, _ in graph.updates]
        self._variables = [variable for variable, _ in graph.variables]
        replaced = set(map(id, self._updated))
        self._replaced = [(i, v) for i, v in enumerate(self._variables, len(graph.inputs)) if id(v) in replaced]
        effects = {node.op for node in all_nodes(graph) if isinstance(node.op, Effect)}
        self._has_effects = bool(effects)
        self._run = partial(run_program_silently, run) if effects else run  # without effects, it may run again
        self._flexible = [(v, value.shape) for v, value in graph.variables if not v.shape.is_fully_defined()]
        self._outputs = len(graph.outputs)
        # Recomputes outputs and updates from inputs and variables without other effects; None where that is impossible.
        # Draws and prints replay their recorded results: see `_repeat_of`.
        self.repeat = self._run if effects <= {draw, output} else None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run the graph and commit its updates atomically with respect to other threads.

        This is optimistic concurrency: if another thread has changed a variable that the run read and replaces, the run
        is retried with the recorded results of its effects. The last attempt holds the lock.
        """
        if not self._updated:
            try:
                return self._run(*(self._read(arrays) if self._variables else arrays))
            except REPORTS:
                if self._has_effects:
                    raise
                return run_silently(self._run, *self._read(arrays))
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
        """The arrays of the inputs, followed by those of the variables."""
        for variable, shape in self._flexible:
            if variable.dims != shape:
                raise Changed
        return [*arrays, *[s.host() if (x := (s := v._storage).array) is None else x for v in self._variables]]

    def _attempt(self, inputs: Sequence[Any], done: list[Any]) -> Sequence[Any] | None:
        """Returns the outputs if the updates were committed, else None; `done` has the recorded results of effects."""
        arrays = self._read(inputs)
        if self._has_effects:
            with replaying(done), recording() as done_now:
                results = self._run(*arrays)
            done[:] = done_now
        else:
            try:
                results = self._run(*arrays)
            except REPORTS:
                results = run_silently(self._run, *arrays)
        with updating:
            for i, variable in self._replaced:
                storage = variable._storage
                if storage.array is not arrays[i] and not storage.holds(arrays[i]):
                    return None
            take_all(take, self._updated, results[self._outputs :])
        return results[: self._outputs]


def program_of(graph: Graph, jit_compile: bool, budget: Budget = None) -> Program:
    """Compile a graph to a program that runs on arrays."""
    if is_watched(graph):
        return Watched(program_of(unwatched(graph), jit_compile, budget), graph)
    if jit_compile:
        from ..executors.xla import executor

        return executor.compile_graph(graph, budget)
    return NumpyProgram(graph, budget)


def _repeat_of(forward: Program, performed: list[Any] | None) -> Callable[..., Sequence[Any]] | None:
    """Returns a function that recomputes the results of a run, replaying its effects; None if the program has none."""
    repeat: Callable[..., Sequence[Any]] | None = getattr(forward, "repeat", None)
    if repeat is None or not performed:
        return repeat
    again, given = repeat, performed

    def replayed(*arrays: Any) -> Sequence[Any]:
        with replaying(given):
            return again(*arrays)

    return replayed


class Specialization:
    """One traced graph of a function and the structure of its return value."""

    def __init__(
        self, graph: Graph, structure: Any, forms: list[Any], jit: JitPolicy, externals: dict[Value, Tensor],
        recorded_streams: dict[int, Stream], budget: Budget = None, asks_a_tape: bool = False,
    ) -> None:  # fmt: skip
        self.graph = graph
        self._block = modes.query_block()
        self._asks_a_tape, self.budget = asks_a_tape, budget
        self.externals = externals  # constants of the graph that a tape may watch
        self.structure, self.forms = structure, forms
        self.dtypes = [value.dtype for value in graph.outputs]
        self.jit, self._recorded_streams = jit, recorded_streams
        # The device of the first variable that is on one; None if all are on the host.
        self.home = next((m for v, _ in graph.variables if (m := v._storage.module) is not None), None)
        self.runs_as_traced = False  # whether the next run must reproduce the op-by-op numbers of an eager trace
        self._device_program: Any = _UNDECIDED
        self._is_deferred = False  # whether a run on a device has left the compilation to the next one
        # By (wanted, budget, device): the derivative with its programs; None if XLA cannot run it on the device.
        self._derivatives: dict[Any, tuple[Derivative | BudgetedDerivative, Any, Any] | None] = {}
        self._opened: dict[tuple[Value, ...], Specialization] = {}
        self._building = SharedAttempt()  # of programs
        self._building_for_numpy = BuildLock()  # of programs that run while another thread compiles
        self._substitute: Any = None  # the program of NumPy that runs meanwhile

    @property
    def is_unseen(self) -> bool:
        """Whether it was traced before the active inspection block, and so has no observer nodes."""
        return self._asks_a_tape and self._block is not modes.query_block()

    @cached_property
    def is_delicate(self) -> bool:
        """Whether effects may precede a failing guard: then their results must be recorded for replay."""
        kinds = {isinstance(node.op, Effect) for node in all_nodes(self.graph) if isinstance(node.op, Check)}
        return len(kinds) == 2

    def opened(self) -> tuple[Specialization, list[Tensor]]:
        """Returns the graph with its watched constants lifted to inputs, and these constants."""
        constants = tuple([place for place, x in self.externals.items() if is_external(x)])
        if not constants:
            return self, []
        found = self._opened.get(constants)
        if found is None:
            graph = opened(self.graph, constants)
            found = self._opened[constants] = Specialization(
                graph, self.structure, self.forms, self.jit, {}, self._recorded_streams, self.budget
            )
        return found, [self.externals[place] for place in constants]

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Run on host tensors with no recorder active."""
        if self.runs_as_traced:
            self.runs_as_traced = False
            assert self.budget is not None
            from ..executors.numpy.memory_planning import plan_memory  # imported lazily: few functions need it

            graph = plan_memory(dead_code(self.graph), self.budget, for_once=True)
            program: Any = NumpyProgram(graph, prepared=True)
        else:
            program = self._program
        results = program([x.array for x in tensors])
        return list(map(wrap, results, self.dtypes))

    def run_on_device(self, module: ArrayModule, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Run on device (or host) tensors with no recorder active: compiled by XLA, or op by op."""
        program = self._device_program
        if program is _UNDECIDED:
            program = self._decided(module)
        if program is None:
            return self._replayed(self._optimized, [send_to_device(module, x) if x.dims else x for x in tensors])
        return _from_xla(module, _run_on_xla(module, program, _to_xla(module, tensors)), self.dtypes)

    def _decided(self, module: ArrayModule) -> Any:
        """Returns the program that XLA runs on the device, compiled now or in the next run, or None."""
        if self._waits():
            return None
        with self._attempt(True) as attempts:
            if attempts and self._device_program is _UNDECIDED:
                self._device_program = self._compiled(self.graph) if self.compiles(module) else None
            return None if self._device_program is _UNDECIDED else self._device_program

    def compile_for(self, tensors: Sequence[Tensor]) -> None:
        """Compile what a run on tensors like these, with no recorder active, would compile; do not run it."""
        module = next((x.module for x in tensors if type(x) is DeviceTensor), self.home)
        if not self.compiles(module):
            return
        self._is_deferred = True  # a signature that is compiled in advance will be called
        program = self._program if module is None else self._decided(module)
        if self.jit.requested:  # else it has been compiled already, to see whether XLA can run it
            program.prepare()

    def _attempt(self, compiles: bool) -> AbstractContextManager[bool]:
        """Returns a context that yields whether this thread builds; it waits for another thread that does, if it must.

        Where XLA compiles by default, threads go on without it while one compiles.
        """
        return self._building.unless_busy() if compiles and not self.jit.requested else self._building

    def _waits(self) -> bool:
        """Whether this run on a device should not compile the graph yet."""
        waits = not self._is_deferred and self.jit.defers()
        self._is_deferred = self._is_deferred or waits
        return waits

    def compiles(self, module: ArrayModule | None) -> bool:
        """Whether XLA runs the graph on the device of `module`, None for the host; a plan keeps it off unless asked."""
        may_be = self.jit.requested or (self.budget is None and self._is_worth_it)
        return may_be and self.jit.applies(module)

    @cached_property
    def _is_worth_it(self) -> bool:
        return self.jit.is_worth_it(self._used)

    def _compiled(self, graph: Graph) -> Any:
        """Compile a graph with XLA; return None if that is the default and XLA cannot run it alone."""
        if self.jit.requested:
            return program_of(graph, True, self.budget)
        plain = unwatched(graph)
        found = self.jit.compile_graph(plain, partial(NumpyProgram, plain))
        return Watched(found, graph) if found is not None and is_watched(graph) else found

    def run_recorded_on_device(
        self, module: ArrayModule, tensors: Sequence[Tensor], log: Log
    ) -> list[Tensor] | None:
        """Run as `run_recorded` does, compiled by XLA on a device; return None if XLA does not run the derivative."""
        if not self.compiles(module):
            return None
        inputs, wanted = self._seen_by(log, tensors)
        if not any(wanted) or not self.dtypes:
            with dispatch.recorded_by(()):
                return self.run_on_device(module, tensors)
        with dispatch.recorded_by(()):
            found = None if self._waits() else self._derivative(inputs, wanted, self.budget, module)
            if found is None:
                return None
            derivative, forward, backward = found
            results = _run_on_xla(module, forward, _to_xla(module, tensors))
        count = len(self.dtypes)
        outputs = _from_xla(module, results[:count], self.dtypes)
        log.record(
            DeviceCallOp(module, self.graph.name, derivative, backward, inputs, results[count:]), inputs,
            tuple(outputs), {},
        )  # fmt: skip
        return outputs

    def _seen_by(self, log: Log, tensors: Sequence[Tensor]) -> tuple[list[Tensor], tuple[bool, ...]]:
        """Returns all inputs, with the tape's tracers, and which of them the tape tracks."""
        inputs = [*tensors, *[v._as_tensor() for v, _ in self.graph.variables]]
        wanted = tuple([x.tracer is not None and dispatch.entry(x.tracers, log.key) is not None for x in inputs])
        for variable, _ in self.graph.updates:
            log.tracer_of(variable, None)
        return inputs, wanted

    def run_recorded(self, tensors: Sequence[Tensor], log: Log) -> list[Tensor]:
        """Run on host tensors under one tape, which records the call as a single op."""
        inputs, wanted = self._seen_by(log, tensors)
        if not any(wanted) or not self.dtypes:
            return self._run_unrecorded(tensors, inputs, log)
        with dispatch.recorded_by(()):
            found = self._derivative(inputs, wanted, self.budget or log.call_budget)
            assert found is not None
            derivative, forward, backward = found
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
        """Run a call that the tape does not record, as none of its outputs has a derivative.

        A tracing tape still logs the call: the outputs may depend on values that it has recorded.
        """
        with recording() if log.traces else _OPEN as performed, dispatch.recorded_by(()):
            bookmark = log.bookmark_call() if log.traces else None
            outputs = self.run(tensors)
        if bookmark is not None:
            log.record_call(bookmark, UnrecordedCall(self._used, performed or ()), inputs, outputs)
        return outputs

    def _derivative(
        self, inputs: Sequence[Tensor], wanted: tuple[bool, ...], budget: Budget, module: ArrayModule | None = None
    ) -> tuple[Derivative | BudgetedDerivative, Any, Any] | None:
        """Returns the derivative with respect to the `wanted` inputs, and its forward and backward programs.

        It is planned to the function's own budget, or to the tape's if it would keep more residuals than that. It is
        None if the inputs are on a device for which XLA cannot compile the programs.
        """
        found = self._derivatives.get((wanted, budget, module), _UNDECIDED)
        if found is not _UNDECIDED:
            return found  # type: ignore[return-value]
        by_xla = self.compiles(module)
        with self._attempt(by_xla) as attempts:
            if not attempts:
                return self._derivative_on_numpy(inputs, wanted, budget) if module is None else None
            found = self._derivatives.get((wanted, budget, module), _UNDECIDED)
            return self._new_derivative(inputs, wanted, budget, module, by_xla) if found is _UNDECIDED else found  # type: ignore[return-value]

    def _derivative_on_numpy(
        self, inputs: Sequence[Tensor], wanted: tuple[bool, ...], budget: Budget
    ) -> tuple[Derivative | BudgetedDerivative, Any, Any] | None:
        """Returns what `_derivative` does, for a thread that does not wait until another one has compiled it."""
        with self._building_for_numpy:
            found = self._derivatives.get((wanted, budget, _WITHOUT_XLA))
            return found or self._new_derivative(inputs, wanted, budget, _WITHOUT_XLA, by_xla=False)

    def _new_derivative(
        self, inputs: Sequence[Tensor], wanted: tuple[bool, ...], budget: Budget,
        module: ArrayModule | _WithoutXla | None, by_xla: bool,
    ) -> tuple[Derivative | BudgetedDerivative, Any, Any] | None:  # fmt: skip
        plain = [lazy_copy(x) if type(x) is DeviceTensor else wrap(x.array, x.dtype) for x in inputs]
        derivative = Derivative(
            self.graph, plain, wanted, streams=self._recorded_streams, for_xla=by_xla, lazy=self.budget is not None
        )
        made: tuple[Derivative | BudgetedDerivative, Any, Any] | None
        if budget is not None and (self.budget is not None or sum(map(size, derivative.kept)) > budget):
            made = self._budgeted(derivative, budget)
        else:
            made = None
            if by_xla and (forward := self._compiled(derivative.forward)) is not None:
                backward = self._compiled(derivative.backward)
                made = None if backward is None else (derivative, forward, backward)
            if made is None and (module is None or module is _WITHOUT_XLA):
                made = (derivative, program_of(derivative.forward, False), program_of(derivative.backward, False))
            self._derivatives[wanted, self.budget, module] = made
        self._derivatives[wanted, budget, module] = made
        return made

    def _budgeted(self, derivative: Derivative, budget: int | float) -> tuple[BudgetedDerivative, Any, Any]:
        """Plan a derivative to a memory budget and compile its programs."""
        if self.jit.requested:
            from ..executors.xla.memory_planning import planned as planned_for_xla
            from ..executors.xla.stage_partitioning import in_stages

            planned = BudgetedDerivative(derivative, self.graph, lambda whole: planned_for_xla(whole, budget))
            original = (*derivative.forward.nodes, *derivative.backward.nodes)
            forward, backward = in_stages(planned.forward, original), in_stages(planned.backward, original)
            return planned, program_of(forward, True), program_of(backward, True)
        from ..executors.numpy.memory_planning import plan_memory

        planned = BudgetedDerivative(
            derivative, self.graph, lambda whole: plan_memory(executor.prepared(optimize(whole)), budget)
        )
        return planned, NumpyProgram(planned.forward, None, True), NumpyProgram(planned.backward, None, True)

    _program: Any = _FirstProgram()

    def _decided_on_host(self) -> Any:
        """Returns the program that runs on the host, compiled now, or NumPy's while another thread compiles."""
        with self._attempt(self.compiles(None)) as attempts:
            if not attempts:
                return self._numpy_program()
            if "_program" not in vars(self):  # by another thread
                compiled = self._compiled(self.graph) if self.compiles(None) else None
                vars(self)["_program"] = self._numpy_program() if compiled is None else compiled
                self._substitute = None
            return vars(self)["_program"]

    def _numpy_program(self) -> Any:
        with self._building_for_numpy:
            if self._substitute is None:
                self._substitute = program_of(self.graph, False, self.budget)
            return self._substitute

    @cached_property
    def _used(self) -> Graph:
        """The graph after dead code elimination: unused nodes might fail."""
        return dead_code(self.graph)

    @cached_property
    def _optimized(self) -> Graph:
        """The graph as it runs op by op on a device."""
        graph = optimize(self.graph)
        if self.budget is None:
            return graph
        from ..executors.numpy.memory_planning import plan_memory

        return plan_memory(graph, self.budget)

    @cached_property
    def _assigns_in_subgraphs(self) -> bool:
        """Whether a branch or a loop body assigns a variable."""
        own = {id(node) for node in self.graph.nodes}
        return any(node.op is assigned and id(node) not in own for node in all_nodes(self.graph))

    def replayed(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Run op by op on tensors of any kind under any recorder."""
        if self._assigns_in_subgraphs:
            check_not_tracked() if dispatch.thread.trace is None else check_not_followed()
        recorder = dispatch.thread.recorder
        # With several recorders, each may transform every op, as the sweep of an inner tape does: only ops are logged.
        is_told = dispatch.thread.trace is None and isinstance(recorder, Log) and recorder.traces
        return self._replayed(self._used, tensors, recorder if is_told else None)

    def _replayed(self, graph: Graph, tensors: Sequence[Tensor], log: Any = None) -> list[Tensor]:
        """Run the graph op by op and commit its updates; a tracing tape logs it as one call."""
        with updating if self.graph.updates else _OPEN:
            inputs = [*tensors, *[v._as_tensor() for v, _ in self.graph.variables]]
            bookmark = None if log is None else log.bookmark_call()
            with _OPEN if log is None else recording() as performed:
                results = replay(graph, inputs)
            if bookmark is not None:
                log.record_call(bookmark, UnrecordedCall(graph, performed or ()), inputs, results)
            count = len(self.graph.outputs)
            for (variable, _), value in zip(self.graph.updates, results[count:], strict=True):
                variable._replace(value)
        return results[:count]

    def packed(self, outputs: Sequence[Any]) -> Any:
        """Pack the output tensors, or their substitutes, into the structure of the return value."""
        if self.structure is ONE_TENSOR:
            return outputs[0]
        leaves = [leaf if at is None else outputs[at] for at, leaf in self.forms]
        return nest.pack_sequence_as(self.structure, leaves, expand_composites=True)

    def specified(self, specs: Sequence[Any]) -> Any:
        """Pack the output specs likewise; a composite is its own spec unless it has no tensors."""
        if self.structure is ONE_TENSOR:
            return specs[0]
        leaves = iter([leaf if at is None else specs[at] for at, leaf in self.forms])

        def one(form: object) -> Any:
            its = [next(leaves) for _ in nest.flatten(form, expand_composites=True)]
            stays = isinstance(form, TypeSpec) and its
            return form if stays else nest.pack_sequence_as(form, its, expand_composites=True)

        return nest.map_structure(one, self.structure)


def _as_run(graph: Graph, performed: Sequence[Any]) -> Graph:
    """Returns the graph with the random states of one recorded run as constants, as far as they are known."""
    draws = [node.outputs[0] for node in graph.nodes if node.op is draw]
    others = [node for node in all_nodes(graph) if isinstance(node.op, Effect) and node.op not in (draw, output)]
    drawn = [state for state in performed if isinstance(state, ndarray)]
    if others or len(drawn) != len(draws):
        return graph
    known = {v: Value(v.shape, v.dtype, state) for v, state in zip(draws, drawn, strict=True)}
    return graph.substituted([node.on(known) for node in graph.nodes if node.op is not draw], known)


def _to_xla(module: ArrayModule, tensors: Sequence[Tensor]) -> list[Any]:
    return [module.to_xla(x.buffer) if type(x) is DeviceTensor else x.array for x in tensors]


def _run_on_xla(module: ArrayModule, program: Any, arrays: list[Any]) -> list[Any]:
    """Run a program on arrays of XLA, whose memory the device's library may own, and keep them until it has ended."""
    results = program.run(arrays)
    module.lend(arrays, results)
    return results


def _from_xla(module: ArrayModule, arrays: Iterable[Any], dtypes: Iterable[DType]) -> list[Tensor]:
    return [on_device(module, module.from_xla(y), dtype) for y, dtype in zip(arrays, dtypes, strict=True)]


class UnrecordedCall:
    """A call that a tracing tape has logged, but not recorded as one op."""

    def __init__(self, graph: Graph, performed: Sequence[Any]) -> None:
        self.name, self.forward = graph.name, graph
        self.as_run = _as_run(graph, performed)


class FunctionCallOp(Unregistered):
    """The op that a tape records for one call."""

    family = "call"
    performed: Sequence[Any] = ()  # recorded results of its effects, if the tape traces

    def __init__(
        self, name: str, derivative: Derivative | BudgetedDerivative, backward: Program, inputs: Sequence[Tensor],
        kept: Iterable[Any], repeat: Callable[..., Sequence[Any]] | None = None,
    ) -> None:  # fmt: skip
        self.name = self.title = name
        self._derivative, self._backward = derivative, backward
        self._inputs: Iterable[Tensor] = inputs
        self._kept = kept
        self._repeat = repeat  # maps the input arrays to the outputs followed by the residuals

    def lend(self, lender: Callable[..., tuple[Iterable[Tensor], Iterable[Any]]]) -> None:
        """Transfer residuals and inputs to a tape that may evict values: see `budgets`."""
        dtypes = [value.dtype for value in self._derivative.kept]
        kept = [wrap(array, dtype) for array, dtype in zip(self._kept, dtypes, strict=True)]
        outputs = [value.dtype for value in self.forward.outputs]
        self._inputs, self._kept = lender(self._inputs, kept, outputs, self._repeat)

    @property
    def forward(self) -> Graph:
        """The forward graph: the outputs, followed by the residuals of the backward pass."""
        return self._derivative.forward

    @property
    def as_run(self) -> Graph:
        """The forward graph with the random states of this run."""
        return _as_run(self.forward, self.performed)

    def vjp_raw(self, m: OpNamespace, gs: Sequence[Any], saved: object, parents: Sequence[int]) -> list[Any]:
        """Compute the cotangents of the inputs by the compiled backward graph."""
        return self._derivative.cotangents.of(self._backward([*self._kept, *gs]))

    def vjp(self, m: OpNamespace, gs: Sequence[Any], saved: object, parents: Sequence[int]) -> list[Any]:
        """Compute them op by op for tensors of any kind; if recorded, from the inputs, on which they depend too."""
        if isinstance(self._derivative, BudgetedDerivative):
            return self._derivative.cotangents_of(self._inputs, self._kept, gs)
        if not dispatch.unrecorded():
            results = replay(self._derivative.joint, [*self._inputs, *gs])
        else:
            results = replay(self._derivative.backward, [*self._residuals(), *gs])
        return self._derivative.cotangents.of(results)

    def _residuals(self) -> list[Tensor]:
        return [wrap(x, v.dtype) for x, v in zip(self._kept, self._derivative.backward.inputs, strict=False)]


class DeviceCallOp(FunctionCallOp):
    """The op of a call that XLA has run on a device; the residuals stay in XLA's arrays."""

    _backward: Any

    def __init__(
        self, module: ArrayModule, name: str, derivative: Derivative | BudgetedDerivative, backward: Program,
        inputs: Sequence[Tensor], kept: Iterable[Any],
    ) -> None:  # fmt: skip
        super().__init__(name, derivative, backward, inputs, kept)
        self._module = module

    def vjp(self, m: OpNamespace, gs: Sequence[Any], saved: object, parents: Sequence[int]) -> list[Any]:
        """Run the compiled backward graph on plain cotangents; replay it for others, or if it is recorded."""
        if not dispatch.unrecorded() or not all([type(g) in REAL for g in gs]):
            return super().vjp(m, gs, saved, parents)
        results = _run_on_xla(self._module, self._backward, [*self._kept, *_to_xla(self._module, gs)])
        dtypes = [value.dtype for value in self._derivative.backward.outputs]
        return self._derivative.cotangents.of(_from_xla(self._module, results, dtypes))

    def _residuals(self) -> list[Tensor]:
        return _from_xla(self._module, self._kept, [value.dtype for value in self._derivative.kept])
