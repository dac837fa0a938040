"""Op dispatch: every op call runs here or in its family's inlined fast path.

An op runs on plain tensors with NumPy, and the active recorders (tapes, forward accumulators) are then notified. A
subclass of Tensor, such as a batched tensor, overrides how ops run by its method `interpret`. The active recorders and
the types of the inputs decide how an op runs, never the op itself.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...backends.arrays import repeat_short_rows
from ...backends.numpy.floating_point import REPORTS
from ...backends.torch.host_kernels import KERNELS
from ...core import dtypes, errors, modes
from ...core.dtypes import DType
from ...core.extension_points import foreign_operands, operator_fallback, public_names, report_escape
from ...core.protocols import OpLike, Outputs, Tracers, VariableLike
from ...core.protocols import Recorder as Recorder
from ...core.scopes import carried
from ...core.tensor import Tensor, is_tensor_like, number, placed, wrap
from ...core.tracebacks import hide_frames
from .convert import how_to_agree, read_both, readable, wrong_input
from .namespace import ops
from .runners import Form, compile_runner
from .trace_protocol import TraceProtocol

if TYPE_CHECKING:
    from ..registry.op import Op

# Levels grow in order of entry, like the levels of JAX's tracers: the batch entered last handles an op first.
next_level = itertools.count(1).__next__


class RecorderGroup(Recorder):
    """Two or more recorders, notified from the outermost to the innermost.

    A forward accumulator computes with an op's outputs as soon as it is notified. The recorders around it record that
    computation correctly only if they already know the outputs.
    """

    def __init__(self, recorders: tuple[Recorder, ...]) -> None:
        self.recorders = sorted(recorders, key=lambda recorder: recorder.level)

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
        for recorder in self.recorders:
            recorder.record(op, inputs, outputs, attrs)

    def constant(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        for recorder in self.recorders:
            recorder.constant(op, inputs, outputs)

    def escaped(self, x: Tensor, how: str) -> None:
        for recorder in self.recorders:
            recorder.escaped(x, how)

    def trace_read(self, variable: VariableLike, value: Tensor) -> None:
        for recorder in self.recorders:
            value.tracer = recorder.tracer_of(variable, value.tracer)

    def drawn(self, state: Tensor) -> None:
        for recorder in self.recorders:
            recorder.drawn(state)


class _Thread(threading.local):
    """The thread's recorders: `recorders` in order of entry, and `recorder`, the object to notify of ops, or None.

    `trace` is the innermost function trace in progress, or None. It needs no notification of ops on plain tensors, but
    is the `recorder` if there is no other, so that variables know that they are read for a graph.
    """

    base: Recorder | None = None  # of all threads; notified of what no tape records. Usually None
    recorders: tuple[Recorder, ...] = ()
    recorder: Recorder | None = None
    trace: TraceProtocol | None = None
    example: Any = None  # which example of a scratch graph functions run with, eagerly, or None
    eager_steps: dict[Any, Any] | None = None  # in a function that no graph can express: the steps it has compiled
    replica_context: Any = None  # specializes functions called here, besides their arguments: a replica
    exited: list[Recorder] | None = None  # recorders that have exited inside the current `recorded_by` block
    in_dataset = False  # whether a dataset's function runs; noted while a mode is active


thread = carried(_Thread())


def set_base_recorder(recorder: Recorder | None) -> None:
    """Sets (or clears) the recorder below those of every thread."""
    _Thread.base = _Thread.recorder = recorder  # class attributes: the defaults of all threads
    set_recorders(thread.recorders)


def listeners() -> tuple[Recorder, ...]:
    """Returns what to notify of this thread's variables: its recorders and the one below them."""
    base, recorders = thread.base, thread.recorders
    if base is None:
        return recorders
    for recorder in recorders:
        if recorder.traces:
            return recorders
    return (base, *recorders)


def unrecorded() -> bool:
    """Whether this thread records neither for a derivative nor for a graph."""
    return thread.trace is None and not thread.recorders


def numpy_computes() -> bool:
    """Whether the current op runs on NumPy, which has no fast half-precision products, rather than later on XLA."""
    return thread.trace is None or not thread.trace.for_xla


