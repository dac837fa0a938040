"""Causes where a value leaves the tape: ops without a derivative, NumPy and Python, assignments, datasets."""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np

from ....core.protocols import Line
from ....core.tensor import Tensor
from ....engine.run.dispatch import entry
from ....engine.tape.log import Log
from ....graph.trace.assigned import assigned
from ...records.event_log import Event, TracingLog, events
from ...records.reading import array_in_run, short
from ...records.replay import ReplayLog
from ..calls import COMPARISONS
from ..messages import Where, describe_variable, expression, line_of, phrase, user_of
from ..name_flow import may_flow
from ..provenance import descendants, path_between, step_of
from ..query import Finding, Query
from ..reasons import Cause
from ..registry import Priority, detector
from ..zeros import ASSIGNED, INTEGER_OUTPUT

_INSTEAD = {
    "argmax": "Use a softmax, which is a smooth argmax",
    "argmin": "Use a softmax of the negative values, which is a smooth argmin",
    "rint": "To pass gradients straight through it, use x + tf.stop_gradient(tf.round(x) - x)",
    "floor": "To pass gradients straight through it, use x + tf.stop_gradient(tf.floor(x) - x)",
    "one_hot": "Its indices are integers: use a softmax instead of an argmax before it",
    "greater": "Use a sigmoid, which is a smooth comparison",
    "less": "Use a sigmoid, which is a smooth comparison",
}
# How a floating-point value leaves the tape for NumPy or Python, in words.
_CONVERSIONS = {
    "numpy()": ".numpy()",
    "NumPy": "a NumPy function or np.array",
    "DLPack": "DLPack",
    "float()": "float()",
    "complex()": "complex()",
}


class _Assign:
    """Placeholder op for an assignment."""

    name = "assign"


def at_constant(op: Any, where: Where) -> Finding:
    """Reports an op without a derivative, which is not recorded, that used a value of the tape."""
    if op.name == "stop_gradient":
        text = expression(where, op)
        if text is None or "stop_gradient" in text or not text.startswith(("tf.constant", "constant")):
            return Finding(
                Cause.STOP_GRADIENT,
                f"{phrase(op, where)} stops the gradient on the path to the target",
                "Remove it if the gradient should include that path",
                where,
            )
        return Finding(
            Cause.STOP_GRADIENT,
            f"`{text}` turns its value into a constant, which cuts the path to the target",
            "Use the value directly, or tf.convert_to_tensor",
            where,
        )
    if op is assigned:
        return Finding(Cause.ASSIGN, ASSIGNED.format("a variable"), "", where)
    if op.vjp is not None:
        return Finding(
            Cause.INTEGER,
            f"{phrase(op, where)} is on the path to the target and returns integers or booleans, which have no "
            "derivative",
            "Keep floating-point values on that path",
            where,
        )
    return Finding(
        Cause.NOT_DIFFERENTIABLE,
        f"{phrase(op, where)} is on the path to the target and has no derivative",
        _INSTEAD.get(op.name, "Use a smooth function instead, or tf.custom_gradient"),
        where,
    )


def integer_output(log: Log, at: int) -> Finding | None:
    """Reports an integer output of a recorded op, such as the indices of a sort, that a value was computed from."""
    record = log.records[at]
    first = record if type(record) is int else at
    described = log.multi_output.get(first)
    if not described or described[at - first][1].differentiable:
        return None
    where = log.reference(first) if isinstance(log, TracingLog) else None
    message = INTEGER_OUTPUT.format(at - first + 1, phrase(log.records[first][0], where))
    return Finding(Cause.INTEGER, message, "", where)


@detector(Priority.OBSERVED_PATH - 1)
def overwritten(query: Query) -> Finding | None:
    """A constant was assigned to the variable, on a tape that tracks assignments."""
    if not query.log.tracks or not query.log.is_constant(query.source):
        return None
    where = getattr(query.log, "overwritten_at", {}).get(id(query.source))
    call = "an assignment" if where is None else user_of(_Assign, where)
    return Finding(
        Cause.OVERWRITTEN,
        f"{call} overwrote the variable with a value that does not depend on it, and the tape tracks assignments "
        "(track_assign), so later reads are constants",
        "Assign before the tape's block, or assign a value that is computed from the variable",
        where,
    )


