"""A function, AutoGraph, XLA, a SavedModel, a report, a data set and Keras."""

import traceback

import numpy as np
import with_source
import without_source

import gradtape as tf


@tf.function
def double(x):
    if tf.reduce_sum(x) > 0:
        return x * 2.0
    return x


v = tf.Variable([1.0])
with tf.GradientTape(trace=True) as tape:
    y = tf.round(tf.function(lambda x: x * 2.0)(v))
print(y.numpy(), tape.gradient(y, v), "no derivative" in str(tape.explain(y, v)))
tape.report("report.html", y, v)
print(double(v).numpy(), with_source.double(v + 1.0).numpy())
try:
    without_source.double(v)
except tf.errors.OperatorNotAllowedInGraphError as error:
    print(type(error).__name__)
module = tf.Module()
module.v = v
tf.saved_model.save(module, "saved")
print(tf.saved_model.load("saved").v.numpy(), tf.raw_ops.AddV2(x=1.0, y=2.0).numpy())
print(tf.function(lambda x: tf.sin(x) + 1.0, jit_compile=True)(tf.constant([0.0])).numpy())
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
model.save("model.keras")
loaded = tf.keras.models.load_model("model.keras")
print(tf.keras.backend.backend(), loaded.predict(np.ones((1, 2)), verbose=0).shape)
print([int(x) for x in tf.data.Dataset.range(3).map(lambda x: x + 1)])
try:
    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
except tf.errors.InvalidArgumentError as error:
    print([entry.filename for entry in traceback.extract_tb(error.__traceback__)])
