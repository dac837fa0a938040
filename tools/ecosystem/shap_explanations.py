"""shap: expected gradients, kernel and sampled Shapley values of a Keras model."""

import numpy as np
import shap
import tensorflow as tf
from weights import set_weights

random = np.random.RandomState(0)
table = random.randn(20, 4).astype("float32")


def numbers():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(2)])
    set_weights(model, 1, 0.5)
    found = {}
    np.random.seed(0)  # noqa: NPY002  the explainers draw from it
    kernel = shap.KernelExplainer(lambda x: model.predict(x, verbose=0), table[:5])
    found["kernel"] = kernel.shap_values(table[:2], nsamples=20, silent=True)
    gradient = shap.GradientExplainer(model, table[:10])
    found["gradient"] = gradient.shap_values(table[:2], nsamples=30, rseed=1)
    sampling = shap.SamplingExplainer(lambda x: model.predict(x, verbose=0)[:, 0], table[:5])
    found["sampling"] = sampling.shap_values(table[:2], nsamples=40, silent=True)
    return found