@detector(Priority.ESCAPE)
def escaped_value(query: Query) -> Finding | None:
    """A value that was computed from the source left the tape, and may have returned as a constant."""
    log, at = query.log, query.position
    if at is None:
        return None
    below = descendants(log, at)
    exits = [(i, by) for i, (where, by) in enumerate(log.disconnections) if where in below]
    exits = [(i, by) for i, by in exits if _may_return(query, i, by)]
    if not exits:
        return None
    i, by = max(exits, key=lambda e: (_weight(query, e[1]), e[0]))
    return _at_exit(by, None if query.traced is None else query.traced.exit_lines.get(i))


def _may_return(query: Query, i: int, by: Any) -> bool:
    """Whether a value that left the tape at exit `i` may have returned on the path to the targets.

    It does not if it was merely logged.

    For ops, the event log has found no path to the targets. A result of NumPy appears as a constant input of a later op
    on the path that no earlier op has used and that is not a literal in that op's line.
    """
    log, reached = query.traced, query.reached
    if not reached or log is None or isinstance(log, ReplayLog):
        return True
    if not isinstance(by, str):
        return not hasattr(by, "vjp") and _leads_to_target(query, by)
    if by == "tf.Variable":
        return True
    left_at = log.exit_positions.get(i, 0)
    used: set[int] = set()
    for at, noted in log.notes.items():
        is_later = at in reached and at >= left_at
        for x, parent in zip(noted[3], log.records[at][1], strict=False):
            roots = _constants_behind(x)
            if is_later and parent < 0 and not roots <= used and not _is_literal(x, noted[0]):
                return True
            used |= roots
    return False


def _constants_behind(x: Tensor) -> set[int]:
    """Returns the identities of the constants that a tensor was computed from off the tape, or its own."""
    return set(map(id, _origins(x))) or {id(x)}


def _origins(x: Tensor) -> list[Event]:
    """Returns the events that a tensor was computed from off the tape and that have no inputs themselves."""
    event: Event | None = entry(x.tracers, events.key)
    if event is None:
        return []
    found, seen, stack = list[Event](), set[int](), [event]
    while stack:
        event = stack.pop()
        if id(event) in seen:
            continue
        seen.add(id(event))
        behind = [before for tracer in event.inputs if (before := entry(tracer, events.key)) is not None]
        stack += behind
        if not behind:
            found.append(event)
    return found


