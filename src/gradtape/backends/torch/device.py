"""Devices of PyTorch: tensors and kernels on CUDA, ROCm and Apple GPUs. Imported when a device is first needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from ..arrays import ArrayModule
from .device_kernels import DEVICE_KERNELS, forward_key, place
from .elementwise import compile_steps, fused_kernels, fused_vjps
from .fusion import fuse
from .host_kernels import cached, scalar
from .kernels import JOINT_VJPS, KERNELS, VJPS
from .namespace import NUMPY_DTYPES, TorchNamespace, dtype_of, from_host, has_dtype, to_host
from .windows import CHANNELS_LAST


def gpus() -> list[dict[str, Any]]:
    """Returns the attributes of each GPU of this machine."""
    if torch.cuda.is_available():
        found = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
        return [{"device_name": gpu.name, "compute_capability": (gpu.major, gpu.minor)} for gpu in found]
    return [{"device_name": "Apple GPU"}] if torch.backends.mps.is_available() else []


def memory_info(number: int) -> dict[str, int]:
    """Returns the bytes that tensors use now, and used at most since the last reset."""
    return {"current": torch.cuda.memory_allocated(number), "peak": torch.cuda.max_memory_allocated(number)}


def reset_memory_stats(number: int) -> None:
    """Makes the peak the current use."""
    torch.cuda.reset_peak_memory_stats(number)


@cache
def module_of(name: str) -> TorchModule:
    """Returns the array library for the GPU of that name."""
    # By default XLA preallocates three quarters of the GPU's memory, which would leave PyTorch too little.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    kind = "cuda" if torch.cuda.is_available() else "mps"
    return TorchModule(name, torch.device(kind, int(name.rpartition(":")[2])))


# Derivatives for which PyTorch takes several launches: the formula is one.
_SEVERAL_STEPS = ("gelu_tanh", "rsqrt", "sqrt")
_elu_backward, _leaky_relu_backward = torch.ops.aten.elu_backward.default, torch.ops.aten.leaky_relu_backward.default


@cache
def _zero(dtype: Any, device: Any) -> Any:
    return torch.zeros((), dtype=dtype, device=device)


def _relu_vjp(g: Any, y: Any) -> Any:
    """Returns the cotangent where `y` is positive: PyTorch's own kernel would also return it where `y` is NaN.

    These two launches take less time than that of a formula.
    """
    return torch.where(y > scalar(0.0, y.dtype), g, _zero(g.dtype, g.device))


# Derivatives as in `fused_vjps` that only devices use.
_DEVICE_VJPS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "elu": (("y",), lambda g, y: _elu_backward(g, 1.0, 1.0, 1.0, True, y)),
    "leaky_relu": (("x", "alpha"), lambda g, x, alpha: _leaky_relu_backward(g, x, alpha, False)),
    "relu": (("y",), _relu_vjp),
}
# None if this PyTorch does not say how many tensors use a piece of memory.
_count_storage_uses = getattr(torch._C, "_storage_Use_Count", None) if hasattr(torch.Tensor, "_use_count") else None
_HOST = torch.device("cpu")
_SHORT_NAMES = {"subtract": "sub", "multiply": "mul", "divide": "div"}


class TorchModule(ArrayModule):
    """PyTorch on the device `there`; `device` is TensorFlow's name of it. No tensor requires PyTorch's gradients."""

    name = "PyTorch"
    array_type = torch.Tensor
    memory_errors = (MemoryError, torch.OutOfMemoryError)
    refusals = (*ArrayModule.refusals, RuntimeError, IndexError)

    def __init__(self, device: str, there: Any) -> None:
        super().__init__(TorchNamespace(there), device)
        self.there = there
        self.xla_platform = {"cuda": "gpu", "mps": "METAL"}.get(there.type, there.type)

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        return to_host(array)

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        return from_host(array, self.there)

    def numpy_dtype(self, array: Any) -> np.dtype[Any]:
        return NUMPY_DTYPES[array.dtype]

    def supports(self, dtype: np.dtype[Any]) -> bool:
        return has_dtype(dtype)

    def cast(self, array: Any, dtype: np.dtype[Any]) -> Any:
        return array.to(dtype_of(dtype))

    def function(self, name: str) -> Callable[..., Any]:
        name = _SHORT_NAMES.get(name, name)  # `subtract` calls `sub`
        function, in_place = getattr(torch, name), getattr(torch.Tensor, f"{name}_")

        def run(a: Any, b: Any, out: Any = None) -> Any:
            return in_place(a, b) if out is a else function(a, b, out=out)  # in place takes half as long

        return run

    def scalar(self, value: Any) -> Any:
        return from_host(np.asarray(value), _HOST) if has_dtype(value.dtype) else value

    def copy(self, array: Any) -> Any:
        return array.clone()

    def accumulate(self, total: Any, term: Any, key: tuple[Any, ...] | None = None) -> Any:
        if total.dtype is not term.dtype or not total.ndim:  # a number may be on the host
            return total + (term if key is None else place(term, key=key, shape=tuple(total.shape)))
        if key is not None:
            found, flipped = forward_key(total, key)
            total[found].add_(term.flip(flipped) if flipped else term)
            return total
        return total.add_(term)

    def to_xla(self, array: Any, own: bool = False) -> Any:
        import jax

        if (array.dtype is torch.bfloat16 and array.device.type == "cpu") or jax.default_backend() != "gpu":
            return to_host(array)
        with jax.enable_x64(True):
            there = jax.dlpack.from_dlpack(array.resolve_conj().contiguous())
            return jax.numpy.array(there, copy=True) if own else there

    def from_xla(self, array: Any) -> Any:
        if array.devices() and next(iter(array.devices())).platform != "gpu":
            return self.from_host(np.asarray(array))
        return torch.from_dlpack(array)

    def has_own_memory(self, array: Any) -> bool:
        # Memory from XLA, which XLA may still use, is not resizable: PyTorch did not allocate it.
        # PyTorch does not overwrite tensors of its inference mode outside of that mode.
        if _count_storage_uses is None or array._use_count() > 1 or array.is_inference():
            return False
        storage = array.untyped_storage()
        # Python's references do not tell whether a view, its base or XLA shares the memory. The tensor is a use of its
        # storage, and so is the object that represents it here.
        return storage.resizable() and _count_storage_uses(storage._cdata) <= 2

    def in_layout_of_kernels(self, array: Any) -> Any:
        copy = cached(array, CHANNELS_LAST, None)
        return copy if copy is not None and self.has_own_memory(copy) else array

    def fuse(self, formula: Any) -> Callable[..., Any] | None:
        return fuse(formula) if self.there.type == "cuda" else compile_steps(formula)

    def has_kernel(self, name: str) -> bool:
        return name in DEVICE_KERNELS or name in fused_kernels() or name in KERNELS

    def kernel(self, name: str, general: Callable[..., Any]) -> Callable[..., Any]:
        if name in DEVICE_KERNELS:
            return _first_of(DEVICE_KERNELS[name], general)
        function = fused_kernels().get(name)
        if function is not None:
            return _of_floats(function, 0, general)
        own = KERNELS.get(name)
        return general if own is None else _of_floats(partial(own.function, torch), own.operand, general)

    def product_kernel(self, name: str, residuals: tuple[str, ...]) -> Callable[..., Any] | None:
        found = _DEVICE_VJPS.get(name) or fused_vjps().get(name)
        return found[1] if found is not None and found[0] == residuals and name not in _SEVERAL_STEPS else None

    def vjp_kernel(self, name: str) -> Callable[..., Any] | None:
        return _own_vjp(name)

    def joint_vjp_kernel(self, name: str) -> Callable[..., Any] | None:
        own = JOINT_VJPS.get(name)
        return None if own is None else partial(own.function, torch)

    def synchronize(self) -> None:
        if self.there.type != "cpu":
            getattr(torch, self.there.type).synchronize()

    def memory(self) -> str:
        if self.there.type != "cuda":
            return "PyTorch tells no more about this device"
        free, total = torch.cuda.mem_get_info(self.there)
        held, reserved = torch.cuda.memory_allocated(self.there), torch.cuda.memory_reserved(self.there)
        return (
            f"of {total >> 20} MiB, {free >> 20} are free, tensors hold {held >> 20}, and {reserved - held >> 20} wait "
            "in PyTorch's pool"
        )


def use_tensor_float_32(enabled: bool) -> None:
    """Sets whether products of float32 matrices use TensorFloat-32 (10-bit mantissas), which is eight times as fast."""
    torch.backends.cuda.matmul.allow_tf32 = enabled
    torch.backends.cudnn.allow_tf32 = enabled


# PyTorch's own modes, which the program may have set, while gradtape's are in effect.
_modes_before: list[tuple[int, bool]] = []


def use_deterministic_algorithms(enabled: bool) -> None:
    """Sets whether a GPU adds in the same order in every run; PyTorch warns of kernels that cannot."""
    if enabled and not _modes_before:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without which cuBLAS cannot
        mode = torch.get_deterministic_debug_mode()
        _modes_before.append((mode, torch.utils.deterministic.fill_uninitialized_memory))
        torch.set_deterministic_debug_mode(max(mode, 1))
        torch.utils.deterministic.fill_uninitialized_memory = False  # kernels write all that they read
    elif not enabled and _modes_before:
        mode, torch.utils.deterministic.fill_uninitialized_memory = _modes_before.pop()
        torch.set_deterministic_debug_mode(mode)


@cache
def _own_vjp(name: str) -> Callable[..., Any] | None:
    """Returns PyTorch's own derivative of an op."""
    own = VJPS.get(name)
    return None if own is None else _of_floats(partial(own.function, torch), own.operand, lambda *tensors: None)


def _first_of(own: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    """Runs PyTorch's own kernel of an op, and the general one in cases that it does not cover."""

    def kernel(*tensors: Any, **attrs: Any) -> Any:
        y = own(*tensors, **attrs)
        return general(*tensors, **attrs) if y is None else y

    return kernel


def _of_floats(own: Callable[..., Any], operand: int, general: Callable[..., Any]) -> Callable[..., Any]:
    """Same as `_first_of`; the own kernel does not cover a main operand that is not of floats either."""

    def kernel(*tensors: Any, **attrs: Any) -> Any:
        main = tensors[operand]
        if type(main) is torch.Tensor and not main.is_floating_point():
            return general(*tensors, **attrs)
        y = own(*tensors, **attrs)
        return general(*tensors, **attrs) if y is None else y

    return kernel
