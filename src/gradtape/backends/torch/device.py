"""Devices of PyTorch: tensors and kernels on CUDA, ROCm and Apple GPUs. Imported when a device is first needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from ..arrays import ArrayModule, Kernels
from .device_kernels import DEVICE_KERNELS, forward_key, place
from .elementwise import (
    GELU_BEND,
    GELU_SLOPE,
    IN_STEPS,
    VJPS_IN_STEPS,
    compile_steps,
    fused_kernels,
    fused_vjps,
)
from .fusion import compile_formula, fuse
from .host_kernels import JOINT_VJPS, KERNELS, VJPS, cached, keep_on, scalar
from .library import aten
from .namespace import FROM_NUMPY, NUMPY_DTYPES, TorchNamespace, dtype_of, from_host
from .windows import CHANNELS_FIRST, CHANNELS_LAST, OUTPUTS_FIRST


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
_SEVERAL_STEPS = ("abs", "rsqrt", "sqrt")
_elu_backward, _leaky_relu_backward = aten("elu_backward"), aten("leaky_relu_backward")


@cache
def _zero(dtype: Any, device: Any) -> Any:
    return torch.zeros((), dtype=dtype, device=device)


def _relu_vjp(g: Any, y: Any) -> Any:
    """Returns the cotangent where `y` is positive: PyTorch's own kernel would also return it where `y` is NaN."""
    if y.is_cuda and g.is_cuda and g.dtype is y.dtype:  # a cotangent may be a number on the host
        return compile_formula("g y", "y > 0 ? g : 0", y.dtype)(g, y)
    return torch.where(y > scalar(0.0, y.dtype), g, _zero(g.dtype, g.device))


# gelu as on the host in one launch: PyTorch's has 1 + erf(x) or 1 + tanh(u), which cancel far below 0.
_NDTR = "W(0.5) * erfc(x * W(-0.7071067811865476))"
_GELU_SLOPE = f"g * ({_NDTR} + x * exp(W(-0.5) * x * x) * W(0.3989422804014327))"
_GELU_LOGIT = f"(W({2 * GELU_SLOPE}) + W({2 * GELU_BEND}) * (x * x > W(900) ? W(900) : x * x)) * x"


def _gelu(x: Any) -> Any:
    return compile_formula("x", f"{_NDTR} * x", x.dtype)(x) if x.is_cuda else IN_STEPS["gelu"](x)


def _gelu_tanh(x: Any) -> Any:
    if x.is_cuda:
        return compile_formula("x", f"W(1) / (W(1) + exp(-({_GELU_LOGIT}))) * x", x.dtype)(x)
    return IN_STEPS["gelu_tanh"](x)


def _gelu_vjp(g: Any, x: Any) -> Any:
    if x.is_cuda and g.is_cuda and g.dtype is x.dtype:  # a cotangent may be a number on the host
        return compile_formula("g x", _GELU_SLOPE, x.dtype)(g, x)
    return VJPS_IN_STEPS["gelu"](g, x)


