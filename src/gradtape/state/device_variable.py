"""Variables whose value is in the memory of a device: read, replaced and updated there."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core import devices, dtypes
from ..core.tensor import Tensor, placed
from ..engine.registry.devices import DeviceTensor, combined, exhausted, on_device, sent
from ..engine.run import dispatch
from ..engine.run.convert import readable, register
from ..engine.run.dispatch import thread
from ..engine.run.namespace import ops
from .rows import Combine, named_rows, scattered
from .variable import Variable, _converted, updating, variable_classes


class DeviceVariable(Variable):
    """The class that a `Variable` switches to if its initial value is on a device. `_read` holds the value.

    `_array` is None. An XLA program leaves the value in `_in_xla`, its own buffer, which it may overwrite in its next
    run. After a read, `_read` is a view of that buffer, and the next run gets a copy.
    """

    _array = None
    _held: DeviceTensor | None
    _in_xla: Any = None

    @property
    def _read(self) -> Any:
        held = self._held
        if held is None:
            with updating:
                if self._held is None:
                    self._held = on_device(self._module, self._module.from_xla(self._in_xla), self.dtype)
                    self._in_xla = None
                held = self._held
        return held

    @_read.setter
    def _read(self, value: Any) -> None:
        self._held, self._module, self._in_xla = value, value.module, None

    def _settle(self, value: Any) -> None:
        """Make a device tensor the initial value."""
        self._read = on_device(value.module, value.buffer, self.dtype)

    def _on_device(self, put: Any) -> Any:
        """Return the value as an XLA array, which may be donated. The caller holds `updating`."""
        if self._in_xla is None or (self._held is not None and self._in_xla.is_deleted()):  # by a failed run
            self._in_xla = self._module.to_xla(self._held.buffer, True)  # type: ignore[union-attr]
        return self._in_xla

    def _latest(self) -> Any:
        """The array of the current value wherever it is; its computation may be pending."""
        there = self._in_xla if self._held is None else None
        return self._read.array if there is None else there

    def _take_from_device(self, array: Any) -> None:
        """Make an XLA array of the right shape and dtype the value."""
        self._held, self._in_xla = None, array

    def _as_tensor(self) -> Tensor:
        recorder, held = thread.recorder, self._held
        read = self._read if held is None else held
        tracer = read.tracer
        if tracer is None:
            if recorder is None:
                return read
        elif recorder is not None and (
            read.tape_id is recorder.key if type(tracer) is int else tracer[2] is None and tracer[0] is recorder.key
        ):
            return read
        if thread.trace is not None:
            value: Tensor = thread.trace.read(self)
            return value
        # Another thread may be using the old read: make a new one and leave the old one's tracers alone.
        fresh = on_device(read.module, read.buffer, self.dtype)
        if recorder is not None:
            recorder.trace_read(self, fresh)
        with updating:
            if self._read.buffer is fresh.buffer:
                self._read = fresh
        return fresh

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the current value as a plain tuple."""
        there = self._in_xla if self._held is None else None
        shape: tuple[int, ...] = self._read.dims if there is None else there.shape
        return shape

    def _settled(self) -> Any:
        """Fetch the value to the host."""
        return self._read.array

    def _take(self, array: Any) -> None:
        """Make `array`, on the host or on the device, the value. The caller holds `updating`."""
        module = self._read.module
        there = array if type(array) is module.array_type else module.from_host(np.asarray(array))
        self._read = on_device(module, there, self.dtype)

    def _replace(self, new: Tensor) -> None:
        trace = thread.trace
        if trace is None and type(new) is not DeviceTensor:
            new = sent(self._read.module, new)  # before recorders are notified: later reads share this memory
        for r in dispatch.listeners():
            r.tracer_of(self, None)
            r.assigned(self, new)
        if trace is not None:
            trace.write(self, new)
            return
        with updating:
            self._read = on_device(new.module, new.buffer, self.dtype)  # type: ignore[attr-defined]

    def _update(self, ufunc: np.ufunc, delta: Any, sign: float) -> None:
        """Combine the value with `delta`, in place if no other reference to the buffer exists."""
        if type(delta) is not DeviceTensor or delta.dtype is not self.dtype or delta.dims != self.dims:
            delta = self._checked(delta)
        with updating:
            if thread.recorder is not None or not self.dtype.kind & _NUMBERS:
                self._replace((ops.add if sign > 0 else ops.sub)(self._as_tensor(), delta))
                return
            last = (self._read,)  # in a tuple: Python versions differ in counting local variables
            module, buffer = last[0].module, last[0].buffer
            change = sent(module, delta).buffer
            self._held = None  # from here on, no other thread can obtain the buffer: see `_read`
            try:
                # References to the buffer: this frame and the last read; to that read: this frame; `getrefcount` adds
                # one each. Memory owned by another array, as after `v.assign(tf.reshape(t, ...))`, may have more.
                alone = sys.getrefcount(last[0].buffer) <= 3 and sys.getrefcount(last[0]) <= 2
                out = buffer if alone and module.has_own_memory(buffer) else None
                new = combined(module, ufunc, buffer, change, out)
                self._read = on_device(module, new, self.dtype)
            except MemoryError as error:
                raise exhausted(self._module, f"an update of variable '{self._title}'", error) from error
            finally:
                if self._held is None:
                    self._held = last[0]

    def _scatter(self, indices: Tensor, updates: Any, combine: Combine) -> Any:
        with updating:
            value = self._as_tensor()
            at, values = named_rows(value.dims, self.dtype, indices, updates)
            self._replace(scattered(value, indices.dims[-1], at, values, combine))
        return self

    def _holds(self, array: Any) -> bool:
        """Whether the value is still the array that was read. The caller holds `updating`."""
        return self._read.buffer is array

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in _OF_DEVICE}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.__getstate__(),)


_OF_DEVICE = ("_held", "_module", "_in_xla", "placement")
_NUMBERS = dtypes.INT | dtypes.FLOAT | dtypes.COMPLEX


def _rebuilt(state: dict[str, Any]) -> Variable:
    """Rebuild a pickled variable on the default device."""
    variable = object.__new__(Variable)
    variable.__setstate__(state)
    variable._settle(placed(variable._read))
    if devices.here.elsewhere:
        variable.placement = devices.default_device()
    return variable


variable_classes[DeviceTensor] = DeviceVariable
register(DeviceVariable, _converted, 0)
readable.add(DeviceVariable)
