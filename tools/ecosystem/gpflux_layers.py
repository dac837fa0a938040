"""gpflux: a deep Gaussian process of two layers, trained with fit; its predictions."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import gpflow
import gpflux
import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx("float64")
random = np.random.RandomState(0)
x = np.linspace(-1, 1, 24)[:, None]
y = np.sin(4 * x) + 0.1 * random.randn(24, 1)


def layer(points, **arguments):
    kernel = gpflux.helpers.construct_basic_kernel(
        gpflow.kernels.SquaredExponential(lengthscales=0.5), output_dim=1, share_hyperparams=True
    )
    inducing = gpflux.helpers.construct_basic_inducing_variables(
        6, input_dim=1, output_dim=1, share_variables=True, z_init=points[::4]
    )
    return gpflux.layers.GPLayer(kernel, inducing, num_data=24, num_latent_gps=1, **arguments)


def numbers():
    tf.random.set_seed(1)
    first = layer(x, mean_function=gpflow.mean_functions.Identity())
    first.q_sqrt.assign(first.q_sqrt * 1e-3)
    second = layer(x, mean_function=gpflow.mean_functions.Zero())
    likelihood = gpflux.layers.LikelihoodLayer(gpflow.likelihoods.Gaussian(0.05))
    model = gpflux.models.DeepGP([first, second], likelihood, input_dim=1, target_dim=1)
    found = {"elbo": model.elbo((x, y))}
    training = model.as_training_model()
    training.compile(tf.keras.optimizers.Adam(0.02))
    history = training.fit({"inputs": x, "targets": y}, batch_size=24, epochs=5, shuffle=False, verbose=0).history
    found["losses"] = history["loss"]
    predictions = model.as_prediction_model()(x)
    found["mean"] = tf.reduce_mean(predictions.f_mean**2)
    found["variance"] = tf.reduce_mean(predictions.f_var)
    found["lengthscales"] = [float(v) for v in model.trainable_variables[0].numpy().ravel()[:3]]
    return found
