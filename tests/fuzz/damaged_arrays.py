"""Damaged array archives: the cache files of datasets (`.npz`), and Keras' `.keras` archives.

Errors of Keras' own code are accepted, but nothing may run or hang.
"""

from __future__ import annotations

import random
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

from ._sandbox import attempt, folder, is_documented, marks
from .damaged_checkpoints import damaged_member
from .mutations import HOSTILE_NUMBERS, SIZES_OF_GIGABYTES, mutate_bytes, mutate_json, mutate_zip

_OURS = Path(tf.__file__).parent


@cache
def _cached() -> tuple[bytes, list[Any]]:
    """Returns the file of a cached dataset, and its elements."""
    place = Path(tempfile.mkdtemp())
    list(_dataset(place / "cache"))
    return (place / "cache.npz").read_bytes(), [_plain(x) for x in _dataset(place / "cache")]


def _dataset(path: Path) -> tf.data.Dataset:
    rows = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "word": np.array(["a", "", "bc"])}
    return tf.data.Dataset.from_tensor_slices(rows).cache(str(path))


def _plain(element: Any) -> Any:
    return [np.asarray(element["x"]).tolist(), element["word"].numpy()]


@cache
def _keras_archive() -> tuple[bytes, Any]:
    keras = tf.keras
    layers = [keras.layers.Input([3]), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2, "softmax")]
    model = keras.Sequential(layers)
    path = Path(tempfile.mkdtemp(), "model.keras")
    model.save(path)
    return path.read_bytes(), np.asarray(model(np.ones([1, 3], np.float32)))


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    with folder() as place:
        problems = (_damaged_cache if rng.random() < 0.6 else _damaged_keras)(place, rng)
        return problems + marks(place)


def _damaged_cache(place: Path, rng: random.Random) -> list[str]:
    data, wanted = _cached()
    flipped = rng.random() < 0.4
    damaged = mutate_bytes(data, rng) if flipped else mutate_zip(
        data, rng, lambda name, content: damaged_member(name, content, rng))  # fmt: skip
    (place / "cache.npz").write_bytes(damaged)
    outcome = attempt(lambda: [_plain(x) for x in _dataset(place / "cache")])
    problems = [f"cache {outcome.problem}"] if outcome.problem else []
    if flipped and outcome.error is None and outcome.value != wanted:
        problems.append(f"the cache has {outcome.value} instead of {wanted}")
    return problems


def _damaged_keras(place: Path, rng: random.Random) -> list[str]:
    data, wanted = _keras_archive()
    path = place / "model.keras"
    path.write_bytes(mutate_zip(data, rng, lambda name, content: _member(name, content, rng)))

    def act() -> Any:
        model = tf.keras.models.load_model(path)
        return np.asarray(model(np.ones([1, 3], np.float32)))

    outcome = attempt(act, lambda error: is_documented(error) or not _raised_here(error))
    problems = [f"Keras {outcome.problem}"] if outcome.problem else []
    if outcome.value is not None and outcome.value.shape == wanted.shape and not np.isfinite(outcome.value).all():
        problems.append(f"the model gives {outcome.value}")
    return problems


def _member(name: str, content: bytes, rng: random.Random) -> bytes:
    if not name.endswith(".json"):
        return content[: rng.randrange(len(content))]
    # A layer with two billion units is valid: where memory suffices, it only takes long.
    return mutate_json(content, rng, [n for n in HOSTILE_NUMBERS if n not in SIZES_OF_GIGABYTES]).encode()


def _raised_here(error: Exception) -> bool:
    """Returns whether gradtape raised an error, as opposed to Keras or one of its libraries."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(_OURS)
