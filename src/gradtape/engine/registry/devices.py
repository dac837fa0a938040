"""`DeviceTensor`: a tensor whose value is in the memory of a device, and whose ops run there.

The kernels are NumPy's, bound to the device's library of arrays. Whatever asks for `array` gets a copy on the host: so
what gradtape does with values apart from ops is right without knowing of devices. Ops, sweeps and variables use
`buffer`, the array on the device. Tensors of the host that meet one on a device are taken there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy import asarray

from ...backends.arrays import ArrayModule
from ...core import devices, dtypes, errors
from ...core.devices import Device
from ...core.dtypes import DType
from ...core.scopes import carried, holding
from ...core.tensor import Tensor, when_placed, wrap
from ..run import dispatch, modes
from ..run.dispatch import tensor_like, thread
from ..run.namespace import raw
from .formula import neutral, traced
from .op import Op, bind, registry
from .row_formula import traced_rows

logger = logging.getLogger("gradtape")

_new = object.__new__
_NO_ATTRIBUTES: dict[str, Any] = {}
_NEVER_THERE = dtypes.STRING
_ALONG_ROWS = ("linear", "opaque", "reduction")  # the families of ops that may be formulas of rows
_TRIED = 16  # calls after which an op that was none is no longer tried
_KEPT = 256  # kernels kept for one op
# Sums, norms and the like of bfloat16 are computed in float32; products and elementwise functions as the library does
# it, and rounded if that is in a wider float.
_IN_FLOAT32 = ("constant", "opaque", "reduction")
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
        if self.dtype.kind == dtypes.NARROW and op.family in _IN_FLOAT32 and not op.moves_data:
            return dispatch.run_in_float32(op, inputs, attrs)
        for x in inputs:
            if type(x) is not DeviceTensor:
                inputs = _together(module, op, inputs)
                break
        arrays = [x.buffer for x in inputs]
        try:
            value = (module.kernels.get(op) or _kernel(module, op))(*arrays, **attrs)
        except Exception as error:
            value = _failed(module, op, inputs, attrs, error)
        like = inputs[0].dtype
        outputs: Any
        if type(value) is tuple:
            outputs = tuple([_result(module, op, y, like) for y in value])
        else:
            outputs = _result(module, op, value, like)
        if modes.active:
            modes.op_finished(op, inputs, outputs)
        recorder = thread.recorder
        if recorder is not None:
            _tell(recorder, op, inputs, outputs, attrs)
        return outputs

    def elementwise(self, op: Any, inputs: tuple[Any, ...], dtype: DType) -> Any:
        """`interpret` for an op of one or two arguments without attributes, whose result is of `dtype`: the usual case.

        The other argument, if there is one, is on the same device, or a number.
        """
        module = self.module
        try:
            value = (module.kernels.get(op) or _kernel(module, op))(*[x.buffer for x in inputs])
        except Exception as error:
            value = _failed(module, op, inputs, {}, error)
        y = on_device(module, value, dtype)
        if modes.active:
            modes.op_finished(op, inputs, y)
        recorder = thread.recorder
        if recorder is not None:
            _tell(recorder, op, inputs, y, _NO_ATTRIBUTES)
        return y

    def own_read(self) -> Tensor:
        """For what was read of a variable: the same as an object of its own."""
        x = on_device(self.module, self.buffer, self.dtype)
        x.tracer = self.tracers
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


REAL = frozenset({Tensor, DeviceTensor})  # the kinds of tensors that have a value and nothing else


def on_device(module: ArrayModule, buffer: Any, dtype: DType) -> DeviceTensor:
    """The tensor of an array that is on the device."""
    y = _new(DeviceTensor)
    y.buffer = buffer
    y.module = module
    y.dtype = dtype
    y.tracer = None
    return y


def use(gpus: Callable[[], list[dict[str, Any]]] | None, module_of: Callable[[Device], ArrayModule]) -> None:
    """From now on `gpus()` finds the GPUs of this machine, and `module_of(gpu)` is the library of arrays for one.

    Without `gpus`, there are none.
    """
    devices.set_probe(gpus)
    when_placed(None if gpus is None else partial(_placed, module_of))


class _Staying(threading.local):
    on = False


_staying = carried(_Staying())


def staying() -> AbstractContextManager[None]:
    """A block: new tensors made inside it stay on the host."""
    return holding(_staying, on=True)


def _placed(module_of: Callable[[Device], ArrayModule], x: Tensor) -> Tensor:
    """A new tensor where TensorFlow would have it: 32-bit integers, which say how ops work, stay on the host."""
    if not devices.here.elsewhere or thread.trace is not None or type(x) is not Tensor:
        return x
    if _staying.on:
        return x
    if x.dtype is dtypes.int32 or x.dtype.kind & _NEVER_THERE:
        return x
    device = devices.default_device()
    if device.kind != "GPU":
        return x
    y = _copied(module_of(device), x)
    y.tracer = x.tracer
    return y


def sent(module: ArrayModule, x: Tensor) -> Tensor:
    """The tensor `x` on the device; strings stay on the host."""
    if type(x) is not Tensor or x.dtype.kind & _NEVER_THERE:
        return x
    return _moved(x, _copied(module, x))


def _copied(module: ArrayModule, x: Tensor) -> DeviceTensor:
    """A tensor of the host on the device, on no tape. One number that is repeated is sent once."""
    array = asarray(x.array)
    if array.size > 1 and not any(array.strides):
        number = module.from_host(array[(0,) * array.ndim])
        return on_device(module, module.xp.broadcast_to(number, array.shape).copy(), x.dtype)
    return on_device(module, module.from_host(array), x.dtype)


def _moved(x: Tensor, y: Tensor) -> Tensor:
    """`y`, a copy of `x` elsewhere, with its place on tapes: a derivative goes through as it is."""
    recorder = thread.recorder
    if recorder is not None and x.tracer is not None:
        recorder.record(registry["identity"], (x,), y, {})
    return y


def _together(module: ArrayModule, op: Any, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs with those of the host sent to the device; strings, and whatever else only Python knows, stay.

    So does a number, which an elementwise kernel takes as is.
    """
    elementwise = op.family == "elementwise"
    found: list[Tensor] = []
    for x in inputs:
        if type(x) is Tensor and not ((elementwise and not x.array.shape) or x.dtype.kind & _NEVER_THERE):
            y = _copied(module, x)
            y.tracer = x.tracers
            x = y
        found.append(x)
    return found


