"""Damaged images, audio, compressed and encoded text: a tensor, or TensorFlow's InvalidArgumentError."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np

import gradtape as tf

from ._sandbox import attempt, folder, marks
from .mutations import HOSTILE_TEXT, mutate_bytes, mutate_json


@cache
def _samples() -> list[tuple[Any, bytes]]:
    """Returns functions that decode bytes, and bytes for them."""
    image = tf.constant(np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3))
    png, jpeg = tf.io.encode_png(image).numpy(), tf.io.encode_jpeg(image).numpy()
    wav = tf.audio.encode_wav(np.linspace(-1, 1, 20, dtype=np.float32)[:, None], 8000).numpy()
    json_example = b'{"features": {"feature": {"a": {"int64List": {"value": ["1", "2"]}}}}}'
    bmp = b"BM" + (54 + 12).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    bmp += (1).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"\1\0\x18\0" + bytes(24) + bytes(range(12))
    return [
        (tf.io.decode_png, png), (tf.io.decode_jpeg, jpeg), (tf.io.decode_image, png), (tf.io.decode_image, jpeg),
        (tf.io.decode_bmp, bmp), (tf.audio.decode_wav, wav),
        (lambda data: tf.io.decode_csv(data, [tf.int32, tf.float32]), b"1,2.5"),
        (lambda data: tf.io.decode_raw(data, tf.float32), bytes(8)),
        (lambda data: tf.io.decode_base64(data), b"YWJj"),
        (lambda data: tf.strings.to_number(data), b"1.5"),
        (lambda data: tf.io.decode_json_example(data), json_example),
        (lambda data: tf.strings.unicode_decode(data, "UTF-8"), "aé漢".encode()),
        (lambda data: tf.strings.regex_replace("aab", data, "x"), b"(a+)[b-c]*"),
    ]  # fmt: skip


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    function, data = rng.choice(_samples())
    if data[:1] == b"{" and rng.random() < 0.7:
        damaged = mutate_json(data, rng).encode()
    elif len(data) < 30 and rng.random() < 0.3:
        damaged = rng.choice(HOSTILE_TEXT).encode()
    else:
        damaged = mutate_bytes(data, rng)
    with folder() as place:
        outcome = attempt(lambda: function(tf.constant(damaged)))
        return ([f"{damaged!r} {outcome.problem}"] if outcome.problem else []) + marks(place)
