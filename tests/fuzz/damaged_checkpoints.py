"""Damaged checkpoints, gradtape's archives and TensorFlow's bundles: restored with the saved values, or not at all.

Bytes are damaged with and without matching checksums, because an attacker can write valid ones.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import gradtape as tf
from gradtape.checkpoint import shared
from gradtape.checkpoint.bundle import OBJECT_GRAPH, read_bundle, write_bundle
from gradtape.checkpoint.object_graph import describe_objects
from gradtape.checkpoint.table import read_table, table_of

from ._protobuf import mutate_protobuf
from ._sandbox import attempt, folder, marks
from .mutations import HOSTILE_NUMBERS, HOSTILE_TEXT, mutate_bytes, mutate_json, mutate_zip


def _objects(scale: float) -> tf.train.Checkpoint:
    module = tf.Module()
    module.kernel = tf.Variable(scale * np.arange(6, dtype=np.float32).reshape(2, 3))
    words = tf.Variable(["a", "bc"] if scale else ["", ""])
    module.parts = [tf.Variable(np.full([2], scale, np.complex64)), {"words": words}]
    optimizer_like = tf.Module()
    optimizer_like.half = tf.Variable(np.full([3], scale, np.float16))
    return tf.train.Checkpoint(module=module, other=optimizer_like, step=tf.Variable(int(scale), dtype=tf.int64))


def _values(checkpoint: tf.train.Checkpoint) -> dict[str, Any]:
    return {key: variable.numpy() for key, variable in describe_objects(checkpoint)[1].items()}


@cache
def _samples() -> dict[str, dict[str, bytes]]:
    """Returns the files of a checkpoint of each kind, by name."""
    top = Path(tempfile.mkdtemp())
    checkpoint = _objects(2.0)
    archive = tf.train.CheckpointOptions(save_format="npz")
    checkpoint.save(top / "archive/ckpt", archive)
    _objects(2.0).save(top / "bundle/ckpt")
    with shared.write_together(shared.Group(0, 1, lambda value: [value], shards=True)):
        _objects(2.0).save(top / "shards/ckpt", archive)
    samples = {place.name: _files_in(place) for place in top.iterdir()}
    return samples | _interrupted(top / "bundle")


def _files_in(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.iterdir()}


def _interrupted(place: Path) -> dict[str, dict[str, bytes]]:
    """Returns the files at every moment at which one checkpoint replaces another with the same values."""
    moments: dict[str, dict[str, bytes]] = {}

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            result = function(*args)
            moments[f"moment {len(moments)}"] = _files_in(place)
            return result

        return call

    with ExitStack() as observed:
        for name in ("link", "replace", "remove"):
            observed.enter_context(mock.patch.object(os, name, noting(getattr(os, name))))
        _objects(2.0).write(place / "ckpt-1")
    return moments


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    kind, files = rng.choice(sorted(_samples().items()))
    name = rng.choice(sorted(files))
    with folder() as place:
        for other, data in files.items():
            (place / other).write_bytes(data)
        changed, keeps_values = _damaged(name, files, rng)
        for other, data in changed.items():
            (place / other).write_bytes(data)
        problems = [f"{kind}/{name}: {problem}" for problem in _restored(place, keeps_values)]
        return problems + marks(place)


def _damaged(name: str, files: dict[str, bytes], rng: random.Random) -> tuple[dict[str, bytes], bool]:
    """Returns replacement files, and whether all their values are unchanged."""
    data = files[name]
    if name == "checkpoint":
        return {name: _damaged_state(data, rng)}, True
    if rng.random() < 0.3:
        return {name: mutate_bytes(data, rng)}, True
    if name.endswith(".npz"):
        return {name: mutate_zip(data, rng, lambda member, content: damaged_member(member, content, rng))}, False
    return _damaged_bundle(files, rng)


def _damaged_state(data: bytes, rng: random.Random) -> bytes:
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    key = lines[at].partition(":")[0]
    values = [json.dumps(rng.choice([*HOSTILE_TEXT, "../outside", "ckpt-9"])), str(rng.choice(HOSTILE_NUMBERS)),
              '"\\ud800"', '"\\', "1e999"]  # fmt: skip
    lines[at] = f"{key}: {rng.choice(values)}"
    return mutate_bytes(data, rng) if rng.random() < 0.5 else "\n".join(lines).encode()


def damaged_member(name: str, content: bytes, rng: random.Random) -> bytes:
    """Modifies a member of an archive."""
    if name.endswith(".json"):
        return mutate_json(content, rng).encode()
    return _damaged_array(content, rng)


def _damaged_array(content: bytes, rng: random.Random) -> bytes:
    """Returns a `.npy` with a modified header or modified bytes."""
    if rng.random() < 0.5:
        return mutate_bytes(content, rng)
    size = int.from_bytes(content[8:10], "little")
    header, rest = content[10 : 10 + size].decode("latin1"), content[10 + size :]
    old, new = rng.choice([
        ("False", "True"), ("'descr'", rng.choice(["'x'", "__import__('os')"])), ("<", ">"), ("<f4", "|O"),
        ("<f4", "<f8"), ("'shape': (", "'shape': (4000000000, "), ("'shape': (", "'shape': (-1, "), ("(", "(" * 200),
        ("{", "{open('MARK','w'), "), ("}", ""), ("'shape': (", "'shape': (2.5, "), ("<f4", "|V4"), ("<i8", "<m8[s]"),
    ])  # fmt: skip
    changed = header.replace(old, new).encode("latin1")
    return content[:8] + len(changed).to_bytes(2, "little") + changed + rest


def _damaged_bundle(files: dict[str, bytes], rng: random.Random) -> tuple[dict[str, bytes], bool]:
    """Returns a bundle with a modified entry or object graph, and valid checksums."""
    index = next(name for name in files if name.endswith(".index"))
    if rng.random() < 0.5:
        entries = read_table(files[index])
        key = rng.choice(sorted(entries))
        if rng.random() < 0.2:
            entries[rng.choice(HOSTILE_TEXT).encode()] = entries.pop(key)
        else:
            entries[key] = mutate_protobuf(entries[key], rng)
        return {index: table_of(entries)}, False
    with tempfile.TemporaryDirectory() as place:
        for name, data in files.items():
            Path(place, name).write_bytes(data)
        prefix = Path(place, index).with_suffix("")
        tensors = read_bundle(prefix)
        graph = tensors.pop(OBJECT_GRAPH).item()
        write_bundle(prefix, tensors, mutate_protobuf(graph, rng))
        return {path.name: path.read_bytes() for path in Path(place).iterdir()}, True


def _restored(place: Path, keeps_values: bool) -> list[str]:
    """Restores in every way, and reports violations."""
    found = []
    for what, act in (("latest_checkpoint", lambda: tf.train.latest_checkpoint(str(place))),
                      ("list_variables", lambda: tf.train.list_variables(str(place / "ckpt-1"))),
                      ("CheckpointManager", lambda: _managed(place))):  # fmt: skip
        outcome = attempt(act)
        if outcome.problem:
            found.append(f"{what} {outcome.problem}")
        latest = outcome.value if what == "latest_checkpoint" else None
        if latest is not None and Path(latest).resolve().parent != place.resolve():
            found.append(f"latest_checkpoint is {latest!r}, in another folder")
    (place / "keep").mkdir(exist_ok=True)
    fresh = _objects(0.0)
    before, wanted = _values(fresh), _values(_objects(2.0))
    outcome = attempt(lambda: fresh.restore(str(place / "ckpt-1")))
    if outcome.problem:
        found.append(f"restore {outcome.problem}")
    after = _values(fresh)
    for key, value in after.items():
        if not keeps_values or "save_counter" in key or np.array_equal(value, before[key]):
            continue
        if outcome.error is not None:
            found.append(f"{key} was restored before the error: {value!r}")
        elif not any(np.array_equal(value, other) for other in wanted.values()):  # a damaged graph may swap them
            found.append(f"{key} is {value!r}")
    return found


def _managed(place: Path) -> None:
    """Lets a manager delete old checkpoints: it must not delete files elsewhere."""
    outside = place.parent / "outside.npz"
    outside.write_bytes(b"precious")
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), str(place), max_to_keep=1,
                                         checkpoint_name="new")  # fmt: skip
    manager.save()
    if not outside.exists():
        raise AssertionError("a checkpoint manager deleted a file elsewhere")