def _tell(recorder: Any, op: Any, inputs: Sequence[Any], outputs: Any, attrs: dict[str, Any]) -> None:
    for x in inputs:
        if x.tracer is not None:
            recorder.record(op, inputs, outputs, attrs)
            return
    if dispatch.event_log is not None:
        dispatch.event_log.record(op, inputs, outputs, attrs)


def _failed(module: ArrayModule, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any], error: Exception) -> Any:
    """What an op gives whose kernel has failed on the device, if it can be computed on the host; else its error."""
    if isinstance(error, ValueError | np.linalg.LinAlgError):
        raise dispatch.failure(op, [x.dims for x in inputs], error) from error
    if isinstance(error, MemoryError):
        raise exhausted(module, f"op {op.name} on inputs of shapes {[list(x.dims) for x in inputs]}", error) from error
    if not isinstance(error, _NOT_FOR_DEVICE):
        raise error
    return _by_way_of_host(module, op, error)(*[x.buffer for x in inputs], **attrs)


def _result(module: ArrayModule, op: Any, value: Any, like: DType) -> Tensor:
    """A kernel's result: what it has left on the host stays there."""
    array_type: Any = module.array_type
    if type(value) is not array_type:
        return tensor_like(value, like)
    if like.narrow and not op.moves_data:
        value = rounded(value, like)
    dtype = value.dtype
    return on_device(module, value, like if dtype is like.numpy else dtypes.of_numpy(dtype))


def rounded(array: Any, dtype: DType) -> Any:
    """An array of a device that was computed in float32, or more, for the narrow `dtype`, in that dtype."""
    return array.astype(dtype.numpy) if array.dtype.kind == "f" else array


def _kernel(module: ArrayModule, op: Any) -> Callable[..., Any]:
    """The kernel of an op for the arrays of a device, which is kept: a formula of several steps in one launch."""
    if not isinstance(op, Op):
        there = op.device_kernel(module)
        if there is None:  # the user's own code
            return _on_host(module, op)
        module.kernels[op] = there
        return there
    try:
        there = bind(op.kernel, module.xp)
    except AttributeError as error:
        return _by_way_of_host(module, op, error)
    if op.family == "elementwise":
        there = _in_one_launch(module, op, there)
    elif op.family in _ALONG_ROWS and isinstance(op.kernel, FunctionType):
        there = _rows_in_one_launch(module, op, there)
    module.kernels[op] = there
    return there


