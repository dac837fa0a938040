"""PyTorch's functions in the spelling of the Python array API standard, for tensors on one device.

`array-api-compat` provides the standard. Added here are the functions beyond it that kernels use, creation on the
device, and NumPy's dtypes as arguments.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import array_api_compat.torch as standard  # type: ignore[import-not-found,unused-ignore]
import ml_dtypes
import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from .indices import add_rows, move_inside, note_highest
from .library import RENAMED
from .library import torch as import_torch
from .random import philox_words

import_torch()  # with its settings for forks and read-only arrays

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
FROM_NUMPY: dict[Any, Any] = {np.dtype(name): getattr(torch, name) for name in _NAMES}
FROM_NUMPY[np.dtype(ml_dtypes.bfloat16)] = torch.bfloat16
INDEX_DTYPES = (torch.int64, torch.int32)
NUMPY_DTYPES: dict[Any, np.dtype[Any]] = {there: here for here, there in FROM_NUMPY.items()}


def dtype_of(dtype: Any) -> Any:
    """Returns PyTorch's dtype for one of NumPy's; PyTorch's own, and None, as they are."""
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype
    found = FROM_NUMPY.get(np.dtype(dtype))
    if found is None:
        raise TypeError(f"PyTorch has no dtype {np.dtype(dtype)}")
    return found


def multiply_matrices(a: Any, b: Any) -> Any:
    """Same as `torch.matmul`, whose search for the kernel takes four times as long as the launch."""
    if a.ndim == b.ndim == 2:
        return torch.mm(a, b)
    if a.ndim == b.ndim == 3 and a.shape[0] == b.shape[0]:
        return torch.bmm(a, b)
    return torch.matmul(a, b)


def _create(function: Callable[..., Any]) -> Callable[..., Any]:
    def create(self: TorchNamespace, shape: Any, dtype: Any = None) -> Any:
        return function(shape, dtype=dtype_of(dtype) or torch.float64, device=self.device)

    return create


def _with_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """Converts a function to one that takes NumPy's dtypes, too."""
    return lambda self, *given, dtype=None, **options: function(*given, dtype=dtype_of(dtype), **options)


