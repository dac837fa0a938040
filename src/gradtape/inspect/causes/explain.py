"""Why a gradient is None, or zero: one sentence for each source.

A tape knows what it recorded, and where a derivative ended: in an op without one, in NumPy, in a variable that was
assigned. A traced tape also knows the lines, and what happened beside it; then the way from the source to the target is
followed, and the first step on it that was not recorded is the cause.
"""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...core import nest
from ...core.composites import tensors_for_gradients
from ...core.tensor import Tensor
from ...engine.run.dispatch import note
from ...engine.run.source_lines import Line, line_at
from ...engine.tape.log import Log
from ...engine.tape.questions import differentiable
from ..records.reading import Reading
from ..records.witness import Event, TracingLog, witness
from .calls import cut_inside
from .provenance import Step, ancestors, descendants, path_between, step_of
from .zeros import why_zero


class Cause(StrEnum):
    """What is behind a gradient."""

    CONNECTED = "connected"
    ZERO = "zero"
    NOT_FINITE = "not finite"
    NEVER_WATCHED = "never watched"
    WATCHED_LATE = "watched after use"
    NOT_TRAINABLE = "not trainable"
    INTEGER = "integer"
    BEFORE_TAPE = "before the tape"
    AFTER_BLOCK = "after the block"
    OUTSIDE_BLOCK = "outside the block"
    OTHER_THREAD = "another thread"
    STOPPED = "while recording was stopped"
    NUMPY = "left for NumPy or Python"
    PREDICT = "predict"
    NOT_DIFFERENTIABLE = "not differentiable"
    STOP_GRADIENT = "stop_gradient"
    ASSIGN = "assign"
    REBOUND = "rebound"
    NO_RULE = "the rule gives none"
    NO_PATH = "no path"
    RELEASED = "tape released"


@dataclass(frozen=True)
class Reason:
    """Why the gradient for one source is what it is."""

    source: str
    cause: Cause
    sentence: str
    line: Line | None = None

    def __str__(self) -> str:
        return f"{self.source}: {self.sentence}{_where(self.line)}"


@dataclass(frozen=True)
class Explanation:
    """The reasons, one for each source."""

    reasons: list[Reason] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(map(str, self.reasons))

    __repr__ = __str__

    def as_dicts(self) -> list[dict[str, Any]]:
        """The reasons as plain dictionaries, for JSON."""
        return [
            {
                "source": r.source,
                "cause": r.cause.value,
                "sentence": r.sentence,
                "file": r.line and r.line[0],
                "line": r.line and r.line[1],
                "function": r.line and r.line[2],
            }
            for r in self.reasons
        ]


def explain(tape: Any, target: Any, sources: Any) -> Explanation:
    """Why each of the gradients `tape.gradient(target, sources)` is what it is.

    >>> import gradtape as tf
    >>> w = tf.Variable(2.0, name="w")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     loss = tf.stop_gradient(w * w)
    >>> tape.explain(loss, w).reasons[0].cause.value
    'stop_gradient'
    """
    targets = [differentiable(t, "target") for t in tensors_for_gradients(nest.flatten(target))]
    flat = tensors_for_gradients(nest.flatten(sources))
    log = tape._log or tape._past
    if log is None and not tape._entered:
        raise RuntimeError("Cannot explain: this GradientTape was never entered. Use `with tape:` first")
    reasons = []
    for i, source in enumerate(flat):
        name = _name(source, i)
        found = differentiable(source, "source")
        reasons.append(_Question(tape, log, targets, found, name).answer())
    return Explanation(reasons)


