"""Where the value of a variable is stored, and how it is read, replaced and updated there.

A `Variable` has one `Storage`, chosen when it is created and exchanged when it is moved. Copy-on-write: an array is
updated in place only if no other reference to it exists, so a tensor that was read before keeps its value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..backends.arrays import ArrayModule
from ..backends.numpy.blocks import accumulate, combined
from ..backends.numpy.memory import AlignedMemory, align
from ..backends.tuning import UPDATED_IN_PLACE
from ..core import devices
from ..core.dtypes import DType
from ..core.locks import fork_safe_rlock
from ..core.protocols import Recorder
from ..core.tensor import Tensor, wrap
from ..engine.run.dispatch import thread
from .rows import Combine, writable, write

if TYPE_CHECKING:
    from .variable import Variable

_new = object.__new__
Array = TypeVar("Array")
HostArray = np.ndarray[Any, Any] | np.generic

# Held from reading a value to writing its successor: no update is lost, and donated memory is not read.
updating = fork_safe_rlock()


class XlaArray(Protocol):
    """An array in a buffer of XLA, a `jax.Array`; its computation may be pending."""

    shape: tuple[int, ...]

    def is_deleted(self) -> bool:
        """Whether the buffer was donated to a program."""


class Layout(NamedTuple):
    """The sharding of a value, and the mesh axis along which batches are split."""

    sharding: Any  # a `jax.sharding.NamedSharding`
    batch_axis: str | None = None


class Storage:
    """The place of a variable's value: here the host; subclasses keep it elsewhere. Writers hold `updating`.

    The value is a NumPy array, or is left in XLA's `buffer` by a program until it is read on the host.
    """

    __slots__ = ("array", "buffer", "device", "dtype", "last")

    tensor_class: type[Tensor] = Tensor  # of the tensors that are read
    module: ArrayModule | None = None  # the array library of a device other than the host
    layout: Layout | None = None  # of a value that is sharded over a mesh
    array: HostArray | None  # the value on the host, if it is there
    buffer: Any  # the value in XLA's memory; None if there is no copy
    last: Tensor | None  # the last tensor that was read, if it still is the value; None while it is being updated

    def __init__(self, array: HostArray, dtype: DType, device: str = devices.HOST.name) -> None:
        self.array, self.dtype, self.device = array, dtype, device
        self.buffer = self.last = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the value."""
        array = self.array
        return (self.latest() if array is None else array).shape

    def read(self, variable: Variable, recorder: Recorder | None) -> Tensor:
        """Returns the value with tracers for the active recorder, where `last` does not have them."""
        trace = thread.trace
        if trace is not None:
            return trace.read(variable)
        # Another thread may be using the last read: make a new one and leave the other's tracers alone.
        read = _new(Tensor)
        array = self.array
        read.array = self.host() if array is None else array
        read.dtype = self.dtype
        read.tracer = None
        if recorder is not None:
            recorder.trace_read(variable, read)
        with updating:
            if self.array is read.array:  # unless another thread has assigned meanwhile: its value wins
                self.last = read
        return read

    def snapshot(self) -> Tensor:
        """Returns the value without tracers, wherever it is."""
        return wrap(self.latest(), self.dtype)

    def holds(self, array: object) -> bool:
        """Whether the value still is the array that was read."""
        return self.latest() is array

    def host(self) -> HostArray:
        """Returns the host array once no other thread is updating it; fetch it from XLA where it is there."""
        with updating:
            if self.array is None:
                self.array = np.asarray(self.buffer)[()]
            return self.array

    def latest(self) -> Any:
        """Returns the array of the value wherever it is, without waiting for its computation."""
        array = self.array
        if array is None and (array := self.buffer) is None:  # another thread has exchanged them meanwhile
            with updating:
                array = self.buffer if self.array is None else self.array
        return array

    def xla(self, put: Callable[[HostArray], XlaArray]) -> XlaArray:
        """Returns the value as an array of XLA: the current one, or `put(array)`, cached per value.

        The array may be deleted if a run failed after its buffer was donated.
        """
        array, buffer = self.array, self.buffer
        if array is not None and (buffer is None or buffer.is_deleted()):
            buffer = self.buffer = put(array)
        return buffer

    def received(self, new: Tensor) -> Tensor:
        """Move a tensor of another class to this storage, with its tracers."""
        return new.cpu()

    def put(self, new: Tensor) -> None:
        """Make a tensor of `tensor_class` the value."""
        self.take(new.array)

    def take(self, array: HostArray) -> None:
        """Make an array of the right shape and dtype the value."""
        self.array = array
        self.last = self.buffer = None

    def take_xla(self, array: XlaArray) -> None:
        """Make an array of XLA the value; it is fetched to the host on demand."""
        self.buffer = array
        self.last = self.array = None

    def accumulate(self, ufunc: np.ufunc, delta: object, name: str) -> bool:
        """Combine the value of the variable `name` with `delta`; return False if this takes ops.

        A large value is updated in place if no other reference to it exists.
        """
        if type(delta) is not Tensor or delta.dtype is not self.dtype:
            return False
        other = delta.array
        with updating:
            if other.nbytes >= UPDATED_IN_PLACE and other.shape == self.dims and self.write(accumulate, other, ufunc):
                return True
            array = self.host() if self.array is None else self.array
            if other.shape != array.shape:
                return False
            self.take(combined(ufunc, array, other))
        return True

    def write_rows(self, at: Tensor, values: Tensor, combine: Combine) -> bool:
        """Update rows; return False if this takes ops.

        The update is in place if no other reference to the array exists, else in a copy.
        """
        if not writable(self.dtype, at, values, combine):
            return False
        if not self.write(write, at.array, values.array, combine):
            array = np.array(self.host(), order="C")
            write(array, at.array, values.array, combine)
            self.take(array if array.shape else array[()])
        return True

    def write(self, function: Callable[..., bool | None], *arguments: object) -> bool:
        """Call `function(array, *arguments)` if no other reference to the array exists; return whether it wrote.

        The function may return False to decline.
        """
        with updating:
            held = [self.last, self.array]
            if type(held[1]) is not np.ndarray or not (held[1].flags.c_contiguous and held[1].flags.writeable):
                return False
            self.buffer = self.array
            self.last = self.array = None  # from here on, no other thread can obtain the array: see `host`
            try:
                return is_exclusive(held, 1) and function(held[1], *arguments) is not False
            finally:
                if self.array is None:
                    self.array, self.buffer = held[1], None


