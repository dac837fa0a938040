"""Assigns records to layers: by the name scopes they were made in, or else by the call of a user function.

A Keras layer's scope also knows the line that constructed the layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from ...core.scopes import LayerName
from .event_log import TracingLog
from .reading import Reading, short


def layer_paths(reading: Reading, positions: Iterable[int]) -> list[tuple[int, tuple[str, ...]]]:
    """Returns the path of groups of each record: its scopes or, if it has none, the user function call it ran in.

    A function that jumps back to an earlier instruction was called again or began another loop iteration. A module's
    `__call__` is shown under its class name. A variable belongs to the record that first uses it, and precedes it.
    """
    log = reading.log
    if not isinstance(log, TracingLog):
        return [(at, ()) for at in positions]
    calls: dict[int, tuple[str, int]] = {}
    last: dict[Any, tuple[int, int]] = {}  # by function: the last instruction, and the calls so far
    for at, note in sorted(log.notes.items()):
        (code, instruction), line = note[0][:2], reading.line(at)
        before, count = last.get(code, (-1, 0))
        last[code] = (instruction, count + (instruction < before or not count))
        if line is not None and line[2] != "<module>" and not log.scope(at):
            calls[at] = (_function_name(code, line[2]), last[code][1])
    often = {name for name, count in calls.values() if count > 1}
    first_users: dict[int, int] = {}
    for at, record in enumerate(reading.records):
        for p in record[1] if type(record) is tuple else ():
            first_users.setdefault(p, at)
    found = []
    for at in positions:
        owner = at if reading.records[at] is not None else first_users.get(at, at)
        path = log.scope(owner)
        if not path and owner in calls:
            name, count = calls[owner]
            path = (f"{name} {count}" if name in often else name,)
        found.append((owner, at, path))
    return [(at, path) for _, at, path in sorted(found, key=itemgetter(0, 1))]


def describe_layer(log: Any, at: int | None) -> str:
    """Returns the innermost Keras layer of a record and where it was constructed, in parentheses; or an empty string.

    The line of an op in `model.fit` is that of `fit`; this is the line to change.
    """
    if at is None or not isinstance(log, TracingLog):
        return ""
    layer = next((part for part in reversed(log.scope(at)) if isinstance(part, LayerName)), None)
    return "" if layer is None or layer.line is None else f" (layer `{layer}`, constructed at {short(layer.line)})"


def _function_name(code: Any, function: str) -> str:
    """Returns the displayed name of a function: for a module's `__call__`, the name of its class."""
    path = getattr(code, "co_qualname", function).split(".")
    return path[-2] if function in ("__call__", "call") and len(path) > 1 and path[-2] != "<locals>" else function
