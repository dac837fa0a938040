"""Convolutions and their derivatives by oneDNN, on images `(examples, *space, channels)` as the ops lay them out.

oneDNN orders the axes differently but accepts any strides, so images are not copied. Filters are reordered to the
layout that oneDNN prefers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...tuning import ONEDNN_CONVOLUTION, ONEDNN_MEMBER
from ..accelerated import accelerated
from ..threads import CORES
from ..windows import window_positions
from .library import FLOAT32, Computation, Refused, Role, Temporaries, contiguous, dims, library, steps

_TRAINING, _DIRECT = 64, 1


@accelerated("conv")
def conv(x: Any, w: Any, *, strides: Any, paddings: Any, dilations: Any, groups: int) -> Any:
    """Computes the convolution."""
    sizes = map(window_positions, x.shape[1:-1], w.shape[:-2], strides, paddings, dilations)
    shape = (x.shape[0], *sizes, w.shape[-1])
    prepared = _usable("forward", x, w, x.shape, w.shape, shape, strides, paddings, dilations, groups)
    if prepared is None:
        return None
    y = np.empty(shape, FLOAT32)
    prepared.run(contiguous(x), contiguous(w), y)
    return y


@accelerated("conv_input")
def conv_input(a: Any, w: Any, *, size: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> Any:
    """Computes the transpose of `conv` with respect to the image, whose spatial shape is `size`."""
    shape = (a.shape[0], *size, w.shape[-2] * groups)
    prepared = _usable("image", a, w, shape, w.shape, a.shape, strides, paddings, dilations, groups)
    if prepared is None:
        return None
    x = np.empty(shape, FLOAT32)
    prepared.run(x, contiguous(w), contiguous(a))
    return x


@accelerated("conv_filter")
def conv_filter(x: Any, b: Any, *, size: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> Any:
    """Computes the transpose of `conv` with respect to the filter, whose window is `size`."""
    shape = (*size, x.shape[-1] // groups, b.shape[-1])
    prepared = _usable("filter", x, b, x.shape, shape, b.shape, strides, paddings, dilations, groups)
    if prepared is None:
        return None
    w = np.empty(shape, FLOAT32)
    prepared.run(contiguous(x), w, contiguous(b))
    return w


@accelerated("conv_filters")
def conv_filters(x: Any, b: Any, *, size: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    """Computes `conv_filter` for each member of a batch in turn, on a single core.

    With several cores it returns None, since NumPy processes members in parallel.
    """
    shape = (*size, x.shape[-1], b.shape[-1])
    if CORES > 1 or math.prod(b.shape[1:]) * math.prod(shape[:-1]) < ONEDNN_MEMBER or not len(x):
        return None
    window = (strides, paddings, dilations)
    prepared = _usable("filter", x, b, x.shape[1:], shape, b.shape[1:], *window, 1)
    if prepared is None:
        return None
    w = np.empty((len(x), *shape), FLOAT32)
    for image, filters, values in zip(contiguous(x), w, contiguous(b), strict=True):
        prepared.run(image, filters, values)
    return w


def _usable(kind: str, a: Any, b: Any, x: Any, w: Any, y: Any, *window: Any) -> Computation | None:
    """Returns the computation of the given kind, if `a` and `b` are float32 and large enough; else None."""
    if a.dtype != FLOAT32 or b.dtype != FLOAT32 or not math.prod(x):
        return None
    if math.prod(y) * math.prod(w[:-1]) < ONEDNN_CONVOLUTION or library() is None:
        return None
    return _prepared(kind, x, w, y, *window)


@lru_cache(maxsize=256)
def _prepared(
    kind: str, x: Any, w: Any, y: Any, strides: Any, paddings: Any, dilations: Any, groups: int
) -> Computation | None:
    """Returns the computation for arrays of these shapes, or None if oneDNN has no fast implementation."""
    dnnl = library()
    assert dnnl is not None
    before, after = zip(*paddings, strict=True)
    if len(strides) > 3 or min(*before, *after) < 0:
        return None
    window = [dims(values) for values in (strides, [d - 1 for d in dilations], before, after)]
    try:
        with Temporaries(dnnl) as objects:
            image, result = objects.image(x), objects.image(y)
            given, best = _filter(objects, w, groups, True), _filter(objects, w, groups, False)
            forward = objects.description(
                "dnnl_convolution_forward_primitive_desc_create", dnnl.engine, _TRAINING, _DIRECT, image, best, None,
                result, *window,
            )  # fmt: skip
            if kind == "forward":
                return Computation(objects, forward, {Role.SRC: image, Role.WEIGHTS: given, Role.DST: result})
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
    """Returns the filter's layout: as given, or oneDNN's choice."""
    *window, channels, outputs = shape
    *along_window, along_channels, along_outputs = steps(shape)
    sizes, apart = [outputs // groups, channels, *window], [along_outputs, along_channels, *along_window]
    if groups > 1:
        sizes, apart = [groups, *sizes], [outputs // groups, *apart]
    return objects.layout(sizes, apart if as_given else None)
