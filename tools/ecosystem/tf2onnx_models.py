"""tf2onnx: functions, Keras models and a SavedModel as ONNX, run by ONNX Runtime."""

import logging
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import tensorflow as tf
import tf2onnx
import tf_keras as keras

logging.disable(logging.WARNING)
random = np.random.RandomState(0)


def fixed(*shape):
    return random.randn(*shape).astype("float32") * 0.5


def run(model, *values):
    session = onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString())
    names = [x.name for x in session.get_inputs()]
    return session.run(None, dict(zip(names, values, strict=True))), [*names, *(x.name for x in session.get_outputs())]


def convert(function, *specs):
    return tf2onnx.convert.from_function(tf.function(function), specs)[0]


class Scorer(tf.Module):
    def __init__(self):
        super().__init__()
        self.table = tf.Variable(fixed(6, 4), name="table")

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, name="words")])
    def __call__(self, words):
        rows = tf.gather(self.table, words)
        return {"scores": tf.nn.softmax(tf.reduce_mean(rows, 1)), "lengths": tf.reduce_sum(tf.sign(words), 1)}


def models():
    layers = keras.layers
    image = keras.Input([8, 8, 3])
    x = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same", activation="relu")(image))
    x = layers.GlobalAveragePooling2D()(layers.DepthwiseConv2D(3)(layers.MaxPooling2D()(x)))
    yield "image", keras.Model(image, layers.Dense(5, activation="softmax", name="classes")(x)), fixed(2, 8, 8, 3)
    steps = keras.Input([5, 4])
    x = layers.Bidirectional(layers.GRU(3, return_sequences=True))(steps)
    x = layers.LayerNormalization()(layers.MultiHeadAttention(2, 3)(x, x))
    yield "sequence", keras.Model(steps, [layers.LSTM(3)(x), layers.GlobalMaxPooling1D()(x)]), fixed(2, 5, 4)


def numbers():
    found = {}
    kernel, weights = tf.Variable(fixed(3, 3, 2, 4)), tf.Variable(fixed(4, 3))

    def features(x):
        y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 2, "SAME")), 2, 2, "VALID")
        return tf.nn.softmax(tf.reshape(y, [-1, 4]) @ weights)

    def control(x):
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y * 0.5), (0, y))
        return y, tf.math.top_k(x, 2).values

    (found["features"],), _ = run(convert(features, tf.TensorSpec([None, 8, 8, 2], name="x")), fixed(2, 8, 8, 2))
    model = convert(control, tf.TensorSpec([None], name="x"))
    for sign in (1.0, -1.0):
        (found[f"loop {sign}"], found[f"top {sign}"]), _ = run(model, sign * np.abs(fixed(4)))
    for name, model, value in models():
        model.set_weights([fixed(*w.shape) ** 2 for w in model.get_weights()])
        outputs, names = run(tf2onnx.convert.from_keras(model)[0], value)
        found[f"{name} names"] = [len(text) + text.encode()[0] for text in names]
        found |= {f"{name} {i}": y for i, y in enumerate(outputs)}
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Scorer(), f"{folder}/scorer")
        tool = [sys.executable, "-m", *(["gradtape", "run", "-m"] if "gradtape" in sys.modules else [])]
        words = [*tool, "tf2onnx.convert", "--saved-model", f"{folder}/scorer", "--output", f"{folder}/scorer.onnx"]
        subprocess.run(words, check=True, capture_output=True, env=os.environ)
        outputs, names = run(f"{folder}/scorer.onnx", np.array([[1, 2, 0], [5, 0, 0]], "int32"))
        found |= dict(zip(names[1:], outputs, strict=True))
    return found