def _of_numbers(function: Callable[..., Any], with_number: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a symmetric function of two tensors, or of a tensor and a number."""

    def call(self: TorchNamespace, a: Any, b: Any) -> Any:
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            return function(a, b)
        return with_number(a, _number(b)) if isinstance(a, torch.Tensor) else with_number(b, _number(a))

    return call


def _reduce(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(self: TorchNamespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return x if axis == () else function(x, () if axis is None else axis, keepdims)

    return reduce


class TorchNamespace:
    """The array functions for tensors on `device`."""

    __name__ = "torch"
    inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None
    ndarray = torch.Tensor
    # PyTorch stores unsigned integers of 32 and 64 bits, but has no arithmetic of them: int64 has the same bits.
    uint32 = uint64 = torch.int64

    def __init__(self, device: Any) -> None:
        self.device = device
        self.special = SpecialFunctions()
        self.linalg = LinearAlgebra()
        self.fft = FourierTransforms()

    def __getattr__(self, name: str) -> Any:
        found = getattr(standard, name, None)
        if found is None:
            found = getattr(torch, RENAMED.get(name, name))
        setattr(self, name, found)
        return found

    # Creation, on the device.

    def asarray(self, x: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        if isinstance(x, torch.Tensor):
            dtype = dtype_of(dtype) or x.dtype
            return x.to(dtype, copy=bool(copy)) if copy or x.dtype != dtype else x
        if isinstance(x, list | tuple) and any(isinstance(y, torch.Tensor) for y in x):
            return torch.stack([self.asarray(y, dtype) for y in x])
        if not isinstance(x, np.ndarray | np.generic):
            x = np.asarray(x)
        return from_host(np.asarray(x, NUMPY_DTYPES.get(dtype, dtype)), self.device)

    def array(self, x: Any, dtype: Any = None) -> Any:
        return self.asarray(x, dtype, copy=True)

    zeros, ones, empty = _create(torch.zeros), _create(torch.ones), _create(torch.empty)
    zeros_like, ones_like = _with_dtype(torch.zeros_like), _with_dtype(torch.ones_like)
    empty_like, full_like = _with_dtype(torch.empty_like), _with_dtype(torch.full_like)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if isinstance(value, torch.Tensor):
            return value.to(dtype_of(dtype) or value.dtype).expand(shape).clone()
        if isinstance(value, np.generic):
            dtype, value = value.dtype if dtype is None else dtype, value.item()
        dtype = dtype_of(dtype) or (torch.float64 if isinstance(value, float) else None)
        return torch.full(shape, value, dtype=dtype, device=self.device)

    def eye(self, n: int, m: int | None = None, dtype: Any = None) -> Any:
        return torch.eye(n, n if m is None else m, dtype=dtype_of(dtype) or torch.float64, device=self.device)

    def arange(self, *bounds: Any, dtype: Any = None) -> Any:
        return torch.arange(*bounds, dtype=dtype_of(dtype), device=self.device)

    # Functions beyond the standard, with arguments beyond it, or without its promotion of dtypes.

    matmul, roll, cross = map(staticmethod, (multiply_matrices, torch.roll, torch.linalg.cross))
    cumsum, cumprod = _with_dtype(torch.cumsum), _with_dtype(torch.cumprod)
    maximum, minimum = _of_numbers(torch.maximum, torch.clamp_min), _of_numbers(torch.minimum, torch.clamp_max)
    max, min = _reduce(torch.amax), _reduce(torch.amin)

    def astype(self, x: Any, dtype: Any, copy: bool = True) -> Any:
        return x.to(dtype_of(dtype))

    def where(self, condition: Any, *choices: Any) -> Any:
        if not choices:
            return torch.nonzero(condition, as_tuple=True)
        if not isinstance(condition, torch.Tensor):
            condition = torch.as_tensor(condition, device=self.device)
        return torch.where(condition, *_operands(condition, choices))

    def transpose(self, x: Any, axes: Sequence[int] | None = None) -> Any:
        return x.permute(tuple(reversed(range(x.ndim))) if axes is None else tuple(axes))

    def flatnonzero(self, x: Any) -> Any:
        return torch.nonzero(x.reshape(-1), as_tuple=True)[0]

    def ascontiguousarray(self, x: Any) -> Any:
        return x.contiguous()

    def pad(self, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
        if mode != "constant":
            raise NotImplementedError(f"PyTorch pads with a constant, not in mode {mode!r}")
        flat = [int(n) for pair in reversed(list(widths)) for n in pair]
        return torch.nn.functional.pad(x, flat, value=constant_values)

    def clip(self, x: Any, low: Any = None, high: Any = None) -> Any:
        if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
            x = x if low is None else standard.maximum(x, low)
            return x if high is None else standard.minimum(x, high)
        return torch.clamp(x, _number(low), _number(high))

    def flip(self, x: Any, axis: Any = None) -> Any:
        return standard.flip(x, axis=axis)

    def take(self, x: Any, indices: Any, axis: int, mode: str = "clip") -> Any:
        """Takes elements along an axis; an index out of range is replaced by the nearest one inside."""
        return x[(*(slice(None),) * (axis % x.ndim), move_inside(indices, x.shape[axis]))]

    def take_along_axis(self, x: Any, indices: Any, axis: int) -> Any:
        return torch.take_along_dim(x, indices.to(torch.int64), axis)

    def imag(self, x: Any) -> Any:
        return x.imag if x.is_complex() else torch.zeros_like(x)

    def sum(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        dtype = dtype_of(dtype) or x.dtype
        return x.to(dtype) if axis == () else torch.sum(x, axis, keepdims, dtype=dtype)

    def prod(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
        for i in sorted([i % x.ndim for i in axes], reverse=True):
            x = torch.prod(x, i, keepdims, dtype=dtype_of(dtype) or x.dtype)
        return x

    def unique(
        self, x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
        axis: int | None = None, equal_nan: bool = True,
    ) -> Any:  # fmt: skip
        if not (return_index and return_inverse and return_counts):
            raise NotImplementedError("distinct values come with their indices, positions and counts")
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True, dim=axis)
        order = torch.argsort(inverse.reshape(-1), stable=True)
        first = order[torch.cumsum(counts, 0) - counts]
        return values, first, inverse, counts

    def scatter(self, ufunc: str, array: Any, key: Any, values: Any) -> Any:
        """Combines `array[key]` with `values`, in place; duplicates accumulate."""
        if ufunc in ("add", "subtract"):
            keys = key if isinstance(key, tuple) else (key,)
            if not all(isinstance(k, torch.Tensor) for k in keys):
                raise NotImplementedError("PyTorch accumulates at tensors of indices only")
            factor = 1 if ufunc == "add" else -1
            if not isinstance(values, torch.Tensor) or values.dtype is not array.dtype:
                values = torch.as_tensor(values, dtype=array.dtype, device=array.device)
            first = keys[0]
            if len(keys) == first.ndim == 1 and first.dtype in INDEX_DTYPES and values.ndim == array.ndim:
                return add_rows(array, first, values, factor)
            at, outside = _inside(array, keys)
            if outside is not None:
                values = torch.where(outside.reshape(outside.shape + (1,) * (array.ndim - len(at))), 0, values)
            return array.index_put_(at, values if factor == 1 else -values, True)
        if array.is_complex() and array.is_cuda:  # PyTorch multiplies them on the host only
            return self.scatter(ufunc, array.cpu(), key.cpu(), values.cpu()).to(array.device)
        names = {"multiply": "prod", "maximum": "amax", "minimum": "amin"}
        size = array.shape[0]
        if not size:
            return array
        rows, whole = key.reshape(-1), values.reshape(-1, *array.shape[1:]).to(array.dtype)
        places = move_inside(rows, size)
        if places is not rows:  # nothing is combined with a row out of range, as in TensorFlow
            outside = (rows != places).reshape(-1, *(1,) * (array.ndim - 1))
            whole = torch.where(outside, 1 if ufunc == "multiply" else array[places], whole)
        places = places.to(torch.int64).reshape(-1, *(1,) * (array.ndim - 1)).expand(whole.shape)
        return array.scatter_reduce_(0, places, whole, names[ufunc])

    def unsigned_remainder(self, x: Any, n: Any) -> Any:
        """The remainder of 64 bits read as an unsigned number; `n` is below 2**62."""
        half = torch.remainder((x >> 1) & 0x7FFFFFFFFFFFFFFF, n)
        return torch.remainder(2 * half + (x & 1), n)

    def philox(self, state: Any, blocks: Any) -> Any:
        return philox_words(state.view(torch.int64), blocks)

    def cbrt(self, x: Any) -> Any:
        return torch.copysign(torch.abs(x) ** (1 / 3), x)

    def result_type(self, *arrays: Any) -> Any:
        return standard.result_type(*[x if isinstance(x, torch.Tensor) else dtype_of(x) for x in arrays])


def put(array: Any, key: Any, values: Any) -> Any:
    """Returns `array` after `array[key] = values`, except where an index is out of range."""
    keys = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(k, torch.Tensor) and k.dtype != torch.bool for k in keys):
        array[key] = values
        return array
    at, outside = _inside(array, keys)
    values = torch.as_tensor(values, dtype=array.dtype, device=array.device)
    kept = torch.where(outside.reshape(outside.shape + (1,) * (array.ndim - len(at))), array[at], values)
    return array.index_put_(at, kept)


def _inside(array: Any, keys: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
    """Returns tensors of indices with those out of range moved inside, and where any of them was.

    An index out of range would end the use of a GPU. Nothing is added there, as in TensorFlow. On the host, where
    PyTorch raises, the indices stay and there is no mask.
    """
    at = tuple([k if k.dtype == torch.bool else k.to(torch.int64) for k in keys])
    if not array.is_cuda or any(k.dtype == torch.bool for k in at):
        return at, None
    moved = tuple([k.clamp(-n, n - 1) for k, n in zip(at, array.shape, strict=False)])
    differs = [k != m for k, m in zip(at, moved, strict=True)]
    return moved, functools.reduce(torch.logical_or, differs)


class FourierTransforms:
    """The functions of `numpy.fft` with the arguments that kernels use."""

    fftn, ifftn, rfftn = map(staticmethod, (standard.fft.fftn, standard.fft.ifftn, standard.fft.rfftn))

    def irfftn(self, x: Any, s: Sequence[int], axes: Sequence[int], norm: str) -> Any:
        # CUDA's transform of several axes at once expects a spectrum of real numbers; NumPy's takes any.
        if len(axes) > 1:
            x = torch.fft.ifftn(x, s=s[:-1], dim=axes[:-1], norm=norm)
        return torch.fft.irfft(x, n=s[-1], dim=axes[-1], norm=norm)


class LinearAlgebra:
    """The functions of `numpy.linalg` with the arguments that kernels use."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(torch.linalg, name)

    def solve(self, a: Any, b: Any) -> Any:
        """Solves linear equations; PyTorch takes a matrix beside a stack of matrices for a stack of vectors."""
        return torch.linalg.solve(a, b.expand(*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]))

    def svd(self, x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        return torch.linalg.svd(x, full_matrices=full_matrices) if compute_uv else torch.linalg.svdvals(x)

    def pinv(self, x: Any, rcond: Any = None) -> Any:
        return torch.linalg.pinv(x, rtol=rcond)


class SpecialFunctions:
    """SciPy's special functions that PyTorch has, by SciPy's names."""

    def gamma(self, x: Any) -> Any:
        sign = torch.where((x < 0) & (torch.floor(x) % 2 != 0), -1.0, 1.0)
        return sign * torch.exp(torch.lgamma(x))

    def betaln(self, a: Any, b: Any) -> Any:
        return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)

    def erfcinv(self, x: Any) -> Any:
        return torch.special.ndtri(x / 2) * -math.sqrt(0.5)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = getattr(torch.special, _SPECIAL.get(name, name), None)
        if found is None:
            raise AttributeError(f"PyTorch has no special function {name!r}")
        return found


