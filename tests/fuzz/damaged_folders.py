"""Formats of several files, and files of graphs, events and weights: the data that was written, or an error.

Axes: the format (folders of datasets with and without compression and with several shards, checkpoints with and
without a manager, SavedModels, event files, `GraphDef`s as bytes and as text, weights of Keras as .h5), and the
damage (a file is missing, empty, cut, has other bytes, or is that of another object of the same format). Never are
there fewer elements, variables of another object in part, or nothing, without an error.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

from ._sandbox import attempt, folder, is_documented, marks
from .mutations import mutate_bytes

v1 = tf.compat.v1


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    name = rng.choice(sorted(FORMATS))
    read = FORMATS[name][1]
    first, second = _written(name)
    with folder() as place:
        damaged = place / "data"
        shutil.copytree(first, damaged)
        damage, checked = _damage(damaged, second, rng)
        outcome = attempt(lambda: read(damaged), _may_raise)
        problems = [outcome.problem] if outcome.problem else []
        if outcome.error is None and not problems and checked and outcome.value not in (read(first), read(second)):
            problems = [f"read {outcome.value}, and {read(first)} was written"]
        return [f"{name}, {damage}: {problem}" for problem in problems] + marks(place)


def _may_raise(error: Exception) -> bool:
    return is_documented(error) or type(error).__name__ in ("DecodeError", "ParseError")


@cache
def _written(name: str) -> tuple[Path, Path]:
    """Returns the folders of two objects in a format."""
    top = Path(tempfile.mkdtemp())
    for i in range(2):
        (top / str(i)).mkdir()
        FORMATS[name][0](top / str(i), i + 1.0)
    return top / "0", top / "1"


def _damage(place: Path, other: Path, rng: random.Random) -> tuple[str, bool]:
    """Damages one file; returns what was done, and whether a checksum or a count would tell."""
    files = sorted(file for file in place.rglob("*") if file.is_file())
    file = rng.choice(files)
    title, data = file.name, file.read_bytes()
    kind = rng.randrange(6)
    if kind == 0:
        file.unlink()
        return f"without {title}", True
    if kind == 1:
        file.write_bytes(b"")
        return f"{title} is empty", True
    if kind == 2:
        cut = rng.randrange(len(data) + 1)
        file.write_bytes(data[:cut])
        return f"{title} has {cut} of {len(data)} bytes", file.suffix != ".pbtxt"
    if kind == 3:
        file.write_bytes(mutate_bytes(data, rng))
        return f"{title} has other bytes", False
    source = rng.choice(sorted(one for one in other.rglob("*") if one.is_file()))
    if kind == 4:
        alike = sorted(one for one in other.rglob("*") if one.name == title)
        source = alike[0] if alike else source
    shutil.copyfile(source, file)
    return f"{title} is {source.name} of another object", False


# Datasets.


def _write_dataset(place: Path, scale: float, compression: str | None = None, shards: int = 1) -> None:
    rows = {"x": scale * np.arange(12, dtype=np.float32).reshape(6, 2), "word": np.array(list("abcdef"))}
    data = tf.data.Dataset.from_tensor_slices(rows).enumerate()
    data.save(str(place / "d"), compression, shard_func=lambda i, _: i % shards)


def _read_dataset(place: Path, compression: str | None = None) -> Any:
    elements = tf.data.Dataset.load(str(place / "d"), compression=compression)
    return sorted((int(i), row["x"].numpy().tolist(), row["word"].numpy()) for i, row in elements)


# Checkpoints and models.


def _module(scale: float) -> tf.Module:
    module = tf.Module()
    module.v, module.w = tf.Variable([scale, 2.0 * scale]), tf.Variable(3.0 * scale)
    return module


def _write_checkpoint(place: Path, scale: float) -> None:
    tf.train.Checkpoint(module=_module(scale)).save(str(place / "ckpt"))


def _write_managed_checkpoint(place: Path, scale: float) -> None:
    tf.train.CheckpointManager(tf.train.Checkpoint(module=_module(scale)), str(place), 2).save()


def _read_checkpoint(place: Path) -> Any:
    latest = tf.train.latest_checkpoint(str(place))
    if latest is None:
        raise tf.errors.NotFoundError(None, None, "there is no checkpoint")
    module = _module(0.0)
    tf.train.Checkpoint(module=module).restore(latest).assert_existing_objects_matched()
    return module.v.numpy().tolist(), float(module.w)


def _write_saved_model(place: Path, scale: float) -> None:
    module = _module(scale)
    module.f = tf.function(lambda x: x * module.v + module.w, input_signature=[tf.TensorSpec([2], tf.float32)])
    tf.saved_model.save(module, str(place / "m"))


def _read_saved_model(place: Path) -> Any:
    return tf.saved_model.load(str(place / "m")).f(tf.constant([1.0, 2.0])).numpy().tolist()


def _write_weights(place: Path, scale: float) -> None:
    model = _model()
    model.set_weights([scale * np.ones_like(value) for value in model.get_weights()])
    model.save_weights(place / "model.weights.h5")


def _read_weights(place: Path) -> Any:
    model = _model()
    try:
        model.load_weights(place / "model.weights.h5")
    except Exception as error:  # h5py's and Keras' own
        raise ValueError(str(error) or "nothing") from error
    return [value.tolist() for value in model.get_weights()]


def _model() -> Any:
    layers = tf.keras.layers
    return tf.keras.Sequential([tf.keras.Input([2]), layers.Dense(3), layers.Dense(1)])


# Events and graphs.


def _write_events(place: Path, scale: float) -> None:
    writer = tf.summary.create_file_writer(str(place), filename_suffix=".events")
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("x", scale * step, step=step)
    writer.close()
    (file,) = place.iterdir()
    file.rename(place / "events")


def _read_events(place: Path) -> Any:
    values = []
    for event in v1.train.summary_iterator(str(place / "events")):
        values += [(event.step, float(tf.make_ndarray(value.tensor))) for value in event.summary.value]
    if len(values) < 3:
        raise tf.errors.DataLossError(None, None, "an event file may end early")  # as TensorBoard reads it meanwhile
    return values


def _graph_of(scale: float) -> Any:
    function = tf.function(lambda x: x * scale + tf.constant([1.0, 2.0]))
    return function.get_concrete_function(tf.TensorSpec([2], tf.float32, name="x")).graph.as_graph_def()


def _run(definition: Any) -> Any:
    with v1.Graph().as_default():
        tf.import_graph_def(definition, name="")
        try:
            with v1.Session() as session:
                return session.run("Identity:0", {"x:0": np.ones(2, np.float32)}).tolist()
        except KeyError as error:  # TensorFlow's for names that a graph does not have
            raise ValueError(str(error)) from error


def _write_graph(place: Path, scale: float, as_text: bool = False) -> None:
    tf.io.write_graph(_graph_of(scale), str(place), "graph.pbtxt" if as_text else "graph.pb", as_text)


def _read_graph(place: Path) -> Any:
    return _run(v1.GraphDef.FromString((place / "graph.pb").read_bytes()))


def _read_graph_of_text(place: Path) -> Any:
    from google.protobuf import text_format

    return _run(text_format.Parse((place / "graph.pbtxt").read_text(errors="replace"), v1.GraphDef()))


FORMATS: dict[str, tuple[Callable[[Path, float], None], Callable[[Path], Any]]] = {
    "dataset": (_write_dataset, _read_dataset),
    "dataset in shards": (lambda place, scale: _write_dataset(place, scale, None, 2), _read_dataset),
    "compressed dataset": (lambda place, scale: _write_dataset(place, scale, "GZIP", 2),
                           lambda place: _read_dataset(place, "GZIP")),
    "checkpoint": (_write_checkpoint, _read_checkpoint),
    "managed checkpoint": (_write_managed_checkpoint, _read_checkpoint),
    "SavedModel": (_write_saved_model, _read_saved_model),
    "weights": (_write_weights, _read_weights),
    "events": (_write_events, _read_events),
    "graph": (_write_graph, _read_graph),
    "graph as text": (lambda place, scale: _write_graph(place, scale, True), _read_graph_of_text),
}  # fmt: skip
