"""HIPS autograd: NumPy that remembers, and optimisers on lists of arrays."""

import itertools

import autograd
import numpy as np


def adam(weights, rate):
    """Adam; the arrays of the weights are changed in place."""
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
    count = 0

    def update(gradients):
        nonlocal count
        count += 1
        size, correction = rate / (1 - 0.9**count), np.sqrt(1 - 0.999**count).astype(np.float32)
        for w, g, m, v in zip(weights, gradients, means, squares, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= size * m / (np.sqrt(v) / correction + 1e-8)

    return update


def momentum(weights, rate):
    """Descent with a velocity."""
    velocities = [np.zeros_like(w) for w in weights]

    def update(gradients):
        for w, g, v in zip(weights, gradients, velocities, strict=True):
            v *= 0.9
            v += g
            w -= rate * v

    return update


UPDATES = {"adam": adam, "momentum": momentum, "descent": lambda weights, rate: lambda gradients: None}


def step_of(work, library="autograd", way=""):
    """The step of a work, eagerly: there is no other way."""
    weights, batches = work.numbers()
    function = work.autograd()
    gradients_of = function if work.by_hand else autograd.value_and_grad(function)
    update = UPDATES[work.update](weights, work.rate)
    following = itertools.cycle(batches)

    def step():
        loss, gradients = gradients_of(weights, *next(following))
        update(gradients)
        return float(loss)

    return step