_DEVICE_FUNCTIONS: dict[str, Callable[..., Any]] = {"gelu": _gelu, "gelu_tanh": _gelu_tanh}
# Derivatives as in `fused_vjps` that only devices use.
_DEVICE_VJPS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "gelu": (("x",), _gelu_vjp),
    "elu": (("y",), lambda g, y: _elu_backward(g, 1.0, 1.0, 1.0, True, y)),
    "leaky_relu": (("x", "alpha"), lambda g, x, alpha: _leaky_relu_backward(g, x, alpha, False)),
    "relu": (("y",), _relu_vjp),
}
# None if this PyTorch does not say how many tensors use a piece of memory.
_count_storage_uses = getattr(torch._C, "_storage_Use_Count", None) if hasattr(torch.Tensor, "_use_count") else None
_HOST = torch.device("cpu")
_XLA = "_xla"  # the attribute of a tensor that holds XLA's array of its value
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
        x = array.detach().resolve_conj().resolve_neg()
        if x.dtype is torch.bfloat16:
            return np.array(x.view(torch.int16).cpu().numpy()).view(NUMPY_DTYPES[x.dtype])
        return np.array(x.cpu().numpy()) if x.device.type == "cpu" else x.cpu().numpy()

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        return from_host(array, self.there)

    def numpy_dtype(self, array: Any) -> np.dtype[Any]:
        return NUMPY_DTYPES[array.dtype]

    def supports(self, dtype: np.dtype[Any]) -> bool:
        return dtype in FROM_NUMPY

    def cast(self, array: Any, dtype: np.dtype[Any]) -> Any:
        return array.to(dtype_of(dtype))

    def update(self, ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any]]:
        name = _SHORT_NAMES.get(ufunc.__name__, ufunc.__name__)  # `subtract` calls `sub`
        return getattr(torch.Tensor, f"{name}_"), getattr(torch, name)

    def scalar(self, value: Any) -> Any:
        return from_host(np.asarray(value), _HOST) if value.dtype in FROM_NUMPY else value

    def shared(self, array: Any) -> Any:
        array = array.resolve_conj().resolve_neg()
        order = sorted(range(array.ndim), key=array.stride, reverse=True)
        return array if array.permute(order).is_contiguous() else array.contiguous()  # without gaps and repetitions

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
            return self.to_host(array)
        known = cached(array, _XLA, None)
        if known is not None and not own:
            return known
        with jax.enable_x64(True):
            # Another tensor of the same memory: a reference to `array` itself would be a cycle that Python cannot see.
            there = jax.dlpack.from_dlpack(array.detach().resolve_conj().contiguous()) if known is None else known
            if own:
                return jax.numpy.array(there, copy=True)
        keep_on(array, _XLA, None, there)  # passing an array takes longer than the call of a small program
        return there

    def from_xla(self, array: Any) -> Any:
        if array.devices() and next(iter(array.devices())).platform != "gpu":
            return self.from_host(np.asarray(array))
        here = torch.from_dlpack(array)
        keep_on(here, _XLA, None, array)
        return here

    def own_array(self, array: Any) -> Any:
        if _count_storage_uses is None or array._use_count() > 1:
            return None
        derived = array.__dict__
        storage = derived.get("_memory")
        if storage is None:
            storage = array.untyped_storage()
            # Memory from XLA, which XLA may still use, is not resizable: PyTorch did not allocate it.
            # PyTorch does not overwrite tensors of its inference mode outside of that mode.
            if not storage.resizable() or array.is_inference():
                return None
            array._memory = storage
        # Python's references do not tell whether a view, its base or XLA shares the memory. The tensor is a use of its
        # storage, and so are the object that represents it here and the tensor that only kernels use.
        uses = _count_storage_uses(storage._cdata)
        if uses > 2 and uses > 2 + (CHANNELS_FIRST in derived or OUTPUTS_FIRST in derived):
            return None
        if CHANNELS_LAST not in derived or (copy := cached(array, CHANNELS_LAST, None)) is None:
            return array
        own = self.own_array(copy)
        return array if own is None else own

    def fuse(self, formula: Any) -> Callable[..., Any] | None:
        return fuse(formula) if self.there.type == "cuda" else compile_steps(formula)

    def kernels_of(self, name: str, general: Callable[..., Any]) -> Kernels:
        function = DEVICE_KERNELS.get(name)
        if function is not None:
            return Kernels(function, function, general)
        own = KERNELS.get(name)
        if own is not None:
            return Kernels(partial(own.function, torch), general, general, own.operand)
        return Kernels(_DEVICE_FUNCTIONS.get(name) or fused_kernels().get(name, general), general, general)

    def is_floating(self, array: Any) -> bool:
        return array.is_floating_point()

    def product_kernel(self, name: str, residuals: tuple[str, ...]) -> Callable[..., Any] | None:
        found = _DEVICE_VJPS.get(name) or fused_vjps().get(name)
        return found[1] if found is not None and found[0] == residuals and name not in _SEVERAL_STEPS else None

    @staticmethod
    @cache
    def vjp_kernel(name: str, is_joint: bool = False) -> Callable[..., Any] | None:
        own = (JOINT_VJPS if is_joint else VJPS).get(name)
        if own is None:
            return None
        function, operand = own.function, own.operand
        return lambda *given: function(torch, *given) if given[operand].is_floating_point() else None

    def norm_of_arrays(self, arrays: Sequence[Any]) -> Any:
        if arrays[0].dtype not in (torch.float32, torch.float64):  # of others, PyTorch rounds every array's norm
            raise NotImplementedError
        return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(arrays)))

    def scale_arrays(self, arrays: Sequence[Any], factor: Any) -> Sequence[Any]:
        return torch._foreach_mul(arrays, factor)

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
