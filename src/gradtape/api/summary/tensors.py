"""Summaries of tensors in TensorFlow's format: a tensor, and the TensorBoard plugin that shows it."""

from __future__ import annotations

from typing import Any, SupportsInt

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import StringLike, TensorLike, ValueLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .events import plugin_metadata, tensor_event
from .scalars import written, written_as

NAMESPACES = ("summary",)
__all__ = ["audio", "histogram", "image", "text", "write"]

_BUCKETS = 30
_WAV = b"\x10\x0b"  # the message of TensorBoard's audio plugin: field 2, the encoding, is 11


def histogram(
    name: str, data: TensorLike, step: TensorLike | None = None, buckets: SupportsInt | None = None,
    description: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes a histogram of `data` with `buckets` (30) intervals; returns whether it was written.

    >>> bool(tf.summary.histogram("weights", tf.Variable([0.5, 1.5]), step=1))
    False

    It is not written if there is no writer: see `create_file_writer`.
    """
    count = _BUCKETS if buckets is None else int(buckets)

    def event(tag: str, numbers: Tensor) -> Any:
        return tensor_event(
            tag, _counts(numbers.numpy().ravel(), count), dtypes.float64, plugin_metadata("histograms", description)
        )

    return written(name, step, lambda: ops.cast(to_tensor(data), dtype=dtypes.float64), event)


def _counts(numbers: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    """Returns the bounds and counts of intervals; if all numbers are equal, they are in the last one."""
    rows = np.zeros((buckets, 3))
    if numbers.size and buckets:
        low, high = numbers.min(), numbers.max()
        ends = np.linspace(low, high, buckets + 1)
        rows[:, 0], rows[:, 1] = ends[:-1], ends[1:]
        if low == high:
            rows[-1, 2] = numbers.size
        elif low < high:  # neither is NaN
            rows[:, 2], _ = np.histogram(numbers, ends)
    return rows


def image(
    name: str, data: TensorLike, step: TensorLike | None = None, max_outputs: SupportsInt = 3,
    description: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes the first `max_outputs` images of `data`, `(examples, height, width, channels)`; returns whether it did.

    Floating-point images are clipped to values from 0 to 1.

    >>> bool(tf.summary.image("generated", tf.zeros((1, 8, 8, 3)), step=1))
    False

    They are not written if there is no writer: see `create_file_writer`.
    """

    def images() -> Tensor:
        value = to_tensor(data)
        if len(value.dims) != 4:
            raise ValueError(f"Tensor must have rank 4. Received rank {len(value.dims)}, shape {value.dims}")
        return value

    def event(tag: str, value: Tensor) -> Any:
        from ..image import codecs, color

        _, height, width, _ = value.dims
        files = [
            codecs.encode_png(color.convert_image_dtype(one, dtypes.uint8, saturate=True)).numpy()
            for one in value[: int(max_outputs)]
        ]
        parts = np.array([b"%d" % width, b"%d" % height, *files], object)
        return tensor_event(tag, parts, dtypes.string, plugin_metadata("images", description))

    return written(name, step, images, event)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike | None = None,
    max_outputs: SupportsInt = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes the first `max_outputs` clips of `data`, `(clips, frames, channels)` between -1 and 1, as WAV files.

    Returns whether they were written.

    Args:
      sample_rate: frames per second.
      encoding: "wav", the only supported one.

    >>> bool(tf.summary.audio("voice", tf.zeros((1, 100, 1)), 8000, step=1))
    False

    They are not written if there is no writer: see `create_file_writer`.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}. Expected 'wav'")

    def clips() -> Tensor:
        value = to_tensor(data)
        if len(value.dims) != 3:
            raise ValueError(f"Tensor must have rank 3. Received rank {len(value.dims)}, shape {value.dims}")
        return value

    def event(tag: str, value: Tensor) -> Any:
        from ..audio import encode_wav

        files = [encode_wav(clip, sample_rate).numpy() for clip in value[: int(max_outputs)]]
        labeled = np.empty((len(files), 2), object)  # each clip has a label, which is empty in TensorFlow 2
        labeled[:, 0], labeled[:, 1] = files, b""
        return tensor_event(tag, labeled, dtypes.string, plugin_metadata("audio", description, _WAV))

    return written(name, step, clips, event)


def text(name: str, data: StringLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Writes one or more strings, which TensorBoard shows as Markdown; returns whether it did.

    >>> bool(tf.summary.text("notes", "a *first* try", step=1))
    False

    They are not written if there is no writer: see `create_file_writer`.
    """

    def strings() -> Tensor:
        value = to_tensor(data)
        if value.dtype is not dtypes.string:
            raise TypeError(f"tensor must be of type tf.string; got {value.dtype!r}")
        return value

    def event(tag: str, value: Tensor) -> Any:
        return tensor_event(tag, np.array(value.numpy(), object), dtypes.string, plugin_metadata("text", description))

    return written(name, step, strings, event)


def write(
    tag: str, tensor: ValueLike, step: TensorLike | None = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Writes a tensor for the TensorBoard plugin named by `metadata`; returns whether it was written.

    Args:
      tag: the complete name of the summary: see `tf.summary.experimental.summary_scope`.
      metadata: a `tf.compat.v1.SummaryMetadata`, or a serialized one.

    >>> bool(tf.summary.write("distances", tf.constant([1.0, 2.0]), step=1))
    False

    It is not written if there is no writer: see `create_file_writer`.
    """

    def event(tag: str, value: Tensor) -> Any:
        return tensor_event(tag, np.asarray(value.array), value.dtype, metadata)

    return written_as(tag, step, lambda: to_tensor(tensor), event)
