"""Max pooling by oneDNN, on images `(examples, *space, channels)`.

oneDNN ignores NaNs, and returns the lowest float for a window of only -inf: NumPy handles such images. A sum detects
them in a fraction of the time.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...tuning import ONEDNN_POOLING
from ..accelerated import accelerated
from ..windows import window_positions
from .library import FLOAT32, Computation, Refused, Role, Temporaries, contiguous, dims, library

_TRAINING, _INFERENCE, _MAX = 64, 96, 0x1FF


@accelerated("max_pool")
def max_pool(x: Any, **window: Any) -> Any:
    """Computes the maximum of each window."""
    y = _pooled_shape(x.shape, **window)
    prepared = _usable("forward", x, x.shape, y, **window)
    if prepared is None or not _is_finite(x := contiguous(x)):
        return None
    top = np.empty(y, FLOAT32)
    prepared.run(x, top)
    return top


@accelerated("max_pool_and_place")
def max_pool_and_place(x: Any, **window: Any) -> tuple[Any, Any] | None:
    """Computes the maximum of each window and its index in the window."""
    y = _pooled_shape(x.shape, **window)
    prepared = _usable("places", x, x.shape, y, **window)
    if prepared is None or not _is_finite(x := contiguous(x)):
        return None
    top, place = np.empty(y, FLOAT32), np.empty(y, np.uint8)
    prepared.run(x, top, place)
    return top, place


@accelerated("max_pool_place")
def max_pool_place(x: Any, top: Any, **window: Any) -> Any:
    """Computes the index in each window of its first maximum, whose value is in `top`."""
    prepared = _usable("places", x, x.shape, top.shape, **window)
    if prepared is None or not _is_finite(contiguous(top)):
        return None
    place = np.empty(top.shape, np.uint8)
    prepared.run(contiguous(x), np.empty(top.shape, FLOAT32), place)
    return place


@accelerated("max_pool_back")
def max_pool_back(g: Any, place: Any, *, size: Any, **window: Any) -> Any:
    """Scatter-adds `g` at the argmax positions of an image, whose spatial shape is `size`."""
    shape = (g.shape[0], *size, g.shape[-1])
    prepared = _usable("back", g, shape, g.shape, **window)
    if prepared is None or place.dtype != np.uint8:
        return None
    x = np.empty(shape, FLOAT32)
    prepared.run(x, contiguous(g), contiguous(place))
    return x


def _pooled_shape(x: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> tuple[int, ...]:
    return x[0], *map(window_positions, x[1:-1], window, strides, paddings, dilations), x[-1]


def _is_finite(x: Any) -> bool:
    """Whether the image has no inf or nan; False also for finite values so large that their sum overflows."""
    with np.errstate(invalid="ignore", over="ignore"):
        return math.isfinite(np.add.reduce(x, axis=None))


def _usable(kind: str, given: Any, x: Any, y: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    if given.dtype != FLOAT32 or math.prod(x) < ONEDNN_POOLING or not math.prod(y) or max(dilations) > 1:
        return None
    return None if library() is None else _prepared(kind, x, y, window, strides, paddings)


@lru_cache(maxsize=256)
def _prepared(kind: str, x: Any, y: Any, window: Any, strides: Any, paddings: Any) -> Computation | None:
    """Returns the computation for arrays of these shapes, or None if oneDNN has no fast implementation."""
    dnnl = library()
    assert dnnl is not None
    before, after = zip(*paddings, strict=True)
    overhang = any(max(pad) >= n for pad, n in zip(paddings, window, strict=True))
    if len(window) > 3 or math.prod(window) > 255 or overhang:
        return None
    moves = [dims(values) for values in (window, strides, [0] * len(window), before, after)]
    try:
        with Temporaries(dnnl) as objects:
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
