"""Image files: JPEG, PNG, GIF, BMP and other formats that Pillow reads. Errors say how to install Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ...core import dtypes, errors, log_ignored
from ...core.extras import install_command
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, StringLike, TensorLike
from ...engine.run.convert import to_tensor
from ..io.bytes import single
from ..runtime.system import py_function
from ..strings.strings import text_tensor
from .color import convert_image_dtype

NAMESPACES = ("io", "image")
__all__ = [
    "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png", "decode_webp",
    "encode_jpeg", "encode_png", "extract_jpeg_shape", "is_jpeg",
]  # fmt: skip

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def decode_image(
    contents: StringLike,
    channels: int | None = None,
    dtype: DTypeLike = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Decodes an image file to pixels `[height, width, channels]`; an animation to `[frames, height, width, 3]`.

    >>> png = tf.io.encode_png(tf.zeros([4, 6, 3], tf.uint8))
    >>> tf.io.decode_image(png, dtype=tf.float32).shape
    TensorShape([4, 6, 3])
    """
    kind = dtypes.as_dtype(dtype)
    stored = kind if kind is dtypes.uint16 else dtypes.uint8
    pixels = _decode(contents, channels or 0, stored, animated=expand_animations)
    return convert_image_dtype(pixels, kind)


def decode_png(
    contents: StringLike, channels: int = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
) -> Tensor:
    """Decodes a PNG file to uint8 or uint16; `channels=0` keeps the channels of the file.

    >>> tf.io.decode_png(tf.io.encode_png(tf.zeros([4, 6, 1], tf.uint8)), channels=3).shape
    TensorShape([4, 6, 3])
    """
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.uint8, dtypes.uint16):
        raise errors.InvalidArgumentError(f"dtype must be uint8 or uint16, got {kind.name}")
    return _decode(contents, channels, kind)


def decode_jpeg(
    contents: StringLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decodes a JPEG file with Pillow, which may differ by a few units and always upsamples chroma smoothly.

    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))).shape
    TensorShape([4, 6, 3])
    """
    _log_ignored(fancy_upscaling, try_recover_truncated, acceptable_fraction)
    if channels == 4:
        raise errors.InvalidArgumentError("JPEG does not support 4 channels")
    if ratio not in (1, 2, 4, 8):
        raise errors.InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    pixels = _decode(contents, channels, dtypes.uint8)
    return pixels[::ratio, ::ratio] if ratio > 1 else pixels


def _log_ignored(fancy_upscaling: bool, try_recover_truncated: bool, acceptable_fraction: float) -> None:
    log_ignored(
        "io.decode_jpeg", fancy_upscaling=None if fancy_upscaling else 0, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=None if acceptable_fraction == 1 else acceptable_fraction,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents: StringLike, crop_window: TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Decodes a part of a JPEG file: `crop_window` is its first row and column, its height and its width.

    >>> file = tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 3, 4]).shape
    TensorShape([3, 4, 3])
    """
    pixels = decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction)

    def cropped(picture: Tensor, window: Tensor) -> Tensor:
        rows, columns = picture.dims[:2]
        top, left, height, width = (int(size) for size in window.numpy())
        if min(top, left) < 0 or min(height, width) < 1 or top + height > rows or left + width > columns:
            raise errors.InvalidArgumentError(
                f"jpeg::Uncompress failed. Invalid JPEG data or crop window {[top, left, height, width]} of an image "
                f"of size {[rows, columns]}. [Op:DecodeAndCropJpeg]"
            )
        return picture[top : top + height, left : left + width]

    return py_function(cropped, [pixels, to_tensor(crop_window)], dtypes.uint8)


