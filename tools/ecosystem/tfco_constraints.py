"""tensorflow-constrained-optimization: a classifier whose recall is constrained, by Lagrangian optimizers."""

import numpy as np
import tensorflow as tf
import tensorflow_constrained_optimization as tfco

random = np.random.RandomState(0)
features = random.randn(60, 3).astype("float32")
labels = (features @ [1.0, -0.5, 0.2] + 0.5 * random.randn(60) > 0.7).astype("float32")


def train(make_optimizer):
    weights, bias = tf.Variable(tf.zeros(3)), tf.Variable(0.0)

    def predictions():
        return tf.tensordot(tf.constant(features), weights, (1, 0)) + bias

    context = tfco.rate_context(predictions, labels=lambda: tf.constant(labels))
    problem = tfco.RateMinimizationProblem(tfco.error_rate(context), [tfco.recall(context) >= 0.9])
    optimizer = make_optimizer(problem.num_constraints)
    variables = [weights, bias, *problem.trainable_variables]
    for _ in range(20):
        optimizer.minimize(problem, var_list=variables)
    return [*weights.numpy(), bias.numpy(), problem.objective().numpy(), *problem.constraints().numpy()]


def numbers():
    adagrad = tf.compat.v1.train.AdagradOptimizer
    return {
        "lagrangian": train(lambda n: tfco.LagrangianOptimizerV1(adagrad(0.2), num_constraints=n)),
        "proxy": train(lambda n: tfco.ProxyLagrangianOptimizerV1(adagrad(0.2), num_constraints=n)),
        "candidates": tfco.find_best_candidate_distribution(
            np.array([0.2, 0.1, 0.4]), np.array([[0.1], [0.3], [-0.2]]), epsilon=0.01
        ),
    }
