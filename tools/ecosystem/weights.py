"""Weights and data of the programs, from NumPy, so that TensorFlow and gradtape start alike."""

import numpy as np


def set_weights(model, seed=0, scale=0.3):
    """Gives each weight of a Keras model or layer values by `seed`; integers and seeds keep theirs."""
    random = np.random.RandomState(seed)
    for variable in model.weights:
        value = np.asarray(variable)
        if value.dtype.kind == "f":
            shift = 1.0 if "variance" in getattr(variable, "path", variable.name) else 0.0
            drawn = np.asarray(random.randn(*value.shape)) * scale
            variable.assign((np.abs(drawn) + shift if shift else drawn).astype(value.dtype))


def norms(gradients):
    """The norm of each gradient that exists."""
    found = []
    for gradient in gradients:
        if gradient is not None:
            found.append(float(np.linalg.norm(np.asarray(getattr(gradient, "values", gradient), np.float64))))
    return found
