"""Compiles a graph with XLA: its nodes are replayed once with `jax.numpy` under `jax.jit`.

Variables stay on the device between runs. The buffers of updated variables are donated to their new values, unless the
run may still fail. The states of random draws are computed on the host and passed in; effects, and ops that XLA
does not support, are host callbacks. JAX is imported on first use and the user's JAX configuration is left alone:
64-bit types are enabled for the trace and, if 64-bit arrays are passed in, for the call.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from numpy import asarray

from ....core import devices
from ....core.errors import ResourceExhaustedError
from ....core.extras import install_command
from ....core.locks import SharedAttempt, cached_property
from ....engine.run.progress import reporting
from ....state.storage import take_all, take_xla, updating
from ...ir.effects import ATTEMPTS, Changed, Effect, draw, performance, recording, replaying, undoing_draws
from ...ir.graph import Graph, Value, all_nodes
from ...passes.optimize import optimize
from .compiler_options import options
from .constants import large_constants
from .interrupts import uninterrupted
from .memory_planning import plan_memory
from .placement import Placement, placement_of
from .source_names import lower

_MUCH = 1 << 17  # bytes of updated variables from which donation pays off
_FEW = 500  # nodes below which the overhead of a call may matter


def compile_graph(
    graph: Graph, budget: int | float | None = None, standalone: bool = False,
    in_child: Callable[[], Callable[..., Sequence[Any]]] | None = None,
) -> XlaProgram:  # fmt: skip
    """Returns a function from the arrays of `graph.inputs` to those of `graph.outputs`; it reads and updates variables.

    With a budget, the peak memory of a run is limited: see `plan_memory`. The compilation of a `standalone` program
    raises `NotCompilable` where it would call Python, or fix a shape that depends on values. `in_child` makes the
    program that runs instead in a process that is forked after XLA has started; by default, an error is raised there.
    """
    check_jax()
    return XlaProgram(optimize(graph, for_xla=True), None, budget, standalone, in_child)


def check_jax() -> None:
    """Raises an error with instructions if JAX is not installed, or if XLA cannot run in this process."""
    check_process()  # before the import, which waits forever in a child if another thread was importing JAX at the fork
    try:
        import jax  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "jit_compile=True compiles with XLA, which comes with JAX, and JAX is not installed. Use "
            f"`{install_command('xla')}`, or jit_compile=False"
        ) from error


@cache
def _process_of_xla() -> int:
    """Returns the id of the process that started XLA: of this one, or of the one it was forked from."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_leave_xla_to_parent)
    return os.getpid()


def _leave_xla_to_parent() -> None:
    """Keep what owns threads of XLA alive in a forked child: at the exit, it would wait for them, or crash.

    JAX alone crashes so, and has no function for this. Where its private names change, children crash at their exit.
    """
    api, bridge, mlir = (sys.modules.get(f"jax._src.{name}") for name in ("api", "xla_bridge", "interpreters.mlir"))
    atexit.unregister(getattr(api, "clean_up", None))  # type: ignore[arg-type]
    for owner in (*getattr(bridge, "_backends", {}).values(), getattr(mlir, "global_thread_pool", None)):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))


def is_of_another_process() -> bool:
    """Whether this process was forked after XLA started: XLA's threads do not survive a fork, and a run would hang.

    To be asked just before XLA runs: the first process that asks is XLA's.
    """
    return _process_of_xla() != os.getpid()


def check_process() -> None:
    """Raises in a process forked after XLA started."""
    if is_of_another_process():
        raise RuntimeError(
            f"XLA was started in process {_process_of_xla()}, from which this one, {os.getpid()}, was forked later: "
            "functions with jit_compile=True and strategies for several devices cannot run here. Start processes by "
            '"spawn" instead, as in multiprocessing.get_context("spawn"), or fork before the first of them runs'
        )


