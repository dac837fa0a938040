"""Replays a graph with `jax.numpy` under a JAX trace: each node by its lowering, else by its kernel.

Nodes that neither supports run on NumPy as host callbacks, and so does every effect, in program order. Guards become
one boolean, which the caller checks before it commits any result.
"""

from __future__ import annotations

import functools
import logging
import operator
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from ....backends.arrays import in_single
from ....core import dtypes
from ....core.errors import InvalidArgumentError
from ....engine.registry.op import bind
from ....engine.run import dispatch
from ...ir.effects import Changed, Effect, draw, guard, never, performed_as, shape_guard
from ...ir.graph import Graph, GraphOp, Node, Value, all_nodes
from . import algebra, attention, images, random, structure  # noqa: F401
from .standalone import NotCompilable, check_standalone
from .table import LOWERINGS, TAKING_HALF

# What a NumPy kernel raises on abstract values or immutable arrays.
_NOT_FOR_XLA = (jax.errors.JAXTypeError, jax.errors.JAXIndexError, TypeError, AttributeError, NotImplementedError)

# Ops whose derivatives compare their first input, and the third of some, with the extreme value that they gave.
_EXTREMES = frozenset("max max_rows min min_rows segment_max segment_min".split())


class Lowering:
    """The replay of a graph and its subgraphs, and what it found on the way."""

    def __init__(self, graph: Graph, standalone: bool = False) -> None:
        self.standalone = standalone  # whether `NotCompilable` is raised for calls of Python and value-dependent shapes
        if standalone:
            check_standalone(graph)
        passed = {id(node) for node in graph.nodes if node.op is draw}  # the caller draws these
        self.ordered = any(isinstance(node.op, Effect) and id(node) not in passed for node in all_nodes(graph))
        self.on_host: list[str] = []  # the ops that run as host callbacks
        self.failures: list[BaseException] = []  # exceptions raised by callbacks
        self.performance: dict[str, Any] = {}  # the effect state of the thread that runs the program

    def run(self, graph: Graph, arrays: Sequence[Any], known: dict[Value, Any] | None = None) -> tuple[list[Any], Any]:
        """Returns the arrays of `all_outputs` for those of `all_inputs`, and whether all checks hold (None if none)."""
        made = dict(zip(graph.all_inputs, arrays, strict=True)) | (known or {})
        checks: list[Any] = []

        def array(value: Value) -> Any:
            if value in made:
                return made[value]
            if value.dtype is dtypes.string:
                raise _no_strings(value)
            return value.constant

        for node in graph.nodes:
            if node.op.name in _EXTREMES and jax.default_backend() == "gpu":
                made.update(_held([v for v in node.inputs if v.constant is None and v.dtype.is_floating], made))
            if node.op is guard:
                checks.append(_equal(array(node.inputs[0]), node.attrs["value"]))
            elif node.op is never:
                checks.append(jnp.bool_(False))
            elif node.op is not shape_guard and not (node.op is draw and node.outputs[0] in made):
                # Shapes are static here: a value-dependent shape is checked by the node that computes it.
                results, holds = self._node(node, array)
                made.update(zip(node.outputs, map(_exactly, results, node.outputs), strict=True))
                checks += [] if holds is None else [holds]
        outputs = [_exactly(array(value), value) for value in graph.all_outputs]
        return outputs, functools.reduce(operator.and_, checks) if checks else None

    def checked(self, graph: Graph, arrays: Sequence[Any]) -> tuple[list[Any], Any]:
        """Like `run`, with a boolean in any case."""
        outputs, holds = self.run(graph, arrays)
        return outputs, jnp.bool_(True) if holds is None else holds

    def _node(self, node: Node, array: Callable[[Value], Any]) -> tuple[Sequence[Any], Any]:
        if isinstance(node.op, Effect):
            return self._called_back(node, array)
        for value in node.outputs:
            if value.dtype is dtypes.string:
                raise _no_strings(value)
        control = _CONTROL.get(node.op.name)
        try:
            if control is not None:
                return control(self, node, [array(v) for v in node.inputs])
            result = kernel_of(node.op)(*[array(v) for v in node.inputs], **node.attrs)
        except _NOT_FOR_XLA:
            return self._called_back(node, array)
        return (result if node.several else (result,)), None

    def _called_back(self, node: Node, array: Callable[[Value], Any]) -> tuple[Sequence[Any], Any]:
        """Compute a node by NumPy in a host callback; also return a check that value-dependent shapes match.

        A mismatched shape aborts the run. The boolean makes XLA keep the call: it eliminates a callback whose results
        are empty or unused, although the program may be specialized for that shape.
        """
        if self.standalone:
            raise NotCompilable(f"{node.op.title} is not available in XLA for its arguments")
        self.on_host.append(node.op.name)
        open_ = [i for i, v in enumerate(node.inputs) if v.constant is None]
        given = [v.constant for v in node.inputs]

        def on_host(*arrays: Any) -> Any:
            inputs = list(given)
            for i, x in zip(open_, arrays, strict=True):
                inputs[i] = _unpacked(np.asarray(x, order="C"), node.inputs[i].dtype.numpy)[()]
            try:
                with performed_as(self.performance):
                    result = node.op.numpy(*(inputs if node.op.moves_data else map(_widened, inputs)), **node.attrs)
                results = [np.asarray(y) for y in (result if node.several else (result,))]
                if any(y.shape != v.shape for y, v in zip(results, node.outputs, strict=True)):
                    raise Changed
            except ValueError as error:
                self.failures.append(dispatch.failure(node.op, map(np.shape, inputs), error))
                raise Stop from None
            except BaseException as error:
                self.failures.append(error)
                raise Stop from None
            typed = [np.asarray(y, v.dtype.numpy, order="C") for y, v in zip(results, node.outputs, strict=True)]
            return [*map(_packed, typed), np.True_]

        arrays = [_packed(jnp.asarray(array(node.inputs[i]))) for i in open_]
        made = [jax.ShapeDtypeStruct(v.shape, v.dtype.numpy) for v in node.outputs]
        expected = jax.eval_shape(lambda *ys: [*map(_packed, ys), jnp.bool_(True)], *made)
        call = functools.partial(io_callback, ordered=True) if node.effect else jax.pure_callback
        *packed, fits = call(on_host, expected, *arrays)
        results = [_unpacked(y, v.dtype.numpy) for y, v in zip(packed, node.outputs, strict=True)]
        return results, fits if node.op.shaped_by_values and not node.effect else None


