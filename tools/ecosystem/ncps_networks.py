"""ncps: liquid time-constant and closed-form continuous-time networks with wirings, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from ncps import wirings
from ncps.tf import LTC, CfC
from weights import norms

random = np.random.RandomState(0)
series = random.randn(8, 6, 3).astype("float32")
targets = np.cumsum(series[..., :2], 1) / 3


def positive_weights(layer, seed):
    draw = np.random.RandomState(seed)
    for variable in layer.trainable_weights:
        variable.assign(np.abs(variable.numpy()) * 0 + draw.uniform(0.1, 0.9, variable.shape).astype("float32"))


def numbers():
    found = {}
    wiring = wirings.AutoNCP(10, 2, seed=1)
    wiring.build(3)
    found["wiring"] = [wiring.synapse_count, wiring.sensory_synapse_count]
    for name, layer in {
        "LTC": LTC(wiring, return_sequences=True),
        "CfC": CfC(6, return_sequences=True),
        "CfC pure": CfC(6, mode="pure", return_sequences=True),
        "CfC gated": CfC(6, mode="no_gate", mixed_memory=True, return_sequences=True),
        "CfC wired": CfC(wirings.AutoNCP(8, 2, seed=2), return_sequences=True),
    }.items():
        layer(series)
        positive_weights(layer, 1)
        with tf.GradientTape() as tape:
            outputs = layer(series)
            loss = tf.reduce_mean(outputs**2)
        gradients = tape.gradient(loss, layer.trainable_variables)
        found |= {name: outputs[0], f"{name} gradients": norms(gradients)}
    model = tf.keras.Sequential([tf.keras.Input((None, 3)), LTC(wiring, return_sequences=True)])
    positive_weights(model, 3)
    model.compile(tf.keras.optimizers.Adam(0.02), "mse")
    found["losses"] = model.fit(series, targets, batch_size=4, epochs=3, shuffle=False, verbose=0).history["loss"]
    return found
