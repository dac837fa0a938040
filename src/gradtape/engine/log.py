"""What one tape has written down: the records of the ops that touched a watched tensor, in order of execution."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor
from .dispatch import Recorder, next_level, note

Line = tuple[str, int, str]  # file, line number, function

_living: set[int] = set()  # the ids of the keys of recorders that exist
origins: dict[str, dict[int, Line]] = {}  # by file and line of source that was generated: the user's line it stands for


def new_key() -> object:
    """A name for a recorder in the marks of tensors, which does not keep the recorder alive."""
    key = object()
    _living.add(id(key))
    return key


def retire(key: object, _discard: Any = _living.discard) -> None:
    """Says that a recorder is gone, so that marks with its key may be dropped."""
    _discard(id(key))


class Log(Recorder):
    """The records of one tape; see `backprop` for what a record is."""

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.key = new_key()
        self.level = next_level()
        self.records: list[Any] = []
        self.watches_variables = watch_accessed_variables
        self.variables: dict[int, tuple[Any, int]] = {}  # by id: the variable and its position (-1: no derivative)
        self.leaves: set[int] = set()
        self.plain = True  # every tensor recorded is a plain one, so a sweep over bare arrays is possible
        self.fragile = False  # a record runs a user's code backwards, which may raise

    def __del__(self, retire: Any = retire) -> None:  # the name may be gone when the interpreter ends
        retire(self.key)

    def unary(self, op: Any, x: Tensor, y: Tensor) -> None:
        """Records `y = op(x)` for plain tensors."""
        key = self.key
        mark = x.mark
        parent = mark[1] if mark[0] is key else note(mark, key)
        if parent is None:
            return
        records = self.records
        y.mark = (key, len(records), None)
        records.append((op, (parent,), op.keep_quiet(x, y), None))

    def binary(self, op: Any, a: Tensor, b: Tensor, y: Tensor) -> None:
        """Records `y = op(a, b)` for plain tensors."""
        key = self.key
        mark = a.mark
        first = None if mark is None else mark[1] if mark[0] is key else note(mark, key)
        mark = b.mark
        second = None if mark is None else mark[1] if mark[0] is key else note(mark, key)
        if first is None:
            if second is None:
                return
            first, saved = -1, op.keep_second(a, b, y)
        elif second is None:
            second, saved = -1, op.keep_first(a, b, y)
        else:
            saved = op.keep_quiet(a, b, y)
        records = self.records
        y.mark = (key, len(records), None)
        records.append((op, (first, second), saved, None))

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        if op.pull is None:
            return
        key = self.key
        positions = []
        plain = True
        for x in inputs:
            mark = x.mark
            at = None if mark is None else mark[1] if mark[0] is key else note(mark, key)
            positions.append(-1 if at is None else at)
            if type(x) is not Tensor:
                plain = False
        if max(positions, default=-1) < 0:
            return
        parents = tuple(positions)
        records = self.records
        first = len(records)
        if type(outputs) is not tuple:
            if not outputs.dtype.differentiable:
                return
            outputs.mark = (key, first, outputs.mark)
            records.append((op, parents, op.keep(inputs, outputs, attrs), None))
        else:
            described = tuple((y.dims, y.dtype) for y in outputs)
            records.append((op, parents, op.keep(inputs, outputs, attrs), described))
            records.extend([first] * (len(outputs) - 1))
            for i, y in enumerate(outputs, first):
                y.mark = (key, i, y.mark)
        if not plain:
            self.plain = False
        if op.fragile:
            self.fragile = True

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        if note(tensor.mark, self.key) is None:
            tensor.mark = (self.key, self._leaf(), living(tensor.mark))

    def watch_variable(self, variable: Any) -> int:
        """Makes `variable` a leaf of this log; returns its position."""
        entry = self.variables.get(id(variable))
        if entry is None:
            entry = (variable, self._leaf() if variable.dtype.differentiable else -1)
            self.variables[id(variable)] = entry
        return entry[1]

    def watched(self) -> tuple[Any, ...]:
        """The variables that are leaves of this log."""
        return tuple([variable for variable, _ in self.variables.values()])

    def mark_of(self, variable: Any, rest: Any) -> Any:
        """The mark a value read from `variable` now gets, on top of `rest`."""
        if id(variable) in self.variables or (self.watches_variables and variable.trainable):
            position = self.watch_variable(variable)
            return rest if position < 0 else (self.key, position, rest)
        return rest

    def position(self, x: Any) -> int | None:
        """Where a tensor or variable stands in this log, or None."""
        if isinstance(x, Tensor):
            return note(x.mark, self.key)
        entry = self.variables.get(id(x))
        return None if entry is None or entry[1] < 0 else entry[1]

    def _leaf(self) -> int:
        position = len(self.records)
        self.records.append(None)
        self.leaves.add(position)
        return position


class TracingLog(Log):
    """A log that also notes the source line of each record: file, line number, function."""

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self.lines: dict[int, Line] = {}

    unary = Recorder.unary
    binary = Recorder.binary

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        first = len(self.records)
        super().record(op, inputs, outputs, attrs)
        if len(self.records) > first:
            self.lines[first] = caller()


def caller() -> Line:
    """The line of the innermost frame that is not gradtape's own."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        frame = frame.f_back
    file, number = frame.f_code.co_filename, frame.f_lineno
    known = origins.get(file)
    if known is not None:
        nearest = max((n for n in known if n <= number), default=None)
        if nearest is not None:
            return known[nearest]
    return file, number, frame.f_code.co_name


def living(mark: Any) -> Any:
    """The chain of marks without those of logs and accumulators that are gone."""
    if mark is None:
        return None
    rest = living(mark[2])
    return (mark[0], mark[1], rest) if id(mark[0]) in _living else rest
