"""`DeviceTensor`: a tensor whose value is in device memory and whose ops run there.

The kernels are the same as NumPy's, bound to the device's array library. Reading `array` returns a copy on the host, so
that code which uses values outside ops is correct without knowing about devices. Ops, sweeps and variables use
`buffer`, the device array. Host tensors in an op with a device tensor are copied to the device.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy import asarray

from ...backends.arrays import ArrayModule, Kernels
from ...backends.torch.host_kernels import JOINT_VJPS
from ...core import devices, dtypes, errors, logger, modes
from ...core.device_kinds import Device
from ...core.dtypes import DType
from ...core.extension_points import place_tensor
from ...core.protocols import Operand, OpLike
from ...core.scopes import carried, holding
from ...core.tensor import Tensor, wrap
from ..run import dispatch
from ..run.convert import readable
from ..run.dispatch import tensor_like, thread
from ..run.namespace import Namespace
from .formula import neutral, trace_formula
from .op import Op, Unregistered, bind, op_named, with_torch

_new = object.__new__
_KEPT = 256  # cached kernels per op, and cached numbers
_KEPT_SCALARS = 16
# Ops of narrow dtypes with several steps are computed in float32, unless the library has a kernel of its own;
# products and elementwise functions in whatever precision the library uses, and rounded if that is wider.
_IN_FLOAT32 = ("constant", "opaque", "reduction")
_FLOATS = dtypes.FLOAT | dtypes.NARROW


class DeviceTensor(Tensor):
    """A tensor on a device."""

    __slots__ = ("_dims", "buffer", "module")

    level = -1  # below all recorders and batches, so that proxies interpret first

    buffer: Any
    module: ArrayModule
    _dims: tuple[int, ...] | None  # the shape, once it is known: PyTorch creates an object at every read

    @property
    def array(self) -> Any:
        """The value copied to the host, in the form that NumPy ops return."""
        try:
            return self.module.to_host(self.buffer)[()]
        except RuntimeError as error:
            devices.raise_if_lost("a copy to the host", error)
            raise

    @property
    def dims(self) -> tuple[int, ...]:
        found = self._dims
        if found is None:
            found = self._dims = tuple(self.buffer.shape)
        return found

    @property
    def device(self) -> str:
        """The device's name in TensorFlow's spelling."""
        return self.module.device

    backing_device = device

    def interpret(self, op: OpLike, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Runs `op` on this tensor's device and notifies the recorders."""
        module = self.module
        kernels = module.kernels.get(op) or _kernels(module, op)
        if self.dtype.kind == dtypes.NARROW and op.family in _IN_FLOAT32 and not op.moves_data:
            if kernels.of_floats is kernels.general:
                return dispatch.run_in_float32(op, inputs, attrs)
        for x in inputs:
            if type(x) is not DeviceTensor:
                inputs = _copy_host_inputs(module, op, inputs)
                break
        arrays = [x.buffer for x in inputs]
        try:
            is_float = inputs[kernels.operand].dtype.kind & _FLOATS
            value = (kernels.of_floats if is_float else kernels.of_others)(*arrays, **attrs)
            if value is None:
                value = kernels.general(*arrays, **attrs)
        except Exception as error:
            value = _run_after_failure(module, op, inputs, attrs, error)
        like = inputs[0].dtype
        outputs: Any
        if type(value) is tuple:
            outputs = tuple([_wrap_result(module, op, y, like) for y in value])
        else:
            outputs = _wrap_result(module, op, value, like)
        if modes.active:
            dispatch.notify(op, inputs, outputs, attrs)
        elif (recorder := thread.recorder) is not None:
            for x in inputs:
                if x.tracer is not None:
                    recorder.record(op, inputs, outputs, attrs)
                    break
        return outputs

    def number(self, value: float) -> Tensor:
        """Returns a number of the program as the library reads it fastest: a scalar in host memory, cached."""
        module, dtype = self.module, self.dtype
        known = module.numbers.get((dtype.name, value))
        if known is None:
            known = on_device(module, module.scalar(super().number(value).array), dtype)
            if len(module.numbers) >= _KEPT:  # a rate that is another number in every step
                module.numbers.clear()
            if value and value == value:  # 0.0 and -0.0 are the same key
                module.numbers[dtype.name, value] = known
        return known

    def own_read(self) -> Tensor:
        """Returns a distinct tensor object for a value read from a variable."""
        x = on_device(self.module, self.buffer, self.dtype)
        x.tracer = self.tracers
        return x

    def cpu(self) -> Tensor:
        """Copies the tensor to host memory, with its tracers."""
        return _record_move(self, wrap(self.array, self.dtype))

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """Returns the tensor in GPU memory: itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return on_device(self.module, self.module.copy(self.buffer), self.dtype)

    def __dlpack__(self, **options: Any) -> Any:
        if self.tracer is not None:
            dispatch.escaped(self, "DLPack")
        return self.module.shared(self.buffer).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.buffer.__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.buffer.__cuda_array_interface__


REAL = frozenset({Tensor, DeviceTensor})  # the tensor classes that only hold a value


def on_device(module: ArrayModule, buffer: Any, dtype: DType) -> DeviceTensor:
    """Wraps a device array as a tensor."""
    y = _new(DeviceTensor)
    y.buffer = buffer
    y.module = module
    y.dtype = dtype
    y.tracer = y._dims = None
    return y


def use(gpus: Callable[[], list[dict[str, Any]]] | None, module_of: Callable[[Device], ArrayModule]) -> None:
    """Installs a GPU backend: `gpus()` discovers GPUs and `module_of(gpu)` returns the array library of one.

    Without `gpus`, the machine has no GPUs.
    """
    devices.set_probe(gpus)
    place_tensor.install(None if gpus is None else partial(_place, module_of))


class _Staying(threading.local):
    on = False


_staying = carried(_Staying())


def staying() -> AbstractContextManager[None]:
    """A context in which new tensors stay on the host."""
    return holding(_staying, on=True)


def _place(module_of: Callable[[Device], ArrayModule], x: Tensor) -> Tensor:
    """Places a new tensor as TensorFlow does: int32 tensors, usually shapes and indices, stay on the host."""
    if not devices.here.elsewhere or thread.trace is not None or type(x) is not Tensor or _staying.on:
        return x
    if x.dtype is dtypes.int32:
        return x
    device = devices.default_device()
    if device.kind != "GPU":
        return x
    module = module_of(device)
    if not module.supports(x.dtype.numpy):
        return x
    return _copy_to_device(module, x, x.tracers)


def send_to_device(module: ArrayModule, x: Tensor) -> Tensor:
    """Copies `x` to the device, with its tracers; strings, and dtypes that the library lacks, stay on the host."""
    if type(x) is not Tensor or not module.supports(x.dtype.numpy):
        return x
    return _record_move(x, _copy_to_device(module, x, None))


def send_cotangent(module: ArrayModule, g: Tensor) -> Any:
    """Returns a cotangent as an array of the device; the default one of a scalar target is copied there once."""
    if type(g) is not Tensor or g.dims or g.array != 1:
        sent: Any = send_to_device(module, g)
        return sent.buffer
    key = "cotangent", g.dtype
    known = module.numbers.get(key)
    if known is None:
        known = module.numbers[key] = _copy_to_device(module, g, None)
    return known.buffer


def _copy_to_device(module: ArrayModule, x: Tensor, tracers: Any) -> DeviceTensor:
    """Copies a host tensor to the device, with these tracers; a broadcast number fills memory there without a copy."""
    array = asarray(x.array)
    try:
        if array.size > 1 and not any(array.strides) and array.dtype.kind != "u":
            buffer = module.xp.full(array.shape, array[(0,) * array.ndim])
        else:
            buffer = module.from_host(array)
    except module.memory_errors as error:
        raise exhausted(module, f"a tensor of shape {array.shape} and dtype {x.dtype.name}", error) from error
    except RuntimeError as error:
        devices.raise_if_lost("a copy to the device", error)
        raise
    y = on_device(module, buffer, x.dtype)
    y.tracer = tracers
    return y


def _record_move(x: Tensor, y: Tensor) -> Tensor:
    """Records `y`, a copy of `x` on another device, as its identity, so that gradients pass through."""
    recorder = thread.recorder
    if recorder is not None and x.tracer is not None:
        recorder.record(op_named("identity"), (x,), y, {})
    return y


def _copy_host_inputs(module: ArrayModule, op: OpLike, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Copies the host inputs to the device, except strings and other dtypes that the library lacks.

    Scalars of elementwise ops stay in host memory, since their kernels accept them.
    """
    elementwise = op.family == "elementwise"
    found: list[Tensor] = []
    for x in inputs:
        if type(x) is Tensor and module.supports(x.dtype.numpy):
            is_scalar = elementwise and not asarray(x.array).shape
            x = _scalar_beside(module, x) if is_scalar else _copy_to_device(module, x, x.tracers)
        found.append(x)
    return found