def set_recorders(recorders: tuple[Recorder, ...]) -> None:
    """Makes `recorders` the ones that are notified of this thread's ops."""
    thread.recorders = recorders
    trace: Any = thread.trace  # which is a recorder too
    if trace is None and not recorders:
        try:
            del thread.recorder  # falls back to the base recorder, a class attribute
        except AttributeError:
            pass
        return
    if trace is not None:
        told = (trace, *recorders) if trace.tracks_external and recorders else recorders
    else:
        told = recorders if thread.base is None else listeners()
    thread.recorder = trace if not told else told[0] if len(told) == 1 else RecorderGroup(told)


def enter(recorder: Recorder) -> None:
    """Activates a recorder inside those that are active."""
    local = thread
    if not local.recorders and local.trace is None and local.base is None:
        local.recorders = (recorder,)
        local.recorder = recorder
    else:
        set_recorders((*local.recorders, recorder))


def leave(recorder: Recorder) -> None:
    """Deactivates a recorder, also for after the `recorded_by` block, if any, in which it exits."""
    recorders = thread.recorders
    if len(recorders) == 1 and recorders[0] is recorder:
        set_recorders(())
    else:  # the thread may be attached to a tape it records on
        set_recorders(tuple([r for r in recorders if r is not recorder]))
    if thread.exited is not None:
        thread.exited.append(recorder)


_B = TypeVar("_B", bound="Block")


class Block:
    """A context that changes this thread's recorders and restores them even if an interrupt arrives.

    An interrupt may arrive anywhere in `_begin`: `_end` undoes whatever was done. It may arrive in `_end`, too, after
    which Python does not call `__exit__` again: so `_end` runs a second time and must be idempotent. Only an interrupt
    before the first line of `__exit__` cannot be handled.
    """

    _recording = False
    _STILL = ""  # the error message for entering an open block again

    def __enter__(self: _B) -> _B:  # not `Self`, which editors do not follow
        if self._recording:
            raise ValueError(self._STILL)
        try:
            self._begin()
            return self
        except BaseException:
            self._end()
            raise

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            self._end()
        except BaseException:
            self._end()
            raise

    def _begin(self) -> None:
        """Changes the thread's state."""

    def _end(self) -> None:
        """Restores the thread's state; idempotent."""


class recorded_by(Block):
    """Makes these the only active recorders inside the block."""

    def __init__(self, recorders: tuple[Recorder, ...]) -> None:
        self._inside = recorders
        self._before: tuple[Recorder, ...] | None = None  # set from the beginning of the block to its end
        self._exited: list[Recorder] = []
        self._outside: list[Recorder] | None = None

    def _begin(self) -> None:
        self._outside = thread.exited
        self._before = thread.recorders
        thread.exited = self._exited
        set_recorders(self._inside)

    def _end(self) -> None:
        before, exited, outside = self._before, self._exited, self._outside
        if before is None:
            return
        set_recorders(tuple(r for r in before if r not in exited) if exited else before)
        thread.exited = outside
        if outside is not None:
            outside.extend(exited)
        self._before = None


class traced_by(recorded_by):
    """Redirects reads and assignments of variables to `trace` (None: to the variables) and deactivates recorders."""

    def __init__(self, trace: TraceProtocol | None) -> None:
        super().__init__(())
        self._trace = trace
        self._around = thread.trace

    def _begin(self) -> None:
        self._around = thread.trace
        thread.trace = self._trace
        super()._begin()

    def _end(self) -> None:
        thread.trace = self._around
        super()._end()
        set_recorders(thread.recorders)


def register_created(x: Tensor) -> Tensor:
    """Registers a tensor just created from Python values: places it on its device, or makes it known to the trace.

    A trace of a function that takes gradients of such constants adds the tensor as an external input.
    """
    trace = thread.trace
    if trace is None:
        return placed(x)
    if trace.tracks_all_external and type(x) is Tensor and not trace.is_external(x):
        trace.add_external(x)
    return x


def escaped(x: Tensor, how: str) -> None:
    """Notifies the active recorders that unrecorded code reads the value of the traced tensor `x`."""
    recorder = thread.recorder
    if recorder is not None:
        recorder.escaped(x, how)


report_escape.install(escaped)


