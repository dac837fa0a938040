"""Writes small SavedModels, and what they give, into `tests/data/saved_models.zip`: run under TensorFlow with Keras.

    python tools/record_saved_models.py

What a SavedModel has beside graphs, objects and variables (definitions of ops, notes for debuggers) is taken out: it is
not read, and is most of the file.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

TESTS = Path(__file__).parent.parent / "tests"
FILE = TESTS / "data/saved_models"
sys.path.insert(0, str(TESTS))
from saved_model_cases import CASES, results  # noqa: E402  needs the path


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], name="w")
        self.b = tf.Variable([1.0, 2.0], name="b")
        self.n = tf.Variable(0, trainable=False, name="n")
        self.k = tf.constant([3.0, 4.0])
        self.generator = tf.random.Generator.from_state([-2, 5, 9], "philox")
        self.parts = [tf.Variable(5.0, name="five"), {"x": tf.Variable(6.0, name="six")}]

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)

    @tf.function
    def poly(self, x, training=False, *, scale=2.0):
        if training:
            return {"y": x * scale + self.k, "z": tf.reduce_sum(x)}
        return {"y": x * 2.0 * scale, "z": tf.reduce_mean(x)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def control(self, x):
        self.n.assign_add(1)
        i = tf.constant(0)
        while i < 3:
            if x > 10.0:
                x = x / 2.0
            else:
                x = x * 3.0
            i += 1
        return x, self.n

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def running(self, x):
        return tf.scan(lambda total, row: 0.5 * total + row, x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def noise(self, x):
        return x + self.generator.uniform(tf.shape(x))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def unsupported(self, x):
        return tf.raw_ops.UnicodeScript(input=tf.cast(x, tf.int32))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder))
        shutil.make_archive(str(FILE), "zip", folder)


def record(folder: Path) -> None:
    module = Module()
    module.poly(tf.constant([1.0, 2.0]))
    module.poly(tf.constant([1.0, 2.0]), True)
    module.poly(tf.constant([[1.0, 2.0]]), training=True, scale=3.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="inp")])
    def serve(inp):
        return {"out": module(inp)}

    tf.saved_model.save(module, str(folder / "module"), signatures={"serving_default": serve})
    rng = np.random.RandomState(0)
    given = {"images": rng.rand(2, 6, 6, 1).astype("f"), "words": rng.randint(0, 9, (2, 4)).astype("f")}
    found = {}
    for name, model in models().items():
        model.export(str(folder / name), verbose=False)
        with tf.GradientTape() as tape:
            y = model(given[name])
            loss = tf.reduce_sum(y**2)
        slopes = [float(tf.reduce_sum(tf.abs(g))) for g in tape.gradient(loss, model.trainable_variables)]
        found[name] = {"x": given[name].tolist(), "y": y.numpy().tolist(), "slopes": slopes}
    found["cases"] = recorded_cases(folder / "cases")
    for path in folder.glob("**/saved_model.pb"):
        saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
        for graph in saved.meta_graphs:
            graph.meta_info_def.ClearField("stripped_op_list")
            graph.graph_def.ClearField("debug_info")
            for node in [n for f in graph.graph_def.library.function for n in f.node_def] + list(graph.graph_def.node):
                node.ClearField("experimental_debug_info")
                node.attr.pop("_output_shapes", None)
        path.write_bytes(saved.SerializeToString(deterministic=True))
        (path.parent / "fingerprint.pb").unlink()
    (folder / "answers.json").write_text(json.dumps(found) + "\n")


def recorded_cases(folder: Path) -> dict:
    """Saves the objects of `saved_model_cases`; what calls of what TensorFlow loads of them give."""
    found = {}
    for name, build in CASES.items():
        with tempfile.TemporaryDirectory() as files:
            case = build(tf, files)
            tf.saved_model.save(case.root, str(folder / name), **case.saving)
        given = results(tf, tf.saved_model.load(str(folder / name)), case.calls)
        found[name] = {call: values for call, values in given.items() if call not in case.fails_in_tensorflow}
    return found


def models() -> dict:
    keras.utils.set_random_seed(0)
    images = keras.Sequential(
        [
            keras.layers.Input((6, 6, 1)),
            keras.layers.Conv2D(2, 3),
            keras.layers.BatchNormalization(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    inputs = keras.Input((4,))
    embedded = keras.layers.Embedding(9, 3)(inputs)
    words = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.LSTM(2)(embedded)))
    return {"images": images, "words": words}


if __name__ == "__main__":
    main()
