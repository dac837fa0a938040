"""A question about one gradient, and what a cause answers: the facts that all causes are detected from."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from ...core.locks import cached_property
from ...core.tensor import Tensor
from ...engine.run.dispatch import entry
from ...engine.tape.log import Log, positions_in
from ...engine.tape.tape import Tape
from ..records.event_log import Event, TracingLog, events
from .messages import Where, name_of_target
from .provenance import Step, ancestors, path_between, step_of
from .reasons import Cause


class Finding(NamedTuple):
    """A detected cause: what happened, what to do about it, and where in the program it happened."""

    cause: Cause
    message: str
    advice: str = ""
    where: Where = None

    @property
    def sentence(self) -> str:
        """The message and the advice."""
        return f"{self.message}. {self.advice}" if self.advice else self.message


class Query:
    """The gradient of one source, with the records and events between it and the targets.

    Detectors run in order of priority; the one for `Cause.RELEASED` answers whenever a tape has no log, so those after
    it may use `log`.
    """

    def __init__(
        self,
        tape: Tape,
        log: Log | None,
        targets: Sequence[Any],
        source: Any,
        name: str,
        frame: FrameType | None,
        of_layer: bool,
    ) -> None:
        self.tape = tape
        self.targets = targets
        self.source = source
        self.name = name
        self.frame = frame  # of the user's calling code
        self.of_layer = of_layer  # whether the source is a variable of a Keras layer
        self.log: Any = log
        self.traced = log if isinstance(log, TracingLog) else None  # the log if it knows source lines

    @cached_property
    def position(self) -> int | None:
        """The position of the source on the tape."""
        found: int | None = None if self.log is None else self.log.positions([self.source])[0]
        return found

    @cached_property
    def ends(self) -> dict[int, Any]:
        """The targets that are on the tape, by position."""
        return {at: target for target in self.targets if (at := self.log.position(target)) is not None}

    @cached_property
    def reached(self) -> set[int]:
        """The positions that the targets were computed from, including their own."""
        return set().union(*(ancestors(self.log, end) for end in self.ends))

    @property
    def target_tracers(self) -> list[Any]:
        """The tracers of the targets that are tensors."""
        return [target.tracers for target in self.targets if isinstance(target, Tensor)]

    @property
    def target_name(self) -> str:
        """The user's name of the target."""
        return name_of_target(self.targets, self.frame)

    def path(self, at: int | None = None) -> list[Step] | None:
        """Returns the path from the source, which is at `at` on the tape, to a target, through records and events."""
        source, log = self.source, self.log
        made = entry(source.tracers, events.key) if isinstance(source, Tensor) else None

        def starts(step: Step) -> bool:
            if not isinstance(step, Event):
                return step == at
            return step is made if isinstance(source, Tensor) else step.variable is source

        for tracers in () if log is None else self.target_tracers:
            end = step_of(log, tracers)
            path = None if end is None else path_between(log, end, starts)
            if path is not None:
                return path
        return None

    def first_use(self) -> Where:
        """Returns where the first op on the path to the target used the source, if it was observed."""
        path = self.path()
        step = None if path is None or len(path) < 2 else path[1]
        if isinstance(step, Event):
            return step.reference  # type: ignore[no-any-return]
        return None if step is None else self.log.reference(step)  # type: ignore[no-any-return]

    def first_use_in_block(self) -> Where:
        """Returns where the source was first used while the tape was recording."""
        for step in (self.path() or [])[1:]:
            if isinstance(step, int):
                return self.log.reference(step)  # type: ignore[no-any-return]
            if self.log.key in step.recording:
                return step.reference  # type: ignore[no-any-return]
        return None

    def first_noted_use(self) -> Where:
        """Returns where an op that a tape recorded first used the source, a tensor that this tape does not know."""
        others = [log for log, _ in positions_in(self.source.tracers) if isinstance(log, TracingLog)]
        for log in () if self.traced is None else (self.traced, *others):
            for noted in log.notes.values():
                if any(x is self.source or is_same_value(x, self.source) for x in noted[3]):
                    return noted[0]
        return None

    def target_reference(self) -> Where:
        """Returns where the target was computed, on or off the tape."""
        if self.traced is None:
            return None
        for end in self.ends:
            return self.traced.reference(end)
        made = [entry(tracers, events.key) for tracers in self.target_tracers]
        return next((event.reference for event in made if event is not None and event.op is not None), None)

    def origin(self) -> tuple[Any, Event] | None:
        """Returns the unwatched variable that a tensor was computed from, as after `x = x + 1`, and the last event."""
        made = entry(self.source.tracers, events.key)
        if made is None or made.op is None:
            return None
        path = path_between(self.log, made, lambda s: isinstance(s, Event) and s.variable is not None)
        return None if path is None else (path[0].variable, made)  # type: ignore[union-attr]


def is_same_value(x: Any, source: Any) -> bool:
    """Whether two tensors of a function being traced are the same value."""
    place = getattr(x, "place", None)
    return place is not None and place is getattr(source, "place", None)
