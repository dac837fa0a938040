"""ray: tasks that use tf.nn, tf.data, a tf.function, variables and tensors; actors with a traced step, with a model."""

import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["RAY_AUTH_MODE"] = "disabled"  # a cluster of this host alone

import keras
import ray
import tensorflow as tf
from ray import cloudpickle
from weights import set_weights

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as functions of a script

factor = tf.Variable(3.0)


@tf.function
def scaled(x):
    return tf.nn.relu(x) * factor


def losses(x, y):
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
    return [float(tf.math.reduce_mean(tf.math.squared_difference(scaled(a), b))) for a, b in data]


class Trainer:
    """An actor with variables and a traced step."""

    def __init__(self, rate):
        self.weights = tf.Variable([[0.5], [-0.5]])
        self.optimizer = keras.optimizers.SGD(rate, momentum=0.9)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.weights) - y))
        gradients = tape.gradient(loss, [self.weights])
        self.optimizer.apply_gradients(zip(gradients, [self.weights], strict=True))
        return loss

    def train(self, x, y, steps):
        return [float(self.step(x, y)) for _ in range(steps)]

    def result(self):
        return self.weights.numpy()


class Predictor:
    """An actor with a Keras model."""

    def __init__(self):
        self.model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)])
        set_weights(self.model)

    def predict(self, x):
        return self.model.predict(x, verbose=0)


def numbers():
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", configure_logging=False)
    try:
        x = tf.constant([[1.0, 2.0], [-1.0, 0.5], [3.0, -2.0]])
        y = tf.reduce_sum(x, 1, keepdims=True)
        remote = ray.remote(losses)
        found = {"tasks": ray.get([remote.remote(x * i, y * i) for i in range(3)])}
        square = ray.remote(lambda v: tf.math.square(v) + factor)
        found["tensors"] = ray.get(square.remote(ray.put(x)))
        found["variables"] = ray.get(square.remote(tf.Variable(x)))
        trainer = ray.remote(Trainer).remote(0.05)
        found["steps"] = ray.get(trainer.train.remote(x.numpy(), y.numpy(), 5))
        found["weights"] = ray.get(trainer.result.remote())
        predictor = ray.remote(Predictor).remote()
        return found | {"predictions": ray.get(predictor.predict.remote(x.numpy()))}
    finally:
        ray.shutdown()
