"""The tables of PyTorch's kernels of ops that are not elementwise, which `kernels.py` and `windows.py` fill."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from .library import REJECTIONS, can_import, on_arrays, to_tensor, torch


class HostKernel(NamedTuple):
    """A kernel, and the number of elements of operand `operand` from which it is faster than NumPy's."""

    function: Callable[..., Any]
    min_elements: int
    operand: int
    dtypes: str  # of that operand, as NumPy's characters


KERNELS: dict[str, HostKernel] = {}
WITH_RESIDUALS: dict[str, HostKernel] = {}  # of the kernels that leave something for the vjp
VJPS: dict[str, HostKernel] = {}
JOINT_VJPS: dict[str, HostKernel] = {}  # of the ops that have a `JointRule`


def _register(table: dict[str, HostKernel], name: str, min_elements: int, operand: int = 0, dtypes: str = "fd") -> Any:
    """Registers a function as the kernel, or the vjp, of an op; `operand` counts the cotangent of a vjp as 0."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[name] = HostKernel(function, min_elements, operand, dtypes)
        return function

    return register


kernel, vjp, joint_vjp = partial(_register, KERNELS), partial(_register, VJPS), partial(_register, JOINT_VJPS)


def kernel_with_residual(name: str, min_elements: int, operand: int = 0) -> Any:
    """Registers a function that returns an op's result, and what the vjp of the op takes as its last parameter.

    The parameter's name is `residual`. It is None if the op was not recorded by a tape that keeps it. The arguments
    before `operand` are integers, those after it have its dtype.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def result(*given: Any, **attrs: Any) -> Any:
            found = function(*given, **attrs)
            return None if found is None else found[0]

        kernel(name, min_elements, operand)(result)
        _register(WITH_RESIDUALS, name, min_elements, operand)(function)
        return function

    return register


def bind_kernel(kernel: HostKernel) -> Callable[..., Any]:
    """Returns a kernel on NumPy arrays; it returns None where PyTorch cannot compute it."""
    return on_arrays(partial(kernel.function, torch())) if can_import() else lambda *arrays, **attrs: None


def bind_with_residual(kernel: HostKernel) -> Callable[..., Any]:
    """Returns a kernel on NumPy arrays that returns an array and the residual; None where PyTorch cannot compute it."""
    if not can_import():
        return lambda *arrays, **attrs: None
    t, convert = torch(), to_tensor()

    def run(*arrays: Any, **attrs: Any) -> Any:
        try:
            found = kernel.function(t, *map(convert, arrays), **attrs)
            return None if found is None else (found[0].numpy(), found[1])
        except REJECTIONS:
            return None

    return run


@lru_cache(maxsize=256)
def scalar(value: float, dtype: Any) -> Any:
    """Returns a number as a scalar tensor on the host, which PyTorch's functions read in less time than the number."""
    return torch().tensor(value, dtype=dtype)


def keeps_derived(x: Any) -> bool:
    """Whether `cached_on` keeps what is derived from a tensor: on a GPU, if the tensor has a version."""
    return x.is_cuda and not x.is_inference()


def cached_on(x: Any, name: str, key: Any, compute: Callable[[], Any]) -> Any:
    """Returns the tensor that `compute` derives from `x`; on a GPU, it stays with `x` until that is overwritten.

    A forward pass leaves it for the backward pass, which has the same tensor. `key` is what else the result depends on.
    """
    if not keeps_derived(x):
        return compute()
    found = cached(x, name, key)
    if found is None:
        found = compute()
        keep_on(x, name, key, found)
    return found


def keep_on(x: Any, name: str, key: Any, found: Any) -> None:
    """Leaves `found`, derived from the present value of `x`, with `x`, if that has a version."""
    if keeps_derived(x):
        setattr(x, name, ((key, x._version), found))


def cached(x: Any, name: str, key: Any) -> Any:
    """Returns what `cached_on` has left for the present value of `x`, or None."""
    known = getattr(x, name, None)
    return known[1] if known is not None and known[0] == (key, x._version) else None
