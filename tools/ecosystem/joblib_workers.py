"""joblib, cloudpickle: tasks in processes (loky) and threads, with functions, variables, models; pickles."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import pickle
import sys

import cloudpickle
import joblib
import keras
import numpy as np
import tensorflow as tf
from joblib import Parallel, delayed
from weights import set_weights

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as functions of a script, or of a notebook

scale = tf.Variable(2.0)


@tf.function
def energy(x):
    return tf.math.reduce_sum(tf.nn.softplus(x) * scale)


class Quadratic(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable([1.0, -2.0, 3.0])

    @tf.function
    def __call__(self, x):
        return tf.reduce_sum(self.weights * x * x)


def slope(x, module):
    with tf.GradientTape() as tape:
        y = module(x) + energy(x)
    return y.numpy(), tape.gradient(y, module.weights).numpy()


def trained(seed):
    random = np.random.RandomState(seed)
    x = random.randn(32, 3).astype("float32")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    set_weights(model)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(x, np.sin(x.sum(1)), batch_size=8, epochs=2, verbose=0, shuffle=False)
    return model.predict(x[:4], verbose=0)


def batches(count):
    data = tf.data.Dataset.range(count).map(lambda x: tf.cast(x, tf.float32) ** 2).batch(3)
    return [float(tf.math.reduce_mean(batch)) for batch in data]


def numbers():
    found, module = {}, Quadratic()
    points = [tf.constant([0.5, 1.0, -1.0]) * i for i in range(4)]
    module(points[0])  # TensorFlow cannot pickle a function outside of a module once it is traced
    for backend in ("loky", "threading"):
        work = Parallel(n_jobs=2, backend=backend)
        values, slopes = zip(*work(delayed(slope)(x, module) for x in points), strict=True)
        found |= {f"{backend} values": values, f"{backend} slopes": slopes}
        found[f"{backend} data"] = np.concatenate(work(delayed(batches)(i) for i in (4, 7)))
    found["models"] = Parallel(n_jobs=2)(delayed(trained)(seed) for seed in range(3))
    memory = joblib.Memory(os.path.join(os.getcwd(), "cache"), verbose=0)
    squares = memory.cache(lambda x: tf.square(x).numpy())
    found["cached"] = [squares(np.arange(3.0)), squares(np.arange(3.0))]
    joblib.dump({"points": [x.numpy() for x in points], "module": cloudpickle.dumps(module)}, "work.joblib")
    loaded = joblib.load("work.joblib")
    again = pickle.loads(loaded["module"])
    again.weights.assign_add([1.0, 1.0, 1.0])
    return found | {"loaded": [again(loaded["points"][1]), module(loaded["points"][1])]}
