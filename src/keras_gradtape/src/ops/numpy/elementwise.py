"""Elementwise functions: those of gradtape's table under Keras' policy, and those that only Keras computes so."""

from __future__ import annotations

from typing import Any

import gradtape as tf
from gradtape.api.experimental.numpy.elementwise import KERAS_ROWS, SHARED, Elementwise, rounded
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops
from gradtape.ops.elementwise.arithmetic import power as raised

from ...sparse import intersection, is_sparse, like, on_values, quotient, union
from .promotion import KERAS, cast_all, common, dtype_of, numeric, on_bools, promote, tensor, weak

_AT_ZEROS = {
    "": lambda f: f, "values": on_values(), "linear": on_values(linear=True), "union": union,
    "intersection": intersection, "quotient": quotient,
}  # fmt: skip
_PARAMETERS = {
    name: ("x", "y") for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
}

_ROWS = (*SHARED, *KERAS_ROWS)


def _published(row: Elementwise) -> Any:
    function = row.bind(KERAS, *_PARAMETERS.get(row.name, ()))
    function.__module__ = __name__
    return _AT_ZEROS[row.zeros](function)


globals().update({row.name: _published(row) for row in _ROWS})
bitwise_invert = bitwise_not  # noqa: F821
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift  # noqa: F821
__all__ = [
    *(row.name for row in _ROWS), "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "clip", "copysign",
    "float_power", "ldexp", "power", "round", "signbit", "view",
]  # fmt: skip


@union
def add(x1, x2):  # not from the table: one call less in the function that models call most
    x1, x2 = promote(x1, x2)
    return ops.logical_or(x1, x2) if x1.dtype.is_bool else ops.add(x1, x2)


def clip(x, x_min, x_max):
    x = numeric(x)
    for bound, nearer in ((x_min, ops.maximum), (x_max, ops.minimum)):
        if bound is not None:
            x = nearer(x, _bound(bound, x))
    return x


def _bound(bound, x: Tensor) -> Tensor:
    """Converts a clipping bound to the dtype of `x`; truncates and clamps bounds of integer tensors."""
    if isinstance(bound, int | float) and x.dtype.is_integer:
        bound = int(max(min(bound, x.dtype.max), x.dtype.min))
    return tensor(bound, x.dtype)


def copysign(x1, x2):
    x1, x2 = weak(x1), weak(x2)
    x1, x2 = cast_all((x1, x2), common(x1, x2, float))
    size = ops.abs(x1)
    return ops.where(ops.signbit(x2), -size, size)


def float_power(x1, x2):
    x1, x2 = weak(x1), weak(x2)
    return ops.pow(*cast_all((x1, x2), common(x1, x2, float)))


def ldexp(x1, x2):
    x1, x2 = tensor(x1), tensor(x2)
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype.name}")
    dtype = common(x1, x2, float)
    return tensor(x1, dtype) * ops.exp2(tensor(x2, dtype))


def power(x1, x2):
    x1, x2 = weak(x1), weak(x2)
    dtype = common(x1, x2)
    if isinstance(x2, int | float) and not dtype.is_bool:
        return raised(tensor(x1, dtype), x2)  # constant exponents have cheaper gradients
    x1, x2 = (tensor(x, dtype) for x in (x1, x2))
    return on_bools(ops.pow, x1, x2)


def round(x, decimals=0):
    if is_sparse(x):
        return like(x, round(x.values, decimals))
    return rounded(numeric(x), decimals)


@on_values()
def signbit(x):
    x = tensor(x)
    if x.dtype.is_floating:
        return ops.signbit(x)
    return ops.less(numeric(x, "int8"), ops.zeros_like(numeric(x, "int8")))


def view(x, dtype=None):
    x = tensor(x)
    target = x.dtype if dtype is None else dtype_of(dtype)
    if x.dtype.size == target.size:
        return tf.bitcast(x, target)
    if not x.dims:
        raise ValueError(f"A scalar of {x.dtype.name} cannot be viewed as {target.name}, which is of another size")
    lead, last = x.dims[:-1], x.dims[-1]
    if x.dtype.size > target.size:
        return ops.reshape(tf.bitcast(x, target), shape=(*lead, last * x.dtype.size // target.size))
    parts = target.size // x.dtype.size
    if last % parts:
        raise ValueError(f"The last axis of shape {x.dims} of {x.dtype.name} does not divide into {target.name}s")
    return tf.bitcast(ops.reshape(x, shape=(*lead, last // parts, parts)), target)
