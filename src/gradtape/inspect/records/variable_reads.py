"""What each read of a variable gave on a tape where variables are assigned between reads.

A tape has one position for a variable, whatever it holds: the cotangents of all reads belong to the variable. What an
op was given is noted with the op. It is the value that the variable had at first, one that was assigned on the tape,
one that a call of a function left there, or one that was assigned while the tape did not record. All reads of one value
share its array, which tells the values apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor
from ...engine.registry.devices import REAL, DeviceTensor
from .witness import TracingLog


class UpdateByCall(NamedTuple):
    """What the call recorded at a position left in a variable."""

    call: int
    variable: Any


Version = Tensor | UpdateByCall


class VariableReads:
    """The values of a traced log's variables; `initial` are those that they had at first, by position."""

    def __init__(self, log: TracingLog) -> None:
        self.initial: dict[int, Tensor] = {}
        self._updates: dict[int, list[tuple[Any, Version]]] = {}  # by position: arrays and values, the latest last
        self._versions: dict[tuple[int, int], tuple[Any, Version]] = {}  # by position and the array's `id`
        if log.tracks:  # a read is what was assigned: it has the position of that
            return
        positions = {id(variable): at for variable, at in log.variable_positions() if at >= 0}
        leaves = set(positions.values())
        assignments: Iterator[Any] = iter([*log.assignments, (len(log.ops) + 1, None, None, None)])
        count, variable, value, before = next(assignments)
        for at, noted in sorted(log.notes.items()):
            while count <= at:
                if id(variable) in positions:
                    p = positions[id(variable)]
                    if before is not None and type(value) in REAL and p not in self._updates:
                        self.initial.setdefault(p, before)
                    self._add_update(p, _storage(value), value)
                count, variable, value, before = next(assignments)
            for x in noted[3]:
                at_leaf = log.position(x)
                if at_leaf in leaves and type(x) in REAL:
                    self._note_read(at_leaf, x)
            op = log.ops[at]
            for updated, _ in op.forward.updates if getattr(op, "family", None) == "call" else ():
                if id(updated) in positions:
                    self._add_update(positions[id(updated)], None, UpdateByCall(at, updated))

    def version(self, p: int, x: Tensor) -> Version | None:
        """What a read of the variable at `p` gave: None for the value that it had at first.

        Otherwise the tensor that was assigned, which may be on the tape, or the update by a call.
        """
        storage, first = _storage(x), self.initial.get(p)
        if first is not None and _storage(first) is storage:
            return None
        found = self._versions.get((p, id(storage)))
        return None if found is None else found[1]

    def _add_update(self, p: int, storage: Any, value: Version) -> None:
        self._updates.setdefault(p, []).append((storage, value))
        if storage is not None:
            self._versions[p, id(storage)] = (storage, value)

    def _note_read(self, p: int, x: Tensor) -> None:
        storage, first, updates = _storage(x), self.initial.get(p), self._updates.get(p, [])
        if (p, id(storage)) in self._versions:
            return
        if first is not None and (_storage(first) is storage or _is_same(first, x)):
            return
        if updates and updates[-1][0] is None:  # nothing but that call is known to have changed it
            value = updates[-1][1]
            updates[-1] = (storage, value)
            self._versions[p, id(storage)] = (storage, value)
        elif first is None:
            self.initial[p] = x
        else:  # assigned while the tape did not record
            self._versions[p, id(storage)] = (storage, x)


def _storage(x: Any) -> Any:
    """The array that a variable and all reads of one value share."""
    if type(x) is DeviceTensor:
        return x.buffer
    return x.array if type(x) in REAL else x


def _is_same(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors hold the same numbers: a variable in several places has an array for each read."""
    return x.dims == y.dims and bool(np.array_equal(x.array, y.array, equal_nan=x.dtype.is_floating))