def entry(tracer: Tracers, key: object) -> Any:
    """Returns the entry of the recorder `key` in a tensor's linked list of tracers, or None."""
    while tracer is not None:
        if tracer[0] is key:
            return tracer[1]
        tracer = tracer[2]
    return None


def run(op: OpLike, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Runs `op` on tensors: the input of the highest level interprets it, and narrow dtypes are computed in float32."""
    x: Any
    innermost: Any = None
    narrow = False
    for x in inputs:
        if type(x) is not Tensor:
            if innermost is None or x.level > innermost.level:
                innermost = x
        elif x.dtype.kind == dtypes.NARROW:
            narrow = True
    if innermost is not None:
        return innermost.interpret(op, inputs, attrs)
    if narrow and not op.moves_data:
        return run_in_float32(op, inputs, attrs)
    return run_plain(op, inputs, attrs)


def tensor_like(array: Any, like: DType) -> Tensor:
    """Wraps an array as a tensor, with a fast path for the dtype `like`."""
    try:
        found = array.dtype
    except AttributeError:  # a single string of a string array
        return wrap(np.array(array, dtype=object), dtypes.string)
    return wrap(array, like if found is like.numpy and like.kind else dtypes.of_numpy(found))


def run_in_float32(op: OpLike, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Runs an op on bfloat16 or float8 values in float32 and rounds its results back."""
    narrow = next(x.dtype for x in inputs if x.dtype.narrow)
    outputs = run(op, [ops.cast(x, dtype=x.dtype.computed) if x.dtype.narrow else x for x in inputs], attrs)

    def rounded(y: Tensor) -> Tensor:
        return ops.cast(y, dtype=narrow) if y.dtype is dtypes.float32 else y

    return tuple(map(rounded, outputs)) if type(outputs) is tuple else rounded(outputs)


def notify(op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
    """Notifies the active modes and the recorder that `outputs = op(*inputs, **attrs)` has run."""
    if modes.active:
        modes.op_finished(op, inputs, outputs)
    recorder = thread.recorder
    if recorder is not None:
        for x in inputs:
            if x.tracer is not None:
                recorder.record(op, inputs, outputs, attrs)
                return


def delegate_to_operands(op: Op, values: Sequence[Any], error: Exception, attrs: dict[str, Any] | None = None) -> Any:
    """Delegates `tensor + other` or `op(other)` to the class of `other`, which is not a tensor; else raises `error`."""
    other = values[-1]
    if foreign_operands.installed is not None:
        answer = foreign_operands(op.name, values)
        if answer is not NotImplemented:
            return answer
    for value in values:
        if hasattr(value, "_mapped"):
            answer = value._mapped(op, values, attrs or {})
            if answer is not NotImplemented:
                return answer
    if not is_tensor_like(other) and isinstance(values[0], Tensor) and hasattr(type(other), op.reflected):
        try:
            answer = getattr(other, op.reflected)(values[0])
        except (TypeError, ValueError):
            raise error from None
        if answer is not NotImplemented:
            return answer
    if operator_fallback.installed is not None and len(values) == 2:
        answer = operator_fallback(op.reflected, *values)
        if answer is not NotImplemented:
            return answer
    raise error


def failure(op: OpLike, shapes: Iterable[tuple[int, ...]], error: Exception) -> Exception:
    """Returns TensorFlow's exception for a kernel that rejected its inputs; in a trace it has another class."""
    no_broadcast = "broadcast" in str(error)
    # The only shapes that an elementwise kernel rejects are those that do not broadcast; its other errors are about
    # values, such as a divisor of 0.
    values_matter = isinstance(error, np.linalg.LinAlgError) or (op.family == "elementwise" and not no_broadcast)
    in_trace = thread.trace is not None and not values_matter
    kind = errors.InvalidArgumentInTraceError if in_trace else errors.InvalidArgumentError
    operands = tuple(shapes)
    given = " vs. ".join(str(list(shape)) for shape in operands)
    if no_broadcast:
        given = " vs. ".join(f"[{','.join(map(str, shape))}]" for shape in operands)  # TensorFlow's form
        found = kind(
            f"Incompatible shapes: {given} [Op:{node_name(op)}]. Shapes must be equal, or 1, in every dimension "
            "counted from the last"
        )
    else:
        found = kind(f"{error} [Op:{node_name(op)}] with inputs of shapes {given}")
    return found.about(*operands)


def node_name(op: OpLike) -> str:
    """Returns TensorFlow's name of an op in messages: `AddV2`."""
    return str(public_names().node_name(op))


_REJECTIONS = (ValueError, np.linalg.LinAlgError)  # what kernels raise


@contextmanager
def recovery(op: OpLike, shapes: Iterable[tuple[int, ...]], error: Exception) -> Iterator[None]:
    """A context in which the kernel that raised `error` runs again, without NumPy's reports of floating-point errors.

    If `error` is no such report, or the op runs user code, the context raises the op's error instead.
    """
    if not isinstance(error, REPORTS):
        raise failure(op, shapes, error)
    if not op.is_repeatable:
        raise error
    try:
        with np.errstate(all="ignore"):
            yield
    except _REJECTIONS as reason:
        raise failure(op, shapes, reason) from reason


def wrong_kind(op: Op, dtype: DType) -> Exception:
    """Returns the error for a dtype that the op does not support."""
    usual = [d for d in dtypes.ALL if not d.narrow or d is dtypes.bfloat16]
    allowed = [d for d in usual if d.kind & op.kinds]
    if dtype.kind == dtypes.STRING:
        advice = "Use tf.strings.to_number(text) first"
    elif allowed[0].kind == dtypes.STRING:
        advice = "Use tf.strings.as_string(x) first"
    else:
        advice = f"Use tf.cast(x, tf.{allowed[0].name}) first"
    return _misuse()(
        f"Value for attr 'T' of {dtype.kernel_name()} is not in the list of allowed values: "
        f"{', '.join(d.name for d in allowed)} [Op:{node_name(op)}]. {advice}"
    )


def mixed_dtypes(op: OpLike, position: int, expected: DType, given: DType) -> Exception:
    """Returns the error for inputs of different dtypes, which are never promoted."""
    return _misuse()(f"{wrong_input(node_name(op), position, expected, given)}. {how_to_agree(expected, given)}")


def _misuse() -> type[Exception]:
    """The class of dtype errors: TypeError in a trace, InvalidArgumentError otherwise, as in TensorFlow."""
    return errors.InvalidArgumentError if thread.trace is None else TypeError


_RUNNER_NAMES: dict[str, Any] = {
    "FLOAT": dtypes.FLOAT, "KERNEL_ERRORS": (*_REJECTIONS, *REPORTS), "Tensor": Tensor, "__name__": __name__,
    "float16": dtypes.float16, "float32": dtypes.float32, "hide_frames": hide_frames, "modes": modes,
    "new": object.__new__, "number": number, "read_both": read_both, "readable": readable, "recovery": recovery,
    "repeat_short_rows": repeat_short_rows, "tensor_like": tensor_like, "thread": thread,
}  # fmt: skip

run_plain: Callable[[OpLike, Sequence[Tensor], dict[str, Any]], Any] = compile_runner(None, "general", _RUNNER_NAMES)()


@cache
def _runner_factory(arity: int, form: Form, sized: bool, in_single: bool) -> Callable[..., Any]:
    parameters = ("op", "kernel", "recorded", "kinds", "other", "to", "large", "least", "half")
    return compile_runner(arity, form, _RUNNER_NAMES, parameters, sized, in_single)


def fast_path(
    op: Op, arity: int, form: Form, kinds: int, other: Callable[..., Any], to: DType | None = None, large: Any = None,
    least: int = 0,
) -> Callable[..., Any]:
    """Returns the runner of an op with one or two arguments of the same dtype, one of `kinds`.

    `other` is called with other arguments; `large(dtype, *arrays)` runs the kernel of an elementwise op, whose result
    has the dtype `to`, on arrays of `least` elements or more. Of other ops, `op.wide` is called for those sizes if it
    differs from the kernel for small arrays, and `op.numpy` for half precision.
    """
    if large is None and op.small is not op.wide:
        large, least = op.wide, KERNELS[op.name].min_elements
    return _runner_factory(arity, form, large is not None, op.numpy is not op.wide)(
        op, op.small, op.vjp is not None, kinds, other, to, large, least, op.numpy
    )
