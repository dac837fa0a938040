"""What a tape has recorded, at a glance: the ops, how often each occurs, and the memory each keeps alive."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...core.budgets import readable_bytes
from ...engine.registry.op import SingleInputRule
from ..records.never_raises import never_raises
from ..records.reading import require_log
from ..records.tables import Printable, Table
from .memory import iterate_kept_arrays, memory

_MOST_ROWS = 12


@dataclass(frozen=True, repr=False)
class Overview(Printable):
    """The number of records of each op on a tape, and the bytes kept for it."""

    ops: dict[str, int]
    kept: dict[str, int]

    def tables(self) -> list[Table]:
        """Returns one table: the ops, the most frequent first."""
        records, total = sum(self.ops.values()), sum(self.kept.values())
        table = Table(
            f"GradientTape with {records} records, which keep {readable_bytes(total)}",
            ["op", ">records", ">of all records", ">kept", ">of all kept"],
        )
        for op, count in list(self.ops.items())[:_MOST_ROWS]:
            size = self.kept.get(op, 0)
            shares = (_percent(count, records), _percent(size, total))
            table.rows.append([op, str(count), shares[0], readable_bytes(size), shares[1]])
        if (hidden := len(self.ops) - _MOST_ROWS) > 0:
            table.notes.append(f"{hidden} other ops are not shown.")
        table.notes.append("tape.profile() measures times, tape.memory() lists arrays, tape.report() draws the graph.")
        return [table]


def overview(tape: Any) -> Overview:
    """Counts what `tape` has recorded.

    >>> x = tf.Variable([1.0, 2.0])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.exp(tf.exp(x))
    >>> tf.inspect.overview(tape).ops
    {'exp': 2}
    """
    log = require_log(tape, "count what this tape has recorded")
    names = [op.op.name if type(op) is SingleInputRule else op.name for op in log.ops if op is not None]
    return Overview(dict(Counter(names).most_common()), memory(tape).by_op)


@never_raises(object.__repr__)
def summary(tape: Any) -> str:
    """Returns the representation of `tape`: what it has recorded and keeps, or why there is nothing.

    >>> x = tf.Variable([1.0, 2.0])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.exp(tf.exp(x))
    >>> tape
    <GradientTape: 2 ops, 1 variable, 16 B kept>
    >>> tape.gradient(y, x) is not None, tape
    (True, <GradientTape: used up, as its gradient was computed>)
    """
    name, log = type(tape).__name__, tape._log
    if log is None:
        return f"<{name}: {'used up, as its gradient was computed' if tape._entered else 'not entered yet'}>"
    parts = [_count(sum(op is not None for op in log.ops), "op"), _count(len(log.variables), "variable")]
    tensors = len(log.leaves.difference(log.variable_index.values()))
    parts += [_count(tensors, "watched tensor")] if tensors else []
    parts.append(f"{readable_bytes(sum(array.bytes for array in iterate_kept_arrays(log)))} kept")
    return f"<{name}: {', '.join(parts)}{', recording' if tape._recording else ''}>"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""
