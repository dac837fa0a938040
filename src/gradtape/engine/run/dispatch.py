"""The one door: every op a user calls is run here or in its family's copy of the quiet case.

An op runs on plain tensors with NumPy; whoever records (a tape, a forward accumulator) is told. A subclass of Tensor
(a batched value, say) brings its own way of running ops: `interpret`. What is active decides, never the op.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.scopes import carried
from ...core.tensor import Tensor, is_tensor_like, on_escape, placed, wrap
from . import modes
from .namespace import ops

# Recorders and batches entered later have a higher level: a batch entered later sees an op before those around it.
next_level = itertools.count(1).__next__


class Recorder:
    """What is told about every op that touches one of its tensors, and about variables that are read or assigned."""

    level: float = 0
    key: object = None
    traces = False  # whether it tells the witness itself what it does not record

    def unary(self, op: Any, x: Tensor, y: Tensor) -> None:
        """`y = op(x)` has run on plain tensors."""
        self.record(op, (x,), y, {})

    def binary(self, op: Any, a: Tensor, b: Tensor, y: Tensor) -> None:
        """`y = op(a, b)` has run on plain tensors."""
        self.record(op, (a, b), y, {})

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """`outputs = op(*inputs, **attrs)` has run."""

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """`outputs = op(*inputs)` has run, and has no derivative."""

    def escaped(self, x: Tensor, how: str) -> None:
        """The value of `x` was read by what is not recorded: NumPy, or Python's numbers."""

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """The mark a value read from `variable` now gets, on top of `rest`."""
        return rest

    def trace_read(self, variable: Any, value: Tensor) -> None:
        """`variable` was read; `value`, a new tensor, is to be marked, and this is the only recorder."""
        value.tracer = self.tracer_of(variable, None)

    def assigned(self, variable: Any, value: Tensor) -> None:
        """`variable` is about to become `value`."""

    def drawn(self, state: Tensor) -> None:
        """`state` is that of a random draw, which is about to be made by an op on it."""


class RecorderGroup(Recorder):
    """Two or more recorders, told from the outermost to the innermost.

    A forward accumulator computes with an op's output as it is told of the op: what it computes is right for those
    around it only if they know that output already.
    """

    def __init__(self, recorders: tuple[Any, ...]) -> None:
        self.recorders = sorted(recorders, key=lambda recorder: recorder.level)

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        for recorder in self.recorders:
            recorder.record(op, inputs, outputs, attrs)

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        for recorder in self.recorders:
            recorder.constant(op, inputs, outputs)

    def escaped(self, x: Tensor, how: str) -> None:
        for recorder in self.recorders:
            recorder.escaped(x, how)

    def trace_read(self, variable: Any, value: Tensor) -> None:
        for recorder in self.recorders:
            value.tracer = recorder.tracer_of(variable, value.tracer)

    def drawn(self, state: Tensor) -> None:
        for recorder in self.recorders:
            recorder.drawn(state)


class _Thread(threading.local):
    """Who records in this thread: `recorders` in order of entry, `recorder` the one object to tell, or None.

    `trace` is the innermost trace of a function that is being made, or None. It has no wish to be told of ops on plain
    tensors, but stands as `recorder` when nobody else does, so that variables know they are read for a graph.
    """

    recorders: tuple[Any, ...] = ()
    recorder: Any = None
    trace: Any = None
    force_eager = False  # whether a function is run as it is written, for no graph can hold all of it
    replica_context: Any = None  # what functions called here are traced for, beside their arguments: a replica
    exited: list[Any] | None = None  # recorders that have left inside the present block of `recorded_by`


thread = carried(_Thread())
_array = attrgetter("array")
event_log: Any = None  # who is told, in every thread, of what no tape records, for explanations; mostly nobody


def set_event_log(recorder: Any) -> None:
    """Makes `recorder`, or nobody, the witness of all threads."""
    global event_log
    event_log = recorder
    _Thread.recorder = recorder  # what a thread has that has no recorder of its own
    set_recorders(thread.recorders)


def listeners() -> tuple[Any, ...]:
    """Who is told of this thread's variables: its recorders, and the witness."""
    recorders = thread.recorders
    if event_log is None:
        return recorders
    for recorder in recorders:
        if recorder.traces:
            return recorders
    return (event_log, *recorders)


