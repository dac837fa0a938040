"""bayesflow: an affine and a spline coupling flow, densities, gradients, training; a summary network of sets."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import bayesflow as bf
import keras
import numpy as np
import tensorflow as tf
from weights import norms, set_weights


def numbers():
    random = np.random.RandomState(0)
    x = tf.constant(random.randn(8, 2).astype("float32"))
    conditions = tf.constant(random.randn(8, 3).astype("float32"))
    found = {}
    for transform in ("affine", "spline"):
        flow = bf.networks.CouplingFlow(
            depth=2, transform=transform, subnet_kwargs={"widths": (8,), "dropout": None}, use_actnorm=False,
            permutation="swap",
        )  # fmt: skip
        flow.build(x.shape, conditions.shape)
        set_weights(flow, scale=0.2)
        with tf.GradientTape() as tape:
            z, density = flow(x, conditions=conditions, density=True)
            loss = -tf.reduce_mean(density)
        found |= {f"{transform} z": z, f"{transform} density": density}
        found[f"{transform} gradients"] = norms(tape.gradient(loss, [v.value for v in flow.trainable_variables]))
        found[f"{transform} inverse"] = flow(z, conditions=conditions, inverse=True)
        optimizer = keras.optimizers.Adam(0.01)
        losses = []
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(flow(x, conditions=conditions, density=True)[1])
            optimizer.apply(tape.gradient(loss, [v.value for v in flow.trainable_variables]), flow.trainable_variables)
            losses.append(float(loss))
        found[f"{transform} losses"] = losses
    summary = bf.networks.DeepSet(
        summary_dim=3, depth=1, mlp_widths_equivariant=(8,), mlp_widths_invariant_inner=(8,),
        mlp_widths_invariant_outer=(8,), mlp_widths_invariant_last=(8,), dropout=0.0,
    )  # fmt: skip
    sets = tf.constant(random.randn(4, 5, 2).astype("float32"))
    summary(sets)
    set_weights(summary)
    found["summary"] = summary(sets)
    return found
