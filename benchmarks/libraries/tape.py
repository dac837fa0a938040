"""gradtape and TensorFlow: one text for both, eagerly and with `tf.function`."""

import functools
import importlib
import itertools


def adam(tf, weights, rate):
    """Adam as its paper has it, and PyTorch."""
    count = tf.Variable(0.0)
    means = [tf.Variable(tf.zeros_like(w)) for w in weights]
    squares = [tf.Variable(tf.zeros_like(w)) for w in weights]

    def update(gradients):
        count.assign_add(1.0)
        size = rate / (1.0 - 0.9**count)
        correction = tf.sqrt(1.0 - 0.999**count)
        for w, g, m, v in zip(weights, gradients, means, squares, strict=True):
            g = tf.convert_to_tensor(g)  # rows of a table come as IndexedSlices
            m.assign_add(0.1 * (g - m))
            v.assign_add(0.001 * (g * g - v))
            w.assign_sub(size * m / (tf.sqrt(v) / correction + 1e-8))

    return update


def momentum(tf, weights, rate):
    """Descent with a velocity."""
    velocities = [tf.Variable(tf.zeros_like(w)) for w in weights]

    def update(gradients):
        for w, g, velocity in zip(weights, gradients, velocities, strict=True):
            velocity.assign(0.9 * velocity + g)
            w.assign_sub(rate * velocity)

    return update


def descent(tf, weights, rate):
    """Plain descent."""

    def update(gradients):
        for w, g in zip(weights, gradients, strict=True):
            w.assign_sub(rate * g)

    return update


def sparse_descent(tf, weights, rate):
    """Plain descent on the rows of tables that a step has used."""

    def update(gradients):
        for w, g in zip(weights, gradients, strict=True):
            w.scatter_sub(tf.IndexedSlices(rate * g.values, g.indices))

    return update


UPDATES = {"adam": adam, "momentum": momentum, "descent": descent, "sparse_descent": sparse_descent}


def step_of(work, library, way="", read=float):
    """The step of a work; `way` is nothing, `function` or `xla`."""
    tf = importlib.import_module(library)
    initial, batches = work.numbers()
    weights = [tf.Variable(w) for w in initial]
    update = UPDATES[work.update](tf, weights, work.rate)
    function = work.tape(tf)

    def differentiated(*batch):
        with tf.GradientTape() as tape:
            loss = function(weights, *batch)
        return loss, tape.gradient(loss, weights)

    def given(*batch):
        return function(weights, *batch)

    gradients_of = given if work.by_hand else differentiated

    def step(*batch):
        loss, gradients = gradients_of(*batch)
        if work.clip is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, work.clip)
        update(gradients)
        return loss

    ways = {"": lambda f: f, "function": tf.function, "xla": functools.partial(tf.function, jit_compile=True)}
    step = ways[way](step)
    following = itertools.cycle([[tf.constant(a) for a in batch] for batch in batches])
    return lambda: read(step(*next(following)))