class XlaProgram:
    """A graph that is compiled on its first call.

    `on_host` lists the ops that run as host callbacks, `peak` the peak bytes of a run without its arguments, if XLA
    reports them. If variables are sharded over a mesh, `placement` holds the shardings of all values; it is None on a
    single device.
    """

    def __init__(
        self, graph: Graph, placement: Placement | None = None, budget: int | float | None = None,
        standalone: bool = False, in_child: Callable[[], Callable[..., Sequence[Any]]] | None = None,
    ) -> None:  # fmt: skip
        self.graph, self._budget, self._standalone, self._in_child = graph, budget, standalone, in_child
        self._variables = [variable for variable, _ in graph.variables]
        self._updated = [variable for variable, _ in graph.updates]
        updated = set(map(id, self._updated))
        self._replaced = [(i, variable) for i, variable in enumerate(self._variables) if id(variable) in updated]
        self._flexible = [(v, value.shape) for v, value in graph.variables if not v.shape.is_fully_defined()]
        self._outputs = len(graph.outputs)
        self._placement = placement_of(graph) if placement is None else placement
        self._compiled: _Compiled | None = None  # replaced atomically: other threads may be running the program
        self._compiling = SharedAttempt()
        self.on_host: Sequence[str] = ()
        self.peak: int | None = None

    def prepare(self) -> None:
        """Compile the program now, instead of in its first run."""
        check_process()
        self._compile_once()

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Run the graph and commit its updates."""
        return [asarray(y)[()] for y in self.run(arrays)]  # NumPy scalars, or views of XLA's arrays

    @cached_property
    def _program_in_child(self) -> Callable[..., Sequence[Any]]:
        if self._in_child is None:
            check_process()
        assert self._in_child is not None
        return self._in_child()

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run the graph and commit its updates; the results stay in XLA's buffers."""
        if is_of_another_process():
            return self._program_in_child(arrays)
        compiled = self._compiled
        if compiled is None:
            compiled = self._compile_once()
        try:
            if compiled.alone:
                return compiled.call(*arrays)
            with self._jax.enable_x64(True) if compiled.wide else nullcontext():
                return self._run(compiled, arrays)
        except self._jax.errors.JaxRuntimeError as error:
            devices.raise_if_lost(f"function {self.graph.name}", error)
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            raise ResourceExhaustedError(
                f"XLA has no memory left for function {self.graph.name}: {error}. Smaller batches, a memory_budget "
                "or a half-precision dtype need less; what tapes and variables hold counts too"
            ) from error
        except ValueError:
            placement = placement_of(self.graph)
            if compiled.placement is not None or placement is None:
                raise
            self._compile(placement)  # a variable was sharded after the program was compiled
            return self.run(arrays)

    def _run(self, compiled: _Compiled, given: Sequence[Any]) -> Sequence[Any]:
        """Run a program that takes 64-bit values, or arguments besides its inputs, and commit its updates."""
        for variable, shape in self._flexible:
            if variable.dims != shape:
                raise Changed
        if compiled.placement is not None:
            given = compiled.placement.spread_inputs(given)
        if compiled.may_fail:
            with undoing_draws([node.attrs["take"] for node in compiled.draws]):
                return self._checked_run(compiled, _arguments(compiled, given))
        arguments = _arguments(compiled, given)
        with updating, uninterrupted() if compiled.takes_memory else nullcontext():
            flat = compiled.call(*self._spread(compiled, self._held()), *arguments)
            self._commit(compiled, flat[self._outputs :])
        return flat[: self._outputs]

    def _checked_run(self, compiled: _Compiled, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run a program that may fail or call Python; other threads may update variables meanwhile.

        This is optimistic concurrency: if another thread has changed a variable that the run updates, the run is
        retried with the recorded results of its effects. The last attempt holds the lock, unless XLA's threads call
        Python, which may wait for that lock: then the last writer wins.
        """
        done: list[Any] = []
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            with updating if last and not compiled.on_host else nullcontext():
                with updating:
                    held = self._held()
                with replaying(done), recording() as done_now:
                    results, updates = self._seen(compiled, [*self._spread(compiled, held), *arguments])
                done = done_now
                with updating:
                    if last or all([v._storage.xla(self._put) is held[i] for i, v in self._replaced]):
                        self._commit(compiled, updates)
                        break
        return results

    @property
    def repeat(self) -> Callable[..., Sequence[Any]] | None:
        """Returns a function that recomputes the outputs from input and variable arrays without side effects, or None.

        It exists after the first run, unless the program calls Python, checks values or runs on a mesh.
        """
        if is_of_another_process():
            return getattr(self._program_in_child, "repeat", None)
        compiled = self._compiled
        if compiled is None or compiled.may_fail or compiled.placement is not None:
            return None
        effects = {node.op for node in all_nodes(self.graph) if isinstance(node.op, Effect)}
        return partial(self._repeated, compiled) if effects <= {draw} else None

    def _repeated(self, compiled: _Compiled, *arrays: Any) -> Sequence[Any]:
        count = len(self.graph.inputs)
        inputs, held = arrays[:count], arrays[count:]
        with self._jax.enable_x64(True):
            if compiled.takes_memory:
                held = tuple([self._jax.numpy.array(x, copy=True) for x in held])
            results = compiled.call(*held, *_arguments(compiled, inputs))
        return [asarray(y)[()] for y in results[: self._outputs]]

    def _held(self) -> list[Any]:
        return [variable._storage.xla(self._put) for variable in self._variables]

    def _spread(self, compiled: _Compiled, held: list[Any]) -> list[Any]:
        return held if compiled.placement is None else compiled.placement.spread_held(self._variables, held)

    def _put(self, array: Any) -> Any:
        with self._jax.enable_x64(True):
            return self._jax.device_put(array)

    def _commit(self, compiled: _Compiled, updates: Sequence[Any]) -> None:
        if compiled.placement is not None:
            updates = compiled.placement.taken(self._updated, updates)
        take_all(take_xla, self._updated, updates)

    def _seen(self, compiled: _Compiled, arguments: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the program, wait for it, and return its outputs and updates; raise the error of a failed callback."""
        lowering = compiled.lowering
        lowering.performance = performance()
        try:
            flat = self._jax.block_until_ready(compiled.call(*arguments))
            if lowering.ordered:
                self._jax.effects_barrier()
        except Exception as error:
            if not lowering.failures:
                raise
            failure = lowering.failures[0]
            lowering.failures.clear()
            _forget_failed_run()
            raise failure from error
        if compiled.checked and not flat[-1]:
            raise Changed
        end = self._outputs + len(self._updated)
        return flat[: self._outputs], flat[self._outputs : end]

    def _compile_once(self) -> _Compiled:
        """Compile the program unless another thread has, or is just compiling it: then wait for the outcome."""
        with self._compiling:
            return self._compiled or self._compile(self._placement)

    def _compile(self, placement: Placement | None) -> _Compiled:
        import jax

        self._jax = jax
        with reporting(f"compiling function {self.graph.name} with XLA"):
            compiled = self._built(self.graph, placement)
            if self._budget is not None:
                compiled = plan_memory(self.graph, self._budget, compiled, partial(self._built, placement=None))
        self._compiled, self.on_host, self.peak = compiled, compiled.on_host, compiled.peak
        return compiled

    def lowered(self) -> tuple[Any, Callable[[], Any]]:
        """Returns the program as JAX's `Lowered`, and a function that compiles it."""
        import jax

        check_process()
        self._jax = jax
        lowered = self._lowered(self.graph, self._placement).lowered
        return lowered, lambda: lowered.compile(options(self.graph, jax.default_backend()))

    def _built(self, graph: Graph, placement: Placement | None) -> _Compiled:
        """Compile the graph with XLA."""
        jax = self._jax
        lowered, lowering, draws, donated, checked, large = self._lowered(graph, placement)
        with jax.enable_x64(True):
            put = jax.device_put if placement is None else placement.copied
            constants = [put(v.constant) for v in large]
            compiled = lowered.compile(options(graph, jax.default_backend()))
        memory = compiled.memory_analysis()
        peak = memory and int(memory.temp_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes)
        call = compiled if placement is None else lambda *arrays: jax.tree.leaves(compiled(*arrays))
        on_host = tuple(dict.fromkeys(lowering.on_host))
        may_fail = checked or bool(on_host)
        wide = any(v.dtype.real_dtype.size == 8 for v in graph.inputs) or bool(draws or on_host)
        alone = placement is None and not (wide or may_fail or graph.variables or graph.updates or constants)
        return _Compiled(
            call, lowering, draws, constants, donated, checked, peak, placement, on_host, may_fail, wide, alone
        )

    def _lowered(self, graph: Graph, placement: Placement | None) -> _Lowered:
        """Lower the graph to XLA's operations."""
        from .lowering import Lowering

        jax = self._jax
        large = large_constants(graph)
        held = sum(math.prod(v.shape) * v.dtype.size for _, v in graph.updates)
        # A signal must not interrupt a run that donates buffers before its results are stored. Deferring signals takes
        # 12 microseconds: short programs with small variables allocate new buffers instead.
        worth_it = len(graph.nodes) >= _FEW or held >= _MUCH
        donated = [i for i, _ in self._replaced] if worth_it else []
        precision = None if devices.tensor_float_32.enabled else "highest"  # of products of float32 on a GPU
        with jax.enable_x64(True), jax.default_matmul_precision(precision) if precision else nullcontext():
            while True:
                lowering = Lowering(graph, self._standalone)
                draws = [] if lowering.ordered else [node for node in graph.nodes if node.op is draw]
                passed = [*(node.outputs[0] for node in draws), *large]
                values = [*(v for _, v in graph.variables), *graph.inputs, *passed]
                function = _function(graph, lowering, passed)
                if placement is None:
                    shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype.numpy) for v in values]
                    traced = jax.jit(function, donate_argnums=donated).trace(*shapes)
                else:
                    traced = placement.traced(function, graph, values, donated)
                checked = len(jax.tree.leaves(traced.out_info)) > len(graph.all_outputs)
                if not ((checked or lowering.on_host) and donated):
                    break
                donated = []  # without donation, variables keep their values if the run fails
            return _Lowered(lower(traced), lowering, draws, bool(donated), checked, large)