def _in_one_launch(module: ArrayModule, op: Op, there: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an elementwise op as one of the device's own, for each combination of dtypes, if it can be."""
    formula = bind(op.kernel, neutral)
    fused: dict[Any, Callable[..., Any]] = {}

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        given = tuple([x.dtype for x in arrays])
        key = (given, *attrs.items()) if attrs else given
        run = fused.get(key)
        if run is None:
            steps = traced(partial(formula, **attrs), given)
            run = None if steps is None or not steps.steps else module.fuse(steps)
            run = fused[key] = partial(there, **attrs) if run is None else run
        return run(*arrays)

    return kernel


def _rows_in_one_launch(module: ArrayModule, op: Op, there: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an op along the last axis as one of the device's own, for each combination of shapes, if it can be.

    An op that turns out to be no formula of rows again and again is left to the library.
    """
    fused: dict[Any, Callable[..., Any]] = {}
    hopes = _TRIED

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        nonlocal hopes
        try:
            key = (*[(x.shape, x.dtype) for x in arrays], *attrs.items())
            run = fused.get(key)
        except (AttributeError, TypeError):  # a list among the arguments
            return there(*arrays, **attrs)
        if run is None:
            rows = traced_rows(partial(op.kernel, **attrs), [x.shape for x in arrays], [x.dtype for x in arrays])
            run = None if rows is None else module.fuse_rows(rows)
            hopes -= run is None
            if not hopes:
                module.kernels[op] = there
            run = fused[key] = partial(there, **attrs) if run is None else run
            if len(fused) > _KEPT:
                fused.clear()
        return run(*arrays)

    return kernel


def combined(module: ArrayModule, ufunc: np.ufunc, array: Any, other: Any, out: Any) -> Any:
    """`ufunc(array, other)` for arrays of one dtype and shape of a device, written to `out` unless that is None."""
    key = (ufunc, array.dtype)
    run = module.kernels.get(key)
    if run is None:
        formula = traced(ufunc, (array.dtype, array.dtype))
        run = (module.fuse(formula) if formula else None) or getattr(module.xp, ufunc.__name__)
        module.kernels[key] = run
    return run(array, other, out=out)


def _on_host(module: ArrayModule, op: Any) -> Callable[..., Any]:
    """The kernel of NumPy for arrays of a device, which are copied there and back."""

    def returned(y: Any) -> Any:
        return y if asarray(y).dtype.kind == "O" else module.from_host(asarray(y))

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        value = op.numpy(*[module.to_host(a)[()] if type(a) is module.array_type else a for a in arrays], **attrs)
        return tuple(map(returned, value)) if type(value) is tuple else returned(value)

    return kernel


def _by_way_of_host(module: ArrayModule, op: Any, reason: Exception) -> Callable[..., Any]:
    """The same for an op that the device's library cannot compute, with these dtypes at least; it is said once."""
    on_host = _on_host(module, op)

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        value = on_host(*arrays, **attrs)  # raises what is wrong with the arguments themselves
        if op.name not in module.by_way_of_host:
            module.by_way_of_host.add(op.name)
            logger.warning("op %s has no kernel for %s: it is computed on the host (%s)", op.name, module.name, reason)
        return value

    return kernel


def exhausted(module: ArrayModule, what: str, error: MemoryError) -> Exception:
    """What is raised when the device has no memory left for something."""
    return errors.ResourceExhaustedError(
        f"the device has no memory left for {what} ({error}); {module.memory()}. `gradtape.inspect.live_tapes()` shows "
        "which tapes hold memory. What a tape has recorded is kept until its gradient is taken or it is deleted; "
        "smaller batches, tf.recompute_grad or a half-precision dtype need less"
    )


class DeviceOps:
    """The ops under their names for bare arrays of a device, as rules call them: see `namespace.raw`."""

    def __init__(self, module: ArrayModule) -> None:
        self._module = module
        self.constant = module.xp.asarray
        self.fuse = module.fuse

    def __getattr__(self, name: str) -> Any:
        getattr(raw, name)  # loads the ops, or says that there is no such one
        module, op = self._module, registry[name]

        def call(*arrays: Any, **attrs: Any) -> Any:
            try:
                return (module.kernels.get(op) or _kernel(module, op))(*arrays, **attrs)
            except _NOT_FOR_DEVICE as error:
                return _by_way_of_host(module, op, error)(*arrays, **attrs)

        setattr(self, name, call)
        return call


def ops_of(module: ArrayModule) -> DeviceOps:
    """The ops for bare arrays of this device."""
    if module.ops is None:
        module.ops = DeviceOps(module)
    found: DeviceOps = module.ops
    return found
