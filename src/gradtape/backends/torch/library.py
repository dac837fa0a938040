"""Loads PyTorch on first use, and passes NumPy arrays to its functions without copies."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..blas import keep_one_thread

IS_INSTALLED = importlib.util.find_spec("torch") is not None
# Whether PyTorch computes large host arrays. `GRADTAPE_KERNELS=numpy` turns it off.
IS_ENABLED = IS_INSTALLED and os.environ.get("GRADTAPE_KERNELS", "") != "numpy"
# What PyTorch raises for layouts, dtypes and shapes that it rejects, and if it cannot allocate memory. NumPy's kernel
# runs then, and raises the error that the caller expects.
REJECTIONS = (TypeError, ValueError, RuntimeError, IndexError)
_MOST_SCALARS = 256  # kept as tensors

# PyTorch's names of functions that NumPy spells differently.
RENAMED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "absolute": "abs", "conjugate": "conj", "invert": "bitwise_not", "rint": "round",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift", "power": "pow", "mod": "remainder",
    "negative": "neg",
}  # fmt: skip


_threads: list[int] = []  # what `set_threads` was given, at most one


def set_threads(count: int) -> None:
    """Sets the number of threads of PyTorch, which is not imported for it."""
    _threads[:] = [count]
    if torch.cache_info().currsize:
        torch().set_num_threads(count)


@cache
def torch() -> Any:
    """Imports PyTorch."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    keep_one_thread()
    if _threads:
        torch.set_num_threads(_threads[-1])
    read_only = np.zeros(1, np.float32)
    read_only.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.from_numpy(read_only)  # PyTorch warns once that such a tensor must not be written: no kernel here does
    if hasattr(os, "register_at_fork"):
        # The threads of OpenMP do not survive a fork, and a parallel loop of the child would wait for them.
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
    return torch


@cache
def aten(name: str) -> Callable[..., Any]:
    """Returns PyTorch's binding of `aten::name`, without its wrapper in Python, which takes longer than a view."""
    found = getattr(torch().ops.aten, name).default
    return getattr(found, "_op", found)


@cache
def can_import() -> bool:
    """Whether PyTorch can be imported. If not, NumPy computes large arrays, and one log line says why."""
    try:
        torch()
    except (ImportError, OSError) as error:  # another version's libraries
        import logging  # deferred, as gradtape does not need it otherwise

        message = "NumPy computes large arrays, because PyTorch cannot be imported: %s: %s"
        logging.getLogger("gradtape").warning(message, type(error).__name__, error)
        return False
    return True


@cache
def to_tensor() -> Callable[[Any], Any]:
    """Returns the function that converts an array, or a NumPy scalar, to a tensor that shares the array's memory.

    The base of an array that PyTorch has returned is a tensor of the same shape; the base of a view of it is the array.
    """
    from_numpy, tensor_class = torch().from_numpy, torch().Tensor
    scalars: dict[int, tuple[np.generic, Any]] = {}  # by id: a program's numbers and hyperparameters recur

    def convert(x: Any) -> Any:
        base = x.base
        if type(base) is tensor_class:
            return base
        if type(x) is np.ndarray:
            return from_numpy(x)
        known = scalars.get(id(x))
        if known is None or known[0] is not x:
            if len(scalars) >= _MOST_SCALARS:
                scalars.clear()
            known = scalars[id(x)] = (x, from_numpy(np.asarray(x)))
        return known[1]

    return convert


def on_arrays(function: Callable[..., Any], count: int = 0) -> Callable[..., Any]:
    """Converts a function of tensors to one of NumPy arrays, which returns None where PyTorch cannot compute it.

    Arrays and tensors share memory; PyTorch has no negative strides and foreign byte orders. `count` is the number of
    arrays if it is 1 or 2 and the function returns one tensor: the conversions are unrolled then. Other values, such as
    the attributes of a vjp, stay as they are.
    """
    convert = to_tensor()
    from_numpy, tensor_class = torch().from_numpy, torch().Tensor
    ndarray, generic = np.ndarray, np.generic

    def unary(x: Any) -> Any:
        try:
            return function(convert(x)).numpy()
        except REJECTIONS:
            return None

    def binary(a: Any, b: Any) -> Any:
        try:  # `convert` is inlined
            x, y = a.base, b.base
            if type(x) is not tensor_class:
                x = from_numpy(a) if type(a) is ndarray else convert(a)
            if type(y) is not tensor_class:
                y = from_numpy(b) if type(b) is ndarray else convert(b)
            return function(x, y).numpy()
        except REJECTIONS:
            return None

    def general(*values: Any, **attrs: Any) -> Any:
        try:
            tensors = [convert(x) if type(x) is ndarray or isinstance(x, generic) else x for x in values]
            result = function(*tensors, **attrs)
            if type(result) is tuple:
                return tuple([None if y is None else y.numpy() for y in result])
            return None if result is None else result.numpy()
        except REJECTIONS:
            return None

    if count == 1:
        return unary
    return binary if count == 2 else general
