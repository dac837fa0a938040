"""Storages of distributed variables: mirrored values, components of replicas, and placeholders in SPMD programs."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import DType
from ..engine.run.distribution_context import place
from ..state.storage import HostArray, Storage, XlaArray
from ..state.variable import Variable

if TYPE_CHECKING:
    from .variables import SyncOnReadVariable


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

    def is_deleted(self) -> bool:
        """Whether the buffer of the whole array was donated to a program."""
        return bool(self.of.is_deleted())


class ComponentStorage(Storage):
    """One replica's component of a distributed variable: an array of its own, or a `Shard` of a program's result."""

    def __init__(self, array: HostArray, dtype: DType, strategy: Any, replica: int) -> None:
        super().__init__(array, dtype, str(strategy.extended.worker_devices[replica]))

    def xla(self, put: Callable[[HostArray], XlaArray]) -> XlaArray:
        """Returns the value for a single-device program, which cannot take a shard."""
        self.host()
        if isinstance(self.buffer, Shard):
            self.buffer = None
        return super().xla(put)


class PlaceholderStorage(Storage):
    """Represents each replica's component of a sync-on-read variable while an SPMD program is traced."""

    def __init__(self, whole: SyncOnReadVariable) -> None:
        super().__init__(whole._values[0]._storage.host(), whole.dtype)
        self.whole = weakref.ref(whole)
        self.stacked: Any = None  # the components as one array sharded over the devices, after a run

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a component."""
        whole = self.whole()
        assert whole is not None
        return whole.dims


class PerReplicaStorage(Storage):
    """A value per replica, in the storages of component variables; the host value is the aggregate over replicas.

    The array of this storage is the single value of an export to a SavedModel.
    """

    def __init__(self, array: HostArray, dtype: DType, whole: SyncOnReadVariable) -> None:
        super().__init__(array, dtype)
        self._whole = weakref.ref(whole)

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a component."""
        whole = self._whole()
        return whole._values[0].dims if whole is not None and whole._values else super().dims

    def host(self) -> HostArray:
        """Aggregate the components."""
        whole = self._whole()
        if place.as_one or whole is None or not whole._values:
            return super().host()
        array: HostArray = whole._as_tensor().array
        return array


class MirroredStorage(Storage):
    """One value for all replicas until they diverge, then a copy per replica: this one's is that of the first."""

    def __init__(self, array: HostArray, dtype: DType) -> None:
        super().__init__(array, dtype)
        self.copies: tuple[Variable, ...] = ()  # after divergence: the copies of replicas 1, 2, ...
        self.may_differ = False  # whether an SPMD program lets each replica write its own value
        self.mesh_copy: Any = None  # a host value, and its replicated array on the devices of all replicas

    def take_shards(self, array: Any) -> None:
        """Make an array on the devices of all replicas the value. The caller holds `updating`."""
        self.take_xla(array)
        for i, copy in enumerate(self.copies, 1):
            copy._storage.take_xla(Shard(array, i, is_row=False))

    def shards(self) -> Any:
        """Returns the array on the devices of all replicas if it is the current value, else None."""
        storages: list[Any] = [copy._storage for copy in self.copies]
        is_whole = all([getattr(storage.buffer, "of", None) is self.buffer for storage in storages])
        return self.buffer if is_whole else None

    def xla(self, put: Callable[[HostArray], XlaArray]) -> XlaArray:
        """Returns the value for a single-device program; a value on several devices is copied to the host first."""
        if len(getattr(getattr(self.buffer, "sharding", None), "device_set", ())) > 1:
            self.host()
            self.buffer = None
        return super().xla(put)


def placeholder_of(whole: SyncOnReadVariable) -> Variable:
    """Creates the placeholder for each replica's component of a variable in SPMD programs."""
    variable = object.__new__(Variable)
    variable.dtype, variable._shape, variable._title = whole.dtype, whole._shape, whole._title
    variable._trainable = False
    variable._storage = PlaceholderStorage(whole)
    return variable


def is_placeholder(variable: Variable) -> bool:
    """Returns whether a variable stands for each replica's component in an SPMD program."""
    return isinstance(variable._storage, PlaceholderStorage)


def part_of(value: HostArray, name: str, options: dict[str, Any], strategy: Any, replica: int) -> Variable:
    """Creates a component variable directly, without the active variable creators."""
    variable = object.__new__(Variable)
    Variable.__init__(variable, value, name=name, **options)
    variable._title = f"{name}:0"  # the name includes the scopes already
    variable._storage = ComponentStorage(variable._storage.host(), variable.dtype, strategy, replica)
    return variable
