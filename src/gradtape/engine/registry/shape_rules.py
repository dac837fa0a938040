"""Shape rules: the shapes of an op's outputs as functions of those of its inputs, for any sizes, symbolic ones too.

A rule `shape(*dims, **attributes)` returns a tuple of sizes; of an op with several outputs, a list of such tuples. It
does not check that the shapes fit, which is the kernel's task. It returns None, or the op has no rule, where shapes
depend on more than shapes and attributes. An op's rule stands beside its kernel; here are those that ops share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.sizes.expression import Size, broadcast, floordiv, maximum, minimum

Dims = tuple[Size, ...]
ShapeRule = Callable[..., Dims | list[Dims] | None]


def same_shape(x: Dims, *others: Dims, **attributes: Any) -> Dims:
    """The shape of the first input."""
    return x


def both_same(x: Dims, *others: Dims, **attributes: Any) -> list[Dims]:
    """The shape of the first input, for two outputs."""
    return [x, x]


def broadcast_shape(*shapes: Dims, **attributes: Any) -> Dims:
    """The shape to which all inputs are broadcast."""
    if len(shapes) == 1:
        return shapes[0]
    rank = max(map(len, shapes))
    return tuple([broadcast(*(x[i - rank] for x in shapes if len(x) >= rank - i)) for i in range(rank)])


def reduced_shape(x: Dims, *, axis: Sequence[int], keepdims: bool = False, **attributes: Any) -> Dims:
    """The shape without the axes `axis`, or with 1 in their places."""
    axes = {i % len(x) for i in axis}
    return tuple([1 if i in axes else n for i, n in enumerate(x) if keepdims or i not in axes])


def given_shape(*inputs: Dims, shape: Dims, **attributes: Any) -> Dims:
    """The attribute `shape`."""
    return tuple(shape)


def resized(x: Dims, axis: int, size: Size) -> Dims:
    """A shape with another size along an axis."""
    axis %= len(x)
    return (*x[:axis], size, *x[axis + 1 :])


def matrix_product(a: Dims, b: Dims, transpose_a: Any = False, transpose_b: Any = False, **attributes: Any) -> Dims:
    """The shape of a product of matrices, whose leading axes are broadcast."""
    return (*broadcast_shape(a[:-2], b[:-2]), a[-1 if transpose_a else -2], b[-2 if transpose_b else -1])


def windows(
    x: Dims, window: Sequence[Size], strides: Sequence[int], paddings: Sequence[Any], dilations: Sequence[int],
) -> Dims:
    """The numbers of windows along the axes between the first and the last."""
    axes = zip(x[1:-1], window, strides, paddings, dilations, strict=True)
    return tuple([
        maximum(floordiv(n + sum(pads) - d * (size - 1) - 1, stride) + 1, 0) for n, size, stride, pads, d in axes
    ])  # fmt: skip


def indexed(x: Dims, key: Sequence[Any]) -> Dims | None:
    """The shape of `x[key]`, for a key of integers, slices, `None` and `...`."""
    parts = list(key)
    if any(part is Ellipsis for part in parts):
        at = next(i for i, part in enumerate(parts) if part is Ellipsis)
        missing = len(x) - sum(part is not None for part in parts) + 1
        parts[at : at + 1] = [slice(None)] * missing
    sizes: list[Size] = []
    axes = iter(x)
    for part in parts:
        if part is None:
            sizes.append(1)
        elif isinstance(part, slice):
            sizes.append(sliced(next(axes), part))
        else:
            next(axes)
    return (*sizes, *axes)


def sliced(n: Size, part: slice) -> Size:
    """The length of `range(n)[part]`, as Python clips it."""
    step = 1 if part.step is None else int(part.step)
    least, most = (0, n) if step > 0 else (-1, n - 1)  # the places where a slice may begin and end
    start, stop = (least, most) if step > 0 else (most, least)
    start = start if part.start is None else clipped(part.start, n, least, most)
    stop = stop if part.stop is None else clipped(part.stop, n, least, most)
    length = stop - start if step > 0 else start - stop
    return maximum(floordiv(length + abs(step) - 1, abs(step)), 0)


def clipped(at: Size, n: Size, least: Size, most: Size) -> Size:
    """A position of a slice, which counts from the end if it is negative."""
    return minimum(at, most) if at >= 0 else maximum(at + n, least)
