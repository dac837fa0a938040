"""Which of a variable's values each read gave, on a tape where variables are assigned between reads.

A tape has one position for a variable, whatever it holds: the cotangents of all reads belong to the variable. A replay
also needs to know what a read gave: the value that the variable had at first, one that was assigned on the tape, one
that a call of a function left there, or one that was assigned while the tape did not record. A traced log therefore
writes the version into the marks of every read but those of the first value. Copies of a read, on another device,
have its marks. Equal numbers say nothing about the version: an assignment may leave them as they were, and with other
inputs it would not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch


class UpdateByCall(NamedTuple):
    """What a call of a function left in a variable. `call` identifies the call: its position, or its own entry."""

    call: Any
    variable: Any


Origin = Tensor | UpdateByCall


class Version:
    """One value of a variable: where it came from (None for the first), and a tensor that shares its memory."""

    __slots__ = ("origin", "value", "variable")

    def __init__(self, variable: Any, origin: Origin | None, value: Tensor | None) -> None:
        self.variable = variable  # which stays alive, so that its `id` is its own
        self.origin = origin
        self.value = value


class VariableVersions:
    """The versions of the variables that a log has met."""

    def __init__(self) -> None:
        self.key = object()  # of the versions, in the marks of reads
        self._first: dict[int, Version] = {}  # both by the `id` of the variable
        self._latest: dict[int, Version] = {}

    def tracer(self, variable: Any, rest: Any) -> Any:
        """The mark of a read of `variable` on top of `rest`: none for the first version."""
        latest = self._current(variable)
        return rest if latest.origin is None else (self.key, latest, rest)

    def assign(self, variable: Any, origin: Origin) -> None:
        """`variable` has a new value, or is about to have: the tensor `origin`, or what a call has left there."""
        self._current(variable)
        known = origin if isinstance(origin, Tensor) else _present_value(variable)
        self._latest[id(variable)] = Version(variable, origin, known)

    def version(self, variable: Any, x: Tensor) -> Version | None:
        """The version that `x`, a read of `variable`, gave; None if that is not known, or `x` is no read of one."""
        marked: Version | None = dispatch.entry(x.tracers, self.key)
        return self._first.get(id(variable)) if marked is None else marked

    def origin(self, x: Tensor, variable: Any = None) -> Origin | None:
        """Where the value came from that a read gave; None for the first one of the variable, and for other tensors.

        A variable in several places has an array for each, and may have been changed in one of them.
        """
        found = self.version(variable, x)
        if found is None:
            return None
        if found.value is None or _storage(found.value) is _storage(x) or _has_same_numbers(found.value, x):
            return found.origin
        return x

    def initial(self, variable: Any) -> Tensor | None:
        """The first value of a variable, if it was read or assigned."""
        found = self._first.get(id(variable))
        return None if found is None else found.value

    def _current(self, variable: Any) -> Version:
        """The version that `variable` has now: another one if its array was replaced while the tape did not record."""
        now, latest = _present_value(variable), self._latest.get(id(variable))
        if latest is None:
            latest = self._latest[id(variable)] = self._first[id(variable)] = Version(variable, None, now)
        elif latest.value is None:
            latest.value = now
        elif now is not None and _storage(latest.value) is not _storage(now):
            latest = self._latest[id(variable)] = Version(variable, now, now)
        return latest


def _present_value(variable: Any) -> Tensor | None:
    """The value of a variable in one place, as a tensor that shares its memory; None for other kinds of variables."""
    held = getattr(variable, "_held", None)
    if type(held) is DeviceTensor:
        return held
    array = getattr(variable, "_array", None)
    return None if array is None else wrap(array, variable.dtype)


def _storage(x: Any) -> Any:
    """The array that a variable and all reads of one value share."""
    if type(x) is DeviceTensor:
        return x.buffer
    return x.array if type(x) in REAL else x


def _has_same_numbers(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors hold the same numbers, as the copies of a variable in several places do."""
    return x.dims == y.dims and bool(np.array_equal(x.array, y.array, equal_nan=x.dtype.is_floating))