def _read_beside(a: Any, b: Any) -> tuple[Any, Any]:
    """Reads a variable, and a number or host scalar beside a device tensor; returns other values unchanged."""
    if type(a) in readable:
        a = a._as_tensor()
    is_first = type(a) is DeviceTensor
    x, other = (a, b) if is_first else (b, a)
    kind = type(other)
    if type(x) is not DeviceTensor or kind is DeviceTensor:
        return a, b
    if kind is float or kind is int:
        if x.dtype.kind == dtypes.FLOAT:
            known = x.module.numbers.get((x.dtype.name, other))
            other = x.number(other) if known is None else known
    elif kind is Tensor and other.dtype is x.dtype and not other.array.shape:
        other = _scalar_beside(x.module, other)
    return (x, other) if is_first else (other, x)


def _scalar_beside(module: ArrayModule, x: Tensor) -> DeviceTensor:
    """Returns a host scalar as an operand of elementwise ops on the device; its memory stays on the host.

    A rate that an optimizer computes is the operand for many variables.
    """
    known = module.scalars.get(id(x))
    if known is not None and known[0] is x and x.tracer is None:
        return known[1]
    y = on_device(module, module.scalar(x.array), x.dtype)
    y.tracer = x.tracers
    if y.tracer is None and type(x.array) is not np.ndarray:  # which could be overwritten
        if len(module.scalars) >= _KEPT_SCALARS:
            module.scalars.clear()
        module.scalars[id(x)] = x, y
    return y