class _Lowered(NamedTuple):
    """A lowered graph with what is needed to compile it; see `_Compiled`."""

    lowered: Any  # JAX's
    lowering: Any
    draws: Sequence[Any]
    takes_memory: bool
    checked: bool
    large: Sequence[Value]  # constants that are passed in


class _Compiled(NamedTuple):
    """A compiled graph with everything needed to run it."""

    call: Callable[..., Any]
    lowering: Any
    draws: Sequence[Any]  # the nodes whose random states are passed in
    constants: Sequence[Any]  # further arguments
    takes_memory: bool  # whether the buffers of updated variables are donated
    checked: bool  # whether the last output is the conjunction of all checks
    peak: int | None
    placement: Placement | None  # the shardings, if variables are sharded over a mesh
    on_host: Sequence[str]
    may_fail: bool
    wide: bool  # whether the call needs JAX's 64-bit mode
    alone: bool  # whether `call` takes the inputs and nothing else


def _arguments(compiled: _Compiled, given: Sequence[Any]) -> list[Any]:
    """Draw the random states of a run and return all arguments that follow the variables."""
    return [*given, *(node.op.numpy(**node.attrs) for node in compiled.draws), *compiled.constants]


def _forget_failed_run() -> None:
    """Clear JAX's record of a failed program of this thread, which it would report again at interpreter exit."""
    with suppress(ImportError, AttributeError):  # there is no public API
        tokens: Any = import_module("jax._src.dispatch").runtime_tokens
        tokens.clear()


def _function(graph: Graph, lowering: Any, passed: Sequence[Value]) -> Callable[..., Any]:
    """Returns the function to compile: from variables, inputs and passed-in values to outputs, updates and checks.

    The conjunction of the checks is returned only if there are any.
    """
    variables, inputs = len(graph.variables), len(graph.inputs)

    def function(*arrays: Any) -> Any:
        held, given = arrays[:variables], arrays[variables : variables + inputs]
        known = dict(zip(passed, arrays[variables + inputs :], strict=True))
        results, holds = lowering.run(graph, [*given, *held], known)
        return results if holds is None else [*results, holds]

    function.__name__ = graph.name
    return function
