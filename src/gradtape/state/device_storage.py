"""Values of variables in the memory of a device: read, replaced and updated there."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.arrays import ArrayModule, combine_at
from ..core import dtypes
from ..core.protocols import Recorder
from ..core.tensor import Tensor
from ..engine.registry.devices import REAL, DeviceTensor, exhausted, on_device, send_to_device
from ..engine.run.dispatch import thread
from .rows import Combine
from .storage import HostArray, Storage, XlaArray, is_only_read, storages, updating

_new = object.__new__
if TYPE_CHECKING:
    from .variable import Variable


class DeviceStorage(Storage):
    """The value is a `DeviceTensor`, the last one that was read.

    An XLA program leaves the value in `buffer`, its own memory, which it may overwrite in its next run. After a read,
    `last` is a view of that memory, and the next run gets a copy.
    """

    __slots__ = ("module",)

    array: HostArray | None = None
    tensor_class: type[Tensor] = DeviceTensor
    last: DeviceTensor | None
    module: ArrayModule

    def __init__(self, value: DeviceTensor) -> None:
        self.dtype = value.dtype
        self.put(value)

    def _hold(self, array: object, dims: tuple[int, ...] | None = None) -> DeviceTensor:
        """Make an array of the device the value and return it as a tensor; `dims` is its shape, if that is known."""
        last = _new(DeviceTensor)  # inlines `on_device`
        last.buffer = array
        last.module = self.module
        last.dtype = self.dtype
        last._dims = dims
        last.tracer = self.buffer = None
        self.last = last
        return last

    def snapshot(self) -> DeviceTensor:
        """Returns the value without waiting for other threads, unless they update it or XLA holds it."""
        last = self.last
        if last is None:
            with updating:
                last = self._hold(self.module.from_xla(self.buffer)) if self.last is None else self.last
        return last

    def holds(self, array: object) -> bool:
        """Whether the value still is the array that was read."""
        return self.snapshot().buffer is array

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the value."""
        last, buffer = self.last, self.buffer
        if last is None and buffer is not None:
            return tuple(buffer.shape)
        return (self.snapshot() if last is None else last).dims

    def read(self, variable: Variable, recorder: Recorder | None) -> Tensor:
        """Returns the value with tracers for the active recorder."""
        if thread.trace is not None:
            return thread.trace.read(variable)
        last = self.snapshot()
        if recorder is None and last.tracer is None:
            return last
        # Another thread may be using the last read: make a new one and leave the other's tracers alone.
        read = on_device(self.module, last.buffer, self.dtype)
        read._dims = last._dims
        if recorder is not None:
            recorder.trace_read(variable, read)
        with updating:
            if self.last is last:
                self.last, self.buffer = read, None
        return read

    def host(self) -> HostArray:
        """Fetch the value to the host."""
        return self.snapshot().array

    def latest(self) -> HostArray | XlaArray:
        """Returns XLA's array of the value, whose computation may be pending, or a host copy."""
        buffer = self.buffer if self.last is None else None
        return self.host() if buffer is None else buffer

    def xla(self, put: Callable[[HostArray], XlaArray]) -> XlaArray:
        """Returns the value as an array of XLA, which may be donated."""
        if self.buffer is None or (self.last is not None and self.buffer.is_deleted()):  # by a failed run
            array = self.module.to_xla(self.snapshot().buffer, True)
            self.buffer = put(array) if isinstance(array, np.ndarray) else array  # XLA runs on the host
        return self.buffer

    def received(self, new: Tensor) -> Tensor:
        """Copy a host tensor to the device."""
        return send_to_device(self.module, new)

    def put(self, new: Tensor) -> None:
        """Make a tensor on the device the value."""
        assert isinstance(new, DeviceTensor)
        self.module, self.device = new.module, new.module.device
        self._hold(new.buffer, new._dims)

    def take(self, array: object) -> None:
        """Make `array`, on the host or on the device, the value."""
        here = type(array) is self.module.array_type
        self._hold(array if here else self.module.from_host(np.asarray(array)))

    def take_xla(self, array: XlaArray) -> None:
        """Make an array of XLA the value."""
        self.buffer = array
        self.last = None

    def accumulate(self, ufunc: np.ufunc, delta: object, name: str) -> bool:
        """Combine the value with a tensor, in place if no other reference to the array exists."""
        if type(delta) is not Tensor and type(delta) is not DeviceTensor:
            return False
        module, last = self.module, self.last
        dims = None if last is None else last._dims
        del last  # which would be a reference: see `_update`
        if delta.dtype is not self.dtype or delta.buffer.shape != (dims or self.dims):
            return False
        functions = module.updates.get(ufunc) or module.updates.setdefault(ufunc, module.update(ufunc))
        change: Any = delta if type(delta) is DeviceTensor else send_to_device(module, delta)
        with updating:
            self._update(functions, (change.buffer,), name)
        return True

    def write_rows(self, at: Tensor, values: Tensor, combine: Combine) -> bool:
        """Add floats to rows, or subtract, in place if no other reference to the array exists; leave the rest to ops.

        Ops compute in narrow dtypes as TensorFlow does, and on the host what the library cannot.
        """
        if combine not in (operator.add, operator.sub) or self.dtype.kind != dtypes.FLOAT or 0 in values.dims:
            return False
        if type(at) not in REAL or type(values) not in REAL:
            return False
        module, ufunc = self.module, "add" if combine is operator.add else "subtract"

        def add(array: Any, rows: Any, delta: Any) -> Any:
            table = array if len(array.shape) == len(delta.shape) else array.reshape(-1, *delta.shape[1:])
            table = combine_at(module.xp, ufunc, table, rows, delta)
            # Not a view of itself, which the next update would have to copy.
            return table if len(array.shape) == len(delta.shape) else table.reshape(array.shape)

        with updating:
            rows: Any = send_to_device(module, at)
            change: Any = send_to_device(module, values)
            self._update((add, lambda array, *given: add(module.copy(array), *given)), (rows.buffer, change.buffer))
        return True

    def _update(self, functions: tuple[Callable[..., Any], ...], given: tuple[Any, ...], name: str = "") -> None:
        """Make `f(array, *given)` the value: of the two functions, the first may overwrite the storage's own array.

        The caller holds `updating`. `name` is the variable's, for the error of a device without memory.
        """
        module = self.module
        held: list[Any] = [self.snapshot() if self.last is None else self.last]
        self.last = None  # from here on, no other thread can obtain the array: see `snapshot`
        try:
            own = module.own_array(held[0].buffer) if is_only_read(held) else None
            array = functions[1](held[0].buffer, *given) if own is None else functions[0](own, *given)
            self._hold(array, held[0]._dims)
        except module.memory_errors as error:
            what = f"an update of variable '{name}'" if name else "an update of rows of a variable"
            raise exhausted(module, what, error) from error
        finally:
            if self.last is None:
                self.last = held[0]


storages[DeviceTensor] = DeviceStorage
