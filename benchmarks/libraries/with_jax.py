"""JAX: op by op, which is what eager means there, or with `jax.jit`; compiled, old weights' memory is given away."""

import itertools

import jax
import jax.numpy as jnp


def adam(weights, gradients, state, rate):
    """Adam on lists of arrays."""
    count, means, squares = state
    count = count + 1
    means = [m + 0.1 * (g - m) for m, g in zip(means, gradients, strict=True)]
    squares = [v + 0.001 * (g * g - v) for v, g in zip(squares, gradients, strict=True)]
    size, correction = rate / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
    moments = zip(weights, means, squares, strict=True)
    return [w - size * m / (jnp.sqrt(v) / correction + 1e-8) for w, m, v in moments], (count, means, squares)


def momentum(weights, gradients, velocities, rate):
    """Descent with a velocity."""
    velocities = [0.9 * v + g for v, g in zip(velocities, gradients, strict=True)]
    return [w - rate * v for w, v in zip(weights, velocities, strict=True)], velocities


def descent(weights, gradients, state, rate):
    """Plain descent."""
    return [w - rate * g for w, g in zip(weights, gradients, strict=True)], state


def zeros(weights):
    return [jnp.zeros_like(w) for w in weights]


# An update, and the state that it begins with.
UPDATES = {
    "adam": (adam, lambda weights: (jnp.float32(0), zeros(weights), zeros(weights))),
    "momentum": (momentum, zeros),
    "descent": (descent, lambda weights: ()),
    "sparse_descent": (descent, lambda weights: ()),
}


def step_of(work, library="jax", way=""):
    """The step of a work; `way` is nothing or `jit`."""
    initial, batches = work.numbers()
    weights = [jnp.asarray(w) for w in initial]
    function = work.jax()
    gradients_of = function if work.by_hand else jax.value_and_grad(function)
    update, start = UPDATES[work.update]
    state = start(weights)

    def stepped(weights, state, *batch):
        loss, gradients = gradients_of(weights, *batch)
        if work.clip is not None:
            norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients))
            gradients = [g * jnp.minimum(1.0, work.clip / norm) for g in gradients]
        return loss, *update(weights, gradients, state, work.rate)

    if way == "jit":
        stepped = jax.jit(stepped, donate_argnums=(0, 1))
    following = itertools.cycle([[jnp.asarray(a) for a in batch] for batch in batches])

    def step():
        nonlocal weights, state
        loss, weights, state = stepped(weights, state, *next(following))
        return float(loss)

    return step
