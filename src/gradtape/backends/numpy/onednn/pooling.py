"""Maxima under moving windows by oneDNN, on images `(examples, *space, channels)`.

oneDNN passes over NaNs, and takes a window of nothing but -inf for one of the lowest float: such images are left to
NumPy. Sums tell whether there are any, in a fraction of the time.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, library, numbers, plain
from .products import sum_rows

SMALLEST = 1 << 15  # numbers in the image
_TRAINING, _INFERENCE, _MAX = 64, 96, 0x1FF


def max_pooled(x: Any, sizes: tuple[int, ...], attrs: dict[str, Any]) -> Any:
    """The largest value under each window, `sizes` of them along the axes of space; None where NumPy is to find it."""
    y = (x.shape[0], *sizes, x.shape[-1])
    prepared = _usable("forward", x, x.shape, y, attrs)
    if prepared is None or not _is_finite(x := plain(x)):
        return None
    top = np.empty(y, FLOAT32)
    prepared.run(x, top)
    return top


def max_pooled_with_places(x: Any, sizes: tuple[int, ...], attrs: dict[str, Any]) -> tuple[Any, Any] | None:
    """The largest value under each window and the number of its place there; None where NumPy is to find them."""
    y = (x.shape[0], *sizes, x.shape[-1])
    prepared = _usable("places", x, x.shape, y, attrs)
    if prepared is None or not _is_finite(x := plain(x)):
        return None
    top, place = np.empty(y, FLOAT32), np.empty(y, np.uint8)
    prepared.run(x, top, place)
    return top, place


def max_places(x: Any, top: Any, attrs: dict[str, Any]) -> Any:
    """The number of the place in each window that holds its first largest value, which is in `top`; or None."""
    prepared = _usable("places", x, x.shape, top.shape, attrs)
    if prepared is None or not _is_finite(plain(top)):
        return None
    place = np.empty(top.shape, np.uint8)
    prepared.run(plain(x), np.empty(top.shape, FLOAT32), place)
    return place


def max_spread(g: Any, place: Any, size: tuple[int, ...], attrs: dict[str, Any]) -> Any:
    """An image, whose space has `size`, with the values `g` added at the places that won; or None."""
    shape = (g.shape[0], *size, g.shape[-1])
    prepared = _usable("back", g, shape, g.shape, attrs)
    if prepared is None or place.dtype != np.uint8:
        return None
    x = np.empty(shape, FLOAT32)
    prepared.run(x, plain(g), plain(place))
    return x


def _is_finite(x: Any) -> bool:
    """Whether there is no inf or nan in the contiguous image; numbers so large that their sum is inf count as one."""
    rows = x.reshape(-1, x.shape[-1])
    total = sum_rows(rows)
    return bool(np.isfinite(rows.sum(0) if total is None else total).all())


def _usable(kind: str, given: Any, x: Any, y: Any, attrs: dict[str, Any]) -> Computation | None:
    if given.dtype != FLOAT32 or math.prod(x) < SMALLEST or not math.prod(y) or max(attrs["dilations"]) > 1:
        return None
    if library() is None:
        return None
    return _prepared(kind, x, y, attrs["window"], attrs["strides"], attrs["paddings"])


@lru_cache(maxsize=256)
def _prepared(kind: str, x: Any, y: Any, window: Any, strides: Any, paddings: Any) -> Computation | None:
    """The computation for arrays of these shapes, or None if oneDNN has none that is fast."""
    dnnl = library()
    assert dnnl is not None
    before, after = zip(*paddings, strict=True)
    overhang = any(max(pad) >= n for pad, n in zip(paddings, window, strict=True))
    if len(window) > 3 or math.prod(window) > 255 or overhang:
        return None
    moves = [numbers(values) for values in (window, strides, [0] * len(window), before, after)]
    try:
        with dnnl.temporary() as objects:
            image, result, places = objects.image(x), objects.image(y), objects.image(y, places=True)
            way = _INFERENCE if kind == "forward" else _TRAINING
            forward = objects.description(
                "dnnl_pooling_forward_primitive_desc_create", dnnl.engine, way, _MAX, image, result, *moves
            )
            if kind == "forward":
                return Computation(objects, forward, {Role.SRC: image, Role.DST: result})
            if kind == "places":
                return Computation(objects, forward, {Role.SRC: image, Role.DST: result, Role.WORKSPACE: places})
            back = objects.description(
                "dnnl_pooling_backward_primitive_desc_create", dnnl.engine, _MAX, image, result, *moves, forward
            )
            return Computation(objects, back, {Role.DIFF_SRC: image, Role.DIFF_DST: result, Role.WORKSPACE: places})
    except Refused:
        return None
