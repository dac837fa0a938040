"""Components of distributed variables: one replica's copy, and its placeholder in an SPMD program."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..graph.trace.trace import present_trace
from ..state.variable import Variable


class LocalPart(Variable):
    """The placeholder for each replica's component of a variable while an SPMD program is traced."""

    def __init__(self, whole: Any) -> None:
        self.whole = weakref.ref(whole)
        self.dtype, self._shape, self._title = whole.dtype, whole._shape, whole._title
        self._trainable = False
        self._array = None
        self._read = wrap(whole._values[0]._settled(), whole.dtype)
        self._stacked: Any = None  # the components as one array sharded over the devices, after a run

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a component."""
        whole = self.whole()
        assert whole is not None
        return whole.dims

    def _as_tensor(self) -> Tensor:
        return present_trace().read(self)


class Shard:
    """One replica's shard of an array that is distributed over devices, copied to the host when read.

    It is the device's copy of a replicated array, or the device's row of an array with one row per replica.
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
    """One replica's component of a distributed variable."""

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
    """Creates a component variable directly, without the active variable creators."""
    variable = object.__new__(PartVariable)
    variable._distribute_strategy, variable._replica = strategy, replica
    Variable.__init__(variable, value, name=name, **options)
    variable._title = f"{name}:0"  # the name includes the scopes already
    return variable
