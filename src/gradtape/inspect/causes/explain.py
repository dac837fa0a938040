"""Explains why a gradient is None or zero, in one sentence per source.

A tape knows its records and where derivatives ended: in an op without one, in NumPy, in an assigned variable. A traced
tape also knows the lines and what happened off the tape; then the path from the source to the target is followed, and
the first step on it that was not recorded is the cause.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import nest
from ...core.composites import tensors_for_gradients
from ...core.tensor import Tensor
from ...engine.run import dispatch
from ...engine.run.dispatch import entry
from ...engine.run.source_lines import users_frame
from ...engine.tape.log import Log, positions_in
from ...engine.tape.validation import differentiable
from ...graph.trace.assigned import assigned
from ..records.event_log import Event, Gradient, Sweep, TracingLog, witness
from ..records.reading import Reading, known_array, short
from ..records.replay import Question, ReplayLog
from .calls import COMPARISONS, cut_inside
from .messages import (
    Where,
    expression,
    is_in_layer,
    known_name,
    line_of,
    listed,
    name_of_target,
    names_of_sources,
    phrase,
    user_of,
)
from .provenance import Step, ancestors, descendants, elsewhere, first_node_between, path_between, step_of
from .reasons import Cause as Cause
from .reasons import Explanation, Reason
from .skipped_code import skipped_use
from .zeros import ASSIGNED, why_zero


def explain(tape: Any, target: Any, sources: Any) -> Explanation:
    """Explains each of the gradients `tape.gradient(target, sources)`.

    >>> import gradtape as tf
    >>> w = tf.Variable(2.0, name="w")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     loss = tf.stop_gradient(w * w)
    >>> tape.explain(loss, w).reasons[0].cause.value
    'stop_gradient'
    """
    targets = [differentiable(t, "target") for t in tensors_for_gradients(nest.flatten(target))]
    flat = tensors_for_gradients(nest.flatten(sources))
    frame = users_frame(2)
    names = names_of_sources(flat, frame)
    return Explanation(reasons_for(tape, targets, flat, names, frame))


def reasons_for(
    tape: Any, targets: list[Any], sources: Sequence[Any], names: Sequence[str], frame: Any
) -> list[Reason]:
    """Does the same for sources with the given names."""
    log = tape._log or tape._past
    if log is None and not tape._entered:
        raise RuntimeError("Cannot explain: this GradientTape was never entered. Use `with tape:` first")
    found = [differentiable(source, "source") for source in sources]
    return [
        _Question(tape, log, targets, s, n, frame, is_in_layer(asked)).answer()
        for s, n, asked in zip(found, names, sources, strict=True)
    ]


class _Question:
    """Explains the gradient of one source.

    Each `_by_*` method tests one hypothesis, which its docstring states, and returns a reason if it holds.
    """

    def __init__(
        self, tape: Any, log: Log | None, targets: list[Any], source: Any, name: str, frame: Any, of_layer: bool
    ) -> None:
        self.tape = tape
        self.targets = targets
        self.source = source
        self.name = name
        self.frame = frame  # of the user's calling code
        self.of_layer = of_layer  # whether the source is a variable of a Keras layer
        self.log: Any = log

    def answer(self) -> Reason:
        source = self.source
        if (reason := self._by_not_trainable()) is not None:
            return reason
        if not source.dtype.differentiable:
            return self._integer()
        if self.log is None:
            return self._say(
                Cause.RELEASED,
                "the tape has been used up and its records are gone. Use GradientTape(persistent=True), or trace=True, "
                "to ask again",
            )
        if any(target is source for target in self.targets):
            return self._say(Cause.CONNECTED, "it is the target itself, and its gradient is one")
        (at,) = self.log.positions([source])
        if at is not None and any(at in ancestors(self.log, end) for end in self._ends()):
            return self._connected(at)
        for look in (self._by_overwriting, self._by_path, self._by_reset, self._by_graph, self._by_kind):
            reason = look(at)
            if reason is not None:
                return reason
        assert at is not None
        return self._by_exits(at) or self._by_earlier_records(at) or self._by_no_path()

    def _integer(self) -> Reason:
        refused = self.log.refused if isinstance(self.log, TracingLog) else ()
        watched_at = next((where for x, where in refused if x is self.source or _is_same_value(x, self.source)), None)
        watched = "" if watched_at is None else f", so tape.watch({self.name}) has no effect"
        return self._say(
            Cause.INTEGER,
            f"its dtype is {self.source.dtype.name}, and only floating and complex numbers have derivatives{watched}. "
            "Make it of floating numbers, such as 3.0 instead of 3, or use tf.cast before the tape records it",
            watched_at or self._first_use(),
        )

    def _by_not_trainable(self) -> Reason | None:
        """The source is a variable that is not trainable, which is sufficient as a cause."""
        source = self.source
        if isinstance(source, Tensor) or source.trainable or self.log is None:
            return None
        if source.dtype.differentiable and self.log.positions([source]) != [None]:
            return None
        advice = "Call tape.watch on it first"
        if self.of_layer:
            advice = (
                "It is the state of a layer, such as a moving average, a count or what adapt() has measured, which "
                "gradients do not change. Ask for the model's trainable_variables instead of its weights or variables"
            )
        return self._say(
            Cause.NOT_TRAINABLE,
            f"it is not trainable, so the tape does not watch it by itself. {advice}",
            self._first_use_in_block(),
        )

    def _first_use_in_block(self) -> Where:
        """Returns where the source was first used while the tape was recording."""
        for step in (self._path(None) or [])[1:]:
            if isinstance(step, int):
                return self.log.reference(step)
            if self.log.key in step.recording:
                return step.reference
        return None

    def _say(self, cause: Cause, sentence: str, where: Where = None) -> Reason:
        return Reason(f"`{self.name}`", cause, sentence, line_of(where))

    def _first_use(self) -> Where:
        """Returns where the first op on the path to the target used the source, if it was observed."""
        path = None if self.log is None else self._path(None)
        step = None if path is None or len(path) < 2 else path[1]
        if isinstance(step, Event):
            return step.reference
        return None if step is None else self.log.reference(step)

    def _first_noted(self) -> Where:
        """Returns where the first recorded op used the source, a tensor that the tape does not know."""
        place = getattr(self.source, "place", None)  # in a graph
        for noted in self.log.notes.values() if isinstance(self.log, TracingLog) else ():
            for x in noted[3]:
                if x is self.source or (place is not None and getattr(x, "place", None) is place):
                    return noted[0]  # type: ignore[no-any-return]
        return None

    def _by_no_path(self) -> Reason:
        """No path leads from the source to the target; names what the target depends on instead."""
        log = self.log
        if (foreign := self._on_another_tape()) is not None:
            return foreign
        if (stale := self._by_stale_value()) is not None:
            return stale
        if (reason := self._by_inner_gradient()) is not None:
            return reason
        below = set().union(*(ancestors(log, end) for end in self._ends()))
        names = [known_name(v, self.frame) for v, at in log.variable_positions() if at in below]
        others = [f"`{name}`" for name in names] + ["a watched tensor"] * sum(at in below for at in log.watched)
        where = self._target_reference()
        target = name_of_target(self.targets, self.frame)
        if (reason := self._by_code_that_did_not_run(target, where)) is not None:
            return reason
        if self.name in names:  # a variable of a copy, or of an earlier step
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            return self._say(
                Cause.NO_PATH,
                f"{target} does not depend on it: {target} depends on another variable `{self.name}`{more}, as a copy "
                "of a model has, or a variable that was made anew. Ask for these, or compute the target from it",
                where,
            )
        if others:
            return self._say(
                Cause.NO_PATH,
                f"{target} does not depend on it: {target} depends on {listed(others)}. Ask for these, or compute the "
                "target from it",
                where,
            )
        return self._say(
            Cause.NO_PATH, f"{target} does not depend on it: no recorded op leads from it to the target", where
        )

    def _target_reference(self) -> Where:
        """Returns where the target was computed, on or off the tape."""
        if not isinstance(self.log, TracingLog):
            return None
        for end in self._ends():
            return self.log.reference(end)
        made = [entry(target.tracers, witness.key) for target in self.targets if isinstance(target, Tensor)]
        return next((event.reference for event in made if event is not None and event.op is not None), None)

    def _by_code_that_did_not_run(self, target: str, where: Where) -> Reason | None:
        """The source's name is used in a loop of zero iterations, or in a branch that was not taken."""
        if not isinstance(self.log, TracingLog) or self.frame is None:
            return None
        ran = {line[:2] for noted in self.log.notes.values() if (line := line_of(noted[0])) is not None}
        asked_at = line_of((self.frame.f_code, self.frame.f_lasti))
        skipped = skipped_use(self.name, asked_at, ran, self.log.positions([self.source]) == [None])
        if skipped is None:
            return None
        computed = "" if (line := line_of(where)) is None else f" ({short(line)})"
        return self._say(
            Cause.NO_PATH,
            f"{target}{computed} does not depend on it: it is used in line {skipped.use} only if {skipped.condition}",
            skipped.line,
        )

    def _by_inner_gradient(self) -> Reason | None:
        """The target depends on an inner tape's gradient that does not depend on the source, though its target does."""
        log = self.log
        if not isinstance(log, TracingLog):
            return None
        for sweep in reversed(log.sweeps):
            if (forward := _linear_use(sweep, self.source)) is not None:
                op, where = forward
                call = user_of(Gradient, sweep.reference)
                return self._say(
                    Cause.LINEAR,
                    f"{call} does not depend on it: in what is differentiated there, {phrase(op, where)} uses it in a "
                    "linear way, or only adds it, which leaves no trace in the derivative",
                    where,
                )
        return None

    def _by_overwriting(self, at: int | None) -> Reason | None:
        """A constant was assigned to the variable, on a tape that tracks assignments."""
        where = getattr(self.log, "overwritten_at", {}).get(id(self.source))
        if not self.log.tracks or not self.log.is_constant(self.source):
            return None
        call = "an assignment" if where is None else user_of(_ASSIGN, where)
        return self._say(
            Cause.OVERWRITTEN,
            f"{call} gave the variable a value that does not depend on it, and the tape follows assignments "
            "(track_assign): what is read afterwards is that constant. Assign before the tape, or assign what is "
            "computed from it",
            where,
        )

    def _by_reset(self, at: int | None) -> Reason | None:
        """What was computed from the source was recorded before `tape.reset()`."""
        if not isinstance(self.log, TracingLog):
            return None
        resets = {id(before): where for before, where in self.log.before_reset}
        tracers = [target.tracers for target in self.targets if isinstance(target, Tensor)]
        for other, position, _ in elsewhere(self.log, tracers) if resets else ():
            (start,) = other.positions([self.source])
            if id(other) in resets and start is not None and start in ancestors(other, position):
                return self._say(
                    Cause.RESET,
                    "tape.reset() made the tape forget what had been computed from it. Compute it after the reset",
                    resets[id(other)],
                )
        return None

    def _ends(self) -> dict[int, Any]:
        """Returns the targets that are on the tape, by position."""
        return {at: target for target in self.targets if (at := self.log.position(target)) is not None}

    def _is_target_of_block(self) -> bool:
        """Whether a target was computed while the tape was recording, from values that are not on it."""
        made = [entry(target.tracers, witness.key) for target in self.targets if isinstance(target, Tensor)]
        return any(event is not None and self.log.key in event.recording for event in made)

    def _connected(self, at: int) -> Reason:
        if self.tape._log is None and not self.log.traces:
            return self._say(
                Cause.CONNECTED,
                "the target depends on it; if the gradient is None all the same, a custom gradient on the way gives "
                "none. GradientTape(trace=True) tells which",
            )
        cause, sentence, where, _ = why_zero(Reading(self.tape, self.targets, [self.source]), at)
        if where is not None and cause in (Cause.NO_RULE, Cause.INTEGER):
            record = self.log.records[where]
            op, parents, *_ = self.log.records[record] if type(record) is int else record
            for argument, parent in enumerate(parents):
                cut = cut_inside(op, argument) if parent >= 0 and at in ancestors(self.log, parent) else None
                if cut is not None:
                    return self._at_constant(*cut)
            if getattr(op, "family", None) == "call" and (inside := self._inside_call()) is not None:
                return inside
        line = self.log.blamed(where) if where is not None and isinstance(self.log, TracingLog) else None
        return self._say(Cause(cause), sentence, line)

    def _inside_call(self) -> Reason | None:
        """Explains the gradient on a replay with function calls opened, if they can run again."""
        try:
            question = Question(self.tape, self.targets, [self.source])
        except RuntimeError:
            return None
        reading = Reading(question.again([known_array(x) for x in question.tensors]))
        ((_, _, at),) = reading.sources
        lost = None if at is None else why_zero(reading, at)
        if lost is None or lost.at is None:
            return None
        return self._say(Cause(lost.cause), lost.sentence, reading.log.blamed(lost.at))  # type: ignore[attr-defined]

    def _by_path(self, at: int | None) -> Reason | None:
        """Uses the path to the target that the event log saw: its first unrecorded step."""
        path = self._path(at)
        return None if path is None else self._first_unrecorded(path, at)

    def _by_graph(self, at: int | None) -> Reason | None:
        """In a traced function: uses the path to the target in its graph, and its first node outside the block."""
        log, trace = self.log, dispatch.thread.trace
        if trace is None or not isinstance(log, TracingLog) or not log.node_spans:
            return None
        if at is not None:
            below = descendants(log, at)
            starts = [y for noted in log.notes.values() for y in _outputs(noted) if log.position(y) in below]
        else:
            starts = [self.source if isinstance(self.source, Tensor) else trace.first_reads.get(id(self.source))]
        node, number = first_node_between(trace.nodes, starts, self.targets)
        spans = log.node_spans
        if node is None or getattr(node.op, "vjp", None) is None:
            return None
        title = user_of(node.op, node.line)
        if number < spans[0][0]:
            return self._before_tape(title, node.line)
        if len(spans[-1]) > 1 and number >= spans[-1][1]:
            return self._after_block(title, node.line)
        if not any(start <= number < (stop[0] if stop else len(trace.nodes)) for start, *stop in spans):
            return self._stopped(title, node.line)
        return None

    def _stopped(self, title: str, where: Where) -> Reason:
        return self._say(Cause.STOPPED, f"{title} used it while recording was stopped (tape.stop_recording)", where)

    def _before_tape(self, title: str, where: Where) -> Reason:
        return self._say(
            Cause.BEFORE_TAPE,
            f"{title} used it before the tape's block began. Move that computation into the `with` block",
            where,
        )

    def _after_block(self, title: str, where: Where) -> Reason:
        return self._say(
            Cause.AFTER_BLOCK,
            f"{title} used it after the tape's block had ended. Move that computation into the `with` block",
            where,
        )

    def _path(self, at: int | None, log: Log | None = None) -> list[Step] | None:
        """Returns the path from the source to a target, through records and events."""
        source = self.source
        log = log or self.log
        if isinstance(source, Tensor):
            made = entry(source.tracers, witness.key)

            def starts(step: Step) -> bool:
                return step is made if isinstance(step, Event) else step == at

        else:

            def starts(step: Step) -> bool:
                return step.variable is source if isinstance(step, Event) else step == at

        for target in self.targets:
            end = step_of(log, target.tracers) if isinstance(target, Tensor) else None
            path = None if end is None else path_between(log, end, starts)
            if path is not None:
                return path
        return None

    def _first_unrecorded(self, path: list[Step], at: int | None) -> Reason | None:
        """Explains the first unrecorded step of `path`, which begins with the source."""
        if isinstance(path[0], Event) and len(path) > 1 and isinstance(path[1], int):
            return self._unwatched_then(at, self.log.records[path[1]][0], self.log.reference(path[1]))
        steps = [s for s in path[1:] if isinstance(s, Event)]
        if self.tape._of_a_graph:  # the tape recorded nothing then: only ops without a derivative matter
            steps = [s for s in steps if getattr(s.op, "vjp", None) is None or s.op.name == "cast"]
            return self._at_constant(steps[0].op, steps[0].reference) if steps else None
        if not steps:
            return None
        step = steps[0]
        if self.log.key not in step.recording:
            return self._not_recording(step)
        if step.op is Gradient:
            lost = None if at is None else self._by_exits(at)  # inside a rule
            return lost if lost is not None and lost.cause is not Cause.OUTSIDE_BLOCK else self._linear(step)
        if not isinstance(path[0], Event):
            return self._at_constant(step.op, step.reference)
        return self._unwatched_then(at, step.op, step.reference)

    def _on_another_tape(self) -> Reason | None:
        """The target was recorded by another tape."""
        tracers = [target.tracers for target in self.targets if isinstance(target, Tensor)]
        log, at = next((found for tracer in tracers for found in positions_in(tracer)), (self.log, 0))
        if log is self.log or self._ends():  # several tapes may record one target
            return None
        return self._say(
            Cause.OTHER_TAPE,
            f"{name_of_target(self.targets, self.frame)} was recorded by another tape. Ask that one, or compute the "
            "target in this one's block",
            log.reference(at) if isinstance(log, TracingLog) else None,
        )

    def _by_stale_value(self) -> Reason | None:
        """The target was computed from a value that an earlier tape recorded and that depends on the source."""
        tracers = [target.tracers for target in self.targets if isinstance(target, Tensor)]
        for other, at, user in elsewhere(self.log, tracers):
            (start,) = other.positions([self.source])
            if start is not None and start in ancestors(other, at) and other.ended_before(self.log):
                if user is not None and user.op is Gradient and self.log.key not in user.recording:
                    return self._not_recording(user)
                where = other.reference(at)
                return self._say(
                    Cause.BEFORE_TAPE,
                    f"{user_of(other.records[other.records[at] if type(other.records[at]) is int else at][0], where)} "
                    "used it in the block of an earlier tape. To this tape that value is a constant: compute it in "
                    "this block too, in every step",
                    where,
                )
        return None

    def _linear(self, step: Event) -> Reason:
        """The tape recorded a gradient that does not depend on the source."""
        sweeps = self.log.sweeps if isinstance(self.log, TracingLog) else []
        uses = (_linear_use(sweep, self.source) for sweep in reversed(sweeps) if sweep.reference == step.reference)
        forward = next((use for use in uses if use is not None), None)
        linear = "what is differentiated" if forward is None else phrase(*forward)
        return self._say(
            Cause.LINEAR,
            f"{user_of(step.op, step.reference)} gives the same whatever it is: {linear} is linear in it, at least in "
            "pieces, as tf.nn.relu is. So the second derivative is zero. A smooth function, such as tf.tanh, has one",
            step.reference if forward is None else forward[1],
        )

    def _unwatched_then(self, at: int | None, op: Any, where: Where) -> Reason | None:
        """An op used the source while the tape was recording but not watching it."""
        if at is not None:
            return self._say(
                Cause.WATCHED_LATE,
                f"{user_of(op, where)} used it before tape.watch({self.name}) was called. Watch it first",
                where,
            )
        if isinstance(self.source, Tensor) and self._origin() is None:
            return self._never_watched(where)
        return None

    def _not_recording(self, step: Event) -> Reason:
        log, line = self.log, step.reference
        if step.op is Gradient:
            return self._say(
                Cause.GRADIENT_OUTSIDE,
                f"{user_of(step.op, line)} was asked for outside of this tape's block, so the tape does not know it. "
                "For a second derivative nest two tapes: ask the inner one for its gradient inside the outer block",
                line,
            )
        title = user_of(step.op, line)
        spans = log.spans if isinstance(log, TracingLog) else []
        if isinstance(log, TracingLog) and step.thread != log.thread:
            return self._say(
                Cause.OTHER_THREAD,
                f"{title} used it in another thread, and a tape records its own thread only. Use `with tape.attach():` "
                "there",
                line,
            )
        if spans and step.clock < spans[0][0]:
            return self._before_tape(title, line)
        if spans and len(spans[-1]) == 2 and step.clock > spans[-1][1]:
            return self._after_block(title, line)
        return self._stopped(title, line)

    def _at_constant(self, op: Any, line: Where) -> Reason:
        """A value on the tape was an input of an op without a derivative, which is not recorded."""
        if op.name == "stop_gradient":
            text = expression(line, op)
            if text is None or "stop_gradient" in text or not text.startswith(("tf.constant", "constant")):
                return self._say(Cause.STOP_GRADIENT, "tf.stop_gradient cuts the way to the target", line)
            return self._say(
                Cause.STOP_GRADIENT,
                f"`{text}` makes a constant of its value, which cuts the way to the target. Use it as it is, or "
                "tf.convert_to_tensor",
                line,
            )
        if op is assigned:
            return self._say(Cause.ASSIGN, ASSIGNED.format("a variable"), line)
        if op.vjp is not None:
            return self._say(
                Cause.INTEGER,
                f"{phrase(op, line)} turns it into integers or truth values, which have no derivative. Keep floating "
                "numbers on the way to the target",
                line,
            )
        hint = _INSTEAD.get(op.name, " Use something smooth in its place, or tf.custom_gradient")
        return self._say(
            Cause.NOT_DIFFERENTIABLE,
            f"{phrase(op, line)} is on the way to the target, and has no derivative.{hint}",
            line,
        )

    def _origin(self) -> Any:
        """Returns the unwatched variable that a tensor was computed from, as after `x = x + 1`, and the last event."""
        made = entry(self.source.tracers, witness.key)
        if made is None or made.op is None:
            return None
        path = path_between(self.log, made, lambda s: isinstance(s, Event) and s.variable is not None)
        return None if path is None else (path[0].variable, made)  # type: ignore[union-attr]

    def _never_watched(self, line: Where = None) -> Reason:
        return self._say(
            Cause.NEVER_WATCHED,
            f"it is a tensor that the tape was never asked to watch; only trainable variables are watched by "
            f"themselves. Call tape.watch({self.name}) before it is used. (If it was a variable once, something like "
            f"`{self.name} = {self.name} + 1` has made a tensor of it: use assign)",
            line,
        )

    def _by_kind(self, at: int | None) -> Reason | None:
        """Explains a source that the tape does not know, or came to know too late, by what it is."""
        source, log = self.source, self.log
        if isinstance(source, Tensor):
            return self._unknown_tensor() if at is None else self._later_than_target(at)
        if at is not None:
            return None
        if not log.watches_variables:
            return self._say(
                Cause.NEVER_WATCHED,
                "the tape was made with watch_accessed_variables=False, and was never asked to watch it. Call "
                f"tape.watch({self.name}) first",
                self._first_use(),
            )
        if log.traces:
            fed = witness.fed.get(id(source))
            if fed is not None:
                return self._say(
                    Cause.DATASET,
                    "it is used in a function of a dataset, as in dataset.map, and no tape records how the elements of "
                    "a dataset are made. Do it to the batch, inside the tape's block",
                    fed[1].reference,
                )
            return self._by_no_path()
        return self._say(
            Cause.OUTSIDE_BLOCK,
            "it was not read while the tape was recording: the target does not use it, or was computed before the "
            f"block, after it, in another thread or while recording was stopped{_TRACE_HINT}",
        )

    def _unknown_tensor(self) -> Reason:
        origin = self._origin()
        if origin is None:
            return self._never_watched(self._first_noted())
        variable, made = origin
        return self._say(
            Cause.REBOUND,
            f"it is no longer the variable {variable.name.partition(':')[0]!r} but a tensor that "
            f"{user_of(made.op, made.reference)} made of it, which the tape does not watch. Use assign, assign_add or "
            "assign_sub to change a variable",
            made.reference,
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
        """Explains the gradient by where derivatives of values computed from the source ended."""
        log = self.log
        below = descendants(log, at)
        exits = [(i, by) for i, (where, by) in enumerate(log.disconnections) if where in below]
        reached = set().union(*(ancestors(log, end) for end in self._ends()))
        exits = [(i, by) for i, by in exits if self._may_return(i, by, reached)]
        if exits:
            i, by = max(exits, key=lambda e: (self._weight(e[1], reached), e[0]))
            return self._at_exit(by, log.exit_lines.get(i) if isinstance(log, TracingLog) else None)
        if not self._ends():
            if (foreign := self._on_another_tape() or self._by_stale_value()) is not None:
                return foreign
            if self._is_target_of_block():
                return None  # it was computed there, from other values
            used = "what was computed from it" if len(below) > 1 else "it"
            return self._say(
                Cause.OUTSIDE_BLOCK,
                f"the target was not computed from {used} while the tape was recording, but before the block, after "
                f"it, before tape.watch, in another thread or while recording was stopped"
                f"{_TRACE_HINT if not log.traces else ''}",
            )
        return None

    def _may_return(self, i: int, by: Any, reached: set[int]) -> bool:
        """Whether a value that left the tape at exit `i` may have returned on the path to the targets.

        It does not if it was merely logged.

        For ops, the event log has found no path to the targets. A result of NumPy appears as a constant input of a
        later op on the path that no earlier op has used and that is not a literal in that op's line.
        """
        log = self.log
        if not reached or not isinstance(log, TracingLog) or isinstance(log, ReplayLog):
            return True
        if not isinstance(by, str):
            return not hasattr(by, "vjp") and self._leads_to_target(by, reached)
        if by == "tf.Variable":
            return True
        left_at = log.exit_positions.get(i, 0)
        used: set[int] = set()
        for at, noted in log.notes.items():
            is_later = at in reached and at >= left_at
            for x, parent in zip(noted[3], log.records[at][1], strict=False):
                if is_later and parent < 0 and id(x) not in used and not _is_literal(x, noted[0]):
                    return True
                used.add(id(x))
        return False

    def _leads_to_target(self, variable: Any, reached: set[int]) -> bool:
        """Whether a target was computed from a variable, watched or not."""
        if self.log.position(variable) in reached:
            return True
        ends = [step_of(self.log, target.tracers) for target in self.targets if isinstance(target, Tensor)]
        return any(
            path_between(self.log, end, lambda s: isinstance(s, Event) and s.variable is variable) is not None
            for end in ends
            if end is not None
        )

    def _by_earlier_records(self, at: int) -> Reason | None:
        """A record on the path to the target, made before the source was watched, may have used it."""
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
        """Ranks exits by how likely they are the cause: comparisons are frequent and rarely matter."""
        if isinstance(by, str):
            return 3
        if not hasattr(by, "vjp"):
            return 5 if self.log.position(by) in reached else 2
        if by.name == "stop_gradient":
            return 4
        return 0 if by.name in COMPARISONS else 1

    def _at_exit(self, by: Any, where: Where) -> Reason:
        line = line_of(where)
        if isinstance(by, str):
            if line is not None and ".predict(" in linecache.getline(line[0], line[1]):
                return self._say(
                    Cause.PREDICT,
                    "predict gives NumPy arrays, which no tape follows. Call the model itself: model(x)",
                    line,
                )
            if by == "a dataset":
                return self._say(
                    Cause.DATASET,
                    "its value went into a dataset (tf.data), and no tape records what becomes of it there: the "
                    "elements are constants. Compute what depends on it from the batches, or slice the tensor itself",
                    line,
                )
            if by == "tf.Variable":
                return self._say(
                    Cause.ASSIGN,
                    "it is the initial value of a new tf.Variable, which starts anew: gradients go to the variable, "
                    "not to its initial value. Make variables before the tape",
                    line,
                )
            if "numpy_function(" in (expression(where) or ""):
                return self._say(
                    Cause.NOT_DIFFERENTIABLE,
                    f"`{expression(where)}` is on the way to the target, and has no derivative. Use TensorFlow's "
                    "functions, or tf.py_function with TensorFlow's functions inside",
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
            return self._say(Cause.ASSIGN, ASSIGNED.format(f"the variable {name!r}"), line)
        return self._at_constant(by, where)


def _outputs(noted: Any) -> Sequence[Tensor]:
    """Returns the outputs in an entry."""
    return noted[1] if type(noted[1]) is tuple else (noted[1],)


def _is_same_value(x: Any, source: Any) -> bool:
    """Whether two tensors of a function being traced are the same value."""
    place = getattr(x, "place", None)
    return place is not None and place is getattr(source, "place", None)


def _is_literal(x: Any, where: Where) -> bool:
    """Whether a constant is a literal in the line that uses it."""
    value, line = known_array(x), line_of(where)
    if value.ndim or value.dtype.kind not in "fiu" or line is None:
        return False
    texts = re.findall(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?", linecache.getline(line[0], line[1]), re.IGNORECASE)
    return any(value == np.asarray(float(text)).astype(value.dtype) for text in texts)


def _linear_use(sweep: Sweep, source: Any) -> tuple[Any, Where] | None:
    """Returns the first op on the path of an inner tape that is linear in the source."""
    inner = sweep.log
    (start,) = inner.positions([source])
    ends = [at for target in sweep.targets if (at := inner.position(target)) is not None]
    if start is None or not ends:
        return None
    below = descendants(inner, start)
    path = [at for at in sorted(set().union(*(ancestors(inner, end) for end in ends))) if at in below and at != start]
    found = [(inner.records[at][0], inner.reference(at)) for at in path if type(inner.records[at]) is tuple]
    kinks = [use for use in found if use[0].name in _KINKS]
    return next(iter(kinks or found), None)


# Piecewise linear ops: their second derivative is zero.
_KINKS = {
    "relu", "relu6", "leaky_relu", "maximum", "minimum", "abs", "where", "max", "min", "max_pool", "sign", "masked",
}  # fmt: skip
_TRACE_HINT = ". GradientTape(trace=True) or gradtape.inspect.tracing() tells which, and where"
_INSTEAD = {
    "argmax": " A softmax is a smooth argmax",
    "argmin": " A softmax of the negative values is a smooth argmin",
    "rint": " x + tf.stop_gradient(tf.round(x) - x) passes gradients straight through",
    "floor": " x + tf.stop_gradient(tf.floor(x) - x) passes gradients straight through",
    "one_hot": " Its indices are integers",
    "greater": " A sigmoid is a smooth comparison",
    "less": " A sigmoid is a smooth comparison",
}


class _ASSIGN:
    """Placeholder op for an assignment."""

    name = "assign"