class _Question:
    """Why one source has the gradient it has."""

    def __init__(self, tape: Any, log: Log | None, targets: list[Any], source: Any, name: str) -> None:
        self.tape = tape
        self.targets = targets
        self.source = source
        self.name = name
        self.log: Any = log

    def answer(self) -> Reason:
        source = self.source
        if not source.dtype.differentiable:
            return self._say(
                Cause.INTEGER,
                f"its dtype is {source.dtype.name}, and only floating and complex numbers have derivatives. Use tf.cast"
                " before the tape records it",
            )
        if self.log is None:
            return self._say(
                Cause.RELEASED,
                "the tape has been used up and its records are gone. Use GradientTape(persistent=True), or trace=True, "
                "to ask again",
            )
        if any(target is source for target in self.targets):
            return self._say(Cause.CONNECTED, "it is the target itself, and its gradient is one")
        at = self.log.position(source)
        if at is not None and any(at in ancestors(self.log, end) for end in self._ends()):
            return self._connected(at)
        for look in (self._by_path, self._by_kind):
            reason = look(at)
            if reason is not None:
                return reason
        assert at is not None
        return self._by_exits(at) or self._by_earlier_records(at) or self._say(
            Cause.NO_PATH,
            "the target does not depend on it: no recorded op leads from it to the target",
        )

    def _say(self, cause: Cause, sentence: str, line: Line | None = None) -> Reason:
        return Reason(f"`{self.name}`", cause, sentence, line)

    def _ends(self) -> dict[int, Any]:
        """The targets that are on the tape, by position."""
        return {at: target for target in self.targets if (at := self.log.position(target)) is not None}

    def _connected(self, at: int) -> Reason:
        if self.tape._log is None and not self.log.traces:
            return self._say(
                Cause.CONNECTED,
                "the target depends on it; if the gradient is None all the same, a custom gradient on the way gives "
                "none. GradientTape(trace=True) tells which",
            )
        cause, sentence, where = why_zero(Reading(self.tape, self.targets, [self.source]), at)
        if where is not None and cause == Cause.NO_RULE:
            op, parents, *_ = self.log.records[where]
            for argument, parent in enumerate(parents):
                cut = cut_inside(op, argument) if parent >= 0 and at in ancestors(self.log, parent) else None
                if cut is not None:
                    return self._at_constant(*cut)
        line = self.log.line(where) if where is not None and isinstance(self.log, TracingLog) else None
        return self._say(Cause(cause), sentence, line)

    def _by_path(self, at: int | None) -> Reason | None:
        """From the way to the target that the witness saw: its first step that was not recorded."""
        source = self.source
        if isinstance(source, Tensor):
            made = note(source.marks, witness.key)

            def starts(step: Step) -> bool:
                return step is made if isinstance(step, Event) else step == at

        else:

            def starts(step: Step) -> bool:
                return step.variable is source if isinstance(step, Event) else step == at

        for target in self.targets:
            end = step_of(self.log, target.marks) if isinstance(target, Tensor) else None
            path = None if end is None else path_between(self.log, end, starts)
            if path is not None:
                return self._first_unrecorded(path, at)
        return None

    def _first_unrecorded(self, path: list[Step], at: int | None) -> Reason | None:
        """`path` begins with the source."""
        if isinstance(path[0], Event) and len(path) > 1 and isinstance(path[1], int):
            return self._unwatched_then(at, self.log.records[path[1]][0].name, self.log.line(path[1]))
        step = next((s for s in path[1:] if isinstance(s, Event)), None)
        if step is None:
            return None
        title, line = step.op.name, step.line
        if self.log.key not in step.recording:
            return self._not_recording(step, title)
        if not isinstance(path[0], Event):
            return self._at_constant(step.op, line)
        return self._unwatched_then(at, title, line)

    def _unwatched_then(self, at: int | None, title: str, line: Line | None) -> Reason | None:
        """An op used the source while the tape was recording, but did not watch it."""
        if at is not None:
            return self._say(
                Cause.WATCHED_LATE, f"{title} used it before tape.watch({self.name}) was called. Watch it first", line
            )
        if isinstance(self.source, Tensor) and self._origin() is None:
            return self._never_watched(line)
        return None

    def _not_recording(self, step: Event, title: str) -> Reason:
        log = self.log
        line = step.line
        spans = log.spans if isinstance(log, TracingLog) else []
        if isinstance(log, TracingLog) and step.thread != log.thread:
            return self._say(
                Cause.OTHER_THREAD,
                f"{title} used it in another thread, and a tape records its own thread only. Use `with tape.attach():` "
                "there",
                line,
            )
        if spans and step.clock < spans[0][0]:
            return self._say(
                Cause.BEFORE_TAPE,
                f"{title} used it before the tape's block began. Move that computation into the `with` block",
                line,
            )
        if spans and len(spans[-1]) == 2 and step.clock > spans[-1][1]:
            return self._say(
                Cause.AFTER_BLOCK,
                f"{title} used it after the tape's block had ended. Move that computation into the `with` block",
                line,
            )
        return self._say(Cause.STOPPED, f"{title} used it while recording was stopped (tape.stop_recording)", line)

    def _at_constant(self, op: Any, line: Line | None) -> Reason:
        """A value on the tape went into an op that the tape was told of and did not record."""
        if op.name == "stop_gradient":
            return self._say(Cause.STOP_GRADIENT, "tf.stop_gradient cuts the way to the target", line)
        if op.vjp is not None:
            return self._say(
                Cause.INTEGER, f"{op.name} turns it into integers or truth values, which have no derivative", line
            )
        hint = _INSTEAD.get(op.name, "")
        return self._say(
            Cause.NOT_DIFFERENTIABLE, f"{op.name} is on the way to the target, and has no derivative.{hint}", line
        )

    def _origin(self) -> Any:
        """The variable that a tensor was computed from, which was never watched, as after `x = x + 1`; and how."""
        made = note(self.source.marks, witness.key)
        if made is None or made.op is None:
            return None
        path = path_between(self.log, made, lambda s: isinstance(s, Event) and s.variable is not None)
        return None if path is None else (path[0].variable, made)  # type: ignore[union-attr]

    def _never_watched(self, line: Line | None = None) -> Reason:
        return self._say(
            Cause.NEVER_WATCHED,
            f"it is a tensor that the tape was never asked to watch; only trainable variables are watched by "
            f"themselves. Call tape.watch({self.name}) before it is used. (If it was a variable once, something like "
            f"`{self.name} = {self.name} + 1` has made a tensor of it: use assign)",
            line,
        )

    def _by_kind(self, at: int | None) -> Reason | None:
        """From what the source is, where the tape knows it not at all or too late."""
        source, log = self.source, self.log
        if isinstance(source, Tensor):
            return self._unknown_tensor() if at is None else self._later_than_target(at)
        if at is not None:
            return None
        if not source.trainable:
            return self._say(
                Cause.NOT_TRAINABLE,
                f"it is not trainable, so the tape does not watch it by itself. Call tape.watch({self.name}) first",
            )
        if not log.watches_variables:
            return self._say(
                Cause.NEVER_WATCHED,
                "the tape was made with watch_accessed_variables=False, and was never asked to watch it. Call "
                f"tape.watch({self.name}) first",
            )
        if log.traces:
            return self._say(
                Cause.NO_PATH,
                "the target does not depend on it: no use of it was seen, on the tape or beside it. (What happened "
                "before tracing began is not known)",
            )
        return self._say(
            Cause.OUTSIDE_BLOCK,
            "it was not read while the tape was recording: the target does not use it, or was computed before the "
            f"block, after it, in another thread or while recording was stopped{_TRACE_HINT}",
        )

    def _unknown_tensor(self) -> Reason:
        origin = self._origin()
        if origin is None:
            return self._never_watched()
        variable, made = origin
        return self._say(
            Cause.REBOUND,
            f"it is no longer the variable {variable.name.partition(':')[0]!r} but a tensor that {made.op.name} made "
            "of it, which the tape does not watch. Use assign, assign_add or assign_sub to change a variable",
            made.line,
        )

    def _later_than_target(self, at: int) -> Reason | None:
        ends = self._ends()
        if not ends or at < max(ends):
            return None
        line = self.log.line(at) if isinstance(self.log, TracingLog) else None
        if at in self.log.leaves:
            return self._say(
                Cause.WATCHED_LATE, "it was watched after the target had been computed. Call tape.watch first", line
            )
        return self._say(
            Cause.REBOUND,
            "it was computed after the target: the name now stands for a newer tensor than the one the target was "
            "computed from",
            line,
        )

    def _by_exits(self, at: int) -> Reason | None:
        """From where derivatives of what was computed from the source ended."""
        log = self.log
        below = descendants(log, at)
        exits = [(i, by) for i, (where, by) in enumerate(log.exits) if where in below]
        if exits:
            reached = set().union(*(ancestors(log, end) for end in self._ends()))
            i, by = max(exits, key=lambda e: (self._weight(e[1], reached), e[0]))
            reference = log.exit_lines.get(i) if isinstance(log, TracingLog) else None
            line = None if reference is None else line_at(reference)
            return self._at_exit(by, line)
        if not self._ends():
            used = "what was computed from it" if len(below) > 1 else "it"
            return self._say(
                Cause.OUTSIDE_BLOCK,
                f"the target was not computed from {used} while the tape was recording, but before the block, after "
                f"it, before tape.watch, in another thread or while recording was stopped"
                f"{_TRACE_HINT if not log.traces else ''}",
            )
        return None

    def _by_earlier_records(self, at: int) -> Reason | None:
        """From records on the way to the target that were made before the source was watched: one may have used it."""
        log = self.log
        if at not in log.watched:
            return None
        earlier = {i for end in self._ends() for i in ancestors(log, end) if i < at}
        records = [log.records[i] for i in earlier]
        if not any(type(record) is tuple and -1 in record[1] for record in records):
            return None
        return self._say(
            Cause.WATCHED_LATE,
            f"no op after tape.watch({self.name}) leads from it to the target. If one before that used it, it was "
            "recorded as a constant: watch it first",
        )

    def _weight(self, by: Any, reached: set[int]) -> int:
        """How likely an exit is the one that matters: comparisons are frequent and seldom do."""
        if isinstance(by, str):
            return 3
        if not hasattr(by, "vjp"):
            return 5 if self.log.position(by) in reached else 2
        if by.name == "stop_gradient":
            return 4
        return 0 if by.name in _COMPARISONS else 1

    def _at_exit(self, by: Any, line: Line | None) -> Reason:
        if isinstance(by, str):
            if line is not None and ".predict(" in linecache.getline(line[0], line[1]):
                return self._say(
                    Cause.PREDICT,
                    "predict gives NumPy arrays, which no tape follows. Call the model itself: model(x)",
                    line,
                )
            if by == "tf.Variable":
                return self._say(
                    Cause.ASSIGN,
                    "it is the initial value of a new tf.Variable, which starts anew: gradients go to the variable, "
                    "not to its initial value. Make variables before the tape",
                    line,
                )
            how = {"NumPy": "a NumPy function or np.array", "numpy()": ".numpy()"}.get(by, by)
            return self._say(
                Cause.NUMPY,
                f"its value left the tape through {how}; what is computed from that is not recorded. Use TensorFlow's "
                "functions all the way to the target",
                line,
            )
        if not hasattr(by, "vjp"):
            name = by.name.partition(":")[0]
            return self._say(
                Cause.ASSIGN,
                f"its value was assigned to the variable {name!r}, and a variable starts anew: gradients go to the "
                f"variable, not to what was assigned. Use the value itself",
                line,
            )
        return self._at_constant(by, line)


