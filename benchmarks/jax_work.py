"""The same work in JAX: op by op (no jit), which is what eager means there, or with `jax.jit`.

Weights go in and new weights come out; compiled, the old ones' memory is donated to the new ones.
"""

import jax
import jax.numpy as jnp
import numpy as np


def works(jit=False):
    """Each work's name and a function that prepares it and returns the step to time."""

    def compiled(function, **options):
        return jax.jit(function, **options) if jit else function

    def ready(function, *data):
        """The step: one call, until its result can be read."""
        return lambda: np.asarray(function(*data))

    def add():
        x = jnp.asarray([1.0, 2.0, 3.0])
        return ready(compiled(lambda x, y: x + y), x, x)

    def chain(x):
        y = x
        for _ in range(25):
            y = jnp.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        return ready(compiled(chain), jnp.float32(0.5))

    def chain_gradient():
        return ready(compiled(jax.grad(chain)), jnp.float32(0.5))

    def parameters(*shapes):
        rng = np.random.default_rng(0)
        return [jnp.asarray(rng.standard_normal(s) * 0.05, jnp.float32) for s in shapes]

    def trained(loss, weights, *data):
        def update(weights, *data):
            value, gradients = jax.value_and_grad(loss)(weights, *data)
            return value, [w - 0.01 * g for w, g in zip(weights, gradients, strict=True)]

        update = compiled(update, donate_argnums=0)

        def step():
            nonlocal weights
            value, weights = update(weights, *data)
            return np.asarray(value)

        return step

    def normal(*shape):
        return jnp.asarray(np.random.default_rng(0).standard_normal(shape), jnp.float32)

    def digits(count):
        return jnp.asarray(np.random.default_rng(0).integers(0, 10, count))

    def cross_entropy(labels, logits):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    def mlp():
        def loss(weights, x, labels):
            w1, b1, w2, b2, w3, b3 = weights
            h = jax.nn.relu(x @ w1 + b1)
            h = jax.nn.relu(h @ w2 + b2)
            return cross_entropy(labels, h @ w3 + b3)

        weights = parameters((784, 256), 256, (256, 256), 256, (256, 10), 10)
        return trained(loss, weights, normal(64, 784), digits(64))

    def cnn():
        def convolved(x, kernel):
            return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def pooled(x):
            return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

        def loss(weights, x, labels):
            k1, c1, k2, c2, w, b = weights
            h = pooled(jax.nn.relu(convolved(x, k1) + c1))
            h = pooled(jax.nn.relu(convolved(h, k2) + c2))
            return cross_entropy(labels, h.reshape(32, -1) @ w + b)

        weights = parameters((3, 3, 1, 32), 32, (3, 3, 32, 64), 64, (3136, 10), 10)
        return trained(loss, weights, normal(32, 28, 28, 1), digits(32))

    def lstm():
        def loss(weights, xs):
            wx, wh, b = weights

            def cell(state, x):
                h, c = state
                i, f, o, z = jnp.split(x @ wx + h @ wh + b, 4, axis=1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(z)
                return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

            zero = jnp.zeros((32, 128))
            (h, _), _ = jax.lax.scan(cell, (zero, zero), xs)
            return (h * h).mean()

        return trained(loss, parameters((128, 512), (128, 512), 512), normal(50, 32, 128))

    def transformer():
        def normalised(x, scale, shift):
            mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

        def heads(x):
            return x.reshape(16, 64, 4, 32).transpose(0, 2, 1, 3)

        def block(x, weights, scales):
            qkv, out, up, up_bias, down, down_bias = weights
            q, k, v = (heads(part) for part in jnp.split(normalised(x, *scales[:2]) @ qkv, 3, axis=-1))
            mixed = jax.nn.softmax(q @ k.swapaxes(-1, -2) * 32**-0.5) @ v
            x = x + mixed.transpose(0, 2, 1, 3).reshape(16, 64, 128) @ out
            h = jax.nn.gelu(normalised(x, *scales[2:]) @ up + up_bias, approximate=True)
            return x + h @ down + down_bias

        def loss(weights, x, target):
            x = block(x, weights[:6], weights[12:16])
            x = block(x, weights[6:12], weights[16:])
            return ((x - target) ** 2).mean()

        layer = ((128, 384), (128, 128), (128, 512), 512, (512, 128), 128)
        weights = [*parameters(*layer, *layer), *(jnp.full(128, start) for start in (1.0, 0.0) * 4)]
        return trained(loss, weights, normal(16, 64, 128), normal(16, 64, 128)[::-1])

    def elementwise():
        gradient = jax.grad(lambda x: (jnp.tanh(x) * jnp.exp(x) + jax.nn.sigmoid(x)).sum())
        return ready(compiled(gradient), normal(10**6))

    found = {"add": add, "chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp}
    found["elementwise"] = elementwise
    if jit:
        found |= {"cnn": cnn, "lstm": lstm, "transformer": transformer}
    return found
