"""trieste: Bayesian optimization with a gpflow model, by expected improvement and a lower bound."""

import numpy as np
import tensorflow as tf
import trieste
from trieste.acquisition.function import ExpectedImprovement, NegativeLowerConfidenceBound
from trieste.models.gpflow import GaussianProcessRegression, build_gpr


def bowl(x):
    return tf.reduce_sum((x - 0.3) ** 2, -1, keepdims=True) + 0.1 * tf.reduce_sum(tf.sin(6.0 * x), -1, keepdims=True)


def numbers():
    found = {}
    tf.random.set_seed(0)
    space = trieste.space.Box([0.0, 0.0], [1.0, 1.0])
    observer = trieste.objectives.utils.mk_observer(bowl)
    start = tf.constant(np.random.RandomState(1).uniform(size=(6, 2)))
    data = observer(start)
    found["observed"] = data.observations

    gpr = build_gpr(data, space, likelihood_variance=1e-5)
    model = GaussianProcessRegression(gpr)
    model.update(data)
    model.optimize(data)
    points = tf.constant(np.random.RandomState(2).uniform(size=(5, 2)))
    found["mean"], found["variance"] = model.predict(points)
    for name, rule in (("improvement", ExpectedImprovement()), ("bound", NegativeLowerConfidenceBound(1.5))):
        function = rule.prepare_acquisition_function(model, data)
        given = tf.Variable(points[:, None, :])
        with tf.GradientTape() as tape:
            value = function(given)
        found[name], found[f"{name}: gradient"] = value, tape.gradient(value, given)
    found["kernel"] = [gpr.kernel.variance.numpy(), *gpr.kernel.lengthscales.numpy()]

    corners = np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9)), -1).reshape(-1, 2)
    grid = trieste.space.DiscreteSearchSpace(tf.constant(corners))
    optimizer = trieste.bayesian_optimizer.BayesianOptimizer(observer, grid)
    result = optimizer.optimize(4, data, GaussianProcessRegression(build_gpr(data, space, likelihood_variance=1e-5)))
    final = result.try_get_final_dataset()
    found["searched"], found["best"] = final.query_points[6:], tf.reduce_min(final.observations)
    return found
