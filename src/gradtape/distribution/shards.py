"""Parts of distributed variables: what one replica has, and what stands for it in a program for all of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..engine.run.dispatch import thread
from ..state.variable import Variable


class LocalPart(Variable):
    """What stands for every replica's part of a variable while a program for all of them is traced."""

    def __init__(self, whole: Any) -> None:
        self.whole = weakref.ref(whole)
        self.dtype, self._shape, self._title = whole.dtype, whole._shape, whole._title
        self._trainable = False
        self._array = None
        self._read = wrap(whole._values[0]._settled(), whole.dtype)
        self._stacked: Any = None  # the parts as one array of the devices, and what they were

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a part."""
        whole = self.whole()
        assert whole is not None
        return whole.dims

    def _as_tensor(self) -> Tensor:
        return thread.trace.read(self)  # type: ignore[no-any-return]


class Shard:
    """What one replica has of an array that lies on several devices, fetched when somebody needs it.

    It is the array as it is there, or, of an array with a row for each replica, the row.
    """

    def __init__(self, array: Any, at: int, is_row: bool) -> None:
        self.of = array
        self._at = at
        self._is_row = is_row
        self.shape = array.shape[1:] if is_row else array.shape
        self.dtype = array.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        there = np.asarray(self.of.addressable_shards[self._at].data)
        return np.asarray(there[0]) if self._is_row else there


class PartVariable(Variable):
    """The part of one replica."""

    _distribute_strategy: Any
    _replica: int

    @property
    def device(self) -> str:
        """The device of the replica."""
        return str(self._distribute_strategy.extended.worker_devices[self._replica])

    def _on_device(self, put: Callable[[Any], Any]) -> Any:
        self._settled()
        if self._copy is not None and isinstance(self._copy[1], Shard):
            self._copy = None
        return super()._on_device(put)


def part_of(value: Any, name: str, options: dict[str, Any], strategy: Any, replica: int) -> Variable:
    """A variable that no creator is asked about."""
    variable = object.__new__(PartVariable)
    variable._distribute_strategy, variable._replica = strategy, replica
    Variable.__init__(variable, value, name=name, **options)
    variable._title = f"{name}:0"  # the scopes are in it already
    return variable