def _run_after_failure(
    module: ArrayModule, op: OpLike, inputs: Sequence[Tensor], attrs: dict[str, Any], error: Exception
) -> Any:
    """Handles a kernel's failure on the device: runs it on the host where possible, else raises the op's error."""
    devices.raise_if_lost(f"op {op.name}", error)
    final: tuple[type[Exception], ...] = (ValueError, *module.memory_errors)
    if isinstance(error, module.refusals) and not isinstance(error, final):
        try:
            return _on_host(module, op, error)(*[x.buffer for x in inputs], **attrs)
        except final as wrong:
            error = wrong
    if isinstance(error, ValueError):
        raise dispatch.failure(op, [x.dims for x in inputs], error) from error
    if isinstance(error, module.memory_errors):
        what = f"op {op.name} on inputs of shapes {[list(x.dims) for x in inputs]}"
        raise exhausted(module, what, error) from error
    raise error


def _wrap_result(module: ArrayModule, op: OpLike, value: Any, like: DType) -> Tensor:
    """Wraps a kernel's result; an array that the kernel left on the host stays there."""
    array_type: Any = module.array_type
    if type(value) is not array_type:
        return tensor_like(value, like)
    if like.narrow and not op.moves_data:
        value = rounded(module, value, like)
    found = value.dtype
    dtype = module.dtypes.get(found)
    if dtype is None:
        dtype = module.dtypes[found] = dtypes.of_numpy(module.numpy_dtype(value))
    y = _new(DeviceTensor)  # inlines `on_device`
    y.buffer = value
    y.module = module
    y.dtype = like if dtype.numpy is like.numpy else dtype
    y.tracer = y._dims = None
    return y


def rounded(module: ArrayModule, array: Any, dtype: DType) -> Any:
    """Rounds a device array that was computed in a wider float to the narrow `dtype`."""
    return module.cast(array, dtype.numpy) if module.numpy_dtype(array).kind == "f" else array