def is_exclusive(held: list[Any], owners: int = 0) -> bool:
    """Whether no other reference exists to the last read of a value and to its array, the elements of `held`.

    The read is released if there is none. The storage itself may hold `owners` references to the array. They are passed
    in a list because Python versions differ in counting local variables; `getrefcount` adds one.
    """
    if held[0] is not None and sys.getrefcount(held[0]) > 2:
        return False
    held[0] = None
    if sys.getrefcount(held[1]) > 2 + owners:
        return False
    if type(held[1]) is not np.ndarray or held[1].flags.owndata:
        return True
    # Memory owned by another array, as after `v.assign(tf.reshape(t, ...))`: a view of the array would share its base.
    base = [held[1].base]
    if type(base[0]) is AlignedMemory:
        return True
    return type(base[0]) is np.ndarray and base[0].flags.owndata and sys.getrefcount(base[0]) <= 3


def is_only_read(held: list[Any]) -> bool:
    """Whether nothing else refers to a tensor on a device, the element of `held`, and only that tensor to its array."""
    return sys.getrefcount(held[0]) == 2 == sys.getrefcount(held[0].buffer)


def take(variable: Variable, array: HostArray) -> None:
    """Make an array the value of a variable."""
    variable._storage.take(array)


def take_xla(variable: Variable, array: XlaArray) -> None:
    """Make an array of XLA the value of a variable."""
    variable._storage.take_xla(array)


def take_all(assign: Callable[[Variable, Array], None], variables: Sequence[Variable], arrays: Sequence[Array]) -> None:
    """Call `assign`, which is `take` or `take_xla`, for each variable and its array. The caller holds `updating`.

    An interrupt in between is re-raised after all variables have their arrays.
    """
    try:
        for variable, array in zip(variables, arrays, strict=True):
            assign(variable, array)
    except BaseException:
        take_all(assign, variables, arrays)
        raise


def host_storage(value: Tensor) -> Storage:
    """Store a tensor of any class on the host, even in the scope of a GPU: a number, or a dtype that GPUs lack.

    An op on numbers of the host takes less time than the launch of a kernel, and every kernel accepts them. The device
    is that of the tensors that are read: one of the CPUs.
    """
    device = devices.default_device() if devices.here.elsewhere and type(value) is Tensor else devices.HOST
    return Storage(align(value.array), value.dtype, (devices.HOST if device.kind == "GPU" else device).name)


storages: dict[type[Tensor], Callable[[Any], Storage]] = {}  # by class of the tensors that are not stored on the host


def storage_of(value: Tensor) -> Storage:
    """Store a tensor where it is."""
    return storages.get(type(value), host_storage)(value)
