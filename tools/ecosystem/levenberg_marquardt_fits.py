"""tf-levenberg-marquardt: a network fitted with damped Gauss-Newton steps from Jacobians, by its model and trainer."""

import keras
import numpy as np
import tensorflow as tf
import tf_levenberg_marquardt as lm
from weights import set_weights

x = np.linspace(-1, 1, 64, dtype="float32")[:, None]
y = np.sinc(3 * x)


def network(seed):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1)])
    set_weights(model, seed, 0.5)
    return model


def numbers():
    model = lm.model.ModelWrapper(network(1))
    model.compile(loss=lm.loss.MeanSquaredError(), solve_method="solve", jit_compile=False)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
    history = model.fit(data, epochs=4, verbose=0).history
    found = {"losses": history["loss"], "predictions": model.predict(x, verbose=0)[::8]}
    other = network(2)
    trainer = lm.training.Trainer(other, keras.optimizers.SGD(1.0), lm.loss.MeanSquaredError(), solve_method="cholesky")
    trainer.fit(data, epochs=1)
    return found | {"trained": other.predict(x, verbose=0)[::8]}