def extract_jpeg_shape(contents: StringLike, output_type: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Returns height, width and channels of a JPEG file, without decoding its pixels.

    >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))).numpy().tolist()
    [4, 6, 3]
    """
    kind = dtypes.as_dtype(output_type)

    def read(text: Tensor) -> Tensor:
        data = single("contents", text)
        if data[:3] != b"\xff\xd8\xff":
            raise errors.InvalidArgumentError(f"Invalid JPEG data, size {len(data)} [Op:ExtractJpegShape]")
        try:
            picture = _pillow().open(io.BytesIO(data))
        except OSError:
            raise errors.InvalidArgumentError(f"Invalid JPEG data, size {len(data)} [Op:ExtractJpegShape]") from None
        return Tensor(np.array([picture.height, picture.width, len(picture.getbands())], kind.numpy), kind)

    return py_function(read, [text_tensor(contents)], kind)


def decode_webp(
    contents: StringLike, channels: int = 0, dtype: DTypeLike = dtypes.uint8, name: str | None = None
) -> Tensor:
    """Decodes the frames of a WebP file to `[frames, height, width, channels]`.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (6, 4)).save(file, "WEBP")
    >>> tf.io.decode_webp(file.getvalue()).shape
    TensorShape([1, 4, 6, 3])
    """
    if channels not in (0, 3, 4):
        raise errors.InvalidArgumentError("WebP only supports 3 or 4 channels [Op:DecodeWebP]")
    if dtypes.as_dtype(dtype) is not dtypes.uint8:
        raise errors.InvalidArgumentError("WebP only supports uint8 for dtype [Op:DecodeWebP]")

    def read(text: Tensor) -> Tensor:
        picture = _open_image(single("contents", text))
        if picture.format != "WEBP":
            raise errors.InvalidArgumentError(f"Trying to decode a {picture.format} file as WebP [Op:DecodeWebP]")
        mode = "RGBA" if "A" in picture.mode else "RGB"
        if channels and channels != len(mode):
            raise errors.InvalidArgumentError("Number of channels requested does not match input [Op:DecodeWebP]")
        return Tensor(_frames(picture, mode), dtypes.uint8)

    return py_function(read, [text_tensor(contents)], dtypes.uint8)


def decode_bmp(contents: StringLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Decodes a BMP file to an image of unsigned bytes, `[height, width, channels]`.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (6, 4)).save(file, "BMP")
    >>> tf.io.decode_bmp(file.getvalue()).shape
    TensorShape([4, 6, 3])
    """
    return _decode(contents, channels, dtypes.uint8)


def decode_gif(contents: StringLike, name: str | None = None) -> Tensor:
    """Decodes the frames of a GIF file to `[frames, height, width, 3]`.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (6, 4)).save(file, "GIF")
    >>> tf.io.decode_gif(file.getvalue()).shape
    TensorShape([1, 4, 6, 3])
    """

    def read(text: Tensor) -> Tensor:
        return Tensor(_frames(_open_image(single("contents", text))), dtypes.uint8)

    return py_function(read, [text_tensor(contents)], dtypes.uint8)


