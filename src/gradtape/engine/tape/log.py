"""What one tape has written down: the records of the ops that touched a watched tensor, in order of execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from weakref import ref

from ...core.tensor import Tensor
from ..registry.devices import DeviceTensor
from ..registry.op import Op, SingleInputRule
from ..run.dispatch import Recorder, entry, next_level

_living: dict[int, Any] = {}  # by the id of its key: each recorder that exists


def new_key(recorder: Any) -> object:
    """A name for a recorder in the marks of tensors, which does not keep the recorder alive.

    That it is gone is noted without running a line of Python, where an interrupt would be lost.
    """
    key = object()
    _living[id(key)] = ref(recorder, partial(_living.pop, id(key)))
    return key


def positions_in(tracer: Any) -> Iterator[tuple[Any, int]]:
    """The tapes that have recorded a tensor with these marks, and where: each as its log, or None if it is gone."""
    while tracer is not None:
        key, written, tracer = tracer
        if type(written) is int:
            yield _living.get(id(key), lambda: None)(), written


class Log(Recorder):
    """The records of one tape, in lists side by side: a position stands for an entry in each of them.

    `ops` holds the op, or a `SingleInputRule` of it. `parents` holds the positions of the inputs, -1 for one that is
    not on the tape; of such a rule, the one position. `saved` holds what the op's `vjp` needs. A leaf has None in all
    of them. The second and further outputs of an op have no op, and the position of the first for a parent.
    """

    repeats_calls = False  # whether calls of functions may be run again, with what their effects gave
    call_budget: int | None = None  # the bytes that what a call keeps is planned to, if it would keep more
    tracks = False  # whether what is assigned to a variable is followed: see `assignments`
    retain = False  # whether it stays whole when the tape is used up, so that questions can be asked about it
    plain = True  # every tensor recorded is a plain one, so a sweep over bare arrays is possible
    _module: Any = None  # the library of the device that records are on
    _there = 0  # how many are
    backward_may_raise = False  # a record runs a user's code backwards, which may raise
    question: Any = None  # then: the last one, as (targets, their cotangents, sources)
    notes: Mapping[int, Any] = MappingProxyType({})  # by position: what a traced log has noted of a record

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.key = new_key(self)
        self.level = next_level()
        self.ops: list[Any] = []
        self.parents: list[Any] = []
        self.saved: list[Any] = []
        self.several: dict[int, tuple[Any, ...]] = {}  # of an op with several outputs: their (shape, dtype) pairs
        self.watches_variables = watch_accessed_variables
        self.variables: list[Any] = []  # those that were read or watched
        self.variable_index: dict[int, int] = {}  # of each, by its `id`: the position, -1 if it has no derivative
        self.watched: list[int] = []  # the positions of tensors that were watched
        self.constants: list[int] = []  # those of outputs of ops without a derivative: leaves that nobody watched
        # Where a derivative ends: the position, and the op without one, "numpy()" or so, or the variable assigned.
        self.disconnections: list[tuple[int, Any]] = []

    # Every op on a tape comes through `unary`, `binary` or `record`. Each finds positions and appends to the lists by
    # itself: a call of a function that does it would be a good part of the whole.

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

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        if op.vjp is None:
            self.constant(op, inputs, outputs)
            return
        key = self.key
        parents: tuple[int, ...] = ()
        touched = False
        plain = True
        for x in inputs:
            at = x.tracer
            if at is not None and (type(at) is not int or x.tape_id is not key):
                at = entry(x.tracers, key)
            if at is None:
                parents += (-1,)
            else:
                parents += (at,)
                touched = True
            if type(x) is not Tensor:
                plain = False
        if not touched:
            return
        first = len(self.ops)
        if type(outputs) is not tuple:
            if not outputs.dtype.differentiable:
                self.constant(op, inputs, outputs)
                return
            saved = op.keep(inputs, outputs, attrs)
            self.ops.append(op)
            self.parents.append(parents)
            self.saved.append(saved)
            if outputs.tracer is None:
                outputs.tape_id = key
                outputs.tracer = first
            else:
                outputs.tracer = (key, first, outputs.tracers)
        else:
            others = len(outputs) - 1
            self.saved += [op.keep(inputs, outputs, attrs), *[None] * others]
            self.ops += [op, *[None] * others]
            self.parents += [parents, *[(first,)] * others]
            self.several[first] = tuple([(y.dims, y.dtype) for y in outputs])
            for i, y in enumerate(outputs, first):
                y.tracer = (key, i, y.tracers)
        if not plain:
            self.plain = False
            self._note_device(op, inputs)
        if op.backward_may_raise:
            self.backward_may_raise = True

    def _note_device(self, op: Any, inputs: Sequence[Tensor]) -> None:
        """Counts the records whose arrays are on one device, apart from numbers."""
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
        self._there += 1

    @property
    def module(self) -> Any:
        """The library of a device that all that is recorded is on, so a sweep over its bare arrays is possible."""
        return self._module if self._there == len(self.ops) - self.ops.count(None) else None

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Notes which positions go into an op that has no derivative; what comes out may be a source."""
        before = len(self.disconnections)
        for x in inputs:
            self.escaped(x, op)
        if op.detaches or len(self.disconnections) == before:
            return
        for y in outputs if type(outputs) is tuple else (outputs,):
            if y.dtype.differentiable:
                position = self._leaf()
                self.constants.append(position)
                y.tracer = (self.key, position, y.tracers)

    def escaped(self, x: Tensor, how: Any) -> None:
        """Notes that the value at a position goes where it is not recorded."""
        at = entry(x.tracers, self.key)
        if at is not None:
            self.disconnections.append((at, how))

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Notes that the value at a position became a variable's, which has a past of its own."""
        self.escaped(value, variable)

    def refuse_watch(self, source: Any) -> None:
        """A tensor or variable without derivatives, as one of integers, was to be watched: see `TracingLog`."""

    def set_budget(self, budget: int | float, spill: Any) -> None:
        """A budget for what is kept, which only a log of its own kind keeps to: see `budgets`."""

    def continue_from(self, before: Log) -> None:
        """It goes on where `before` has been forgotten, by `GradientTape.reset`."""

    def overwritten(self, variable: Any) -> None:
        """A value that is not on the tape became a variable's, whose assignments are followed."""

    def resumes(self) -> None:
        """Recording begins, or goes on."""

    def pauses(self) -> None:
        """Recording ends, perhaps for a while."""

    def bookmark(self) -> tuple[int, int]:
        """Where the log stands now, for `truncate`."""
        return len(self.ops), len(self.disconnections)

    def truncate(self, bookmark: tuple[int, int]) -> None:
        """Takes away all that was written down since the bookmark was made."""
        at, exits = bookmark
        del self.ops[at:], self.parents[at:], self.saved[at:], self.disconnections[exits:]
        self.several = {position: outputs for position, outputs in self.several.items() if position < at}
        if self.notes:
            self.notes = {position: noted for position, noted in self.notes.items() if position < at}
        self.constants = [position for position in self.constants if position < at]
        self.watched = [position for position in self.watched if position < at]
        self.variables = [variable for variable in self.variables if self.variable_index[id(variable)] < at]
        self.variable_index = {id(variable): self.variable_index[id(variable)] for variable in self.variables}

    def forget(self) -> None:
        """Lets go of what was kept for derivatives; what led to what stays, for explanations."""
        pairs = zip(self.ops, self.parents, strict=True)
        self.parents = [op.placed(parents) if type(op) is SingleInputRule else parents for op, parents in pairs]
        self.ops = [
            None if op is None else Past(op.op.name if type(op) is SingleInputRule else op.name) for op in self.ops
        ]
        self.saved = [None] * len(self.ops)

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        tracers = tensor.tracers
        if entry(tracers, self.key) is None:
            position = self._leaf()
            self.watched.append(position)
            tensor.tracer = (self.key, position, living(tracers))

    def watch_variable(self, variable: Any) -> int:
        """Makes `variable` a leaf of this log; returns its position."""
        position = self.variable_index.get(id(variable))
        return self._add(variable) if position is None else position

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """The mark a value read from `variable` now gets, on top of `rest`."""
        position = self._read_at(variable)
        return rest if position < 0 else (self.key, position, rest)

    def trace_read(self, variable: Any, value: Tensor) -> None:
        """Marks `value`, a new tensor read from `variable`."""
        position = self._read_at(variable)
        if position >= 0:
            value.tape_id = self.key
            value.tracer = position

    def _read_at(self, variable: Any) -> int:
        """The position of a variable that is read, -1 if it is not watched."""
        position = self.variable_index.get(id(variable))
        if position is None:
            return self._add(variable) if self.watches_variables and variable._trainable else -1
        return position

    def variable_positions(self) -> Iterator[tuple[Any, int]]:
        """The variables that were read or watched, and where each stands (-1: it has no derivative)."""
        return zip(self.variables, self.variable_index.values(), strict=True)

    @property
    def leaves(self) -> set[int]:
        """The positions of all that was watched."""
        found = {*self.variable_index.values(), *self.watched}
        found.discard(-1)
        return found

    def position(self, x: Any) -> int | None:
        """Where a tensor or variable stands in this log, or None."""
        if isinstance(x, Tensor):
            tracer = x.tracer
            if type(tracer) is int:
                return tracer if x.tape_id is self.key else None
            return entry(tracer, self.key)
        position = self.variable_index.get(id(x), -1)
        return None if position < 0 else position

    def positions(self, sources: Sequence[Any]) -> list[int | None]:
        """Where each of these stands."""
        found = list(map(self.variable_index.get, map(id, sources)))
        return list(map(self.position, sources)) if None in found or -1 in found else found

    def _add(self, variable: Any) -> int:
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
        """All that is recorded, for those who read it at leisure."""
        return Records(self)


class Records(Sequence[Any]):
    """What a log has recorded, by position: `(op, parents, saved, outputs)`, as if no op were recorded as a partial.

    `outputs` is None or, for an op with several outputs, their (shape, dtype) pairs. A leaf is None; the second and
    further outputs are the position of the first.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def __len__(self) -> int:
        return len(self._log.ops)

    def __getitem__(self, at: Any) -> Any:
        log = self._log
        op, parents, saved = log.ops[at], log.parents[at], log.saved[at]
        if op is None:
            return None if parents is None else parents[0]
        if type(op) is SingleInputRule:
            return op.op, op.placed(parents), op.spread(saved), None
        if type(op) is Past:
            return op, parents, (), None
        return op, parents, saved, log.several.get(at)


class Past:
    """The op of a record whose content is gone."""

    def __init__(self, name: str) -> None:
        self.name = name


def living(tracer: Any) -> Any:
    """The chain of marks without those of logs and accumulators that are gone."""
    if tracer is None:
        return None
    rest = living(tracer[2])
    return (tracer[0], tracer[1], rest) if id(tracer[0]) in _living else rest
