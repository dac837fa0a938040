"""`tf.audio`: 16-bit WAV files."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import StringLike, TensorLike
from ..engine.run.convert import to_tensor
from .runtime.system import py_function
from .strings.strings import text_tensor

NAMESPACES = ("audio",)
__all__ = ["decode_wav", "encode_wav"]

_SCALE = 32768.0


class DecodeWav(NamedTuple):
    """A decoded file: samples from -1 to 1 as rows with one column per channel, and the sample rate."""

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: StringLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Decodes a WAV file to samples and their rate.

    Args:
      desired_channels: the number of columns; the last channel is repeated or channels are dropped.
      desired_samples: the number of rows; silence is appended or the end is dropped.

    >>> wave = tf.audio.encode_wav([[0.5], [-0.5]], sample_rate=8000)
    >>> tf.audio.decode_wav(wave).audio.numpy().tolist()
    [[0.5], [-0.5]]
    """

    def decode(text: Tensor) -> list[Any]:
        if text.dims:
            raise errors.InvalidArgumentError(f"contents must be scalar, got shape {list(text.dims)}")
        samples, rate = _decode_samples(text.numpy())
        if desired_channels != -1:
            columns = np.minimum(np.arange(desired_channels), samples.shape[1] - 1)
            samples = samples[:, columns]
        if desired_samples != -1:
            samples = samples[:desired_samples]
            samples = np.pad(samples, ((0, desired_samples - len(samples)), (0, 0)))
        return [(samples / np.float32(_SCALE)).astype(np.float32), rate]

    return DecodeWav(*py_function(decode, [text_tensor(contents)], [dtypes.float32, dtypes.int32]))


def _decode_samples(data: bytes) -> tuple[Any, int]:
    """Returns the integers of a file, one row per sample, and the rate."""
    for place, expected in ((0, b"RIFF"), (8, b"WAVE")):
        if data[place : place + 4] != expected:
            raise errors.InvalidArgumentError(
                f"Header mismatch: Expected {expected.decode()} but found {data[place : place + 4].decode('latin1')}"
            )
    channels = rate = 0
    place = 12
    while place + 8 <= len(data):
        name, size = data[place : place + 4], struct.unpack_from("<I", data, place + 4)[0]
        chunk = data[place + 8 : place + 8 + size]
        if len(chunk) < size:
            break
        if name == b"fmt ":
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
            if kind != 1 or bits != 16:
                raise errors.InvalidArgumentError(
                    f"Can only read 16-bit WAV files of PCM (format 1), but received {bits} bits of format {kind}"
                )
        if name == b"data" and channels:
            return np.frombuffer(chunk[: size - size % (2 * channels)], "<i2").reshape(-1, channels), rate
        place += 8 + size + size % 2
    raise errors.InvalidArgumentError("Data too short when trying to read a chunk of a WAV file: it is not whole")


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Encodes samples from -1 to 1, rows with one column per channel, as a WAV file.

    >>> len(tf.audio.encode_wav([[0.5], [-0.5]], sample_rate=8000).numpy())
    48
    """

    def encode(samples: Tensor, rate: Tensor) -> bytes:
        if len(samples.dims) != 2:
            raise errors.InvalidArgumentError(f"audio must be 2-dimensional{list(samples.dims)}")
        if int(rate) <= 0:
            raise errors.InvalidArgumentError(f"sample_rate must be in (0, 2^32), got: {int(rate)}")
        scaled = samples.numpy().astype(np.float32) * np.float32(_SCALE)
        whole = np.clip(np.copysign(np.floor(np.abs(scaled) + 0.5), scaled), -_SCALE, _SCALE - 1).astype("<i2")
        channels, data = samples.dims[1], whole.tobytes()
        layout = struct.pack("<HHIIHH", 1, channels, int(rate), int(rate) * channels * 2, channels * 2, 16)
        chunks = b"WAVEfmt " + struct.pack("<I", len(layout)) + layout + b"data" + struct.pack("<I", len(data)) + data
        return b"RIFF" + struct.pack("<I", len(chunks)) + chunks

    return py_function(
        encode, [to_tensor(audio, dtype=dtypes.float32), to_tensor(sample_rate, dtype=dtypes.int32)], dtypes.string
    )