def unrecorded() -> bool:
    """Whether nobody in this thread records for a derivative or a graph."""
    return thread.trace is None and not thread.recorders


def numpy_computes() -> bool:
    """Whether NumPy computes what is run now, or XLA will: NumPy has no fast products of half precision."""
    return thread.trace is None or not thread.trace.for_xla


def set_recorders(recorders: tuple[Any, ...]) -> None:
    """Makes `recorders` the ones that are told about this thread's ops."""
    thread.recorders = recorders
    trace = thread.trace
    if trace is None and not recorders:
        vars(thread).pop("recorder", None)  # the witness, which all such threads share: it comes and goes for all
        return
    if trace is not None:
        told = (trace, *recorders) if trace.tracks_external and recorders else recorders
    else:
        told = recorders if event_log is None else listeners()
    thread.recorder = trace if not told else told[0] if len(told) == 1 else RecorderGroup(told)


def leave(recorder: Any) -> None:
    """A recorder stops: it is told of nothing more, not even after a block of `recorded_by` that it leaves in."""
    recorders = thread.recorders
    rest = recorders[:-1]
    if recorders[-1:] != (recorder,) or recorder in rest:  # a thread may be attached to a tape that it records on
        rest = tuple(r for r in recorders if r is not recorder)
    set_recorders(rest)
    if thread.exited is not None:
        thread.exited.append(recorder)


class Block:
    """A context that changes who is told of this thread's ops, and changes it back even if an interrupt comes then.

    An interrupt may come anywhere in `_begin`: what it has done is taken back by `_end`. It may come anywhere in `_end`
    too, and nobody would leave the block later: so `_end` is run again, and must not mind what is done already. One
    moment is Python's own: an interrupt before the first line of `__exit__` is out of anybody's reach.
    """

    _recording = False
    _STILL = ""  # what to say to who enters a block that is still open

    def __enter__(self) -> Any:
        if self._recording:
            raise ValueError(self._STILL)
        try:
            self._begin()
            return self
        except BaseException:
            self._end()
            raise

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            self._end()
        except BaseException:
            self._end()
            raise

    def _begin(self) -> None:
        """Changes it."""

    def _end(self) -> None:
        """Changes it back."""


class recorded_by(Block):
    """Only these recorders are told inside the block; the others miss it."""

    def __init__(self, recorders: tuple[Any, ...]) -> None:
        self._inside = recorders
        self._before: tuple[Any, ...] | None = None  # from when the block has begun until it has ended
        self._exited: list[Any] = []
        self._outside: list[Any] | None = None

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
    """Variables read and assigned inside the block are those of `trace` (None: their own), and nobody else is told."""

    def __init__(self, trace: Any) -> None:
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


def made_of_nothing(x: Tensor) -> Tensor:
    """A tensor that the user has just made of Python values: in a function that asks for its gradient, followed."""
    trace = thread.trace
    if trace is None:
        return placed(x)
    if trace.tracks_all_external and type(x) is Tensor and not trace.is_external(x):
        trace.add_external(x)
    return x


def escaped(x: Tensor, how: str) -> None:
    """Tells whoever records that the value of the marked tensor `x` was read by what is not recorded."""
    recorder = thread.recorder
    if recorder is not None:
        recorder.escaped(x, how)


on_escape(escaped)


def entry(tracer: Any, key: object) -> Any:
    """What the recorder `key` has written in a tensor's chain of marks, or None."""
    while tracer is not None:
        if tracer[0] is key:
            return tracer[1]
        tracer = tracer[2]
    return None