def _is_literal(x: Tensor, where: Where) -> bool:
    """Whether a constant is a literal in the line that uses it."""
    value, line = array_in_run(x), line_of(where)
    if value.ndim or value.dtype.kind not in "fiu" or line is None:
        return False
    texts = re.findall(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?", linecache.getline(line[0], line[1]), re.IGNORECASE)
    return any(value == np.asarray(float(text)).astype(value.dtype) for text in texts)


def suspected_return(query: Query) -> Finding | None:
    """Suspects that a value on a recorded path also left for NumPy or Python and returned as a constant.

    The gradient then lacks the second path. The tape cannot know: it observes that the value was read, and that an op
    on the path to the target used a constant that was created afterward. The program's names exclude a value that was
    only logged.
    """
    log, at = query.traced, query.position
    if log is None or at is None or isinstance(log, ReplayLog):
        return None
    below = descendants(log, at)
    exits: dict[Line | None, tuple[int, str]] = {}  # the first one in each line
    for i, (left_at, by) in enumerate(log.disconnections):
        if left_at in below and isinstance(by, str) and by in _CONVERSIONS and integer_output(log, left_at) is None:
            exits.setdefault(line_of(log.exit_lines.get(i)), (i, by))
    flows: dict[tuple[Line | None, Line | None], bool] = {}
    for used_at, noted in sorted(log.notes.items()) if exits else ():
        op, parents, *_ = log.records[used_at]
        for x, parent in zip(noted[3], parents, strict=False) if used_at in query.reached else ():
            if parent >= 0 or not x.dtype.differentiable:
                continue
            end = line_of(noted[0])
            for start, (i, by) in exits.items():
                if not _is_created_after(x, used_at, log, i):
                    continue
                if (start, end) not in flows:
                    flows[start, end] = may_flow(start, end)
                if flows[start, end] and not _is_literal(x, noted[0]):
                    return _incomplete(by, start, user_of(op, noted[0]), short(end))
    return None


def _is_created_after(x: Tensor, used_at: int, log: TracingLog, i: int) -> bool:
    """Whether a constant that the record at `used_at` uses, or one behind it, was created after exit `i`."""
    created = [event.clock for event in _origins(x) if event.op is None and event.variable is None]
    if not any(created) and not x.dims:  # possibly a Python number, which becomes a tensor when an op uses it
        return used_at >= log.exit_positions.get(i, used_at + 1)
    latest = max(created, default=0)
    return latest > log.exit_clocks.get(i, latest)


def _incomplete(by: str, where: Where, user: str, used_at: str) -> Finding:
    return Finding(
        Cause.CONNECTED,
        "the target depends on it, but its gradient may be incomplete: its value also left the tape through "
        f"{_CONVERSIONS[by]} and may have returned as a constant in {user} ({used_at}), through which no gradient "
        "flows",
        "Use TensorFlow ops on that path too, or tf.stop_gradient if the value is meant to be a constant",
        where,
    )


def _leads_to_target(query: Query, variable: Any) -> bool:
    """Whether a target was computed from a variable, watched or not."""
    if query.log.position(variable) in query.reached:
        return True
    ends = [step_of(query.log, tracers) for tracers in query.target_tracers]
    return any(
        path_between(query.log, end, lambda s: isinstance(s, Event) and s.variable is variable) is not None
        for end in ends
        if end is not None
    )


def _weight(query: Query, by: Any) -> int:
    """Ranks exits by how likely they are the cause: comparisons are frequent and rarely matter."""
    if isinstance(by, str):
        return 3
    if not hasattr(by, "vjp"):
        return 5 if query.log.position(by) in query.reached else 2
    if by.name == "stop_gradient":
        return 4
    return 0 if by.name in COMPARISONS else 1


def _at_exit(by: Any, where: Where) -> Finding:
    """Reports an exit: by a named route, a variable that was assigned to, or an op without a derivative."""
    if hasattr(by, "vjp"):
        return at_constant(by, where)
    if not isinstance(by, str):
        return Finding(Cause.ASSIGN, ASSIGNED.format(describe_variable(by)), "", where)
    line = line_of(where)
    if line is not None and ".predict(" in linecache.getline(line[0], line[1]):
        message = "predict returns NumPy arrays, which no tape records"
        return Finding(Cause.PREDICT, message, "Call the model itself: model(x)", where)
    if by == "a dataset":
        return Finding(
            Cause.DATASET,
            "its value went into a dataset (tf.data), where no tape records: the elements are constants",
            "Apply the computation to the batches, or slice the tensor directly",
            where,
        )
    if by == "tf.Variable":
        return Finding(
            Cause.ASSIGN,
            "it is the initial value of a new tf.Variable: gradients flow to the variable, not to its initial value",
            "Create variables before the tape's block",
            where,
        )
    if "numpy_function(" in (expression(where) or ""):
        return Finding(
            Cause.NOT_DIFFERENTIABLE,
            f"`{expression(where)}` is on the path to the target and has no derivative",
            "Use TensorFlow ops, or tf.py_function with TensorFlow ops inside",
            where,
        )
    return Finding(
        Cause.NUMPY,
        f"its value left the tape through {_CONVERSIONS.get(by, by)}; ops on the converted value are not recorded",
        "Use TensorFlow ops all the way to the target",
        where,
    )
