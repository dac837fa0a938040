"""keras-tcn: temporal convolutional networks with dilations, skips and normalizations, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tcn import TCN, compiled_tcn
from weights import norms, set_weights

random = np.random.RandomState(0)
series = random.randn(24, 20, 2).astype("float32")
targets = series[:, -5:].mean((1, 2))[:, None]


def numbers():
    found = {}
    for name, arguments in {
        "plain": {},
        "skips": {"use_skip_connections": True, "nb_stacks": 2},
        "layers": {"use_layer_norm": True, "return_sequences": True},
        "batches": {"use_batch_norm": True, "padding": "same"},
        "sequences": {"return_sequences": True, "kernel_size": 3},
    }.items():
        layer = TCN(6, **{"kernel_size": 2, "dilations": (1, 2, 4)} | arguments)
        layer(series)
        set_weights(layer, 1)
        with tf.GradientTape() as tape:
            outputs = layer(series, training=True)
            loss = tf.reduce_mean(outputs**2)
        gradients = tape.gradient(loss, layer.trainable_variables)
        found |= {name: tf.reshape(outputs[:2], [-1]), f"{name} gradients": norms(gradients)}
        found[f"{name} field"] = layer.receptive_field
    model = compiled_tcn(
        2, 1, 5, 2, (1, 2, 4), 1, 20, return_sequences=False, regression=True, lr=0.01, dropout_rate=0.0
    )
    set_weights(model, 2)
    found["losses"] = model.fit(series, targets, epochs=4, shuffle=False, verbose=0).history["loss"]
    found["predictions"] = model.predict(series, verbose=0)
    return found
