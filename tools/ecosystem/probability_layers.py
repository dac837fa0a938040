"""tensorflow-probability: its layers of Keras 2: distributions as outputs, trained with fit; a variational layer."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from weights import norms, set_weights

tfd, tfpl = tfp.distributions, tfp.layers
random = np.random.RandomState(0)
x = random.randn(24, 3).astype("float32")
y = (x @ [[1.0, 0.2], [-0.5, 0.4], [0.3, -1.0]] + 0.1 * random.randn(24, 2)).astype("float32")
outputs = {
    "diagonal": (4, tfpl.DistributionLambda(lambda t: tfd.MultivariateNormalDiag(t[:, :2], tf.nn.softplus(t[:, 2:])))),
    "triangular": (tfpl.MultivariateNormalTriL.params_size(2), tfpl.MultivariateNormalTriL(2)),
    "normal": (tfpl.IndependentNormal.params_size(2), tfpl.IndependentNormal(2)),
    "mixture": (tfpl.MixtureNormal.params_size(3, 2), tfpl.MixtureNormal(3, 2)),
    "logistic": (tfpl.MixtureLogistic.params_size(2, 2), tfpl.MixtureLogistic(2, 2)),
}


def likelihood(observed, distribution):
    return -distribution.log_prob(observed)


def numbers():
    found = {}
    for name, (size, layer) in outputs.items():
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(size), layer])
        set_weights(model, 1)
        with tf.GradientTape() as tape:
            distribution = model(x)
            loss = tf.reduce_mean(likelihood(y, distribution))
        gradients = norms(tape.gradient(loss, model.trainable_variables))
        found |= {name: loss, f"{name} gradients": gradients, f"{name} mean": distribution.mean()[:3]}
        model.compile(tf.keras.optimizers.SGD(0.02), likelihood)
        history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
        found[f"{name} losses"] = history["loss"]
    tf.random.set_seed(3)
    posterior = tfpl.DenseReparameterization(2, kernel_posterior_tensor_fn=lambda d: d.mean())
    model = tf.keras.Sequential([tf.keras.Input((3,)), posterior])
    set_weights(model, 2)
    found |= {"variational": model(x)[:3], "divergence": sum(model.losses)}
    return found
