"""Causes of a target that does not depend on the source: another tape, code that did not run, another variable."""

from __future__ import annotations

from ....engine.run.dispatch import entry
from ....engine.tape.log import positions_in
from ...records.event_log import Gradient, TracingLog, events
from ...records.reading import short
from ..messages import join_names, line_of, name_of_variable, quote_name, user_of
from ..provenance import ancestors, descendants, elsewhere
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector
from ..skipped_code import find_skipped_use
from .sources import TRACE_HINT
from .unrecorded import not_recording


@detector(Priority.ESCAPE + 1)
def outside_block(query: Query) -> Finding | None:
    """The target is not on the tape, and was not computed in the block."""
    at, log = query.position, query.log
    if at is None or query.ends:
        return None
    if (foreign := on_another_tape(query) or stale_value(query)) is not None:
        return foreign
    made = [entry(tracers, events.key) for tracers in query.target_tracers]
    if any(event is not None and log.key in event.recording for event in made):
        return None  # it was computed there, from other values
    used = "values that depend on it" if len(descendants(log, at)) > 1 else "it"
    return Finding(
        Cause.OUTSIDE_BLOCK,
        f"the target was computed from {used} while the tape was not recording: before or after the block, before "
        "tape.watch, in another thread or while recording was stopped",
        "" if log.traces else TRACE_HINT,
    )


@detector(Priority.NO_PATH)
def on_another_tape(query: Query) -> Finding | None:
    """The target was recorded by another tape."""
    found = (place for tracer in query.target_tracers for place in positions_in(tracer))
    log, at = next(found, (query.log, 0))
    if log is query.log or query.ends:  # several tapes may record one target
        return None
    return Finding(
        Cause.OTHER_TAPE,
        f"{query.target_name} was recorded by another tape",
        "Use that tape, or compute the target in this tape's block",
        log.reference(at) if isinstance(log, TracingLog) else None,
    )


@detector(Priority.NO_PATH + 1)
def stale_value(query: Query) -> Finding | None:
    """The target was computed from a value that an earlier tape recorded and that depends on the source."""
    for other, at, user in elsewhere(query.log, query.target_tracers):
        (start,) = other.positions([query.source])
        if start is None or start not in ancestors(other, at) or not other.ended_before(query.log):
            continue
        if user is not None and user.op is Gradient and query.log.key not in user.recording:
            return not_recording(query, user)
        where = other.reference(at)
        op = other.records[other.records[at] if type(other.records[at]) is int else at][0]
        return Finding(
            Cause.BEFORE_TAPE,
            f"{user_of(op, where)} used it in the block of an earlier tape",
            "This tape treats that value as a constant: compute it in this block as well, in every step",
            where,
        )
    return None


@detector(Priority.NO_PATH + 3)
def code_did_not_run(query: Query) -> Finding | None:
    """The source's name is used in a loop of zero iterations, or in a branch that was not taken."""
    if query.traced is None or query.frame is None:
        return None
    ran = {line[:2] for noted in query.traced.notes.values() if (line := line_of(noted[0])) is not None}
    asked_at = line_of((query.frame.f_code, query.frame.f_lasti))
    skipped = find_skipped_use(query.name, asked_at, ran, query.position is None)
    if skipped is None:
        return None
    computed = "" if (line := line_of(query.target_reference())) is None else f" ({short(line)})"
    return Finding(
        Cause.NO_PATH,
        f"{query.target_name}{computed} does not depend on it: it is used in line {skipped.use} only if "
        f"{skipped.condition}",
        "",
        skipped.line,
    )


@detector(Priority.NO_PATH + 9)
def other_sources(query: Query) -> Finding:
    """The target depends on something else, or on nothing; this detector always answers."""
    log, target = query.log, query.target_name
    names = [name_of_variable(v, query.frame) for v, at in log.variable_positions() if at in query.reached]
    others = [*map(quote_name, names)] + ["a watched tensor"] * sum(at in query.reached for at in log.watched)
    advice = "Pass other sources, or compute the target from this one"
    if query.name in names:  # a variable of a copy, or of an earlier step
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        depends = (
            f"{target} depends on a different variable named `{query.name}`{more}, such as that of a copy of the "
            "model, or one created later under the same name"
        )
    elif others:
        depends = f"{target} depends on {join_names(others)}"
    else:
        depends = "no recorded op leads from it to the target"
        advice = "Compute the target from it, in the tape's block"
    depends += _last_use(query)
    return Finding(Cause.NO_PATH, f"{target} does not depend on it: {depends}", advice, query.target_reference())


def _last_use(query: Query) -> str:
    """Names the last op that used the source, on a traced tape; its result was not used for the target."""
    at, log = query.position, query.traced
    last = None if at is None or log is None else max(descendants(log, at))
    if log is None or last is None or last == at or (line := line_of(where := log.reference(last))) is None:
        return ""
    op = log.records[log.records[last] if type(log.records[last]) is int else last][0]
    return f"; the last op computed from the source is {user_of(op, where)} ({short(line)})"
