"""Slicing, padding, rolling, reversing and block rearrangement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor, wrap
from ...core.type_hints import AxisLike, TensorLike, ValueLike
from ...engine.registry.batching import check_unbatched
from ...engine.run.convert import integers, to_tensor, to_tensors
from ...engine.run.namespace import ops
from ...ops.arrays.slicing import getitem

NAMESPACES = ("nn", "")
__all__ = [
    "batch_to_space", "depth_to_space", "extract_volume_patches", "pad", "required_space_to_batch_paddings", "reverse",
    "reverse_sequence", "roll", "slice", "space_to_batch", "space_to_batch_nd", "space_to_depth", "strided_slice",
]  # fmt: skip

_slice = slice


def slice(input_: ValueLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """Returns the slice of `input_` that starts at `begin` and has `size`; a size of -1 extends to the end.

    - Shape: `size`.
    - Dtypes: any; the result has that of `input_`.
    - Derivative: the gradient, with zeros around it.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy().tolist()
    [[2, 3], [5, 6]]
    """
    x = to_tensor(input_)
    sizes = integers(size, "Slice", "Index")
    at = to_tensor(begin)
    n = len(x.dims)
    if at.dims != (n,) or sizes.shape != (n,):
        raise errors.InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {n}, but got shapes {list(at.dims)} and "
            f"{list(sizes.shape)} instead. [Op:Slice]"
        )
    if type(at) is Tensor:
        starts: Any = integers(begin, "Slice", "Index").tolist()
    else:
        starts = begin if isinstance(begin, list | tuple) else list(at)
    key = []
    for axis, (start, count, length) in enumerate(zip(starts, sizes.tolist(), x.dims, strict=True)):
        if isinstance(start, Tensor) and type(start) is not Tensor and count >= 0:
            # The start is not known during tracing, but the size is: gather positions, which are checked in every run.
            x = ops.gather(x, start + to_tensor(np.arange(count), start.dtype), axis=axis, batch=0)
            key.append(_slice(None))
        else:
            key.append(_take_range(axis, int(start), count, length))
    return ops.slice(x, key=tuple(key))


def _take_range(axis: int, start: int, count: int, length: int) -> Any:
    """Takes `count` entries of an axis from `start` on, or all remaining ones if it is -1; checks that they exist."""
    if not 0 <= start <= length:
        raise errors.InvalidArgumentError(f"Expected begin[{axis}] in [0, {length}], but got {start} [Op:Slice]")
    count = length - start if count == -1 else count
    if not 0 <= count <= length - start:
        raise errors.InvalidArgumentError(
            f"Expected size[{axis}] in [0, {length - start}], but got {count} [Op:Slice]"
        )
    return _slice(start, start + count)


def strided_slice(
    input_: ValueLike, begin: TensorLike, end: TensorLike, strides: TensorLike | None = None, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Computes `input_[begin[0]:end[0]:strides[0], ...]`; the bits of the masks change the meaning of an entry.

    Args:
      begin_mask: Ignore `begin[i]`: start at the first element.
      end_mask: Ignore `end[i]`: end at the last element.
      ellipsis_mask: The entry is `...`.
      new_axis_mask: The entry is `tf.newaxis`.
      shrink_axis_mask: The entry is the index `begin[i]`, and its axis is removed.

    >>> tf.strided_slice([10, 20, 30, 40], [3], [0], [-2]).numpy()
    array([40, 20], dtype=int32)
    """
    x = to_tensor(input_)
    starts, stops = (integers(v, "StridedSlice", "Index") for v in (begin, end))
    steps = np.ones_like(starts) if strides is None else integers(strides, "StridedSlice", "Index")
    if starts.ndim != 1 or not starts.shape == stops.shape == steps.shape:
        raise errors.InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{list(starts.shape)}, {list(stops.shape)}, and {list(steps.shape)} instead. [Op:StridedSlice]"
        )
    key: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts.tolist(), stops.tolist(), steps.tolist(), strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            if step <= 0:
                raise errors.InvalidArgumentError("only stride 1 allowed on non-range indexing. [Op:StridedSlice]")
            key.append(start)
        else:
            key.append(_slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return getitem(x, tuple(key))


def pad(
    tensor: ValueLike, paddings: TensorLike, mode: str = "CONSTANT", constant_values: ValueLike = 0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Pads `tensor` with `paddings[i][0]` elements before and `paddings[i][1]` elements after it along axis i.

    - Shape: `paddings[i][0] + paddings[i][1]` more along axis i.
    - Dtypes: any; the result has that of `tensor`.
    - Derivative: the gradient without the padding; what is mirrored is added.

    Args:
      mode: 'CONSTANT' pads with `constant_values`, 'REFLECT' mirrors without the edge, 'SYMMETRIC' with the edge.

    >>> tf.pad([1, 2, 3], [[1, 2]]).numpy()
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    >>> tf.pad([1, 2, 3], [[1, 2]], "REFLECT").numpy()
    array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = to_tensor(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". Received `mode` = '
            f"{kind}"
        )
    array = integers(paddings, "Pad", "Tpaddings")
    if array.ndim != 2 or array.shape[1] != 2:
        raise errors.InvalidArgumentError(f"paddings must be a matrix with 2 columns: {list(array.shape)} [Op:Pad]")
    if len(array) != len(x.dims):
        raise errors.InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs{list(array.shape)} {list(x.dims)} [Op:Pad]"
        )
    pairs = tuple((before, after) for before, after in array.tolist())
    for before, after in pairs:
        if before < 0 or after < 0:
            raise errors.InvalidArgumentError(f"Paddings must be non-negative: {before} {after} [Op:Pad]")
    if kind != "CONSTANT":
        return _pad_mirrored(x, pairs, kind)
    if isinstance(constant_values, int | float) and not constant_values:
        return ops.pad(x, paddings=pairs)
    (_, value) = to_tensors((x, constant_values), "PadV2")
    return ops.pad(x, paddings=pairs, value=value.array.item() if x.dtype is dtypes.string else value.array[()])


def _pad_mirrored(x: Tensor, paddings: tuple[tuple[int, int], ...], mode: str) -> Tensor:
    """Extends `x` on both sides by its mirror image: a gather along each axis."""
    edge = mode == "REFLECT"
    for axis, (before, after) in enumerate(paddings):
        size = x.dims[axis]
        if max(before, after) > size - edge:
            raise errors.InvalidArgumentError(
                f"paddings must be {'less' if edge else 'no greater'} than the dimension size: {before}, {after} "
                f"{'not less' if edge else 'greater'} than {size} [Op:MirrorPad]"
            )
        if before or after:
            at = np.pad(np.arange(size), (before, after), mode=mode.lower())  # type: ignore[call-overload]
            x = ops.gather(x, Tensor(at), axis=axis, batch=0)
    return x


def reverse(tensor: ValueLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Reverses the elements along the axes in the list `axis`.

    >>> tf.reverse([[1, 2], [3, 4]], [1]).numpy().tolist()
    [[2, 1], [4, 3]]
    """
    x = to_tensor(tensor)
    n = len(x.dims)
    array = integers(axis, "ReverseV2")
    if array.ndim != 1:
        raise errors.InvalidArgumentError(f"'dims' must be 1-dimension, not {array.ndim} [Op:ReverseV2]")
    for i, at in enumerate(array.tolist()):
        if not -n <= at < n:
            raise errors.InvalidArgumentError(f"'axis'[{i}] = {at} is out of valid range [0, {n - 1}] [Op:ReverseV2]")
    axes = tuple(at % n for at in array.tolist())
    for at in axes:
        if axes.count(at) > 1:
            raise errors.InvalidArgumentError(f"axis {at} specified more than once. [Op:ReverseV2]")
    return ops.reverse(x, axis=axes)


def reverse_sequence(
    input: ValueLike, seq_lengths: TensorLike, seq_axis: int | None = None, batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Reverses the first `seq_lengths[b]` elements along `seq_axis`, for each b along `batch_axis`.

    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    x = to_tensor(input)
    lengths = integers(seq_lengths, "ReverseSequence", "Tlen")
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None: give `seq_axis`")
    batch = batch_axis or 0
    n = len(x.dims)
    for what, at in (("seq_dim", seq_axis), ("batch_dim", batch)):
        if not 0 <= at < n:
            raise errors.InvalidArgumentError(f"Invalid {what} {at} for an input of rank {n} [Op:ReverseSequence]")
    if seq_axis == batch:
        raise errors.InvalidArgumentError(f"batch_dim == seq_dim == {batch} [Op:ReverseSequence]")
    if lengths.ndim != 1:
        raise errors.InvalidArgumentError(f"seq_lengths must be 1-dim, not {lengths.ndim} [Op:ReverseSequence]")
    if lengths.shape != (x.dims[batch],):
        raise errors.InvalidArgumentError(
            f"Length of seq_lengths != input.dims({batch}), ({lengths.size} vs. {x.dims[batch]}) [Op:ReverseSequence]"
        )
    size = x.dims[seq_axis]
    for i, length in enumerate(lengths.tolist()):
        if not 0 <= length <= size:
            problem = "< 0" if length < 0 else f"> input.dims({seq_axis})"
            raise errors.InvalidArgumentError(f"seq_lens({i}) {problem} [Op:ReverseSequence], got {length}")
    places = np.arange(size)
    turn = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    order = (batch, seq_axis, *(i for i in range(n) if i not in (batch, seq_axis)))
    turned = ops.gather(ops.transpose(x, perm=order), Tensor(turn), axis=1, batch=1)
    return ops.transpose(turned, perm=tuple(np.argsort(order).tolist()))


def roll(input: ValueLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Shifts the elements circularly by `shift` positions along `axis`.

    >>> tf.roll([0, 1, 2, 3, 4], shift=2, axis=0).numpy()
    array([3, 4, 0, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    n = len(x.dims)
    check_unbatched("tf.roll", *shift if isinstance(shift, list | tuple) else (shift,))
    shifts, axes = integers(shift, "Roll", "Tshift"), integers(axis, "Roll", "Taxis")
    if not n:
        raise errors.InvalidArgumentError("input must be 1-D or higher [Op:Roll]")
    if shifts.shape != axes.shape:
        raise errors.InvalidArgumentError("shift and axis must have the same size [Op:Roll]")
    for at in axes.reshape(-1).tolist():
        if not -n <= at < n:
            raise errors.InvalidArgumentError(f"axis {at} is out of range [Op:Roll]")
    return ops.roll(x, shift=tuple(shifts.reshape(-1).tolist()), axis=tuple(at % n for at in axes.reshape(-1).tolist()))


def required_space_to_batch_paddings(
    input_shape: TensorLike, block_shape: TensorLike, base_paddings: TensorLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the paddings that make `block_shape` divide `input_shape`, and the crops that undo them.

    >>> paddings, crops = tf.required_space_to_batch_paddings([5], [2])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1]], [[0, 1]])
    """
    sizes, blocks = (integers(v, "SpaceToBatchND") for v in (input_shape, block_shape))
    base = np.zeros((blocks.size, 2), np.int64) if base_paddings is None else integers(base_paddings, "SpaceToBatchND")
    extra = -(sizes + base.sum(axis=1)) % blocks
    nothing = np.zeros_like(extra)
    paddings, crops = np.stack([base[:, 0], base[:, 1] + extra], 1), np.stack([nothing, extra], 1)
    return wrap(paddings.astype(np.int32), dtypes.int32), wrap(crops.astype(np.int32), dtypes.int32)


def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Pads the spatial axes and splits them into blocks: each position in a block becomes a separate batch.

    >>> tf.space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    x = to_tensor(input)
    blocks, pairs = _blocks(block_shape, paddings, "paddings", "SpaceToBatchND", x)
    k = len(blocks)
    padded = ops.pad(x, paddings=((0, 0), *pairs, *((0, 0),) * (len(x.dims) - k - 1)))
    batch, space, rest = padded.dims[0], padded.dims[1 : k + 1], padded.dims[k + 1 :]
    for i, (n, b) in enumerate(zip(space, blocks, strict=True)):
        if n % b:
            raise errors.InvalidArgumentError(
                f"padded_shape[{i}]={n} is not divisible by block_shape[{i}]={b} [Op:SpaceToBatchND]"
            )
    counts = tuple(n // b for n, b in zip(space, blocks, strict=True))
    apart = ops.reshape(padded, shape=(batch, *(n for pair in zip(counts, blocks, strict=True) for n in pair), *rest))
    places, cells = range(2, 2 * k + 1, 2), range(1, 2 * k, 2)
    moved = ops.transpose(apart, perm=(*places, 0, *cells, *range(2 * k + 1, len(apart.dims))))
    return ops.reshape(moved, shape=(batch * math.prod(blocks), *counts, *rest))


def space_to_batch(input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """Like `space_to_batch_nd`; an integer is the block size along both spatial axes.

    >>> tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [2, 2], [[0, 0], [0, 0]]).numpy().ravel()
    array([1, 2, 3, 4], dtype=int32)
    """
    return space_to_batch_nd(input, _pair(block_shape), paddings)


def batch_to_space(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch`: reassembles blocks, then removes `crops`.

    >>> tf.batch_to_space([[1, 3], [2, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 2, 3, 4]]
    """
    x = to_tensor(input)
    blocks, pairs = _blocks(_pair(block_shape), crops, "crops", "BatchToSpaceND", x)
    k, count = len(blocks), math.prod(blocks)
    batch, space, rest = x.dims[0], x.dims[1 : k + 1], x.dims[k + 1 :]
    if batch % count:
        raise errors.InvalidArgumentError(
            f"Input batch dimension ({batch}) is not divisible by product of block sizes ({count}) [Op:BatchToSpaceND]"
        )
    whole = tuple(n * b for n, b in zip(space, blocks, strict=True))
    for i, (n, (before, after)) in enumerate(zip(whole, pairs, strict=True)):
        if before + after > n:
            raise errors.InvalidArgumentError(
                f"cropped_shape[{i}]={n - before - after} must be non-negative [Op:BatchToSpaceND]"
            )
    apart = ops.reshape(x, shape=(*blocks, batch // count, *space, *rest))
    interleaved = (axis for i in range(k) for axis in (k + 1 + i, i))
    moved = ops.transpose(apart, perm=(k, *interleaved, *range(2 * k + 1, len(apart.dims))))
    joined = ops.reshape(moved, shape=(batch // count, *whole, *rest))
    inside = (_slice(before, n - after) for n, (before, after) in zip(whole, pairs, strict=True))
    return ops.slice(joined, key=(_slice(None), *inside))


def _pair(block_shape: Any) -> Any:
    sizes = integers(block_shape, "SpaceToBatchND", "Tblock_shape")
    return sizes if sizes.ndim else np.array([sizes, sizes])


def _blocks(block_shape: Any, edges: Any, what: str, title: str, x: Tensor) -> tuple[tuple[int, ...], Any]:
    blocks, pairs = integers(block_shape, title), integers(edges, title)
    if pairs.shape != (blocks.size, 2) and len(x.dims) > blocks.size:
        raise errors.InvalidArgumentError(
            f"{what} should have shape [{blocks.size}, 2] instead of {list(pairs.shape)} [Op:{title}]"
        )
    if len(x.dims) <= blocks.size:
        raise errors.InvalidArgumentError(
            f"input rank should be >= {blocks.size + 1} instead of {len(x.dims)} [Op:{title}]"
        )
    if (blocks < 1).any() or (pairs < 0).any():
        raise errors.InvalidArgumentError(f"block_shape must be positive and {what} not negative [Op:{title}]")
    return tuple(blocks.tolist()), tuple(map(tuple, pairs.tolist()))


def space_to_depth(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Rearranges square blocks of pixels into the channels of one pixel.

    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
    [[[[1, 2, 3, 4]]]]
    """
    b = int(block_size)
    x = _image(input, b, data_format, "SpaceToDepth")
    n, h, w, c = x.dims
    if h % b or w % b:
        raise errors.InvalidArgumentError(
            f"Image width {w} and height {h} should be divisible by block_size: {b} [Op:SpaceToDepth]"
        )
    apart = ops.reshape(x, shape=(n, h // b, b, w // b, b, c))
    moved = ops.transpose(apart, perm=(0, 1, 3, 2, 4, 5))
    return _as_format(ops.reshape(moved, shape=(n, h // b, w // b, b * b * c)), data_format)


def depth_to_space(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """The inverse of `space_to_depth`: rearranges the channels of a pixel into a square block of pixels.

    >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy().tolist()
    [[[[1], [2]], [[3], [4]]]]
    """
    b = int(block_size)
    x = _image(input, b, data_format, "DepthToSpace")
    n, h, w, c = x.dims
    if c % (b * b):
        raise errors.InvalidArgumentError(
            f"Input depth dimension {c} should be divisible by: {b * b} [Op:DepthToSpace]"
        )
    apart = ops.reshape(x, shape=(n, h, w, b, b, c // (b * b)))
    moved = ops.transpose(apart, perm=(0, 1, 3, 2, 4, 5))
    return _as_format(ops.reshape(moved, shape=(n, h * b, w * b, c // (b * b))), data_format)


def _image(input: Any, block_size: int, data_format: str, title: str) -> Tensor:
    x = to_tensor(input)
    if data_format not in ("NHWC", "NCHW"):
        raise errors.InvalidArgumentError(
            f"Value for attr 'data_format' of {data_format!r} is not in the list of allowed values: 'NHWC', 'NCHW'"
        )
    if block_size < 2:
        raise errors.InvalidArgumentError(f"Value for attr 'block_size' of {block_size} must be at least minimum 2")
    if len(x.dims) != 4:
        raise errors.InvalidArgumentError(f"Input rank should be 4 instead of {len(x.dims)} [Op:{title}]")
    return ops.transpose(x, perm=(0, 2, 3, 1)) if data_format == "NCHW" else x


def _as_format(x: Tensor, data_format: str) -> Tensor:
    return ops.transpose(x, perm=(0, 3, 1, 2)) if data_format == "NCHW" else x


def extract_volume_patches(
    input: TensorLike, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """Extracts sliding patches of `ksizes` from a volume, each flattened along the last axis.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(x, [1, 1, 2, 2, 1], [1] * 5, "VALID").numpy().ravel().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    x = to_tensor(input)
    if padding not in ("SAME", "VALID"):
        raise errors.InvalidArgumentError(
            f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: 'SAME', 'VALID'"
        )
    if len(x.dims) != 5:
        raise errors.InvalidArgumentError(f"input must be 5-dimensional, got {list(x.dims)} [Op:ExtractVolumePatches]")
    windows, steps = list(ksizes)[1:4], list(strides)[1:4]
    if padding == "SAME":
        missing = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(x.dims[1:4], windows, steps, strict=True)]
        x = ops.pad(x, paddings=((0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)))
    counts = [(n - k) // s + 1 for n, k, s in zip(x.dims[1:4], windows, steps, strict=True)]
    parts = []
    for offset in np.ndindex(*windows):
        reach = zip(offset, counts, steps, strict=True)
        key = tuple(_slice(at, at + (count - 1) * step + 1, step) for at, count, step in reach)
        parts.append(ops.slice(x, key=(_slice(None), *key)))
    return ops.concat(*parts, axis=4)
