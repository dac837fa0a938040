"""Glimpses: windows at positions that are given as tensors, with noise outside of the image."""

from __future__ import annotations

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ..namespace import resolve

NAMESPACES = ("image",)
__all__ = ["extract_glimpse"]


def extract_glimpse(
    input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Cuts a window out of each image; what lies outside of the image is noise.

    Args:
      size: [rows, columns], the size of the windows.
      offsets: for each image, [row, column]. If `centered` and `normalized`, they are the window's center between
        -1 and 1, and (0, 0) is the center of the image. Otherwise they are the window's upper left corner, as shares of
        the image's size if `normalized`, and counted from the center of the image if `centered`.
      noise: `"uniform"` or `"gaussian"`, in the range of the image's values, or `"zero"`.

    >>> image = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
    >>> tf.image.extract_glimpse(image, [2, 2], [[0, 0]], centered=False, normalized=False).numpy()[0, :, :, 0]
    array([[0., 1.],
           [5., 6.]], dtype=float32)
    """
    return glimpses(input, size, offsets, centered, normalized, noise, False)


def glimpses(
    images: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool, normalized: bool, noise: str, old: bool
) -> Tensor:
    """Cuts windows; with `old`, offsets are always those of the centers, as in the first version of the op."""
    x = to_tensor(images, dtypes.float32)
    at = to_tensor(offsets, dtypes.float32)
    window = _checked_size(x, size, at, noise)
    if 0 in (*x.dims, *window):
        return resolve("zeros")([x.dims[0], *window, x.dims[3]])
    image, glimpse = [to_tensor(list(map(float, each)), dtypes.float32) for each in (x.dims[1:3], window)]
    at = at * image if normalized else at
    if old or (centered and normalized):
        at = (at / 2.0 + image / 2.0 if centered else at) - glimpse / 2.0
    elif centered:
        at = at + image / 2.0
    first = resolve("cast")(at, dtypes.int32)
    chosen, inside = x, resolve("ones")([1, 1, 1, 1], dtypes.bool)
    for axis in (1, 2):
        places = first[:, axis - 1 : axis] + resolve("range")(window[axis - 1])
        within = (places >= 0) & (places < x.dims[axis])
        inside &= resolve("reshape")(within, (x.dims[0], -1, 1, 1) if axis == 1 else (x.dims[0], 1, -1, 1))
        places = resolve("clip_by_value")(places, 0, x.dims[axis] - 1)
        chosen = resolve("gather")(chosen, places, axis=axis, batch_dims=1)
    return resolve("stop_gradient")(resolve("where")(inside, chosen, _noise(x, chosen.dims, noise)))


def _checked_size(x: Tensor, size: TensorLike, offsets: Tensor, noise: str) -> list[int]:
    window = to_array(size)
    if len(x.dims) != 4:
        problem = f"input must be 4-dimensional (batch_size, height, width, depth){list(x.dims)}"
    elif window.shape != (2,):
        problem = f"input must be a vector of size 2 (height, width){list(window.shape)}"
    elif min(window) < 0:
        problem = f"Expected a non-negative size, got {min(window)}"
    elif len(offsets.dims) != 2:
        problem = f"input must be a matrix{list(offsets.dims)}"
    elif offsets.dims != (x.dims[0], 2):
        of_batch = offsets.dims[0] != x.dims[0]
        problem = "first dimension should be batch" if of_batch else "second dimension should be of size 2 (y,x)"
        problem += f"{list(offsets.dims)}"
    elif noise not in ("uniform", "gaussian", "zero"):
        problem = f"The noise could only be uniform, gaussian, or zero, got {noise!r}"
    else:
        return [int(n) for n in window]
    raise errors.InvalidArgumentError(f"{problem} [Op:ExtractGlimpse]")


def _noise(x: Tensor, dims: tuple[int, ...], kind: str) -> Tensor:
    """Returns numbers in the range of each image's values."""
    if kind == "zero":
        return resolve("zeros")([], dtypes.float32)
    low, high = [resolve(f"reduce_{limit}")(x, [1, 2, 3], keepdims=True) for limit in ("min", "max")]
    if kind == "uniform":
        return low + (high - low) * resolve("random.uniform")(dims)
    mean, variance = resolve("nn.moments")(x, [1, 2, 3], keepdims=True)
    drawn = mean + resolve("sqrt")(variance) * resolve("random.normal")(dims)
    return resolve("clip_by_value")(drawn, low, high)
