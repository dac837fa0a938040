"""Convolutions and their derivatives by oneDNN, on images `(examples, *space, channels)` as the ops have them.

oneDNN numbers the axes in another order but takes them wherever they lie in memory: images stay as they are. The filter
is brought into the order it likes best.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, Temporaries, library, numbers, plain, steps

SMALLEST = 1 << 18  # multiplications; for fewer, NumPy is as fast
_TRAINING, _DIRECT = 64, 1


def convolved(x: Any, w: Any, sizes: tuple[int, ...], attrs: dict[str, Any], row: Any = None) -> Any:
    """The convolution, whose space has `sizes`, plus a row of channels if given; None where NumPy is to compute it."""
    shape = (x.shape[0], *sizes, w.shape[-1])
    prepared = _usable("forward" if row is None else "with row", x, w, x.shape, w.shape, shape, attrs)
    if prepared is None:
        return None
    y = np.empty(shape, FLOAT32)
    prepared.run(plain(x), plain(w), y, *(() if row is None else (plain(row),)))
    return y


def image_gradient(a: Any, w: Any, size: tuple[int, ...], attrs: dict[str, Any]) -> Any:
    """The transpose of `convolved` in the image, whose space has `size`; None where NumPy is to compute it."""
    shape = (a.shape[0], *size, w.shape[-2] * attrs["groups"])
    prepared = _usable("image", a, w, shape, w.shape, a.shape, attrs)
    if prepared is None:
        return None
    x = np.empty(shape, FLOAT32)
    prepared.run(x, plain(w), plain(a))
    return x


def filter_gradient(x: Any, b: Any, size: tuple[int, ...], attrs: dict[str, Any]) -> Any:
    """The transpose of `convolved` in the filter, whose window has `size`; None where NumPy is to compute it."""
    shape = (*size, x.shape[-1] // attrs["groups"], b.shape[-1])
    prepared = _usable("filter", x, b, x.shape, shape, b.shape, attrs)
    if prepared is None:
        return None
    w = np.empty(shape, FLOAT32)
    prepared.run(plain(x), w, plain(b))
    return w


def _usable(kind: str, a: Any, b: Any, x: Any, w: Any, y: Any, attrs: dict[str, Any]) -> Computation | None:
    if a.dtype != FLOAT32 or b.dtype != FLOAT32 or math.prod(y) * math.prod(w[:-1]) < SMALLEST or not math.prod(x):
        return None
    if library() is None:
        return None
    return _prepared(kind, x, w, y, attrs["strides"], attrs["paddings"], attrs["dilations"], attrs["groups"])


@lru_cache(maxsize=256)
def _prepared(
    kind: str, x: Any, w: Any, y: Any, strides: Any, paddings: Any, dilations: Any, groups: int
) -> Computation | None:
    """The computation for arrays of these shapes, or None if oneDNN has none that is fast."""
    dnnl = library()
    assert dnnl is not None
    before, after = zip(*paddings, strict=True)
    if len(strides) > 3 or min(*before, *after) < 0:
        return None
    window = [numbers(values) for values in (strides, [d - 1 for d in dilations], before, after)]
    try:
        with dnnl.temporary() as objects:
            image, result = objects.image(x), objects.image(y)
            given, best = _filter(objects, w, groups, True), _filter(objects, w, groups, False)
            row = objects.layout(y[-1:], [1]) if kind == "with row" else None
            forward = objects.description(
                "dnnl_convolution_forward_primitive_desc_create", dnnl.engine, _TRAINING, _DIRECT, image, best, row,
                result, *window,
            )  # fmt: skip
            if kind in ("forward", "with row"):
                layouts = {Role.SRC: image, Role.WEIGHTS: given, Role.DST: result}
                return Computation(objects, forward, layouts if row is None else {**layouts, Role.BIAS: row})
            if kind == "image":
                back = objects.description(
                    "dnnl_convolution_backward_data_primitive_desc_create", dnnl.engine, _DIRECT, image, best, result,
                    *window, forward,
                )  # fmt: skip
                return Computation(objects, back, {Role.DIFF_SRC: image, Role.WEIGHTS: given, Role.DIFF_DST: result})
            back = objects.description(
                "dnnl_convolution_backward_weights_primitive_desc_create", dnnl.engine, _DIRECT, image, best, None,
                result, *window, forward,
            )  # fmt: skip
            return Computation(objects, back, {Role.SRC: image, Role.DIFF_WEIGHTS: given, Role.DIFF_DST: result})
    except Refused:
        return None


def _filter(objects: Temporaries, shape: Any, groups: int, as_given: bool) -> Any:
    """The filter's layout: its own, or oneDNN's choice."""
    *window, channels, outputs = shape
    *along_window, along_channels, along_outputs = steps(shape)
    sizes, apart = [outputs // groups, channels, *window], [along_outputs, along_channels, *along_window]
    if groups > 1:
        sizes, apart = [groups, *sizes], [outputs // groups, *apart]
    return objects.layout(sizes, apart if as_given else None)