_TRACE_HINT = ". GradientTape(trace=True) or gradtape.inspect.tracing() tells which, and where"
_COMPARISONS = {
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "is_nan", "is_inf", "is_finite",
    "zeros_like", "ones_like", "all", "any", "logical_and", "logical_or", "logical_not",
}  # fmt: skip
_INSTEAD = {
    "argmax": " A softmax is a smooth argmax",
    "rint": " x + tf.stop_gradient(tf.round(x) - x) passes gradients straight through",
    "floor": " x + tf.stop_gradient(tf.floor(x) - x) passes gradients straight through",
    "one_hot": " Its indices are integers",
    "greater": " A sigmoid is a smooth comparison",
    "less": " A sigmoid is a smooth comparison",
}


def _where(line: Line | None) -> str:
    if line is None:
        return ""
    file, number, function = line
    inside = "" if function == "<module>" else f", in {function}"
    return f" ({os.path.relpath(file) if os.path.isfile(file) else file}:{number}{inside})"


def _name(source: Any, i: int) -> str:
    """What the user calls a source: a variable's name, or the name it has in the code that asks."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gradtape."):
        frame = frame.f_back
    scopes: tuple[dict[str, Any], ...] = () if frame is None else (frame.f_locals, frame.f_globals)
    for names in scopes:
        for name, value in names.items():
            if value is source and not name.startswith("_"):
                return name
    own = None if isinstance(source, Tensor) else getattr(source, "name", None)
    if own and not own.startswith("Variable"):
        return str(getattr(source, "path", own)).partition(":")[0]
    return f"source {i}"
