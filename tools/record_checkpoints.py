"""Writes small checkpoints with real TensorFlow, for the tests that read them: python tools/record_checkpoints.py."""

import os
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent.parent / "tests" / "data" / "checkpoints"
KINDS = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool"
).split()


def every_kind() -> None:
    """A module, a list, a dict, a shared variable, and a variable of every dtype."""
    variables = {kind: tf.Variable(tf.cast([[0, 1, 2], [3, 4, 5]], kind)) for kind in KINDS}
    variables |= {"scalar": tf.Variable(2.5), "empty": tf.Variable(np.zeros((0, 3), np.float32))}
    variables |= {"text": tf.Variable([["a", "bcd"], ["", "ü"]]), "text_scalar": tf.Variable("hello")}
    module = tf.Module()
    module.layers = [tf.Variable([1.0, 2.0]), tf.Variable([3.0])]
    module.byname = {"a.b/c": tf.Variable(7)}
    module.shared = module.layers[0]
    tf.train.Checkpoint(module=module, **variables).write(FOLDER / "kinds")


def by_name() -> None:
    """What a Saver of TensorFlow 1 writes: values by name, one of them in two parts, in two data files."""
    parts = {"p0": ("0,70", tf.range(70)), "p1": ("70,2", tf.range(70, 72))}
    for name, (place, values) in parts.items():
        tf.raw_ops.SaveV2(
            prefix=str(FOLDER / name),
            tensor_names=["table", f"scope/{name}"],
            shape_and_slices=[f"72 1 {place}:-", ""],
            tensors=[tf.reshape(values, (-1, 1)), tf.constant([1.0, 2.0])],
        )
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(FOLDER / name) for name in parts], destination_prefix=str(FOLDER / "named")
    )


def slots() -> None:
    """An optimizer of TensorFlow 1 after a step, and the mutable table of a program."""
    v, optimizer = tf.Variable([1.0, 2.0], name="v"), tf.compat.v1.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    tf.train.Checkpoint(v=v, optimizer=optimizer, table=table).save(FOLDER / "slots")
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    print("after the next step, v is", v.numpy().tolist())
    os.remove(FOLDER / "checkpoint")


def keras_model() -> None:
    """A model of Keras 3 and its optimizer after two steps."""
    layers = [keras.layers.Dense(2, "tanh"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((2,)), *layers])
    model.layers[0].set_weights([np.array([[0.1, 0.2], [0.3, -0.4]]), np.array([0.5, -0.5])])
    model.layers[2].set_weights([np.array([[1.0], [-2.0]]), np.array([0.1])])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    x, y = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.5]]), np.ones((3, 1))
    model.fit(x, y, epochs=2, verbose=0)
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(FOLDER / "keras")
    print("the model gives", model.predict(x, verbose=0).tolist())
    model.fit(x, y, epochs=1, verbose=0)
    print("and after the next step", model.predict(x, verbose=0).tolist())


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    every_kind()
    by_name()
    slots()
    keras_model()