_SPECIAL = {
    "psi": "digamma", "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0",
    "y1": "bessel_y1", "k0": "modified_bessel_k0", "k1": "modified_bessel_k1", "k0e": "scaled_modified_bessel_k0",
    "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def _operands(condition: Any, choices: Sequence[Any]) -> list[Any]:
    """The choices as numbers or tensors of one dtype: NumPy's scalars keep their dtype unless there is a tensor."""
    if not any(isinstance(x, torch.Tensor) for x in choices):
        return [torch.as_tensor(np.asarray(x), device=condition.device) for x in choices]
    return list(map(_number, choices))


def from_host(array: np.ndarray[Any, Any], device: Any) -> Any:
    """Copies a NumPy array to the device."""
    dtype = dtype_of(array.dtype)
    if dtype is torch.bfloat16:
        return torch.tensor(np.ascontiguousarray(array).view(np.int16), device=device).view(dtype).reshape(array.shape)
    if not array.shape and array.dtype.kind != "u":
        # Without waiting for the device.
        return note_highest(torch.full((), array.item(), dtype=dtype, device=device), array)
    if array.dtype.byteorder not in "=|<" or any(n < 0 for n in array.strides):
        array = np.array(array, array.dtype.newbyteorder("="), order="C")
    if array.dtype.char in "qQ":  # another C type of the same size, which PyTorch does not accept
        array = array.view(np.int64 if array.dtype.kind == "i" else np.uint64)
    return note_highest(torch.from_numpy(array).to(device, copy=True), array)