def run(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Runs `op` on tensors, whatever is active."""
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


def run_plain(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Runs `op` on plain tensors of dtypes that it can compute with."""
    try:
        value = op.numpy(*map(_array, inputs), **attrs)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise failure(op, [x.dims for x in inputs], error) from error
    like = inputs[0].dtype if inputs else dtypes.float32
    outputs = tuple([tensor_like(y, like) for y in value]) if type(value) is tuple else tensor_like(value, like)
    if modes.active:
        modes.op_finished(op, inputs, outputs)
    recorder = thread.recorder
    if recorder is not None:
        for x in inputs:
            if x.tracer is not None:
                recorder.record(op, inputs, outputs, attrs)
                break
        else:
            if event_log is not None:
                event_log.record(op, inputs, outputs, attrs)
    return outputs


def tensor_like(array: Any, like: DType) -> Tensor:
    """The array as a tensor, most probably of the dtype `like`."""
    try:
        found = array.dtype
    except AttributeError:  # one string out of an array of strings
        return wrap(np.array(array, dtype=object), dtypes.string)
    return wrap(array, like if found is like.numpy and like.kind else dtypes.of_numpy(found))


def run_in_float32(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """An op on bfloat16 or float8 values: computed in float32, its results rounded back."""
    narrow = next(x.dtype for x in inputs if x.dtype.narrow)
    outputs = run(op, [ops.cast(x, dtype=x.dtype.computed) if x.dtype.narrow else x for x in inputs], attrs)

    def rounded(y: Tensor) -> Tensor:
        return ops.cast(y, dtype=narrow) if y.dtype is dtypes.float32 else y

    return tuple(map(rounded, outputs)) if type(outputs) is tuple else rounded(outputs)


# What `tensor + other` is, by the name of the reflected operator, where functions are dispatched by type.
others_operators: Any = None


def left_to_other(op: Any, values: Sequence[Any], error: Exception, attrs: dict[str, Any] | None = None) -> Any:
    """What a class that is no tensor makes of `tensor + other` or `op(other)`; or the error."""
    other = values[-1]
    stranger = not is_tensor_like(other)
    for value in values:
        if hasattr(value, "_mapped"):
            answer = value._mapped(op, values, attrs or {})
            if answer is not NotImplemented:
                return answer
    if stranger and isinstance(values[0], Tensor) and hasattr(type(other), op.reflected):
        try:
            answer = getattr(other, op.reflected)(values[0])
        except (TypeError, ValueError):
            raise error from None
        if answer is not NotImplemented:
            return answer
    if others_operators is not None and len(values) == 2:
        answer = others_operators(op.reflected, *values)
        if answer is not NotImplemented:
            return answer
    raise error


def failure(op: Any, shapes: Iterable[tuple[int, ...]], error: Exception) -> Exception:
    """TensorFlow's exception for a kernel that could not work with what it was given: of another class in a trace."""
    no_broadcast = "broadcast" in str(error)
    # An elementwise kernel refuses shapes in this way alone; what else it refuses are values, as 0 for a divisor.
    values_matter = isinstance(error, np.linalg.LinAlgError) or (op.family == "elementwise" and not no_broadcast)
    in_trace = thread.trace is not None and not values_matter
    kind = errors.InvalidArgumentInTraceError if in_trace else errors.InvalidArgumentError
    operands = tuple(shapes)
    given = " vs. ".join(str(list(shape)) for shape in operands)
    if no_broadcast:
        found = kind(
            f"Incompatible shapes: {given} [Op:{op.title}]. Shapes must be equal, or 1, in every dimension counted "
            "from the last"
        )
    else:
        found = kind(f"{error} [Op:{op.title}] with inputs of shapes {given}")
    return found.about(*operands)


def wrong_kind(op: Any, dtype: DType) -> Exception:
    """The op is not defined for this dtype."""
    usual = [d for d in dtypes.ALL if not d.narrow or d is dtypes.bfloat16]
    allowed = ", ".join(d.name for d in usual if d.kind & op.kinds)
    return _misuse()(
        f"Value for attr 'T' of {dtype.kernel_name()} is not in the list of allowed values: {allowed} "
        f"[Op:{op.title}]. Use tf.cast(x, ...) first"
    )


def mixed_dtypes(op: Any, position: int, expected: DType, given: DType) -> Exception:
    """Tensors are not promoted: their dtypes must agree."""
    return _misuse()(
        f"cannot compute {op.title} as input #{position}(zero-based) was expected to be a {expected.kernel_name()} "
        f"tensor but is a {given.kernel_name()} tensor [Op:{op.title}]. Use tf.cast(x, ...) to make them agree"
    )


def _misuse() -> type[Exception]:
    """The class of errors about dtypes."""
    return errors.InvalidArgumentError if thread.trace is None else TypeError
