"""deepxde: a physics-informed network for a Poisson equation, trained with Adam, then L-BFGS."""

import os

os.environ["DDE_BACKEND"] = "tensorflow"

import deepxde as dde
import numpy as np
import tensorflow as tf


def pde(x, y):
    return dde.grad.hessian(y, x, i=0, j=0) + np.pi**2 * tf.sin(np.pi * x)


def numbers():
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(3)
    domain = dde.geometry.Interval(-1, 1)
    edge = dde.icbc.DirichletBC(domain, lambda x: np.zeros((len(x), 1)), lambda _, on: on)
    solution = lambda x: np.sin(np.pi * x)  # noqa: E731
    data = dde.data.PDE(domain, pde, edge, 16, 2, solution=solution, num_test=20, train_distribution="uniform")
    net = dde.nn.FNN([1, 10, 10, 1], "tanh", "Glorot uniform")
    model = dde.Model(data, net)
    model.compile("adam", lr=0.01)
    net(np.zeros((1, 1)))
    random = np.random.RandomState(0)
    net.set_weights([random.randn(*w.shape) * 0.5 for w in net.get_weights()])
    found = {"initial": model.predict(np.linspace(-1, 1, 3)[:, None])}
    history, _ = model.train(iterations=20, display_every=20)
    found["losses of Adam"] = np.array(history.loss_train)
    dde.optimizers.set_LBFGS_options(maxiter=20)
    model.compile("L-BFGS")
    history, _ = model.train(display_every=20)
    found["losses of L-BFGS"] = np.array(history.loss_train)[-1:]
    found["solution"] = model.predict(np.linspace(-1, 1, 5)[:, None])
    return found
