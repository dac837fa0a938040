"""`DeviceTensor`: a tensor whose value is in the memory of a device, and whose ops run there.

The kernels are NumPy's, bound to the device's library of arrays. Whatever asks for `array` gets a copy on the host: so
what gradtape does with values apart from ops is right without knowing of devices. Ops, sweeps and variables use
`buffer`, the array on the device. Tensors of the host that meet one on a device are taken there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy import asarray

from ...backends.arrays import ArrayModule
from ...core import devices, dtypes
from ...core.devices import Device
from ...core.dtypes import DType
from ...core.tensor import Tensor, when_placed, wrap
from ..run import dispatch
from ..run.dispatch import tensor_like, thread
from .op import Op, bind, registry

logger = logging.getLogger("gradtape")

_new = object.__new__
_NEVER_THERE = dtypes.STRING
# What a kernel raises that asks for what the device's library has not, or for the values themselves.
_NOT_FOR_DEVICE = (AttributeError, NotImplementedError, TypeError)


class DeviceTensor(Tensor):
    """A tensor on a device."""

    __slots__ = ("buffer", "module")

    level = -1  # below all recorders and batches: whatever stands for a tensor interprets first

    buffer: Any
    module: ArrayModule

    @property
    def array(self) -> Any:
        """The value on the host, as NumPy's ops have it."""
        return self.module.to_host(self.buffer)[()]

    @property
    def dims(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.buffer.shape
        return shape

    @property
    def device(self) -> str:
        """Where the value lives, in TensorFlow's spelling."""
        return self.module.device

    backing_device = device

    def interpret(self, op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Runs `op` on this tensor's device; whoever records is told."""
        module = self.module
        kernel = module.kernels.get(op)
        if kernel is None:
            kernel = module.kernels[op] = _kernel(module, op)
        try:
            if op.family == "elementwise":
                arrays = [x.buffer if type(x) is DeviceTensor else _operand(module, x) for x in inputs]
            else:
                arrays = [x.buffer if type(x) is DeviceTensor else module.from_host(asarray(x.array)) for x in inputs]
            value = kernel(*arrays, **attrs)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise dispatch.failure(op, [x.dims for x in inputs], error) from error
        like = inputs[0].dtype
        outputs: Any
        if type(value) is tuple:
            outputs = tuple([_result(module, y, like) for y in value])
        else:
            outputs = _result(module, value, like)
        recorder = thread.recorder
        if recorder is not None:
            for x in inputs:
                if x.mark is not None:
                    recorder.record(op, inputs, outputs, attrs)
                    break
            else:
                if dispatch.witness is not None:
                    dispatch.witness.record(op, inputs, outputs, attrs)
        return outputs

    def own_read(self) -> Tensor:
        """For what was read of a variable: the same as an object of its own."""
        x = on_device(self.module, self.buffer, self.dtype)
        x.mark = self.marks
        return x

    def cpu(self) -> Tensor:
        """The tensor in host memory."""
        return _moved(self, wrap(self.array, self.dtype))

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """The tensor in the memory of a GPU: itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return on_device(self.module, self.buffer.copy(), self.dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.buffer.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.buffer.__dlpack_device__()
        return device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface: dict[str, Any] = self.buffer.__cuda_array_interface__
        return interface


def on_device(module: ArrayModule, buffer: Any, dtype: DType) -> DeviceTensor:
    """The tensor of an array that is on the device."""
    y = _new(DeviceTensor)
    y.buffer = buffer
    y.module = module
    y.dtype = dtype
    y.mark = None
    return y


def use(gpus: Callable[[], list[dict[str, Any]]] | None, module_of: Callable[[Device], ArrayModule]) -> None:
    """From now on `gpus()` finds the GPUs of this machine, and `module_of(gpu)` is the library of arrays for one.

    Without `gpus`, there are none.
    """
    devices.set_probe(gpus)
    when_placed(None if gpus is None else partial(_placed, module_of))


def _placed(module_of: Callable[[Device], ArrayModule], x: Tensor) -> Tensor:
    """A new tensor where TensorFlow would have it: 32-bit integers, which say how ops work, stay on the host."""
    if not devices.here.elsewhere or thread.trace is not None or type(x) is not Tensor:
        return x
    if x.dtype is dtypes.int32 or x.dtype.kind & _NEVER_THERE:
        return x
    device = devices.default_device()
    if device.kind != "GPU":
        return x
    module = module_of(device)
    y = on_device(module, module.from_host(asarray(x.array)), x.dtype)
    y.mark = x.mark
    return y


def sent(module: ArrayModule, x: Tensor) -> Tensor:
    """The tensor `x` on the device; strings stay on the host."""
    if type(x) is not Tensor or x.dtype.kind & _NEVER_THERE:
        return x
    return _moved(x, on_device(module, module.from_host(asarray(x.array)), x.dtype))


def _moved(x: Tensor, y: Tensor) -> Tensor:
    """`y`, a copy of `x` elsewhere, with its place on tapes: a derivative goes through as it is."""
    recorder = thread.recorder
    if recorder is not None and x.mark is not None:
        recorder.record(registry["identity"], (x,), y, {})
    return y


def _operand(module: ArrayModule, x: Tensor) -> Any:
    """A tensor of the host as an argument of an elementwise kernel: a number as it is, which needs no copy."""
    array = x.array
    return module.from_host(array) if array.shape else array[()]


def _result(module: ArrayModule, value: Any, like: DType) -> Tensor:
    """A kernel's result: what it has left on the host stays there."""
    if type(value) is not module.array_type:
        return tensor_like(value, like)
    dtype = value.dtype
    return on_device(module, value, like if dtype is like.numpy else dtypes.of_numpy(dtype))


def _kernel(module: ArrayModule, op: Any) -> Callable[..., Any]:
    """The kernel for arrays of the device; what the device's library cannot compute goes by way of the host."""

    def on_host(*arrays: Any, **attrs: Any) -> Any:
        given = [module.to_host(a)[()] if type(a) is module.array_type else a for a in arrays]
        value = op.numpy(*given, **attrs)
        return tuple(map(returned, value)) if type(value) is tuple else returned(value)

    def returned(y: Any) -> Any:
        return module.from_host(asarray(y)) if asarray(y).dtype.kind != "O" else y

    if not isinstance(op, Op):  # a graph's branch or loop, or the user's own code
        return on_host
    try:
        there = bind(op.kernel, module.xp)
    except AttributeError:
        there = None

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        if there is not None and op.name not in module.by_way_of_host:
            try:
                return there(*arrays, **attrs)
            except _NOT_FOR_DEVICE:
                value = on_host(*arrays, **attrs)  # raises what is wrong with the arguments themselves
        else:
            return on_host(*arrays, **attrs)
        module.by_way_of_host.add(op.name)
        logger.warning("op %s has no kernel for %s: it is computed on the host", op.name, module.name)
        return value

    return kernel
