"""PyTorch's kernels of convolutions and pooling over one or two spatial axes: see `kernels.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..tuning import DEVICES_ONLY, TORCH_WINDOW_SUMS, TORCH_WINDOWS
from . import host_kernels
from .host_kernels import cached_on, kernel, kernel_with_residual, vjp
from .library import aten, torch

Axes = tuple[int, ...]
CHANNELS_LAST = "_channels_last"  # the attribute of a filter with its copy in another layout: see `_filter`
CHANNELS_FIRST = "_channels_first"  # an image's attribute: the tensor that it is a view of
OUTPUTS_FIRST = "_outputs_first"  # such a copy's attribute, the same; an image may be a filter, and the reverse
# From this size on, a filter's gradient is copied to the layout in which optimizers have their slots: the steps of an
# update that read both layouts become slower than the copy.
_COPIED_FILTER_MIN_ELEMENTS = 1 << 20


def channels_last(y: Any) -> Any:
    """Returns `(examples, channels, height, width)` as a contiguous image `(examples, height, width, channels)`.

    A view keeps `y` for kernels that would make it from the image: a view takes as long as a small kernel.
    """
    image = y.permute(0, 2, 3, 1)
    if not image.is_contiguous():
        return image.contiguous()
    setattr(image, CHANNELS_FIRST, y)
    return image


def channels_first(x: Any) -> Any:
    """Returns an image `(examples, height, width, channels)` as a view `(examples, channels, height, width)`."""
    known = getattr(x, CHANNELS_FIRST, None)
    return x.contiguous().permute(0, 3, 1, 2) if known is None else known


class _Windows(NamedTuple):
    """The windows of a convolution or a pooling over one or two spatial axes, as PyTorch's functions take them.

    PyTorch pads both ends of an axis alike, and a pooling by at most half a window. An image that needs other padding
    is padded before: `extra` is that padding as pairs. A single spatial axis becomes the second of two.
    """

    strides: Axes
    paddings: Axes
    dilations: Axes
    extra: tuple[tuple[int, int], ...]
    lacks_axis: bool

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, strides: Axes, paddings: Any, dilations: Axes, most: Axes | None = None) -> _Windows | None:
        """Creates them; `most` is the padding that PyTorch accepts. None for other numbers of spatial axes."""
        if len(strides) not in (1, 2):
            return None
        lacks_axis = len(strides) == 1
        if lacks_axis:
            strides, paddings, dilations = (1, *strides), ((0, 0), *paddings), (1, *dilations)
            most = None if most is None else (0, *most)
        alike = all(a == b for a, b in paddings)
        if most is not None:
            alike = alike and all(a <= n for (a, _), n in zip(paddings, most, strict=True))
        both = tuple([a for a, _ in paddings]) if alike else (0, 0)
        return cls(strides, both, dilations, () if alike else tuple(paddings), lacks_axis)

    def image(self, t: Any, x: Any, value: float = 0.0) -> Any:
        """Returns an image `(examples, *space, channels)` as a view `(examples, channels, height, width)`, padded."""
        x = x.unsqueeze(1) if self.lacks_axis else x
        if self.extra:
            (top, bottom), (left, right) = self.extra
            x = t.nn.functional.pad(x, (0, 0, left, right, top, bottom), value=value)
        return channels_first(x)

    def result(self, y: Any) -> Any:
        """Returns `(examples, channels, height, width)` as a contiguous image with channels last."""
        y = channels_last(y)
        return y.squeeze(1) if self.lacks_axis else y

    def channels_first(self, x: Any) -> Any:
        """Returns an image `(examples, *space, channels)` as a view `(examples, channels, height, width)`."""
        return channels_first(x.unsqueeze(1) if self.lacks_axis else x)

    def filter_result(self, w: Any) -> Any:
        """Returns `(outputs, inputs, height, width)` as a filter `(*window, inputs, outputs)`.

        On a GPU, a small one stays a view: the launch that copies it takes longer than updates by a view.
        """
        w = w.permute(2, 3, 1, 0)
        w = w if w.is_cuda and w.numel() < _COPIED_FILTER_MIN_ELEMENTS else w.contiguous()
        return w.squeeze(0) if self.lacks_axis else w

    def padded_size(self, size: Axes) -> Axes:
        """Returns the spatial shape of a padded image."""
        size = (1, *size) if self.lacks_axis else size
        return tuple([n + sum(p) for n, p in zip(size, self.extra, strict=True)]) if self.extra else size

    def output_padding(self, padded: Any, size: Any, window: Axes) -> Axes | None:
        """Returns how much larger a padded image is than a transposed convolution of `size` makes it.

        None if PyTorch does not accept the number.
        """
        steps = tuple(zip(padded, size, window, self.strides, self.paddings, self.dilations, strict=True))
        found = tuple([whole - ((n - 1) * s - 2 * p + d * (k - 1) + 1) for whole, n, k, s, p, d in steps])
        accepted = all(0 <= more < max(s, d) for more, (*_, s, _, d) in zip(found, steps, strict=True))
        return found if accepted else None

    def cotangent(self, x: Any) -> Any:
        """Returns the cotangent of an image from that of the padded image `(examples, channels, height, width)`."""
        for axis, (before, after) in enumerate(self.extra, 2):
            x = x.narrow(axis, before, x.shape[axis] - before - after)
        return self.result(x)


def _filter(w: Any, windows: _Windows) -> Any:
    """Returns a filter `(*window, inputs, outputs)` as `(outputs, inputs, height, width)`.

    On a GPU, it has the channels last in memory, as cuDNN's kernels need it. A copy with that layout serves all
    convolutions with this filter, forward and backward, and a variable takes it over when it is updated.
    """
    known = getattr(w, OUTPUTS_FIRST, None)
    if known is not None:
        return known
    view = (w.unsqueeze(0) if windows.lacks_axis else w).permute(3, 2, 0, 1)
    if not host_kernels.keeps_derived(w) or view.is_contiguous(memory_format=torch().channels_last):
        return view
    return getattr(cached_on(w, CHANNELS_LAST, None, lambda: _copy_filter(view, windows)), OUTPUTS_FIRST)


def _copy_filter(view: Any, windows: _Windows) -> Any:
    """Returns a copy `(*window, inputs, outputs)` that is a view, and keeps the tensor with the channels last."""
    first = view.clone(memory_format=torch().channels_last)
    w = first.permute(2, 3, 1, 0)
    w = w.squeeze(0) if windows.lacks_axis else w
    setattr(w, OUTPUTS_FIRST, first)
    return w


@kernel("conv", TORCH_WINDOWS)
def _conv(t: Any, x: Any, w: Any, *, strides: Axes, paddings: Any, dilations: Axes, groups: int) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not x.numel() or not w.numel():
        return None
    given = windows.strides, windows.paddings, windows.dilations, False, (0, 0), groups
    return windows.result(t.convolution(windows.image(t, x), _filter(w, windows), None, *given))


def _backward(
    windows: _Windows, g: Any, x: Any, w: Any, groups: int, wanted: Sequence[bool], larger: Axes | None = None
) -> Any:
    """The cotangents of image and filter; `larger` is the output padding of a transposed convolution."""
    given = windows.strides, windows.paddings, windows.dilations, larger is not None, larger or (0, 0), groups
    return aten("convolution_backward")(g, x, w, None, *given, (*wanted, False))


@kernel("conv_input", TORCH_WINDOWS)
def _conv_input(
    t: Any, a: Any, w: Any, *, size: Axes, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not a.numel() or not w.numel():
        return None
    x = a.new_empty((len(a), *windows.padded_size(size), w.shape[-2] * groups)).permute(0, 3, 1, 2)
    given = windows.channels_first(a), x, _filter(w, windows)
    return windows.cotangent(_backward(windows, *given, groups, (True, False))[0])


@kernel("conv_filter", TORCH_WINDOWS)
def _conv_filter(
    t: Any, x: Any, b: Any, *, size: Axes, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not x.numel() or not b.numel():
        return None
    height, width = (1, *size) if windows.lacks_axis else size
    w = x.new_empty((height, width, x.shape[-1] // groups, b.shape[-1])).permute(3, 2, 0, 1)
    given = windows.channels_first(b), windows.image(t, x), w
    return windows.filter_result(_backward(windows, *given, groups, (False, True))[1])


@vjp("conv", TORCH_WINDOWS, 2)
def _conv_vjp(
    t: Any, g: Any, need: list[bool], x: Any, w: Any, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    """Both cotangents in one call."""
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not g.numel() or not x.numel() or not w.numel():
        return None
    given = windows.channels_first(g), windows.image(t, x), _filter(w, windows)
    of_x, of_w, _ = _backward(windows, *given, groups, need)
    return windows.cotangent(of_x) if need[0] else None, windows.filter_result(of_w) if need[1] else None


@vjp("conv_input", DEVICES_ONLY, 2)
def _conv_input_vjp(
    t: Any, g: Any, need: list[bool], a: Any, w: Any, strides: Axes, paddings: Any, dilations: Axes, groups: int
) -> Any:
    """Both cotangents in one call, of a transposed convolution."""
    windows = _Windows.of(strides, paddings, dilations)
    if windows is None or not g.numel() or not a.numel() or not w.numel():
        return None
    image, given, kernel = windows.image(t, g), windows.channels_first(a), _filter(w, windows)
    kernel = kernel if kernel.is_cuda else kernel.contiguous()  # which some kernels of the CPU require
    larger = windows.output_padding(image.shape[2:], given.shape[2:], kernel.shape[2:])
    if larger is None:
        return None
    of_a, of_w, _ = _backward(windows, image, given, kernel, groups, need, larger)
    return windows.result(of_a) if need[0] else None, windows.filter_result(of_w) if need[1] else None


@lru_cache(maxsize=256)
def _pooling(window: Axes, strides: Axes, paddings: Any, dilations: Axes, is_padded: bool = False) -> tuple[Any, Axes]:
    """Returns the windows of a pooling, and their size along two axes; with `is_padded`, all padding is `extra`."""
    most = tuple([0 if is_padded else n // 2 for n in window])
    windows = _Windows.of(strides, paddings, dilations, most)
    return windows, (1, *window) if windows is not None and windows.lacks_axis else window


def _image_to_reduce(image: Any) -> Any:
    """Returns the image of a maximum, with channels first if there is one channel: the memory is the same.

    With channels last, CUDA's kernel (PyTorch 2.11) keeps the float64 value of a single window at an odd multiple of 4
    bytes: the error "misaligned address" ends the use of the GPU.
    """
    return image.view(image.shape) if image.shape[1] == 1 else image


@kernel_with_residual("max_pool", TORCH_WINDOWS)
def _max_pool(t: Any, x: Any, *, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    """The maxima, and their positions, which PyTorch computes in any case: with overlapping windows they are large."""
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel():
        return None
    image = _image_to_reduce(windows.image(t, x, -math.inf))
    given = (window, windows.strides, windows.paddings, windows.dilations, False)
    y, positions = t._C._nn.max_pool2d_with_indices(image, *given)
    return windows.result(y), positions if positions.nbytes <= x.nbytes else None


@vjp("max_pool", TORCH_WINDOWS, 1)
def _max_pool_vjp(
    t: Any, g: Any, x: Any, window: Axes, strides: Axes, paddings: Any, dilations: Axes, residual: Any
) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel():
        return None
    image = _image_to_reduce(windows.image(t, x, -math.inf))
    given = (window, windows.strides, windows.paddings, windows.dilations, False)
    positions = t._C._nn.max_pool2d_with_indices(image, *given)[1] if residual is None else residual
    found = aten("max_pool2d_with_indices_backward")(windows.channels_first(g), image, *given, positions)
    return windows.cotangent(found)


@kernel("window_sum", TORCH_WINDOW_SUMS)
def _window_sum(t: Any, x: Any, *, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    windows, window = _pooling(window, strides, paddings, dilations)
    if windows is None or not x.numel() or max(dilations) > 1:
        return None
    given = windows.image(t, x), window, windows.strides, windows.paddings
    return windows.result(t.nn.functional.avg_pool2d(*given, divisor_override=1))


@kernel("window_spread", TORCH_WINDOW_SUMS)
def _window_spread(t: Any, x: Any, *, size: Axes, window: Axes, strides: Axes, paddings: Any, dilations: Axes) -> Any:
    # With channels last, CUDA's kernel ignores the padding that it is given (PyTorch 2.11): the image contains it.
    windows, window = _pooling(window, strides, paddings, dilations, is_padded=x.is_cuda)
    if windows is None or not x.numel() or max(dilations) > 1:
        return None
    image = x.new_empty((len(x), *windows.padded_size(size), x.shape[-1])).permute(0, 3, 1, 2)
    return windows.cotangent(aten("avg_pool2d_backward")(
        windows.channels_first(x), image, window, windows.strides, windows.paddings, False, True, 1
    ))  # fmt: skip
