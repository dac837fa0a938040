"""The log of one tape: the records of the ops that touched a watched tensor, in order of execution.

A tensor refers to its records by its tracer: an int position if its `tape_id` alone has recorded it, otherwise a linked
chain of `(key, entry, rest)` triples, one for each recorder. The entry of a log is a position. Positions only grow, so
a record comes after the records of all its inputs: the reverse sweep relies on that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import ref

from ...core.locks import fork_safe_rlock
from ...core.protocols import OpLike, Outputs, Recorder, Tracers, VariableLike
from ...core.tensor import Tensor
from ..registry.devices import DeviceTensor
from ..registry.op import Op, SingleInputRule
from ..run.dispatch import entry, next_level

# Tapes of several threads may watch one tensor, and each extends the tracer that it has read.
_watching = fork_safe_rlock()


class Key(ref[Recorder]):
    """Identifies a recorder in tracers without keeping it alive; a call returns the recorder, or None if it is gone."""

    __slots__ = ()
    __eq__ = object.__eq__  # a recorder may have several keys
    __hash__ = object.__hash__


def positions_in(tracer: Tracers) -> Iterator[tuple[Any, int]]:
    """Yields the log and position of every tape that recorded a tensor with this tracer; a dead log is None."""
    while tracer is not None:
        key, written, tracer = tracer
        if type(written) is int:
            yield key() if type(key) is Key else None, written


class Bookmark(NamedTuple):
    """An end of a log: its numbers of records and disconnections, and what it knows of the records up to there."""

    records: int
    disconnections: int
    plain: bool
    backward_may_raise: bool
    module: Any
    on_device: int


class Log(Recorder):
    """The records of one tape as parallel lists, indexed by position.

    `ops` holds the op, or a `SingleInputRule` of it. `parents` holds the positions of the inputs, -1 for an input that
    is not on the tape; for a `SingleInputRule`, the single position. `saved` holds the residuals that the op's `vjp`
    needs. A leaf has None in all three lists. The second and further outputs of an op have no op, and their parent is
    the position of the first output.
    """

    keeps_residuals = True
    repeats_calls = False  # whether function calls may be rerun with the recorded results of their side effects
    call_budget: int | None = None  # the bytes that a call's residuals are planned to fit in
    tracks = False  # whether assignments to variables are differentiated: see `assignments`
    retain = False  # whether the log survives after the tape is used up, for later inspection
    plain = True  # every recorded tensor is a plain one, so a sweep over bare arrays is possible
    _module: Any = None  # the array library of the device that holds the records
    _on_device = 0  # the number of records on that device
    backward_may_raise = False  # a record runs user code in the backward pass, which may raise
    last_query: Any = None  # with `retain`: the last query, as (targets, their cotangents, sources)
    notes: Mapping[int, Any] = MappingProxyType({})  # by position: metadata of a record in a traced log

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.key = Key(self)
        self.level = next_level()
        self.ops: list[Any] = []
        self.parents: list[Any] = []
        self.saved: list[Any] = []
        self.multi_output: dict[int, tuple[Any, ...]] = {}  # of a multi-output op: its outputs' (shape, dtype) pairs
        self.watches_variables = watch_accessed_variables
        self.variables: list[VariableLike] = []  # those that were read or watched
        self.variable_index: dict[int, int] = {}  # by `id` of a variable: its position, -1 if it has no derivative
        self.watched: list[int] = []  # the positions of watched tensors
        self.constants: list[int] = []  # positions of outputs of ops without a derivative: unwatched leaves
        # Where a derivative ends: the position, and its cause: an op without a derivative, "numpy()", an assigned
        # variable.
        self.disconnections: list[tuple[int, Any]] = []

    # Every recorded op comes through `unary`, `binary` or `record`. Each looks up positions and appends to the lists
    # inline: a helper call would be a large part of the cost per op.

    def unary(self, op: Any, x: Tensor, y: Tensor) -> None:
        """Records `y = op(x)` for plain tensors."""
        key = self.key
        tracer = x.tracer
        if type(tracer) is int:
            parent = tracer if x.tape_id is key else None
        else:
            parent = tracer[1] if tracer[0] is key else entry(tracer, key)
        if parent is None:
            return
        partial = op.first
        keep = partial.keep
        saved = keep(x, y)
        ops = self.ops
        y.tape_id = key
        y.tracer = len(ops)
        ops.append(partial)
        self.parents.append(parent)
        self.saved.append(saved)

    def binary(self, op: Any, a: Tensor, b: Tensor, y: Tensor) -> None:
        """Records `y = op(a, b)` for plain tensors."""
        key = self.key
        first = a.tracer
        if type(first) is int:
            if a.tape_id is not key:
                first = None
        elif first is not None:
            first = first[1] if first[0] is key else entry(first, key)
        second = b.tracer
        if type(second) is int:
            if b.tape_id is not key:
                second = None
        elif second is not None:
            second = second[1] if second[0] is key else entry(second, key)
        parents: Any
        if first is not None and second is not None:
            parents = (first, second)
            keep = op.keep_both
        elif second is not None:
            parents = second
            op = op.second
            keep = op.keep
        elif first is not None:
            parents = first
            op = op.first
            keep = op.keep
        else:
            return
        saved = keep(a, b, y)
        if saved is NotImplemented:
            self.record(op.op, (a, b), y, {})
            return
        ops = self.ops
        y.tape_id = key
        y.tracer = len(ops)
        ops.append(op)
        self.parents.append(parents)
        self.saved.append(saved)

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        if op.vjp is None:
            self.constant(op, inputs, outputs)
            return
        key, module, ops = self.key, self._module, self.ops
        expected: Any = Tensor if module is None else DeviceTensor
        is_usual = True  # whether all inputs are where those of earlier records are
        parents: tuple[int, ...] = ()
        touched = False
        x: Any
        for x in inputs:
            at = x.tracer
            if type(at) is int:
                if x.tape_id is not key:
                    at = None
            elif at is not None:
                at = at[1] if at[0] is key else entry(at[2], key)
            if at is None:
                parents += (-1,)
            else:
                parents += (at,)
                touched = True
            if type(x) is not expected or (module is not None and x.module is not module):
                is_usual = False
        if not touched:
            return
        first = len(ops)
        if not isinstance(outputs, tuple):
            if not outputs.dtype.differentiable:
                self.constant(op, inputs, outputs)
                return
            self.saved.append(op.keep(inputs, outputs, attrs))
            ops.append(op)
            self.parents.append(parents)
            tracer = outputs.tracer
            if tracer is None:
                outputs.tape_id = key
                outputs.tracer = first
            else:
                outputs.tracer = (key, first, (outputs.tape_id, tracer, None) if type(tracer) is int else tracer)
        else:
            others = len(outputs) - 1
            self.saved += [op.keep(inputs, outputs, attrs), *[None] * others]
            ops += [op, *[None] * others]
            self.parents += [parents, *[(first,)] * others]
            self.multi_output[first] = tuple([(y.dims, y.dtype) for y in outputs])
            for i, y in enumerate(outputs, first):
                y.tracer = (key, i, y.tracers)
        if not is_usual:
            self._note_device(op, inputs)
        elif module is not None and type(op) is Op:
            self._on_device += 1
        if op.backward_may_raise:
            self.backward_may_raise = True

    def _note_device(self, op: OpLike, inputs: Sequence[Tensor]) -> None:
        """Counts the records whose inputs are all on one device or on the host, but not all on the host."""
        if all([type(x) is Tensor for x in inputs]):
            return
        self.plain = False
        if type(op) is not Op:
            return
        for x in inputs:
            if type(x) is DeviceTensor:
                if x.module is not self._module:
                    if self._module is not None:
                        return
                    self._module = x.module
            elif type(x) is not Tensor:
                return
        self._on_device += 1

    @property
    def module(self) -> Any:
        """The array library of the device that holds all records, so that a sweep over its bare arrays is possible."""
        return self._module if self._on_device == len(self.ops) - self.ops.count(None) else None

    def constant(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """Records which positions an op without a derivative reads; its outputs become leaves that may be sources."""
        before = len(self.disconnections)
        for x in inputs:
            self.escaped(x, op)
        if op.detaches or len(self.disconnections) == before:
            return
        for y in outputs if isinstance(outputs, tuple) else (outputs,):
            if y.dtype.differentiable:
                position = self._leaf()
                self.constants.append(position)
                y.tracer = (self.key, position, y.tracers)

    @property
    def needs_ops(self) -> bool:
        """Whether a function's call on a device must be recorded op by op."""
        return self.tracks or self.traces or self.repeats_calls

    def escaped(self, x: Tensor, how: str | OpLike | VariableLike) -> None:
        """Records that the value of `x` goes to a consumer that is not recorded."""
        at = entry(x.tracers, self.key)
        if at is not None:
            self.disconnections.append((at, how))

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """Records that a value on the tape is assigned to a variable, whose own history does not include the value."""
        self.escaped(value, variable)

    def refuse_watch(self, source: Tensor | VariableLike) -> None:
        """Called when a non-differentiable tensor or variable, such as an integer one, is watched: see `TracingLog`."""

    def set_budget(self, budget: int | float, spill: str | PathLike[str] | None) -> None:
        """Sets the memory budget for residuals; only `budgets.BudgetedLog` enforces it."""

    def continue_from(self, before: Log) -> None:
        """Called when this log replaces `before`, which `GradientTape.reset` has discarded."""

    def overwritten(self, variable: VariableLike) -> None:
        """Called when a value that is not on the tape is assigned to a variable whose assignments are tracked."""

    def resumes(self) -> None:
        """Called when recording starts or resumes."""

    def pauses(self) -> None:
        """Called when recording pauses or ends."""

    def bookmark(self) -> Bookmark:
        """Returns the current end of the log, for `truncate`."""
        return Bookmark(
            len(self.ops), len(self.disconnections), self.plain, self.backward_may_raise, self._module, self._on_device
        )

    def truncate(self, bookmark: Bookmark) -> None:
        """Removes everything recorded since `bookmark` was taken."""
        at, exits, self.plain, self.backward_may_raise, self._module, self._on_device = bookmark
        del self.ops[at:], self.parents[at:], self.saved[at:], self.disconnections[exits:]
        self.multi_output = {position: outputs for position, outputs in self.multi_output.items() if position < at}
        if self.notes:
            self.notes = {position: noted for position, noted in self.notes.items() if position < at}
        self.constants = [position for position in self.constants if position < at]
        self.watched = [position for position in self.watched if position < at]
        self.variables = [variable for variable in self.variables if self.variable_index[id(variable)] < at]
        self.variable_index = {id(variable): self.variable_index[id(variable)] for variable in self.variables}

    def forget(self) -> None:
        """Releases the residuals; keeps the graph structure and the op names for `explain`."""
        pairs = zip(self.ops, self.parents, strict=True)
        self.parents = [op.placed(parents) if type(op) is SingleInputRule else parents for op, parents in pairs]
        self.ops = [
            None if op is None else Past(op.op.name if type(op) is SingleInputRule else op.name) for op in self.ops
        ]
        self.saved = [None] * len(self.ops)

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        key = self.key
        with _watching:
            tracers = tensor.tracer
            if type(tracers) is int:  # the usual case: the position on one tape, most often an earlier one
                if tensor.tape_id is key:
                    return
                tracers = living((tensor.tape_id, tracers, None))
            elif tracers is not None:
                if entry(tracers, key) is not None:
                    return
                tracers = living(tracers)
            position = self._leaf()
            self.watched.append(position)
            if tracers is None:
                tensor.tape_id = key
                tensor.tracer = position
            else:
                tensor.tracer = (key, position, tracers)

    def watch_variable(self, variable: VariableLike) -> int:
        """Makes `variable` a leaf of this log and returns its position."""
        position = self.variable_index.get(id(variable))
        return self._add(variable) if position is None else position

    def tracer_of(self, variable: VariableLike, rest: Tracers) -> Tracers:
        """Returns the tracer of a value read from `variable` now, chained to `rest`."""
        position = self._read_at(variable)
        return rest if position < 0 else (self.key, position, rest)

    def trace_read(self, variable: VariableLike, value: Tensor) -> None:
        """Sets the tracer of `value`, a new tensor read from `variable`."""
        position = self._read_at(variable)
        if position >= 0:
            value.tape_id = self.key
            value.tracer = position

    def _read_at(self, variable: VariableLike) -> int:
        """The position of a variable that is read, -1 if it is not watched."""
        position = self.variable_index.get(id(variable))
        if position is None:
            return self._add(variable) if self.watches_variables and variable._trainable else -1
        return position

    def variable_positions(self) -> Iterator[tuple[Any, int]]:
        """Pairs of the variables that were read or watched and their positions (-1: no derivative)."""
        return zip(self.variables, self.variable_index.values(), strict=True)

    @property
    def leaves(self) -> set[int]:
        """The positions of everything watched."""
        found = {*self.variable_index.values(), *self.watched}
        found.discard(-1)
        return found

    def position(self, x: object) -> int | None:
        """The position of a tensor or variable in this log, or None."""
        if isinstance(x, Tensor):
            tracer = x.tracer
            if type(tracer) is int:
                return tracer if x.tape_id is self.key else None
            return entry(tracer, self.key)
        position = self.variable_index.get(id(x))
        if position is None:
            position = self.variable_index.get(id(getattr(x, "handle", x)), -1)  # of a variable that wraps another
        return None if position < 0 else position

    def positions(self, sources: Sequence[object]) -> list[int | None]:
        """The position of each source, or None."""
        if self.variable_index:
            found = list(map(self.variable_index.get, map(id, sources)))
            if None not in found and -1 not in found:
                return found
        key = self.key
        return [
            x.tracer if type(x) is Tensor and type(x.tracer) is int and x.tape_id is key else self.position(x)
            for x in sources
        ]

    def _add(self, variable: VariableLike) -> int:
        position = self._leaf() if variable.dtype.differentiable else -1
        self.variables.append(variable)
        self.variable_index[id(variable)] = position
        return position

    def _leaf(self) -> int:
        ops = self.ops
        ops.append(None)
        self.parents.append(None)
        self.saved.append(None)
        return len(ops) - 1

    @property
    def records(self) -> Records:
        """A uniform view of the records, for readers outside the sweep."""
        return Records(self)


class Records(Sequence[Any]):
    """The records of a log by position: `(op, parents, saved, outputs)`, every `SingleInputRule` expanded to its op.

    `outputs` is None or, for a multi-output op, its outputs' (shape, dtype) pairs. A leaf is None; the second and
    further outputs are the position of the first.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def __len__(self) -> int:
        return len(self._log.ops)

    def __getitem__(self, at: int) -> Any:  # type: ignore[override]  # no slices
        log = self._log
        op, parents, saved = log.ops[at], log.parents[at], log.saved[at]
        if op is None:
            return None if parents is None else parents[0]
        if type(op) is SingleInputRule:
            return op.op, op.placed(parents), op.spread(saved), None
        if type(op) is Past:
            return op, parents, (), None
        return op, parents, saved, log.multi_output.get(at)


class Past(NamedTuple):
    """The op of a record whose residuals were released: only its name remains."""

    name: str


def living(tracer: Tracers) -> Tracers:
    """Returns the tracer chain without the entries of dead logs and accumulators."""
    if tracer is None:
        return None
    key, written, rest = tracer
    rest = living(rest)
    # The keys of variable reads are plain objects: these find a tensor's entry again if they need it.
    return (key, written, rest) if type(key) is Key and key() is not None else rest
