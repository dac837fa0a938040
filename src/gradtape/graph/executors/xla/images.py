"""Convolution and pooling for XLA, in the forms that it compiles to the fastest code.

XLA's own convolution is used, except where a matrix product or a few elementwise products do. Transposes of convolution
and pooling avoid scatter: values move to their positions by reshaping or by interior padding.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....backends.arrays import in_single
from ....engine.registry.op import Op
from ....ops.nn import convolution
from ....ops.nn.convolution import padded
from ....ops.nn.patches import taps
from .structure import place_in_zeros
from .table import lowering

Sizes = tuple[int, ...]  # one for each spatial axis
Paddings = Sequence[tuple[int, int]]

_PATCHES = 8 << 20  # bytes of im2col patches up to which a matrix product is faster than a convolution


def _is_own(x: jax.Array, window: tuple[int, ...], channels: int, groups: int) -> bool:
    """Whether XLA's own convolution is the fastest."""
    depthwise = groups == channels and groups > 1
    return jnp.issubdtype(x.dtype, jnp.floating) and x.size > 0 and not depthwise and math.prod(window) > 1


def _by_kernel(op: Op, a: jax.Array, b: jax.Array, **attrs: Any) -> Any:
    """Run the op's kernel with `jax.numpy`: matrix or elementwise products; half precision accumulates in float32."""
    kernel = functools.partial(op.kernel, jnp)
    return (kernel if attrs["groups"] == 1 else in_single(kernel))(a, b, **attrs)


@lowering("conv", half=True)
def _conv(x: jax.Array, w: jax.Array, **attrs: Any) -> Any:
    if not _is_own(x, w.shape[:-2], x.shape[-1], attrs["groups"]):
        return _by_kernel(convolution.conv, x, w, **attrs)
    return _convolved(x, w, **attrs)


def _convolved(x: jax.Array, w: jax.Array, *, strides: Sizes, paddings: Paddings, dilations: Sizes, groups: int) -> Any:
    space = "".join(map(str, range(x.ndim - 2)))
    layout = (f"N{space}C", f"{space}IO", f"N{space}C")
    return jax.lax.conv_general_dilated(
        x, w, strides, paddings, rhs_dilation=dilations, dimension_numbers=layout, feature_group_count=groups
    )


@lowering("conv_input", half=True)
def _conv_input(a: jax.Array, w: jax.Array, *, size: tuple[int, ...], **attrs: Any) -> Any:
    channels = w.shape[-2] * attrs["groups"]
    if not _is_own(a, w.shape[:-2], channels, attrs["groups"]):
        return _by_kernel(convolution.conv_input, a, w, size=size, **attrs)
    image = jax.ShapeDtypeStruct((a.shape[0], *size, channels), a.dtype)
    (x,) = jax.linear_transpose(lambda x: _convolved(x, w, **attrs), image)(a)
    return x


@lowering("conv_filter", half=True)
def _conv_filter(x: jax.Array, b: jax.Array, *, size: tuple[int, ...], **attrs: Any) -> Any:
    groups = attrs["groups"]
    if not _is_own(x, size, x.shape[-1], groups):
        return _by_kernel(convolution.conv_filter, x, b, size=size, **attrs)
    channels, outputs = x.shape[-1], b.shape[-1]
    positions = math.prod(b.shape[:-1])
    if groups == 1 and positions * math.prod(size) * channels * x.dtype.itemsize <= _PATCHES:
        keys = taps(size, attrs["strides"], attrs["dilations"], b.shape[1:-1])
        image = padded(jnp, x, attrs["paddings"])
        patches = jnp.concatenate([image[key] for key in keys], axis=-1).reshape(positions, -1)
        return (b.reshape(positions, outputs).T @ patches).T.reshape(*size, channels, outputs)
    kernel = jax.ShapeDtypeStruct((*size, channels // groups, outputs), x.dtype)
    (w,) = jax.linear_transpose(lambda w: _convolved(x, w, **attrs), kernel)(b)
    return w


@lowering("conv_filters", half=True)
def _conv_filters(x: jax.Array, b: jax.Array, *, size: tuple[int, ...], **attrs: Any) -> Any:
    """Runs the kernel on as many members at a time as have `_PATCHES` bytes of patches, each as many."""
    members = max(1, x.shape[0])
    positions = math.prod(b.shape[1:-1])
    most = max(1, _PATCHES // max(1, positions * math.prod(size) * x.shape[-1] * x.dtype.itemsize))
    together = next(n for n in range(min(most, members), 0, -1) if members % n == 0)

    def run(pair: tuple[jax.Array, jax.Array]) -> Any:
        return _by_kernel(convolution.conv_filters, *pair, size=size, **attrs)

    if together == members:
        return run((x, b))
    x, b = (a.reshape(members // together, together, *a.shape[1:]) for a in (x, b))
    w = jax.lax.map(run, (x, b))
    return w.reshape(members, *w.shape[2:])


@lowering("max_pool_back")
def _max_pool_back(g: jax.Array, place: jax.Array, **attrs: Any) -> jax.Array:
    return _spread(lambda number, value, place: jnp.where(place == number, value, 0), (g, place), **attrs)


@lowering("window_spread")
def _window_spread(x: jax.Array, **attrs: Any) -> jax.Array:
    return _spread(lambda number, value: value, (x,), **attrs)


def _spread(
    part: Callable[..., jax.Array], values: Sequence[jax.Array], *, size: Sizes, window: Sizes, strides: Sizes,
    paddings: Paddings, dilations: Sizes,
) -> jax.Array:  # fmt: skip
    """Returns an image of `size` in which position `number` of each window accumulates `part(number, *values)`."""
    count, *sizes, channels = values[0].shape
    whole = tuple(n + sum(p) for n, p in zip(size, paddings, strict=True))
    if max(dilations) == 1 and strides == window and whole == tuple(map(operator.mul, sizes, window)):
        # Windows tile the image: interleave the axes of window and positions, then reshape.
        numbers = np.arange(math.prod(window)).reshape([m for n in window for m in (1, n)] + [1])
        apart = [x.reshape(count, *(m for n in sizes for m in (n, 1)), channels) for x in values]
        shape = (count, *(m for n, w in zip(sizes, window, strict=True) for m in (n, w)), channels)
        image = jnp.broadcast_to(part(numbers, *apart), shape).reshape(count, *whole, channels)
    else:
        keys = taps(window, strides, dilations, tuple(sizes))
        shape = (count, *whole, channels)
        parts = [place_in_zeros(part(number, *values), key=key, shape=shape) for number, key in enumerate(keys)]
        image = functools.reduce(jnp.add, parts)
    return image[(slice(None), *(slice(p[0], p[0] + n) for n, p in zip(size, paddings, strict=True)))]
