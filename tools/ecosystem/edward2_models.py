"""edward2: log joints and their gradients, conditioning, recorded variables, Bayesian layers, a trained ensemble."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import edward2 as ed
import numpy as np
import tensorflow as tf
from weights import norms, set_weights


def regression(features):
    weights = ed.Normal(loc=tf.zeros(features.shape[1]), scale=1.0, name="weights")
    noise = ed.Gamma(concentration=2.0, rate=1.0, name="noise")
    return ed.Normal(loc=tf.linalg.matvec(features, weights), scale=noise, name="outcomes")


def numbers():
    random = np.random.RandomState(0)
    x = random.randn(16, 3).astype("float32")
    y = (x @ np.array([1.0, -2.0, 0.5]) + 0.1 * random.randn(16)).astype("float32")
    log_joint = ed.make_log_joint_fn(regression)
    weights = tf.constant([0.1, 0.2, 0.3])
    with tf.GradientTape() as tape:
        tape.watch(weights)
        density = log_joint(tf.constant(x), weights=weights, noise=tf.constant(0.7), outcomes=y)
    found = {"log joint": density, "gradient": tape.gradient(density, weights)}
    with ed.condition(weights=[1.0, 2.0, 3.0]), ed.tape() as recorded:
        regression(tf.constant(x))
    found["conditioned"] = recorded["weights"].value
    found["recorded"] = len(recorded)
    layer = ed.layers.DenseReparameterization(4, activation="relu")
    layer(tf.constant(x))
    set_weights(layer)
    found["penalties"] = [float(loss) for loss in layer.losses]
    options = {"ensemble_size": 2, "alpha_initializer": "ones", "gamma_initializer": "ones"}
    layers = [ed.layers.DenseBatchEnsemble(8, activation="relu", **options), ed.layers.DenseBatchEnsemble(1, **options)]
    model = tf.keras.Sequential(layers)
    model(tf.constant(x))
    set_weights(model)
    optimizer = tf.keras.optimizers.Adam(0.05)
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(tf.constant(x))[:, 0] - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(float(loss))
    return found | {"losses": losses, "gradients": norms(gradients)}