@functools.cache
def kernel_of(op: GraphOp) -> Callable[..., Any]:
    """Returns the op as a function of JAX arrays; single XLA functions compute in half precision."""
    kernel: Callable[..., Any] = LOWERINGS.get(op.name) or bind(op.kernel, jnp)
    one_function = op.family == "elementwise" and isinstance(op.kernel, str | BuiltinFunctionType)
    return kernel if op.moves_data or one_function or op.name in TAKING_HALF else in_single(kernel)


def _widened(x: Any) -> Any:
    """Returns an array that NumPy can compute with: bfloat16 as float32."""
    return x.astype(np.float32) if x.dtype == dtypes.bfloat16.numpy else x


# Callbacks run on threads of XLA, where JAX has no 64-bit types unless the user has enabled them globally: arguments
# and results would be truncated to 32 bits. Therefore 64-bit values are passed as pairs of 32-bit words.


def _is_wide(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize >= 8 and dtype != np.complex64


def _packed(x: Any) -> Any:
    """Pack an array of the program, or of the host, for the other side of a callback."""
    return x[..., None].view(np.uint32) if _is_wide(x.dtype) else x


def _unpacked(x: Any, dtype: np.dtype[Any]) -> Any:
    """Inverse of `_packed`."""
    return x.view(dtype)[..., 0] if _is_wide(dtype) else x


class Stop(Exception):
    """Aborts the run of a program; the cause is in `failures`."""


# The caller raises the cause: JAX must not log it as well.
logging.getLogger("jax._src.callback").addFilter(lambda said: not (said.exc_info and said.exc_info[0] is Stop))


def _equal(x: Any, value: Any) -> Any:
    """Whether a guarded value is unchanged; NaN equals NaN."""
    return ((x == value) | ((x != x) & (value != value))).all()


def _held(values: Sequence[Value], made: dict[Value, Any]) -> dict[Value, Any]:
    """Returns arrays that XLA computes once: a fusion that repeats a sum on a GPU may round it in another way.

    Then no element would equal the extreme value, or another fusion would count none.
    """
    return dict(zip(values, jax.lax.optimization_barrier([made[v] for v in values]), strict=True))


def _exactly(x: Any, value: Value) -> Any:
    """Cast an array to the dtype that NumPy gives it, and assert its shape."""
    if np.shape(x) != value.shape:
        raise AssertionError(f"an op gives the shape {np.shape(x)} with jax.numpy, and {value.shape} with NumPy")
    return jnp.asarray(x, value.dtype.numpy)


def _no_strings(value: Value) -> Exception:
    return InvalidArgumentError(
        f"XLA knows no strings, and the function computes with a {value!r}. Use jit_compile=False, or keep strings out "
        "of the compiled part"
    )


def _cond(lowering: Lowering, node: Node, arrays: list[Any]) -> tuple[Sequence[Any], Any]:
    """Lower a conditional to `lax.switch`; a branch with mismatched shapes returns zeros and a failed check."""
    index, *given = arrays

    def branch(graph: Graph) -> Any:
        def run(*arrays: Any) -> Any:
            outputs, holds = lowering.checked(graph, arrays)
            fits = [y.shape == value.shape for y, value in zip(outputs, node.outputs, strict=True)]
            zeros = [jnp.zeros(value.shape, value.dtype.numpy) for value in node.outputs]
            if lowering.standalone and not all(fits):
                raise NotCompilable("the branches of a conditional return different shapes")
            return [y if fit else zero for y, fit, zero in zip(outputs, fits, zeros, strict=True)], holds & all(fits)

        return run

    branches = [branch(graph) for graph in node.attrs["branches"]]
    return jax.lax.switch(index, branches, *given)


def _loop(lowering: Lowering, node: Node, arrays: list[Any]) -> tuple[Sequence[Any], Any]:
    """Lower a loop: `lax.scan` over the rows of its inputs, or `lax.while_loop` if it has a test."""
    rounds, body, test = node.attrs["rounds"], node.attrs["body"], node.attrs["test"]
    carried = rounds.carried
    start, scanned, fixed = rounds.divided(arrays)
    start = [_exactly(x, value) for x, value in zip(start, body.inputs, strict=False)]
    if test is not None:
        return _repeated(lowering, node, start, fixed)

    def one_round(state: Any, rows: Any) -> Any:
        values, holds = state
        results, now = lowering.checked(body, [*values, *rows, *fixed])
        return (results[:carried], holds & now), results[carried:]

    (state, holds), emitted = jax.lax.scan(
        one_round, (start, jnp.bool_(True)), [jnp.asarray(x) for x in scanned], rounds.count, rounds.reverse
    )
    return [*state, *emitted], holds


def _repeated(lowering: Lowering, node: Node, start: list[Any], fixed: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    """Lower a loop with a test. It stacks as many rows as it had iterations when traced: the count is checked.

    A failed check in the body or in the test ends the loop, as all later values are meaningless.
    """
    body, test, carried = node.attrs["body"], node.attrs["test"], node.attrs["rounds"].carried
    kept = node.outputs[carried:]
    if lowering.standalone and kept:
        raise NotCompilable("a loop collects a value in each iteration, and their number depends on values")

    def asked(state: Sequence[Any], holds: Any) -> tuple[Any, Any]:
        (answer,), now = lowering.checked(test, [*state, *fixed])
        return answer, holds & now

    def goes_on(held: Any) -> Any:
        *_, answer, holds = held
        return answer & holds

    def one_round(held: Any) -> Any:
        state, stacks, count, _, holds = held
        results, now = lowering.checked(body, [*state, *fixed])
        stacks = [
            stack.at[count].set(y, mode="drop") if len(stack) else stack
            for stack, y in zip(stacks, results[carried:], strict=True)
        ]
        return results[:carried], stacks, count + 1, *asked(results[:carried], holds & now)

    stacks = [jnp.zeros(value.shape, value.dtype.numpy) for value in kept]
    first = (start, stacks, 0, *asked(start, jnp.bool_(True)))
    state, stacks, count, _, holds = jax.lax.while_loop(goes_on, one_round, first)
    return [*state, *stacks], holds & (count == kept[0].shape[0]) if kept else holds


_CONTROL = {"cond": _cond, "loop": _loop}