def device_first(op: Op, general: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what the fast path of an op calls for arguments that it does not handle; `general` handles all.

    Device tensors of one dtype that the op accepts need no conversion.
    """
    kinds = op.kinds

    def unary(x: Any, **attrs: Any) -> Any:
        if type(x) is DeviceTensor and x.dtype.kind & kinds:
            return x.interpret(op, (x,), attrs)
        return general(x, **attrs)

    def binary(a: Any, b: Any, **attrs: Any) -> Any:
        if type(a) is type(b) is DeviceTensor and a.dtype is b.dtype and a.dtype.kind & kinds:
            return a.interpret(op, (a, b), attrs)
        return general(a, b, **attrs)

    return unary if len(op.args) == 1 else binary


def elementwise_device_first(op: Op, general: Callable[..., Any], kinds: int, to: DType | None) -> Callable[..., Any]:
    """Returns what the fast path of an elementwise op calls for arguments that it does not handle.

    Device tensors come first: for them, this is the fast path of `DeviceTensor.interpret`.
    """

    def unary(x: Any) -> Any:
        if not isinstance(x, Tensor) or not x.dtype.kind & kinds:
            return general(x)
        if type(x) is not DeviceTensor:
            return dispatch.run(op, (x,), {})
        module = x.module
        try:
            kernels = module.kernels.get(op) or _kernels(module, op)
            value = (kernels.of_floats if x.dtype.kind & _FLOATS else kernels.of_others)(x.buffer)
            if value is None:
                value = kernels.general(x.buffer)
        except Exception as error:
            value = _run_after_failure(module, op, (x,), {}, error)
        y = _new(DeviceTensor)  # inlines `on_device`
        y.buffer = value
        y.module = module
        y.dtype = to or x.dtype
        y.tracer = y._dims = None
        if modes.active:
            dispatch.notify(op, (x,), y, {})
        elif x.tracer is not None and (recorder := thread.recorder) is not None:
            recorder.record(op, (x,), y, {})
        return y

    def binary(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is not DeviceTensor or type(a) is not DeviceTensor:
            if kind in readable:
                b = b._as_tensor()
            elif kind is float and type(a) is DeviceTensor and a.dtype.kind == dtypes.FLOAT:
                known = a.module.numbers.get((a.dtype.name, b))
                b = a.number(b) if known is None else known
            if type(a) is not DeviceTensor or type(b) is not DeviceTensor:
                a, b = _read_beside(a, b)
                if type(a) is not DeviceTensor or type(b) is not DeviceTensor:
                    return others(a, b)
        dtype = a.dtype
        if dtype is not b.dtype or not dtype.kind & kinds:
            return general(a, b)
        module = a.module
        if b.module is not module:
            return others(a, b)
        try:
            kernels = module.kernels.get(op) or _kernels(module, op)
            value = (kernels.of_floats if dtype.kind & _FLOATS else kernels.of_others)(a.buffer, b.buffer)
            if value is None:
                value = kernels.general(a.buffer, b.buffer)
        except Exception as error:
            value = _run_after_failure(module, op, (a, b), {}, error)
        y = _new(DeviceTensor)
        y.buffer = value
        y.module = module
        y.dtype = to or dtype
        y.tracer = y._dims = None
        if modes.active:
            dispatch.notify(op, (a, b), y, {})
        elif (a.tracer is not None or b.tracer is not None) and (recorder := thread.recorder) is not None:
            recorder.record(op, (a, b), y, {})
        return y

    def others(a: Any, b: Any) -> Any:
        tensors = isinstance(a, Tensor) and isinstance(b, Tensor)
        if not tensors or a.dtype is not b.dtype or not a.dtype.kind & kinds:
            return general(a, b)
        return dispatch.run(op, (a, b), {})

    return unary if len(op.args) == 1 else binary


def call_on_all(method: str, tensors: Sequence[Tensor], *others: Tensor) -> Any:
    """Calls a method of the array library with all tensors at once, and wraps the arrays that it returns.

    Returns None if the library cannot, if the tensors are not on one device or differ in dtype, or if ops are observed.
    """
    first = tensors[0] if tensors else None
    if type(first) is not DeviceTensor or modes.active or thread.recorder is not None:
        return None
    module, dtype = first.module, first.dtype
    for x in (*tensors, *others):
        if type(x) is not DeviceTensor or x.module is not module or x.dtype is not dtype:
            return None
    try:
        found = getattr(module, method)([x.buffer for x in tensors], *[x.buffer for x in others])
    except module.memory_errors as error:
        raise exhausted(module, f"{len(tensors)} tensors", error) from error
    except module.refusals:
        return None
    is_one = type(found) is module.array_type
    return on_device(module, found, dtype) if is_one else [on_device(module, y, dtype) for y in found]


def _kernels(module: ArrayModule, op: OpLike) -> Kernels:
    """Returns and caches an op's kernels for device arrays; formulas of several steps are fused into one launch."""
    if isinstance(op, Unregistered):  # user code
        on_host = _on_host(module, op)
        return Kernels(on_host, on_host, on_host)
    try:
        general = bind(op.kernel, module.xp)
    except AttributeError as error:
        general = _on_host(module, op, error)
    if op.family == "elementwise" and isinstance(op.kernel, FunctionType):
        general = _in_one_launch(module, op, general)
    found = module.kernels[op] = module.kernels_of(op.name, general)
    return found


def _in_one_launch(module: ArrayModule, op: OpLike, device_kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps an elementwise kernel with one fused kernel per combination of dtypes, where it is a formula."""
    formula = bind(op.kernel, neutral)
    fused: dict[Any, Callable[..., Any]] = {}

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        try:
            given = tuple([x.dtype for x in arrays])
        except AttributeError:  # a number of Python, which has the dtype of the others
            return device_kernel(*arrays, **attrs)
        key = (given, *attrs.items()) if attrs else given
        run = fused.get(key)
        if run is None:
            steps = trace_formula(partial(formula, **attrs), [dtype_on(module, x) for x in arrays])
            run = None if steps is None or len(steps.steps) < 2 else module.fuse(steps)
            run = fused[key] = partial(device_kernel, **attrs) if run is None else run
            if len(fused) > _KEPT:  # an attribute is another number in every call
                fused.clear()
        return run(*arrays)

    return kernel


def dtype_on(module: ArrayModule, x: Any) -> np.dtype[Any]:
    """Returns NumPy's dtype for that of an array on the device, or of a scalar on the host."""
    return module.numpy_dtype(x) if type(x) is module.array_type else np.result_type(x)


def _on_host(module: ArrayModule, op: OpLike, reason: Exception | None = None) -> Callable[..., Any]:
    """Wraps the NumPy kernel for device arrays, which are copied to the host and back.

    With the `reason` why the device library does not support the op or its dtypes, warns once per op.
    """

    def returned(y: Operand) -> Any:
        return module.from_host(asarray(y)) if module.supports(asarray(y).dtype) else y

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        value = op.numpy(*[module.to_host(a)[()] if type(a) is module.array_type else a for a in arrays], **attrs)
        value = tuple(map(returned, value)) if type(value) is tuple else returned(value)
        if reason is not None and op.name not in module.by_way_of_host:  # after errors about the arguments
            module.by_way_of_host.add(op.name)
            logger.warning("op %s has no kernel for %s: it is computed on the host (%s)", op.name, module.name, reason)
        return value

    return kernel


def exhausted(module: ArrayModule, what: str, error: Exception) -> Exception:
    """Returns the error for exhausted device memory."""
    return errors.ResourceExhaustedError(
        f"the device has no memory left for {what} ({error}); {module.memory()}. `gradtape.inspect.live_tapes()` shows "
        "which tapes hold memory. What a tape has recorded is kept until its gradient is taken or it is deleted; "
        "smaller batches, tf.recompute_grad or a half-precision dtype need less"
    )


class DeviceOps:
    """The op namespace for bare device arrays, as rules call them: see `namespace.raw`."""

    is_bare = True

    def __init__(self, module: ArrayModule) -> None:
        self._module = module
        self.accumulate = module.accumulate
        self.constant = module.xp.asarray
        self.copy = module.copy
        self.fuse = module.fuse
        self.vjp_kernel = module.vjp_kernel
        self.product_kernel = module.product_kernel
        self.dtype_of = partial(dtype_on, module)

    def __getattr__(self, name: str) -> Any:
        module, op = self._module, op_named(name)

        def call(*arrays: Any, **attrs: Any) -> Any:
            try:
                kernels = module.kernels.get(op) or _kernels(module, op)
                kernel = kernels.of_floats
                if kernel is not kernels.of_others:
                    x = arrays[kernels.operand]
                    if type(x) is module.array_type and not module.is_floating(x):
                        kernel = kernels.of_others
                value = kernel(*arrays, **attrs)
                return kernels.general(*arrays, **attrs) if value is None else value
            except module.memory_errors:
                raise
            except module.refusals as error:
                devices.raise_if_lost(f"op {op.name}", error)
                return _on_host(module, op, error)(*arrays, **attrs)

        setattr(self, name, call)
        return call


def joint_vjp_kernel(m: Namespace | DeviceOps, name: str) -> Callable[..., Any] | None:
    """Returns a library's own joint derivative of an op for the arrays that `m` computes with: see `JointRule`."""
    return m.vjp_kernel(name, True) if isinstance(m, DeviceOps) else _joint_vjp_of_large(name)


@cache
def _joint_vjp_of_large(name: str) -> Callable[..., Any]:
    """PyTorch's joint derivative of an op for large NumPy arrays; it returns None for others."""
    return with_torch(JOINT_VJPS.get(name), lambda *values: None)


def ops_of(module: ArrayModule) -> DeviceOps:
    """Returns the op namespace for bare arrays of this device."""
    if module.ops is None:
        module.ops = DeviceOps(module)
    return module.ops
