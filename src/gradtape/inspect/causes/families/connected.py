"""Causes on a recorded path: rules that give zeros or None, and ops without a derivative inside function calls."""

from __future__ import annotations

from ...records.reading import Reading, array_in_run
from ...records.replay import Question
from ..calls import cut_inside
from ..provenance import ancestors
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector
from ..zeros import Lost, why_zero
from .escapes import at_constant, suspected_return


@detector(Priority.CONNECTED)
def recorded_path(query: Query) -> Finding | None:
    """Records lead from the source to the target; their rules have made the gradient what it is."""
    at, log = query.position, query.log
    if at is None or at not in query.reached:
        return None
    if query.tape._log is None and not log.traces:
        return Finding(
            Cause.CONNECTED,
            "the target depends on it; if its gradient still is None, a custom gradient on the path returns None",
            "GradientTape(trace=True) shows which one",
        )
    lost = why_zero(Reading(query.tape, query.targets, [query.source]), at)
    if lost.cause == Cause.CONNECTED and (suspicion := suspected_return(query)) is not None:
        return suspicion
    if lost.at is not None and lost.cause in (Cause.NO_RULE, Cause.INTEGER):
        record = log.records[lost.at]
        op, parents, *_ = log.records[record] if type(record) is int else record
        for argument, parent in enumerate(parents):
            cut = cut_inside(op, argument) if parent >= 0 and at in ancestors(log, parent) else None
            if cut is not None:
                return at_constant(*cut)
        if getattr(op, "family", None) == "call" and (inside := _inside_call(query)) is not None:
            return inside
    line = query.traced.blamed(lost.at) if lost.at is not None and query.traced is not None else None
    return Finding(Cause(lost.cause), lost.sentence, "", line)


def _inside_call(query: Query) -> Finding | None:
    """Explains the gradient on a replay with function calls opened, if they can run again."""
    try:
        question = Question(query.tape, list(query.targets), [query.source])
    except RuntimeError:
        return None
    reading = Reading(question.replay([array_in_run(x) for x in question.tensors]))
    ((_, _, at),) = reading.sources
    lost: Lost | None = None if at is None else why_zero(reading, at)
    if lost is None or lost.at is None:
        return None
    return Finding(Cause(lost.cause), lost.sentence, "", reading.log.blamed(lost.at))  # type: ignore[attr-defined]
