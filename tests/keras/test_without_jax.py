"""Keras on gradtape without JAX, which is an extra: it trains, attends and has strategies."""

import subprocess
import sys

PROGRAM = """
import sys

sys.modules["jax"] = None  # importing it raises
sys.modules["matplotlib"] = None  # which Keras would import
import numpy as np
import gradtape as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"), verbose=0)
attention = tf.keras.layers.MultiHeadAttention(2, 4)
print(attention(tf.ones([2, 3, 4]), tf.ones([2, 3, 4])).shape, tf.distribute.MirroredStrategy().num_replicas_in_sync)
"""


def test_keras_needs_no_jax():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "1"
