"""Variables sharded over a mesh of devices: split along axes, or replicated.

Between runs of partitioned programs the value is one sharded JAX array. Eager reads see the whole value, gathered on
the host; an assigned value is sharded immediately.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.tensor import wrap
from ..engine.run.convert import readable, register
from .variable import Variable, _converted, updating


class Layout(NamedTuple):
    """The sharding of a value, and the mesh axis along which batches are split."""

    sharding: Any  # a `jax.sharding.NamedSharding`
    batch_axis: str | None = None


class ShardedVariable(Variable):
    """A variable converted by `sharded`."""

    layout: Layout

    @property
    def sharding(self) -> Any:
        """The sharding of the value: a `jax.sharding.NamedSharding`."""
        return self.layout.sharding

    @property
    def spread(self) -> Any:
        """The value as a sharded JAX array."""
        with updating:
            return self._on_device(None)

    def _on_device(self, put: Any) -> Any:
        """Return the sharded array. The caller holds `updating`."""
        held = self._read.array if self._array is None else self._copy and self._copy[1]
        if held is None or held.is_deleted():
            held = spread(self._array, self.sharding)
            self._copy = (self._array, held)
        return held

    def _latest(self) -> Any:
        """The array of the current value wherever it is; its computation may be pending."""
        return self._on_device(None)

    def _settled(self) -> Any:
        """Gather the whole value on the host; it is cached there, beside the sharded array, until the next update."""
        with updating:
            if self._array is None:
                there = self._read.array
                array = gathered(there)
                self._copy, self._array, self._read = (array, there), array, wrap(array, self.dtype)
            return self._array

    def _take(self, array: Any) -> None:
        """Make `array`, a whole host array, the value: shard it and drop the host copy."""
        self._take_from_device(spread(array, self.sharding))

    def _holds(self, array: Any) -> bool:
        """Whether the value is still the array that was read. The caller holds `updating`."""
        return self._array is array

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "layout"}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the whole value as a host variable: the devices may differ where it is loaded."""
        plain = object.__new__(Variable)
        vars(plain).update(self.__getstate__())
        plain._read = wrap(plain._array, self.dtype)
        return plain.__reduce__()


def sharded(variable: Variable, layout: Layout) -> ShardedVariable:
    """Shard a variable over the devices of a mesh, converting it to a `ShardedVariable` in place."""
    check_divisible(variable.name, variable.dims, layout.sharding)
    with updating:
        value = variable._read.array if variable._array is None else variable._array
        there = value if is_spread(value, layout.sharding) else spread(variable._settled(), layout.sharding)
        variable.__class__ = ShardedVariable
        assert isinstance(variable, ShardedVariable)
        variable.layout = layout
        variable._take_from_device(there)
    return variable


def check_divisible(name: str, shape: tuple[int, ...], sharding: Any) -> None:
    """Raise a ValueError with instructions unless the mesh divides every axis that is split."""
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


def is_spread(array: Any, sharding: Any) -> bool:
    """Whether an array already has this sharding."""
    there = getattr(array, "sharding", None)
    return there is not None and there.is_equivalent_to(sharding, array.ndim)


def spread(array: Any, sharding: Any) -> Any:
    """Shard an array; each device receives its shard only.

    On a mesh of several processes, all of them call this with the same value, and each supplies its own devices.
    """
    import jax

    with jax.enable_x64(True):
        if sharding.is_fully_addressable or (isinstance(array, jax.Array) and not array.is_fully_addressable):
            return jax.device_put(array, sharding)
        whole = np.asarray(array)
        return jax.make_array_from_callback(whole.shape, sharding, lambda part: whole[part])


def gathered(array: Any) -> Any:
    """Gather a sharded array on the host. If it spans several processes, all of them must call this."""
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)[()]
    from jax.experimental import multihost_utils

    return np.asarray(multihost_utils.process_allgather(array, tiled=True))[()]


register(ShardedVariable, _converted, 0)
readable.add(ShardedVariable)
