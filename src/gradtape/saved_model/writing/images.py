"""Translation of convolutions and pooling to TensorFlow's nodes.

gradtape's ops have windows for any number of axes and explicit padding. TensorFlow has ops for two and three axes, and
names for the usual paddings, which are also correct for unknown sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import padded
from .generalisation import Place, Size, Step
from .translation import number, translates
from .writer import Ref, Unsaved, Writer


def _examples(size: Any, count: int) -> Sequence[int]:
    return size.examples if isinstance(size, Size) else [size] * count


def _padding(space: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> str | None:
    """Returns TensorFlow's name of the padding, if it has one."""
    if all(n == 0 for pair in paddings for n in pair):
        return "VALID"
    sizes = [*space, *(n for pair in paddings for n in pair)]
    count = max((len(n.examples) for n in sizes if isinstance(n, Size)), default=1)
    for size, width, stride, pair, dilation in zip(space, window, strides, paddings, dilations, strict=True):
        before, after = (_examples(n, count) for n in pair)
        for n, first, last in zip(_examples(size, count), before, after, strict=True):
            total = max((-(-n // stride) - 1) * stride + (width - 1) * dilation + 1 - n, 0)
            if (first, last) != (total // 2, total - total // 2):
                return None
    return "SAME"


def _with_word(
    w: Writer, x: Ref, place: Place, window: Any, strides: Any, paddings: Any, dilations: Any, value: Any = 0
) -> tuple[Ref, str]:
    """Returns an image and the name of its padding; if there is none, the image is padded explicitly."""
    word = _padding(place.dims[1:-1], window, strides, paddings, dilations)
    if word is not None:
        return x, word
    return padded(w, x, [(0, 0), *paddings, (0, 0)], value), "VALID"


def _flat(w: Writer, x: Ref, axes: int, function: Callable[[Ref], Ref], axis: int = 1) -> Ref:
    """Applies a function of two-dimensional images to one-dimensional ones, with an axis of size 1."""
    if axes != 1:
        return function(x)
    return w.Squeeze(function(w.ExpandDims(x, axis)), squeeze_dims=[axis])


def _for_all_axes(values: Sequence[int]) -> list[int]:
    """Returns strides and similar arguments for all axes of an image with at least two spatial axes."""
    return [1, *([1] if len(values) == 1 else []), *values, 1]


@translates("conv")
def _conv(w: Writer, s: Step, x: Ref, kernel: Ref, strides: Any, paddings: Any, dilations: Any, groups: int) -> Ref:
    image, window = s.inputs[0], s.inputs[1].dims[:-2]
    if any(isinstance(n, Size) for n in s.inputs[1].dims):
        raise Unsaved("the filter of a convolution depends on the sizes of its inputs")
    axes = len(window)
    if axes > 3:
        raise Unsaved(f"it has a convolution over {axes} axes")
    x, word = _with_word(w, x, image, window, strides, paddings, dilations)
    attrs = {"strides": _for_all_axes(strides), "padding": word, "dilations": _for_all_axes(dilations)}
    kernel = w.ExpandDims(kernel, 0) if axes == 1 else kernel

    def whole(x: Ref, kernel: Ref) -> Ref:
        return w.Conv3D(x, kernel, **attrs) if axes == 3 else w.Conv2D(x, kernel, **attrs)

    channels: Any = image.dims[-1]
    outputs: Any = s.inputs[1].dims[-1]
    if groups == 1:
        return _flat(w, x, axes, lambda x: whole(x, kernel))
    plain = len(set(_for_all_axes(strides)[1:3])) == 1 and set(dilations) == {1} and axes < 3
    if groups == channels and plain:
        size = [1, *window] if axes == 1 else list(window)
        turned = w.Reshape(kernel, [*size, channels, outputs // channels])
        steps = _for_all_axes(strides)
        return _flat(w, x, axes, lambda x: w.DepthwiseConv2dNative(x, turned, strides=steps, padding=word))

    def by_group(x: Ref) -> Ref:
        images, kernels = w.Split(-1, x, num_split=groups), w.Split(-1, kernel, num_split=groups)
        return w.ConcatV2([whole(a, b) for a, b in zip(images, kernels, strict=True)], -1)

    return _flat(w, x, axes, by_group)


@translates("conv_input")
def _conv_input(
    w: Writer, s: Step, y: Ref, kernel: Ref, size: Any, strides: Any, paddings: Any, dilations: Any, groups: int
) -> Ref:
    """Writes the transpose of a convolution, given the size of its image."""
    window, batch = s.inputs[1].dims[:-2], s.inputs[0].dims[0]
    channels, axes = s.inputs[1].dims[-2], len(window)
    if groups != 1:
        raise Unsaved("it has the transpose of a convolution in groups")
    word = _padding(size, window, strides, paddings, dilations)
    before = [] if word is not None else [(0, 0), *paddings, (0, 0)]
    inner = [_plus(n, pair) if before else n for n, pair in zip(size, paddings, strict=True)]
    shape = w.shape([batch, *([1] if axes == 1 else []), *inner, channels])
    attrs = {"strides": _for_all_axes(strides), "padding": word or "VALID", "dilations": _for_all_axes(dilations)}
    kernel = w.ExpandDims(kernel, 0) if axes == 1 else kernel

    def transposed(y: Ref) -> Ref:
        if axes == 3:
            return w.Conv3DBackpropInputV2(shape, kernel, y, **attrs)
        return w.Conv2DBackpropInput(shape, kernel, y, **attrs)

    found = _flat(w, y, axes, transposed)
    if not before:
        return found
    return w.Slice(found, w.shape([first for first, _ in before]), w.shape([batch, *size, channels]))


def _plus(size: Any, pair: Any) -> Any:
    if isinstance(size, Size):
        first, last = (_examples(n, len(size.examples)) for n in pair)
        return Size(tuple(n + a + b for n, a, b in zip(size.examples, first, last, strict=True)))
    return size + sum(pair)


@translates("max_pool")
def _max_pool(w: Writer, s: Step, x: Ref, window: Any, strides: Any, paddings: Any, dilations: Any) -> Ref:
    if set(dilations) != {1}:
        raise Unsaved("it has a maximum over windows with holes")
    lowest = -np.inf if x.dtype.is_floating else np.iinfo(x.dtype.numpy).min
    x, word = _with_word(w, x, s.inputs[0], window, strides, paddings, dilations, lowest)
    attrs = {"ksize": _for_all_axes(window), "strides": _for_all_axes(strides), "padding": word}
    pool = w.MaxPool3D if len(window) == 3 else w.MaxPool
    return _flat(w, x, len(window), lambda x: pool(x, **attrs))


@translates("window_sum")
def _window_sum(w: Writer, s: Step, x: Ref, window: Any, strides: Any, paddings: Any, dilations: Any) -> Ref:
    """Writes the mean over each window, times the number of its entries."""
    if set(dilations) != {1} or not x.dtype.is_floating:
        raise Unsaved("it has a sum over windows with holes, or of integers")
    if any(n != 0 for pair in paddings for n in pair):
        x = padded(w, x, [(0, 0), *paddings, (0, 0)], 0)
    attrs = {"ksize": _for_all_axes(window), "strides": _for_all_axes(strides), "padding": "VALID"}
    pool = w.AvgPool3D if len(window) == 3 else w.AvgPool
    mean = _flat(w, x, len(window), lambda x: pool(x, **attrs))
    return w.Mul(mean, number(w, math.prod(window), mean))
