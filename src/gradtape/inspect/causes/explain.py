"""Explains why a gradient is None or zero, in one sentence per source.

A tape knows its records and where derivatives ended: in an op without one, in NumPy, in an assigned variable. A traced
tape also knows the lines and what happened off the tape. `registry` has the causes, which `families` define.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any

from ...core import nest
from ...core.composites import tensors_for_gradients
from ...engine.run.source_lines import users_frame
from ...engine.tape.tape import Tape
from ...engine.tape.validation import differentiable
from .messages import is_in_layer, line_of, names_of_sources
from .query import Query
from .reasons import Cause as Cause
from .reasons import Explanation, Reason
from .registry import find_cause


def explain(tape: Tape, target: Any, sources: Any) -> Explanation:
    """Explains each of the gradients `tape.gradient(target, sources)`.

    Args:
      tape: a tape whose block has ended. One created with `trace=True` also names source lines.
      target: the tensor to be differentiated, or a nested structure of tensors.
      sources: a tensor, a variable, or a nested structure of them.

    Returns:
      An `Explanation` with a `Reason` for each source.

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
    tape: Tape, targets: Sequence[Any], sources: Sequence[Any], names: Sequence[str], frame: FrameType | None
) -> list[Reason]:
    """Does the same for sources with the given names."""
    log = tape._log or tape._past
    if log is None and not tape._entered:
        raise RuntimeError("Cannot explain: this GradientTape was never entered. Use `with tape:` first")
    reasons = []
    for asked, name in zip(sources, names, strict=True):
        source = differentiable(asked, "source")
        finding = find_cause(Query(tape, log, targets, source, name, frame, is_in_layer(asked)))
        reasons.append(Reason(f"`{name}`", finding.cause, finding.sentence, line_of(finding.where)))
    return reasons
