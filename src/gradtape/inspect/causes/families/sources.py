"""Causes that lie in the source: what it is, and whether and when the tape was asked to watch it."""

from __future__ import annotations

from ....core.tensor import Tensor
from ....engine.tape.log import Log
from ...records.event_log import events
from ..messages import Where, describe_variable, user_of
from ..provenance import ancestors
from ..query import Finding, Query, is_same_value
from ..reasons import Cause
from ..registry import Priority, detector

TRACE_HINT = "GradientTape(trace=True) or gradtape.inspect.tracing() shows which of these, and where"


@detector(Priority.SOURCE)
def not_trainable(query: Query) -> Finding | None:
    """The source is a variable that is not trainable, which is sufficient as a cause."""
    source, log = query.source, query.log
    if isinstance(source, Tensor) or source.trainable or log is None:
        return None
    if source.dtype.differentiable and query.position is not None:
        return None
    advice = f"Call tape.watch({query.name}) before using it"
    if query.of_layer:
        advice = (
            "It is the state of a layer, such as a moving average, a counter or statistics from adapt(), which is not "
            "trained. Use the model's trainable_variables as sources instead of its weights or variables"
        )
    message = "it is not trainable, so the tape does not watch it automatically"
    return Finding(Cause.NOT_TRAINABLE, message, advice, query.first_use_in_block())


@detector(Priority.SOURCE + 1)
def integer(query: Query) -> Finding | None:
    """The source has no derivatives because of its dtype."""
    source = query.source
    if source.dtype.differentiable:
        return None
    refused = () if query.traced is None else query.traced.refused
    watched_at = next((where for x, where in refused if x is source or is_same_value(x, source)), None)
    watched = "" if watched_at is None else f", so tape.watch({query.name}) has no effect"
    return Finding(
        Cause.INTEGER,
        f"its dtype is {source.dtype.name}, and only floating-point and complex tensors have derivatives{watched}",
        "Use a floating-point value, such as 3.0 instead of 3, or watch the result of tf.cast",
        watched_at or query.first_use(),
    )


@detector(Priority.SOURCE + 2)
def released(query: Query) -> Finding | None:
    """The tape has no records any more."""
    if query.log is not None:
        return None
    message = "the tape has already been used and has released its records"
    return Finding(Cause.RELEASED, message, "Use GradientTape(persistent=True), or trace=True, to query it again")


@detector(Priority.SOURCE + 3)
def is_target(query: Query) -> Finding | None:
    """The source is the target."""
    if not any(target is query.source for target in query.targets):
        return None
    return Finding(Cause.CONNECTED, "it is the target itself, and its gradient is one")


@detector(Priority.UNKNOWN_SOURCE)
def unknown_tensor(query: Query) -> Finding | None:
    """The source is a tensor that the tape does not watch."""
    if not isinstance(query.source, Tensor) or query.position is not None:
        return None
    origin = query.origin()
    if origin is None:
        return never_watched(query, query.first_noted_use())
    variable, made = origin
    return Finding(
        Cause.REBOUND,
        f"it is no longer {describe_variable(variable)} but the tensor that "
        f"{user_of(made.op, made.reference)} returned, which the tape does not watch",
        "Use assign, assign_add or assign_sub to change a variable",
        made.reference,
    )


def never_watched(query: Query, where: Where) -> Finding:
    """Reports a tensor that the tape was not asked to watch."""
    name = query.name
    return Finding(
        Cause.NEVER_WATCHED,
        "it is a tensor that was never watched; only trainable variables are watched automatically",
        f"Call tape.watch({name}) before using it. (If it was a variable, a line such as `{name} = {name} + 1` has "
        "replaced it with a tensor: use assign instead)",
        where,
    )


@detector(Priority.UNKNOWN_SOURCE + 1)
def later_than_target(query: Query) -> Finding | None:
    """The source is a tensor that the tape came to know after the target."""
    at = query.position
    if not isinstance(query.source, Tensor) or at is None or not query.ends or at < max(query.ends):
        return None
    line = None if query.traced is None else query.traced.line(at)
    if at in query.log.leaves:
        message = "it was watched after the target had been computed"
        return Finding(Cause.WATCHED_LATE, message, f"Call tape.watch({query.name}) before computing the target", line)
    if ancestors(query.log, at).issuperset(query.ends):
        message = f"it was computed from the target {query.target_name}, so the arguments seem to be swapped"
        advice = "The first argument is the tensor to differentiate, the second is what it depends on"
        return Finding(Cause.SWAPPED, message, advice, line)
    return Finding(
        Cause.REBOUND,
        "it was computed after the target: the name now refers to a newer tensor than the one the target was computed "
        "from",
        "Give the newer tensor another name, or pass the older one as the source",
        line,
    )


@detector(Priority.UNKNOWN_SOURCE + 2)
def accessed_variables_unwatched(query: Query) -> Finding | None:
    """The tape does not watch variables by itself."""
    if query.position is not None or query.log.watches_variables:
        return None
    return Finding(
        Cause.NEVER_WATCHED,
        "the tape was created with watch_accessed_variables=False and was never told to watch it",
        f"Call tape.watch({query.name}) before using it",
        query.first_use(),
    )


@detector(Priority.UNKNOWN_SOURCE + 3)
def used_by_dataset(query: Query) -> Finding | None:
    """A function of a dataset read the variable."""
    used = events.fed.get(id(query.source)) if query.position is None and query.log.traces else None
    if used is None:
        return None
    return Finding(
        Cause.DATASET,
        "a dataset function, such as one passed to dataset.map, uses it, and no tape records how dataset elements are "
        "computed",
        "Apply the computation to the batch, inside the tape's block",
        used[1].reference,
    )


@detector(Priority.UNKNOWN_SOURCE + 4)
def not_read(query: Query) -> Finding | None:
    """An untraced tape has not recorded a read of the variable."""
    if query.position is not None or query.log.traces:
        return None
    return Finding(
        Cause.OUTSIDE_BLOCK,
        "it was not read while the tape was recording: the target does not use it, or was computed before or after the "
        "block, in another thread or while recording was stopped",
        TRACE_HINT,
    )


@detector(Priority.ESCAPE + 2)
def used_before_watch(query: Query) -> Finding | None:
    """A record on the path to the target, made before the source was watched, may have used it."""
    log: Log = query.log
    at = query.position
    if at not in log.watched or at is None:
        return None
    records = [log.records[i] for i in query.reached if i < at]
    if not any(type(record) is tuple and -1 in record[1] for record in records):
        return None
    return Finding(
        Cause.WATCHED_LATE,
        f"no op after tape.watch({query.name}) leads from it to the target. If an earlier op used it, the tape "
        "recorded it as a constant: watch it first",
    )
