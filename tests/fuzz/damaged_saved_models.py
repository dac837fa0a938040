"""SavedModels with damaged messages, tables and data: loads, calls and differentiates them."""

from __future__ import annotations

import random
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.checkpoint.object_graph import describe_objects

from ._protobuf import mutate_protobuf
from ._sandbox import attempt, folder, marks
from .mutations import mutate_bytes

_RECORDED = Path(__file__).parent.parent / "data/saved_models.zip"


class _Model(tf.Module):
    """Variables, tables, an asset, control flow and structures: the possible contents of a SavedModel."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.count = tf.Variable(0, trainable=False, name="count")
        self.parts = [tf.Module(), {"v": tf.Variable(3.0)}]
        rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        self.table = tf.lookup.StaticHashTable(rows, default_value=-1.0)
        self.file = tf.saved_model.Asset(words)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x: Any) -> Any:
        return {"y": tf.nn.relu(x @ self.w), "n": [tf.shape(x)[0], x[:, 0]]}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def control(self, x: Any) -> Any:
        self.count.assign_add(1)
        if x > 2.0:
            x = x * self.parts[1]["v"]
        return tf.cast(x, tf.complex64), self.count

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look(self, x: Any) -> Any:
        return self.table.lookup(x), tf.strings.join([x, self.file.asset_path])


_INPUTS = {
    "__call__": [np.array([[1.0, 2.0], [-3.0, 1.0]], np.float32)], "control": [np.float32(3.0)],
    "look": [np.array([b"a", b"c"], object)],
}  # fmt: skip


@cache
def _samples() -> list[tuple[Path, dict[str, Any]]]:
    """Returns folders of SavedModels, written by gradtape and by TensorFlow, and the arguments of their functions."""
    top = Path(tempfile.mkdtemp())
    (top / "words.txt").write_text("a\nb\n")
    tf.saved_model.save(_Model(str(top / "words.txt")), top / "own")
    with zipfile.ZipFile(_RECORDED) as file:
        file.extractall(top)
    return [(top / "own", _INPUTS), (top / "module", {"__call__": [np.ones([1, 3], np.float32)]})]


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    source, inputs = rng.choice(_samples())
    with folder() as place:
        model = place / "model"
        shutil.copytree(source, model)
        files = [model / "saved_model.pb"] * 6 + sorted((model / "variables").iterdir())
        damaged = rng.choice(files)
        is_message = damaged.suffix == ".pb"
        mutate = mutate_protobuf if is_message and rng.random() < 0.8 else mutate_bytes
        damaged.write_bytes(mutate(damaged.read_bytes(), rng))
        problems = [f"{damaged.name} of {source.name}: {problem}" for problem in _loaded(model, inputs, rng)]
        if not is_message and not problems:
            problems += _different_values(model, source)
        return problems + marks(place)


def _loaded(model: Path, inputs: dict[str, Any], rng: random.Random) -> list[str]:
    """Loads a model and calls its functions."""
    loaded = attempt(lambda: tf.saved_model.load(model))
    if loaded.problem:
        return [f"load {loaded.problem}"]
    if loaded.error is not None:
        return []
    found = []
    for name, values in inputs.items():
        function = getattr(loaded.value, name, None)
        if not callable(function):
            continue
        called = attempt(lambda function=function, values=values: _called(function, values), _is_of_a_call)
        if called.problem:
            found.append(f"{name} {called.problem}")
    for name, signature in loaded.value.signatures.items() if hasattr(loaded.value.signatures, "items") else ():
        called = attempt(lambda s=signature: s(*_INPUTS["__call__"]), _is_of_a_call)
        if called.problem:
            found.append(f"signature {name} {called.problem}")
    return found


def _is_of_a_call(error: Exception) -> bool:
    """Returns whether a call may raise an error: arguments that do not match a damaged signature are a TypeError."""
    own = ("argument", "parameter", "signature", "takes", "expected")
    wrong_call = type(error) is TypeError and any(word in str(error) for word in own)
    return wrong_call or isinstance(error, tf.errors.OpError | NotImplementedError) or type(error) is ValueError


def _called(function: Any, values: list[Any]) -> Any:
    tensors = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch([x for x in tensors if x.dtype.is_floating])
        result = function(*tensors)
        targets = [y for y in tf.nest.flatten(result) if isinstance(y, tf.Tensor) and y.dtype.is_floating]
    return result, tape.gradient(targets, tensors) if targets else None


def _different_values(model: Path, source: Path) -> list[str]:
    """Reports variables whose values from damaged files differ from the saved ones."""
    loaded = attempt(lambda: tf.saved_model.load(model))
    if loaded.error is not None or loaded.problem:
        return []
    (_, found), (_, saved) = map(describe_objects, (loaded.value, tf.saved_model.load(source)))
    return [f"{key} has other values" for key, x in saved.items() if not np.array_equal(found[key].numpy(), x.numpy())]
