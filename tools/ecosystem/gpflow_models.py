"""gpflow: GPR and SGPR with SciPy, VGP with natural gradients and Adam, SVGP on batches in a function."""

import gpflow
import numpy as np
import tensorflow as tf

random = np.random.RandomState(0)
X = random.uniform(size=(20, 1))
Y = np.sin(6 * X) + 0.1 * random.randn(20, 1)
NEW = np.linspace(0, 1, 4)[:, None]


def kernel():
    return gpflow.kernels.SquaredExponential(lengthscales=0.3) + gpflow.kernels.Linear(variance=0.1)


def numbers():
    found = {}
    gpr = gpflow.models.GPR((X, Y), kernel(), noise_variance=0.1)
    found["GPR before"] = gpr.log_marginal_likelihood()
    gpflow.optimizers.Scipy().minimize(gpr.training_loss, gpr.trainable_variables, options={"maxiter": 8})
    found["GPR after 8 steps of L-BFGS"] = gpr.log_marginal_likelihood()
    found["GPR mean"], found["GPR variance"] = gpr.predict_f(NEW)
    found["GPR noise"] = gpr.likelihood.variance

    sgpr = gpflow.models.SGPR((X, Y), kernel(), inducing_variable=X[::4].copy(), noise_variance=0.1)
    found["SGPR bound"] = sgpr.elbo()
    gpflow.optimizers.Scipy().minimize(sgpr.training_loss, sgpr.trainable_variables, options={"maxiter": 5})
    found["SGPR bound after 5 steps"] = sgpr.elbo()
    found["SGPR mean"], _ = sgpr.predict_y(NEW)

    labels = (Y > 0).astype(float)
    vgp = gpflow.models.VGP((X, labels), kernel(), gpflow.likelihoods.Bernoulli())
    gpflow.set_trainable(vgp.q_mu, False)
    gpflow.set_trainable(vgp.q_sqrt, False)
    natural = gpflow.optimizers.NaturalGradient(0.5)
    adam = gpflow.keras.tf_keras.optimizers.Adam(0.05)
    losses = []
    for _ in range(4):
        natural.minimize(vgp.training_loss, [(vgp.q_mu, vgp.q_sqrt)])
        adam.minimize(vgp.training_loss, vgp.trainable_variables)
        losses.append(float(vgp.training_loss()))
    found["VGP losses"] = losses
    found["VGP probability"], _ = vgp.predict_y(NEW)

    svgp = gpflow.models.SVGP(kernel(), gpflow.likelihoods.Gaussian(0.1), X[::4].copy(), num_data=20)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(5)
    loss = svgp.training_loss_closure(iter(data), compile=True)
    optimizer = gpflow.keras.tf_keras.optimizers.Adam(0.05)

    @tf.function
    def step():
        optimizer.minimize(loss, svgp.trainable_variables)

    for _ in range(6):
        step()
    found["SVGP bound"] = svgp.elbo((X, Y))
    found["SVGP mean"], found["SVGP variance"] = svgp.predict_f(NEW)
    return found
