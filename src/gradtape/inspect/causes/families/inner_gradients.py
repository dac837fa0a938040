"""Causes in second derivatives: the inner tape's gradient does not depend on the source, though its target does."""

from __future__ import annotations

from typing import Any

from ...records.event_log import Event, Gradient, Sweep
from ..messages import Where, phrase, user_of
from ..provenance import ancestors, descendants
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector

# Piecewise linear ops: their second derivative is zero.
_PIECEWISE_LINEAR = {
    "relu", "relu6", "leaky_relu", "maximum", "minimum", "abs", "where", "max", "min", "max_pool", "sign", "masked",
}  # fmt: skip


def linear_gradient(query: Query, step: Event) -> Finding:
    """Reports a gradient that the tape recorded and that does not depend on the source."""
    sweeps = [] if query.traced is None else query.traced.sweeps
    uses = (_linear_use(sweep, query.source) for sweep in reversed(sweeps) if sweep.reference == step.reference)
    forward = next((use for use in uses if use is not None), None)
    linear = "what is differentiated" if forward is None else phrase(*forward)
    return Finding(
        Cause.LINEAR,
        f"{user_of(step.op, step.reference)} gives the same whatever it is: {linear} is linear in it, at least in "
        "pieces, as tf.nn.relu is",
        "So the second derivative is zero. A smooth function, such as tf.tanh, has one",
        step.reference if forward is None else forward[1],
    )


@detector(Priority.NO_PATH + 2)
def lost_in_inner_gradient(query: Query) -> Finding | None:
    """The target depends on an inner tape's gradient that does not depend on the source, though its target does."""
    for sweep in () if query.traced is None else reversed(query.traced.sweeps):
        if (forward := _linear_use(sweep, query.source)) is not None:
            op, where = forward
            return Finding(
                Cause.LINEAR,
                f"{user_of(Gradient, sweep.reference)} does not depend on it: in what is differentiated there, "
                f"{phrase(op, where)} uses it in a linear way, or only adds it, which leaves no trace in the "
                "derivative",
                "",
                where,
            )
    return None


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
    kinks = [use for use in found if use[0].name in _PIECEWISE_LINEAR]
    return next(iter(kinks or found), None)
