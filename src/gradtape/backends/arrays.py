"""The differences between array libraries: scatter updates, in-place writes, and functions missing in some of them."""

from __future__ import annotations

import functools
import importlib
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np

from .tuning import FEW, FEW_REPEATED, LARGE, MANY_LOOPS, SELECTED, SHORT_COLUMNS, SHORT_REPEATED


class Kernels:
    """The kernels of an op on a device: the library's own ones, for floats and for other dtypes, and the general one.

    An own kernel returns None for what it does not cover: the general one, which is for any library, runs then. The
    dtype is that of the argument `operand`.
    """

    __slots__ = ("general", "of_floats", "of_others", "operand")

    def __init__(
        self, of_floats: Callable[..., Any], of_others: Callable[..., Any], general: Callable[..., Any],
        operand: int = 0,
    ) -> None:  # fmt: skip
        self.of_floats, self.of_others, self.general, self.operand = of_floats, of_others, general, operand


class ArrayModule:
    """An array library on a device: a backend derives a class from it.

    `xp` has the library's functions by the names of the Python array API standard. `kernels` caches the kernels of ops,
    bound to the library on first use, and `updates` the functions that update variables; `by_way_of_host` names the ops
    that the library does not support.
    """

    name: str
    array_type: type
    xla_platform = "gpu"  # the backend of JAX that shares the device's memory
    memory_errors: tuple[type[Exception], ...] = (MemoryError,)
    # Raised by a kernel that needs a function or dtype that the library lacks, or the values themselves.
    refusals: tuple[type[Exception], ...] = (AttributeError, NotImplementedError, TypeError)

    def __init__(self, xp: Any, device: str) -> None:
        self.xp = xp
        self.device = device
        self.ops: Any = None  # the op namespace for bare arrays, created on first use
        self.kernels: dict[Any, Kernels] = {}
        self.updates: dict[np.ufunc, tuple[Callable[..., Any], Callable[..., Any]]] = {}
        self.numbers: dict[Any, Any] = {}  # tensors of the numbers in programs, by dtype and value
        self.scalars: dict[int, tuple[Any, Any]] = {}  # tensors of scalars on the host, by `id`
        self.dtypes: dict[Any, Any] = {}  # the dtypes of tensors, by the library's dtype
        self.by_way_of_host: set[str] = set()
        self._lent: deque[tuple[list[Any], Any]] = deque()  # what XLA reads, and a result of that run

    def numpy_dtype(self, array: Any) -> np.dtype[Any]:
        """Returns NumPy's dtype for the array's."""
        return array.dtype

    def cast(self, array: Any, dtype: np.dtype[Any]) -> Any:
        """Converts an array to NumPy's `dtype`."""
        return array.astype(dtype)

    def copy(self, array: Any) -> Any:
        """Copies an array on the device, in row-major order."""
        return array.copy()

    def accumulate(self, total: Any, term: Any, key: tuple[Any, ...] | None = None) -> Any:
        """Adds an array to `total`, or to its slice at `key`, in place if possible; the caller must own `total`."""
        return total + term if key is None else add_into(total, key, term)

    def update(self, ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Returns the library's function, which takes arrays only: one that overwrites the first array, and itself."""
        raise NotImplementedError

    def supports(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library has arrays of NumPy's `dtype`; values of others stay on the host."""
        return dtype.kind != "O"

    def shared(self, array: Any) -> Any:
        """Returns the array, or a copy, with memory that any other library can use."""
        return array

    def scalar(self, value: Any) -> Any:
        """Returns a string, or a NumPy scalar that an elementwise kernel takes beside arrays, in the library's form."""
        return value

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """Copies an array to the host."""
        raise NotImplementedError

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        """Copies a NumPy array to the device."""
        raise NotImplementedError

    def to_xla(self, array: Any, own: bool = False) -> Any:
        """Passes an array to XLA: without a copy on the same device, unless XLA needs its `own` memory to overwrite."""
        return self.to_host(array)

    def from_xla(self, array: Any) -> Any:
        """Takes an array from XLA, without a copy on the same device."""
        return self.from_host(np.asarray(array))

    def lend(self, arrays: list[Any], results: list[Any]) -> None:
        """Keeps `arrays` until XLA, which runs asynchronously, has computed `results` from them.

        XLA holds the memory that it allocates itself in the order of its own stream; the memory of this library could
        be reused by an op that runs earlier in another stream.
        """
        lent = self._lent
        while lent and (lent[0][1] is None or lent[0][1].is_deleted() or lent[0][1].is_ready()):
            lent.popleft()
        first = min(results, key=lambda y: y.nbytes, default=None)  # all are ready at once
        lent.append((arrays, first if hasattr(first, "is_ready") else None))

    def own_array(self, array: Any) -> Any:
        """Returns an array for an update to overwrite, which has the value of `array`, a variable's.

        It is a copy that kernels have made in the layout that they use, or else `array` itself. None if the library did
        not allocate its memory, or a view or another library shares it.
        """
        return None

    def kernels_of(self, name: str, general: Callable[..., Any]) -> Kernels:
        """Returns the kernels of the op with this name; `general` is the one for any library."""
        return Kernels(general, general, general)

    def is_floating(self, array: Any) -> bool:
        """Whether an array has a dtype of floats."""
        return array.dtype.kind == "f"

    def vjp_kernel(self, name: str, is_joint: bool = False) -> Callable[..., Any] | None:
        """Returns the library's own derivative of an op: see `VJPS` in `backends/torch/host_kernels.py`.

        For a joint one, see `JointRule` in `engine/registry/op.py`.
        """
        return None

    def product_kernel(self, name: str, residuals: tuple[str, ...]) -> Callable[..., Any] | None:
        """Returns the product of a cotangent and the slope of a unary op as a function `f(cotangent, *residuals)`."""
        return None

    def fuse(self, formula: Any) -> Callable[..., Any] | None:
        """Compiles an elementwise formula to one kernel; None if that is not possible."""
        return None

    def norm_of_arrays(self, arrays: Sequence[Any]) -> Any:
        """Returns the Euclidean norm of the elements of all arrays, which have one dtype."""
        raise NotImplementedError

    def scale_arrays(self, arrays: Sequence[Any], factor: Any) -> Sequence[Any]:
        """Multiplies all arrays by a scalar of their dtype."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Waits until the device has finished all queued work."""

    def memory(self) -> str:
        """Describes the memory use in words."""
        return ""


# Kernels of ops for NumPy's arrays, by the kernel for any array library: see `numpy_kernel`.
NUMPY_KERNELS: dict[Any, Callable[..., Any]] = {}


def numpy_kernel(general: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the kernel that ops use for NumPy's arrays instead of `general`, which is for any array library.

    It has the arguments of the general one but the namespace, and calls that one for what it does not cover.
    """

    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        NUMPY_KERNELS[general] = kernel
        return kernel

    return register


TAKING_HALF: set[Any] = set()


def takes_half(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Declares that a kernel for any array library, or NumPy's in its place, rounds sums of half precision once.

    Kernels of other ops that sum are called through `in_single`, which takes longer than a small sum.
    """
    TAKING_HALF.add(kernel)
    return kernel


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a kernel so that it computes half precision in float32 and rounds its results."""

    def run(*arrays: Any, **attrs: Any) -> Any:
        for x in arrays:
            if x.dtype in HALF:
                half = x.dtype
                break
        else:
            return kernel(*arrays, **attrs)
        result = kernel(*[x.astype(np.float32) if x.dtype in HALF else x for x in arrays], **attrs)

        def rounded(y: Any) -> Any:
            return y.astype(half) if y.dtype == np.float32 else y

        return tuple(map(rounded, result)) if isinstance(result, tuple | list) else rounded(result)

    return run


def can_read_values(xp: Any) -> bool:
    """Whether a kernel may look at values, to raise an error or to skip a step.

    XLA compiles kernels without values, and reading those on a device would wait for it.
    """
    return xp is np


def host_only(xp: Any) -> None:
    """Raises in a kernel that requires NumPy, so that the caller computes it on the host.

    Letting NumPy convert another library's array instead would raise errors or warnings that depend on both libraries.
    """
    if xp is not np:
        raise NotImplementedError("this kernel is NumPy's")


def is_jax(x: Any) -> bool:
    """Whether `x` is an array of JAX, or a tracer of one; JAX need not be installed."""
    return type(x).__module__.startswith("jax")


def put(array: Any, key: Any, values: Any) -> Any:
    """Returns `array` after `array[key] = values`; may modify it, so the caller must own the array."""
    if type(array) is np.ndarray:
        if array.dtype.char == "O" and np.ndim(values) == 0:
            values = np.asarray(values, object)[()]  # NumPy would store a 0-d object array itself as the element
    elif is_jax(array):
        return array.at[key].set(values)
    elif hasattr(array, "is_cuda") and array.is_cuda:
        return _torch_namespace().put(array, key, values)
    array[key] = values
    return array


def add_into(array: Any, key: Any, values: Any) -> Any:
    """Returns `array` after `array[key] += values`; the caller must own the array, and the key has no duplicates."""
    if type(array) is not np.ndarray and is_jax(array):
        return array.at[key].add(values)
    array[key] += values
    return array


# The names of `jax.numpy`.
_UPDATES = {"add": "add", "subtract": "subtract", "multiply": "multiply", "maximum": "max", "minimum": "min"}


def combine_at(xp: Any, ufunc: str, array: Any, key: Any, values: Any) -> Any:
    """Scatter update with duplicate indices: combines `array[key]` with `values`; the caller must own the array.

    Except for `add` and `subtract`, the key must be a single array of row indices.
    """
    if xp is np:
        getattr(np, ufunc).at(array, key, values)
        return array
    return getattr(array.at[key], _UPDATES[ufunc])(values) if is_jax(array) else xp.scatter(ufunc, array, key, values)


def search_rows(xp: Any, rows: Any, values: Any, side: Literal["left", "right"]) -> Any:
    """Applies `searchsorted` to each row of `values` in the same row of `rows`; vectorized except for NumPy."""
    if xp is np:
        found = [np.searchsorted(row, value, side=side) for row, value in zip(rows, values, strict=True)]
        return np.stack(found) if found else np.zeros(values.shape, int)
    if is_jax(rows):
        return xp.vectorize(functools.partial(xp.searchsorted, side=side), signature="(n),(m)->(m)")(rows, values)
    return xp.searchsorted(rows.contiguous(), values.contiguous(), side=side)  # it warns of other layouts


def into(f: Any, x: Any, *others: Any) -> Any:
    """Computes `f(x, *others)` in place of `x` where arrays are mutable; the caller must own `x`."""
    return f(x, *others, out=x) if type(x) is np.ndarray else f(x, *others)


def fill_where(xp: Any, x: Any, mask: Any, value: float) -> Any:
    """Sets the values where the mask is true, in place of `x` where arrays are mutable; the caller must own `x`."""
    if type(x) is not np.ndarray:
        return xp.where(mask, value, x)
    np.copyto(x, value, where=mask)
    return x


def row_dots(xp: Any, a: Any, b: Any) -> Any:
    """Returns the inner product of each row of `a` with that of `b`, as a column."""
    return np.vecdot(a, b)[..., None] if xp is np else xp.sum(a * b, axis=-1, keepdims=True)


def positive_part(xp: Any, x: Any) -> Any:
    """Returns `maximum(x, 0)`, for large NumPy arrays with an array of zeros: of a scalar it is not vectorized."""
    if type(x) is not np.ndarray or x.size < FEW:
        return xp.maximum(x, 0)
    y = np.empty_like(x)
    y.fill(0)
    return np.maximum(x, y, out=y)


BITS = {"f": np.int32, "d": np.int64, "e": np.int16}


def masked(xp: Any, mask: Any, x: Any) -> Any:
    """Returns `x` where `mask` is true and 0 elsewhere, even where `x` is inf or nan."""
    bits = BITS.get(x.dtype.char) if xp is np else None
    if bits is None:
        return xp.where(mask, x, 0)
    # Multiplying the bits by one or zero takes an eighth of the time of `where`, whose branches are mispredicted.
    kept = mask.astype(bits)  # NumPy would convert it, too, but in small pieces
    if type(kept) is np.ndarray and kept.shape == x.shape:
        return np.multiply(kept, x.view(bits), out=kept).view(x.dtype)
    return (kept * x.view(bits)).view(x.dtype)


def select(mask: Any, a: Any, b: Any, out: Any) -> None:
    """Writes `where(mask, a, b)` to `out`: NumPy arrays of one shape and dtype of floats, without branches."""
    bits = BITS[a.dtype.char]
    y, other = out.view(bits), b.view(bits)
    np.bitwise_xor(a.view(bits), other, out=y)
    np.multiply(y, mask.astype(bits), out=y)
    np.bitwise_xor(y, other, out=y)


def can_select(mask: Any, a: Any, b: Any) -> bool:
    """Whether `select` takes these operands, and they are many."""
    if not type(mask) is type(a) is type(b) is np.ndarray or a.size < SELECTED:
        return False
    return mask.shape == a.shape == b.shape and a.dtype is b.dtype and a.dtype.char in BITS


def join_parts(xp: Any, real: Any, imag: Any) -> Any:
    """Joins real and imaginary parts of one shape; `real + 1j * imag` would be NaN where the imaginary part is inf."""
    if is_jax(real):
        return importlib.import_module("jax.lax").complex(real, imag)
    if hasattr(xp, "complex"):
        return xp.complex(real, imag)
    return xp.stack([real, imag], axis=-1).view(xp.complex128 if real.dtype == xp.float64 else xp.complex64)[..., 0]


@functools.cache
def special(xp: Any) -> Any:
    """Returns the module of special functions of an array module."""
    if hasattr(xp, "special"):
        return xp.special
    return importlib.import_module("scipy.special" if xp is np else "jax.scipy.special")


@functools.cache
def _torch_namespace() -> Any:
    """The module of PyTorch's functions, which imports PyTorch: called for PyTorch's tensors only."""
    return importlib.import_module(f"{__package__}.torch.namespace")


def kind_of(x: Any) -> str:
    """Returns the kind of an array's numbers by NumPy's letters: b, i, u, f or c."""
    dtype = x.dtype
    kind = getattr(dtype, "kind", None)  # without an exception for PyTorch's dtypes, which takes longer
    return numpy_dtype(dtype).kind if kind is None else kind


@functools.cache
def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Returns NumPy's dtype for one of NumPy's, JAX's or PyTorch's."""
    if type(dtype).__module__ == "torch":
        return _torch_namespace().NUMPY_DTYPES[dtype]
    return np.dtype(dtype)


def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    """Converts an array to a dtype of NumPy or of its own library; without `copy` it may return the array itself."""
    try:
        method = x.astype
    except AttributeError:
        return x.to(_torch_namespace().dtype_of(dtype))
    return method(dtype, copy=copy)


def size_of(x: Any) -> int:
    """Returns the number of elements: `x.size` is a method in PyTorch."""
    return math.prod(x.shape)


def is_half(x: Any) -> bool:
    """Whether an array has float16 numbers in a library that computes with them step by step."""
    return x.dtype == _FLOAT16


_FLOAT16 = np.dtype(np.float16)
HALF = frozenset({_FLOAT16, np.dtype(ml_dtypes.bfloat16)})


def broadcast_view(x: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns NumPy's `broadcast_to`, in half of the time for a contiguous array of numbers."""
    strides = _broadcast_strides(x.shape, x.strides, shape)
    if strides is None or x.dtype.hasobject or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    view: np.ndarray[Any, Any] = np.ndarray(shape, x.dtype, x, 0, strides)
    view.setflags(False)  # type: ignore[call-arg]  # not writeable
    return view


def repeat_short_rows(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns the arguments of a broadcasting ufunc; repeats short rows, or a number for each, where that pays.

    NumPy's loop runs along the last axis: `x[:, None] - y` of points in the plane begins it for every pair.
    """
    rows, others = a.shape, b.shape
    if len(rows) != len(others):
        return a, b
    width = max(rows[-1], others[-1])
    if not 1 < width <= SHORT_REPEATED or max(a.size, b.size) < width * FEW_REPEATED:
        return a, b
    if rows[-1] == others[-1]:
        count, other = rows[-2], others[-2]
        if count == 1 and FEW_REPEATED <= other and a.size * other <= LARGE:
            a = a.repeat(other, -2)
        elif other == 1 and FEW_REPEATED <= count and b.size * count <= LARGE:
            b = b.repeat(count, -2)
    elif rows[:-1] == others[:-1]:
        if rows[-1] == 1:
            a = repeat_column(a, width)
        elif others[-1] == 1:
            b = repeat_column(b, width)
    return a, b


def repeat_column(x: Any, width: int) -> Any:
    """Repeats the numbers along the last axis, which has one, if there are enough."""
    if width > SHORT_COLUMNS or x.size < MANY_LOOPS:
        return x
    y = np.empty((*x.shape[:-1], width), x.dtype)
    for i in range(width):
        y[..., i] = x[..., 0]
    return y


@functools.lru_cache(maxsize=1024)
def _broadcast_strides(
    dims: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The strides of an array, broadcast to `shape`; None if that is not possible, or the array is empty."""
    added = len(shape) - len(dims)
    if added < 0 or 0 in dims or any(n not in (1, m) for n, m in zip(dims, shape[added:], strict=True)):
        return None
    return (*(0,) * added, *[0 if n == 1 else step for n, step in zip(dims, strides, strict=True)])


def permuted(x: Any, order: Sequence[int]) -> Any:
    """Permutes the axes of an array: `x.transpose` is a swap of two axes in PyTorch."""
    return x.transpose(order) if type(x) is np.ndarray or not hasattr(x, "permute") else x.permute(order)


_UNSIGNED = {np.dtype(f"{kind}{n}"): np.dtype(f"u{n}") for kind in "iu" for n in (1, 2, 4, 8)}


def as_unsigned(rows: Any) -> Any:
    """Returns indices as unsigned ones, so that JAX drops negative ones; PyTorch indexes with signed ones only."""
    return rows.astype(_UNSIGNED[rows.dtype]) if hasattr(rows, "astype") else rows
