"""Values of variables sharded over a mesh of devices: split along axes, or replicated.

Between runs of partitioned programs the value is one sharded JAX array. Eager reads see the whole value, gathered on
the host; an assigned value is sharded immediately.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import devices, errors
from ..core.dtypes import DType
from .storage import HostArray, Layout, Storage, XlaArray, updating
from .variable import Variable

if TYPE_CHECKING:
    import jax


class ShardedStorage(Storage):
    """The value is `buffer`, a sharded array; `array` is the gathered value, kept until the next update."""

    __slots__ = ("layout",)

    layout: Layout

    def __init__(self, array: XlaArray, dtype: DType, layout: Layout) -> None:
        self.layout, self.dtype, self.device = layout, dtype, devices.HOST.name
        self.take_xla(array)

    def xla(self, put: Callable[[HostArray], XlaArray] | None = None) -> Any:
        """Returns the sharded array."""
        if self.buffer.is_deleted():
            if self.array is None:
                raise errors.FailedPreconditionError(
                    "The value of a sharded variable was lost: a program that replaces it failed after it had taken "
                    "over its memory. Assign a new value, or restore a checkpoint"
                )
            self.buffer = shard(self.array, self.layout.sharding)
        return self.buffer

    def host(self) -> HostArray:
        """Gather the whole value on the host, where it is cached beside the sharded array until the next update."""
        with updating:
            if self.array is None:
                self.array = gather(self.xla())
            return self.array

    def take(self, array: HostArray) -> None:
        """Make `array`, a whole host array, the value: shard it and drop the host copy."""
        self.take_xla(shard(array, self.layout.sharding))

    def write(self, function: Callable[..., bool | None], *arguments: object) -> bool:
        """Decline to write in place: the host array is a copy of the value."""
        return False


def sharded(variable: Variable, layout: Layout) -> Variable:
    """Shard a variable over the devices of a mesh."""
    check_divisible(variable.name, variable.dims, layout.sharding)
    with updating:
        value: Any = variable._storage.latest()
        there = value if is_sharded(value, layout.sharding) else shard(variable._storage.host(), layout.sharding)
        variable._storage = ShardedStorage(there, variable.dtype, layout)
    return variable


def check_divisible(name: str, shape: tuple[int, ...], sharding: jax.sharding.NamedSharding) -> None:
    """Raises a ValueError with instructions unless the mesh divides every axis that is split."""
    sizes = sharding.mesh.shape
    if len(sharding.spec) > len(shape):
        raise ValueError(
            f"The layout {tuple(sharding.spec)} has {len(sharding.spec)} axes, and {name} of shape {shape} has "
            f"{len(shape)}. Give a name of a mesh axis, or None, for each axis of the value"
        )
    for axis, names in enumerate(sharding.spec):
        parts = 1
        for part in () if names is None else (names,) if isinstance(names, str) else names:
            parts *= sizes[part]
        if shape[axis] % parts:
            raise ValueError(
                f"{name} of shape {shape} cannot be split along axis {axis}, of {shape[axis]}, into the {parts} parts "
                f"that {names!r} of the mesh {dict(sizes)} has: {parts} does not divide {shape[axis]}. Split another "
                "axis, take None for this one, or another mesh"
            )


def is_sharded(array: jax.Array | HostArray, sharding: jax.sharding.NamedSharding) -> bool:
    """Whether an array already has this sharding."""
    there = getattr(array, "sharding", None)
    return there is not None and there.is_equivalent_to(sharding, array.ndim)


def shard(array: jax.Array | HostArray, sharding: jax.sharding.NamedSharding) -> Any:
    """Shard an array; each device receives its shard only.

    On a mesh of several processes, all of them call this with the same value, and each supplies its own devices.
    """
    import jax

    with jax.enable_x64(True):
        if sharding.is_fully_addressable or (isinstance(array, jax.Array) and not array.is_fully_addressable):
            return jax.device_put(array, sharding)
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, sharding, lambda part: whole[part])


def gather(array: jax.Array) -> Any:
    """Gather a sharded array on the host. If it spans several processes, all of them must call this."""
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)[()]
    from jax.experimental import multihost_utils

    return np.asarray(multihost_utils.process_allgather(array, tiled=True))[()]
