"""Versions of variables: which value each read gave, on a tape where variables are assigned between reads.

A tape has one position per variable, whatever its value: the cotangents of all reads accumulate in the variable. A
replay also needs the value that a read gave: the initial one, one assigned on the tape, one written by a function call,
or one assigned while the tape was not recording. A traced log therefore writes the version into the tracers of every
read except those of the initial value. Copies of a read on another device share its tracers. Equal numbers do not
identify a version: an assignment may happen to keep them, and would not with other inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...state.variable import Variable


class UpdateByCall(NamedTuple):
    """A value that a function call wrote to a variable. `call` identifies the call: its position, or its own entry."""

    call: Any
    variable: Any


Origin = Tensor | UpdateByCall


class Version:
    """One value of a variable: its origin (None for the initial value), and a tensor that shares its memory."""

    __slots__ = ("origin", "value", "variable")

    def __init__(self, variable: Any, origin: Origin | None, value: Tensor | None) -> None:
        self.variable = variable  # kept alive, so that its `id` stays unique
        self.origin = origin
        self.value = value


class VariableVersions:
    """The versions of all variables that a log has read or assigned."""

    def __init__(self) -> None:
        self.key = object()  # of the versions, in the tracers of reads
        self._first: dict[int, Version] = {}  # both by the `id` of the variable
        self._latest: dict[int, Version] = {}

    def tracer(self, variable: Any, rest: Any) -> Any:
        """Returns the tracer of a read of `variable` on top of `rest`; just `rest` for the initial version."""
        latest = self._current(variable)
        return rest if latest.origin is None else (self.key, latest, rest)

    def assign(self, variable: Any, origin: Origin) -> None:
        """Starts a new version of `variable`: the tensor `origin`, or the value written by a call."""
        self._current(variable)
        known = origin if isinstance(origin, Tensor) else _present_value(variable)
        self._latest[id(variable)] = Version(variable, origin, known)

    def version(self, variable: Any, x: Tensor) -> Version | None:
        """Returns the version that `x`, a read of `variable`, gave; None if it is unknown or `x` is not such a read."""
        marked: Version | None = dispatch.entry(x.tracers, self.key)
        return self._first.get(id(variable)) if marked is None else marked

    def origin(self, x: Tensor, variable: Any = None) -> Origin | None:
        """Returns the origin of the value a read gave; None for the variable's initial value and for other tensors.

        A variable mirrored on several devices has an array on each, and may have been changed on one of them only.
        """
        found = self.version(variable, x)
        if found is None:
            return None
        if found.value is None or _storage(found.value) is _storage(x) or _has_same_numbers(found.value, x):
            return found.origin
        return x

    def initial(self, variable: Any) -> Tensor | None:
        """Returns the initial value of a variable, if it was read or assigned."""
        found = self._first.get(id(variable))
        return None if found is None else found.value

    def _current(self, variable: Any) -> Version:
        """Returns the current version; starts a new one if the array was replaced while the tape was not recording."""
        now, latest = _present_value(variable), self._latest.get(id(variable))
        if latest is None:
            latest = self._latest[id(variable)] = self._first[id(variable)] = Version(variable, None, now)
        elif latest.value is None:
            latest.value = now
        elif now is not None and _storage(latest.value) is not _storage(now):
            latest = self._latest[id(variable)] = Version(variable, now, now)
        return latest


def _present_value(variable: Any) -> Tensor | None:
    """Returns the value of a single-device variable as a tensor that shares its memory; None for other variables."""
    if not isinstance(variable, Variable):
        return None
    storage = variable._storage
    if storage.module is not None:
        return storage.snapshot()
    return None if storage.array is None else wrap(storage.array, variable.dtype)


def _storage(x: Any) -> Any:
    """Returns the array that a variable and all reads of one version share."""
    if type(x) is DeviceTensor:
        return x.buffer
    return x.array if type(x) in REAL else x


def _has_same_numbers(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors hold the same numbers, as the copies of a mirrored variable do."""
    return x.dims == y.dims and bool(np.array_equal(x.array, y.array, equal_nan=x.dtype.is_floating))
