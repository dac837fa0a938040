"""The same work in JAX, op by op (no jit): what eager means there."""

import jax
import jax.numpy as jnp
import numpy as np


def works():
    """Each work's name and a function that prepares it and returns the step to time."""

    def chain(x):
        y = x
        for _ in range(25):
            y = jnp.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        x = jnp.float32(0.5)
        return lambda: chain(x).block_until_ready()

    def chain_gradient():
        x, gradient = jnp.float32(0.5), jax.grad(chain)
        return lambda: gradient(x).block_until_ready()

    def mlp():
        rng = np.random.default_rng(0)
        x = jnp.asarray(rng.standard_normal((64, 784)), jnp.float32)
        labels = jnp.asarray(rng.integers(0, 10, 64))
        shapes = [(784, 256), (256,), (256, 256), (256,), (256, 10), (10,)]
        weights = [jnp.asarray(rng.standard_normal(s) * 0.05, jnp.float32) for s in shapes]

        def loss(weights):
            w1, b1, w2, b2, w3, b3 = weights
            h = jax.nn.relu(x @ w1 + b1)
            h = jax.nn.relu(h @ w2 + b2)
            return -jnp.take_along_axis(jax.nn.log_softmax(h @ w3 + b3), labels[:, None], 1).mean()

        gradient = jax.grad(loss)

        def step():
            weights[:] = [w - 0.01 * g for w, g in zip(weights, gradient(weights), strict=True)]
            weights[0].block_until_ready()

        return step

    def elementwise():
        x = jnp.asarray(np.random.default_rng(0).standard_normal(10**6), jnp.float32)
        gradient = jax.grad(lambda x: (jnp.tanh(x) * jnp.exp(x) + jax.nn.sigmoid(x)).sum())
        return lambda: gradient(x).block_until_ready()

    return {"chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp, "elementwise": elementwise}