def is_jpeg(contents: StringLike, name: str | None = None) -> Tensor:
    """Returns whether a string has the signature of a JPEG file.

    >>> bool(tf.io.is_jpeg(b"GIF89a"))
    False
    """
    text = text_tensor(contents)
    return py_function(lambda x: Tensor(np.asarray(single("contents", x)[:3] == b"\xff\xd8\xff")), [text], dtypes.bool)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encodes a uint8 image with 1, 2, 3 or 4 channels, or a uint16 image with 1 channel, as a PNG file in a string.

    >>> tf.io.encode_png(tf.zeros([4, 6, 3], tf.uint8)).numpy()[1:4]
    b'PNG'
    """
    picture = to_tensor(image)
    if picture.dtype not in (dtypes.uint8, dtypes.uint16):
        raise errors.InvalidArgumentError(f"an image must be uint8 or uint16, got {picture.dtype.name}")
    wide = picture.dtype is dtypes.uint16
    _check_image(picture, (1,) if wide else (1, 2, 3, 4))
    return _encode(picture, "PNG", compress_level=6 if compression < 0 else int(compression))


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """Encodes a uint8 image with 1 or 3 channels as a JPEG file in a string, with Pillow's encoder.

    >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))))
    True
    """
    if format not in ("", "grayscale", "rgb"):
        raise errors.InvalidArgumentError(f"format must be '', 'grayscale' or 'rgb', got {format!r}")
    if xmp_metadata:
        raise errors.UnimplementedError("gradtape writes no XMP metadata into a JPEG file")
    picture = to_tensor(image, None if isinstance(image, Tensor) else dtypes.uint8)
    if picture.dtype is not dtypes.uint8:
        raise errors.InvalidArgumentError(f"an image must be uint8, got {picture.dtype.name}")
    _check_image(picture, {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format])
    inches = 1.0 if density_unit == "in" else 2.54
    return _encode(
        picture, "JPEG", quality=int(quality), progressive=progressive, optimize=optimize_size,
        subsampling="4:2:0" if chroma_downsampling else "4:4:4", dpi=(x_density * inches, y_density * inches),
    )  # fmt: skip


def _check_image(picture: Tensor, channels: tuple[int, ...]) -> None:
    if len(picture.dims) != 3 or picture.dims[2] not in channels:
        wanted = " or ".join(map(str, channels))
        raise errors.InvalidArgumentError(
            f"image must be [height, width, channels] and have {wanted} channels, got {list(picture.dims)}"
        )


def _encode(picture: Tensor, format: str, **options: Any) -> Tensor:
    def written(image: Tensor) -> bytes:
        pixels = np.asarray(image.array)
        file = io.BytesIO()
        _pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(file, format, **options)
        return file.getvalue()

    return py_function(written, [picture], dtypes.string)


def _decode(contents: Any, channels: Any, dtype: Any, animated: bool = False) -> Tensor:
    if channels not in (0, *_MODES):
        raise errors.InvalidArgumentError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")

    def read(text: Tensor) -> Tensor:
        data = single("contents", text)
        picture = _open_image(data)
        if picture.format == "GIF":
            frames = _frames(picture)
            return Tensor(frames if animated else frames[0], dtypes.uint8)
        return Tensor(_pixels(picture, data, int(channels), dtype is dtypes.uint16), dtype)

    return py_function(read, [text_tensor(contents)], dtype)


def _pixels(picture: Any, data: bytes, channels: int, wide: bool) -> Any:
    """Returns the pixels of a picture, with 16 bits if `wide`."""
    if picture.mode.startswith("I"):  # 16-bit grayscale
        grey = np.asarray(picture).astype(np.uint16)[:, :, None]
        pixels = grey if wide else (grey >> 8).astype(np.uint8)
        return np.repeat(pixels, channels, axis=2) if channels == 3 else pixels
    if wide and data.startswith(b"\x89PNG") and data[24] == 16:
        raise errors.UnimplementedError("Pillow does not read colours of 16 bits: decode the file with dtype=tf.uint8")
    own = {"1": "L", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "PA": "RGBA"}.get(picture.mode, picture.mode)
    if "transparency" in picture.info:
        own = "RGBA"
    picture = picture.convert(_MODES[channels] if channels else own)
    pixels = np.asarray(picture).reshape(picture.height, picture.width, -1)
    return pixels.astype(np.uint16) * 257 if wide else pixels


def _frames(picture: Any, mode: str = "RGB") -> Any:
    from PIL import ImageSequence

    return np.stack([np.asarray(frame.convert(mode)) for frame in ImageSequence.Iterator(picture)])


def _open_image(data: bytes) -> Any:
    pillow = _pillow()
    try:
        picture = pillow.open(io.BytesIO(data))
        picture.load()
    except OSError as error:
        raise errors.InvalidArgumentError(
            f"Unknown image file format, or a damaged file. One of JPEG, PNG, GIF, BMP, WebP required: {error}"
        ) from None
    return picture


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"Reading and writing images needs Pillow: {install_command('jpeg')}") from None
    return Image
