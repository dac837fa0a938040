"""PyTorch's kernels of ops that are not elementwise, by op name, each with the array size from which it is used.

A kernel `f(torch, *tensors, **attrs)` computes the op; a vjp `f(torch, g, <names>)` computes its cotangents from the
cotangent of the output and from residuals, which it names as the op's own rule does. Both return None for cases that
PyTorch computes differently; NumPy's kernel, or the rule, runs then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ..tuning import TORCH_PRODUCTS, TORCH_REDUCTIONS, TORCH_ROWS
from .library import on_arrays, torch

Axes = tuple[int, ...]


class HostKernel(NamedTuple):
    """A kernel, and the number of elements of operand `operand` from which it is faster than NumPy's."""

    function: Callable[..., Any]
    min_elements: int
    operand: int


KERNELS: dict[str, HostKernel] = {}
VJPS: dict[str, HostKernel] = {}


def _register(table: dict[str, HostKernel], name: str, min_elements: int, operand: int) -> Any:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[name] = HostKernel(function, min_elements, operand)
        return function

    return register


def _kernel(name: str, min_elements: int, operand: int = 0) -> Any:
    return _register(KERNELS, name, min_elements, operand)


def _vjp(name: str, min_elements: int, operand: int = 0) -> Any:
    """Registers the vjp of an op; `operand` counts the cotangent as 0."""
    return _register(VJPS, name, min_elements, operand)


@cache
def bind_kernel(kernel: HostKernel) -> Callable[..., Any]:
    """Returns a kernel on NumPy arrays; it returns None where PyTorch cannot compute it."""
    function, library = kernel.function, torch()
    return on_arrays(lambda *tensors, **attrs: function(library, *tensors, **attrs))


@_kernel("sum", TORCH_REDUCTIONS)
def _sum(t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return t.sum(x, axis, keepdims) if axis else None  # PyTorch reduces all axes if given none


@_kernel("mean", TORCH_REDUCTIONS)
def _mean(t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return t.mean(x, axis, keepdims) if axis else None


@_kernel("max", TORCH_REDUCTIONS)
def _max(t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return t.amax(x, axis, keepdims) if axis else None


@_kernel("min", TORCH_REDUCTIONS)
def _min(t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return t.amin(x, axis, keepdims) if axis else None


@_kernel("logsumexp", TORCH_ROWS)
def _logsumexp(t: Any, x: Any, *, axis: Axes, keepdims: bool = False) -> Any:
    return t.logsumexp(x, axis, keepdims) if axis else None


@_kernel("moments", TORCH_REDUCTIONS)
def _moments(t: Any, x: Any, *, axis: Axes) -> Any:
    if not axis:
        return None
    mean = t.mean(x, axis, True)  # `var_mean` is NaN for a mean that is infinite
    return mean, t.mean((x - mean).square_(), axis, True)


@_kernel("softmax", TORCH_ROWS)
def _softmax(t: Any, x: Any, *, axis: int) -> Any:
    return t.softmax(x, axis)


@_kernel("log_softmax", TORCH_ROWS)
def _log_softmax(t: Any, x: Any, *, axis: int) -> Any:
    return t.log_softmax(x, axis)


@_kernel("layer_norm", TORCH_ROWS)
def _layer_norm(t: Any, x: Any, scale: Any, shift: Any, *, epsilon: float) -> Any:
    return t.nn.functional.layer_norm(x, x.shape[-1:], scale, shift, epsilon)


@_kernel("layer_norm_back", TORCH_ROWS)
def _layer_norm_back(t: Any, cotangent: Any, x: Any, scale: Any, *, epsilon: float) -> Any:
    shape, shift = x.shape[-1:], t.zeros_like(scale)
    _, mean, deviation = t.native_layer_norm(x, shape, scale, shift, epsilon)
    wanted = [True, True, True]
    return tuple(t.ops.aten.native_layer_norm_backward(cotangent, x, shape, mean, deviation, scale, shift, wanted))


@_kernel("matmul", TORCH_PRODUCTS)
def _matmul(t: Any, a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return t.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b) if a.ndim > 2 else None


def _kept(x: Any, y: Any, axis: Axes) -> Any:
    """Reshapes a reduced value to broadcast against `x`."""
    return y.reshape([1 if i in axis else n for i, n in enumerate(x.shape)])


def _extreme_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    """Ties share the cotangent evenly."""
    reached = (x == _kept(x, y, axis)).to(x.dtype)
    return reached.mul_(_kept(x, g, axis) / reached.sum(axis, True)) if axis else None


_vjp("max", TORCH_ROWS, 1)(_extreme_vjp)
_vjp("min", TORCH_ROWS, 1)(_extreme_vjp)


@_vjp("logsumexp", TORCH_ROWS, 1)
def _logsumexp_vjp(t: Any, g: Any, x: Any, y: Any, axis: Axes) -> Any:
    if not axis:
        return None
    e = (x - _kept(x, y, axis)).exp_()
    return e.mul_(_kept(x, g, axis) / e.sum(axis, True))  # `y` is rounded where it is far from 0


@_vjp("softmax", TORCH_ROWS)
def _softmax_vjp(t: Any, g: Any, y: Any, axis: int) -> Any:
    return t.ops.aten._softmax_backward_data(g, y, axis, y.dtype)


@_vjp("log_softmax", TORCH_ROWS)
def _log_softmax_vjp(t: Any, g: Any, y: Any, axis: int) -> Any:
    return t.ops.aten._log_softmax_backward_data(g, y, axis, y.dtype)
