"""Causes of computation that the tape did not record: before or after its block, while stopped, in another thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.tensor import Tensor
from ....graph.trace.trace import active_trace
from ...records.event_log import Event, Gradient, Note
from ..messages import Where, user_of
from ..provenance import Step, ancestors, descendants, elsewhere, first_node_between
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector
from .escapes import at_constant, escaped_value, integer_output
from .inner_gradients import linear_gradient, piecewise_linear, piecewise_linear_rule
from .sources import never_watched

_MOVE = "Move that computation into the `with` block"
_OUTSIDE = "Move that computation out of the `with tape.stop_recording()` block"


@detector(Priority.OBSERVED_PATH)
def unrecorded_step(query: Query) -> Finding | None:
    """The event log has seen a path to the target; its first unrecorded step is the cause."""
    at = query.position
    path = query.path(at)
    if path is None:
        return None
    if isinstance(path[0], Event) and len(path) > 1 and isinstance(path[1], int):
        return _unwatched_then(query, query.log.records[path[1]][0], query.log.reference(path[1]))
    steps = [s for s in path[1:] if isinstance(s, Event)]
    if query.tape._of_a_graph:  # the tape recorded nothing then: only ops without a derivative matter
        steps = [s for s in steps if getattr(s.op, "vjp", None) is None or s.op.name == "cast"]
        return at_constant(steps[0].op, steps[0].reference) if steps else None
    return _at_step(query, path, steps[0]) if steps else None


def _at_step(query: Query, path: list[Step], step: Event) -> Finding | None:
    """Explains an unrecorded step of a path."""
    if query.log.key not in step.recording:
        return not_recording(query, step)
    if step.op is Gradient:
        in_rule = piecewise_linear_rule(query, step) or escaped_value(query)
        return linear_gradient(query, step) if in_rule is None else in_rule
    if (piecewise := piecewise_linear(query, path, step)) is not None:
        return piecewise
    if not isinstance(path[0], Event):
        before = path[path.index(step) - 1]
        indices = integer_output(query.log, before) if isinstance(before, int) else None
        return at_constant(step.op, step.reference) if indices is None else indices
    return _unwatched_then(query, step.op, step.reference)


def _unwatched_then(query: Query, op: Any, where: Where) -> Finding | None:
    """An op used the source while the tape was recording but not watching it."""
    if query.position is not None:
        message = f"{user_of(op, where)} used it before tape.watch({query.name}) was called"
        return Finding(Cause.WATCHED_LATE, message, "Watch it first", where)
    if isinstance(query.source, Tensor) and query.origin() is None:
        return never_watched(query, where)
    return None


def not_recording(query: Query, step: Event) -> Finding:
    """Reports a step that ran while the tape was not recording."""
    title, where = user_of(step.op, step.reference), step.reference
    if step.op is Gradient:
        return Finding(
            Cause.GRADIENT_OUTSIDE,
            f"{title} was called outside this tape's block, so the tape did not record it",
            "For a second derivative, nest two tapes and compute the inner gradient inside the outer block",
            where,
        )
    spans = [] if query.traced is None else query.traced.spans
    if query.traced is not None and step.thread != query.traced.thread:
        return Finding(
            Cause.OTHER_THREAD,
            f"{title} used it in another thread, and a tape records only its own thread",
            "Use `with tape.attach():` there",
            where,
        )
    if spans and step.clock < spans[0][0]:
        return _before_tape(title, where)
    if spans and len(spans[-1]) == 2 and step.clock > spans[-1][1]:
        return _after_block(title, where)
    return _stopped(title, where)


def _stopped(title: str, where: Where) -> Finding:
    return Finding(Cause.STOPPED, f"{title} used it while recording was stopped (tape.stop_recording)", _OUTSIDE, where)


def _before_tape(title: str, where: Where) -> Finding:
    return Finding(Cause.BEFORE_TAPE, f"{title} used it before the tape's block began", _MOVE, where)


def _after_block(title: str, where: Where) -> Finding:
    return Finding(Cause.AFTER_BLOCK, f"{title} used it after the tape's block had ended", _MOVE, where)


@detector(Priority.OBSERVED_PATH + 1)
def discarded_by_reset(query: Query) -> Finding | None:
    """What was computed from the source was recorded before `tape.reset()`."""
    resets = {} if query.traced is None else {id(before): where for before, where in query.traced.before_reset}
    for other, position, _ in elsewhere(query.log, query.target_tracers) if resets else ():
        (start,) = other.positions([query.source])
        if id(other) in resets and start is not None and start in ancestors(other, position):
            message = "tape.reset() discarded the ops that used it"
            return Finding(Cause.RESET, message, "Compute the target after the reset", resets[id(other)])
    return None


@detector(Priority.OBSERVED_PATH + 2)
def unrecorded_node(query: Query) -> Finding | None:
    """In a traced function: the first node outside the block on the path to the target in its graph is the cause."""
    log, trace, at = query.traced, active_trace(), query.position
    if trace is None or log is None or not log.node_spans:
        return None
    if at is not None:
        below = descendants(log, at)
        starts = [y for noted in log.notes.values() for y in _outputs(noted) if log.position(y) in below]
    else:
        first = trace.variables.first_reads.get(id(query.source))
        starts = [x for x in [query.source if isinstance(query.source, Tensor) else first] if x is not None]
    node, number = first_node_between(trace.builder.nodes, starts, query.targets)
    spans = log.node_spans
    if node is None or getattr(node.op, "vjp", None) is None:
        return None
    title = user_of(node.op, node.line)
    if number < spans[0][0]:
        return _before_tape(title, node.line)
    if len(spans[-1]) > 1 and number >= spans[-1][1]:
        return _after_block(title, node.line)
    if not any(start <= number < (stop[0] if stop else len(trace.builder.nodes)) for start, *stop in spans):
        return _stopped(title, node.line)
    return None


def _outputs(noted: Note) -> Sequence[Tensor]:
    """Returns the outputs in an entry."""
    return noted[1] if type(noted[1]) is tuple else (noted[1],)
