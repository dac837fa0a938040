"""Causes in second derivatives: the inner tape's gradient does not depend on the source, though its target does."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...records.event_log import Event, ForwardOp, Gradient, Sweep
from ..messages import Where, phrase, user_of
from ..provenance import Step, ancestors, descendants
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector
from ..zeros import SMOOTH, constant_derivative

# Piecewise linear ops: their second derivative is zero.
_PIECEWISE_LINEAR = {
    "relu", "relu6", "leaky_relu", "maximum", "minimum", "abs", "where", "max", "min", "max_pool", "sign", "masked",
}  # fmt: skip


def linear_gradient(query: Query, step: Event) -> Finding:
    """Reports a gradient that the tape recorded and that does not depend on the source."""
    sweeps = [] if query.traced is None else query.traced.sweeps
    uses = (_linear_use(sweep, query.source) for sweep in reversed(sweeps) if sweep.is_at(step.reference))
    forward = next((use for use in uses if use is not None), None)
    linear = "the differentiated function" if forward is None else phrase(*forward)
    return Finding(
        Cause.LINEAR,
        f"{user_of(step.op, step.reference)} does not change with it: {linear} is linear or piecewise linear in it, "
        "like tf.nn.relu",
        "So the second derivative is zero. Use a smooth function, such as tf.tanh",
        step.reference if forward is None else forward[1],
    )


def piecewise_linear(query: Query, path: list[Step], step: Event) -> Finding | None:
    """Reports the op of an inner tape whose gradient rule depends on its input by a comparison alone.

    `step` is the comparison: the rule makes it, as that of `maximum` does, or uses a forward one, as that of `where`.
    """
    user = next((after for before, after in pairwise(path) if before is step), None)
    return None if query.traced is None else _constant(query.traced.forward_op_of(step, user))


def piecewise_linear_rule(query: Query, step: Event) -> Finding | None:
    """Does the same for a gradient whose rules ran the comparison, if `step` is the gradient."""
    if query.traced is None or query.position is None:
        return None
    return _constant(query.traced.forward_op_in(step.reference, descendants(query.log, query.position)))


def _constant(forward: ForwardOp | None) -> Finding | None:
    if forward is None:
        return None
    name = phrase(forward.op, forward.reference)
    return Finding(Cause.LINEAR, f"in {name}, {constant_derivative(forward.op)}", SMOOTH, forward.reference)


@detector(Priority.NO_PATH + 2)
def lost_in_inner_gradient(query: Query) -> Finding | None:
    """The target depends on an inner tape's gradient that does not depend on the source, though its target does."""
    for sweep in () if query.traced is None else reversed(query.traced.sweeps):
        if (forward := _linear_use(sweep, query.source)) is not None:
            op, where = forward
            return Finding(
                Cause.LINEAR,
                f"{user_of(Gradient, sweep.reference)} does not depend on it: in the function differentiated there, "
                f"{phrase(op, where)} is linear in it or only adds it, so the derivative does not contain it",
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
