"""vegasflow: Monte Carlo integrals with importance sampling and plain sampling, adapted grids."""

import os

os.environ["VEGASFLOW_LOG_LEVEL"] = "0"

import numpy as np
import tensorflow as tf
import vegasflow
from vegasflow.vflow import importance_sampling_digest


def gaussian(x, **_):
    return tf.exp(-tf.reduce_sum((x - 0.4) ** 2, axis=1) / 0.08) / 0.2


def numbers():
    random = np.random.RandomState(0)
    points = tf.constant(random.rand(10, 2))
    divisions = tf.constant(np.sort(np.concatenate([np.zeros((2, 1)), random.rand(2, 49), np.ones((2, 1))], 1), axis=1))
    bins, x, jacobian = importance_sampling_digest(tf.transpose(points), divisions)
    found = {"bins": bins, "points": x, "jacobian": jacobian}
    vegasflow.configflow.run_eager(False)
    integrator = vegasflow.VegasFlow(2, 2000, verbose=False)
    integrator.set_seed(7)
    integrator.compile(gaussian)
    value, error = integrator.run_integration(3)
    found |= {"integral": value, "error": error, "grid": integrator.divisions[:, ::10]}
    plain = vegasflow.PlainFlow(2, 2000, verbose=False)
    plain.set_seed(8)
    plain.compile(gaussian)
    value, error = plain.run_integration(2)
    return found | {"plain": value, "plain error": error}
