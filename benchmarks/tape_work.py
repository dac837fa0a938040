"""The work, written once for the two libraries that have a GradientTape, gradtape and TensorFlow, and for both ways to
run it: eagerly, and with `tf.function`. Data come in as arguments, as in a training loop; weights are variables."""

import numpy as np


def works(tf, compiled=None):
    """Each work's name and a function that prepares it and returns the step to time.

    `compiled` makes a function that is traced and compiled out of one that runs eagerly; without it all runs eagerly.
    """
    eager = compiled is None
    if eager:

        def compiled(function):
            return function

    def ready(function, *data):
        """The step: one call, until its result can be read."""
        return lambda: np.asarray(function(*data))

    def add():
        def total(x, y):
            return x + y

        x = tf.constant([1.0, 2.0, 3.0])
        return ready(compiled(total), x, x)

    def chain(x):
        y = x
        for _ in range(25):
            y = tf.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        return ready(compiled(chain), tf.constant(0.5))

    def gradient_of(function):
        def gradient(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        return compiled(gradient)

    def chain_gradient():
        return ready(gradient_of(chain), tf.constant(0.5))

    def variables(*shapes):
        rng = np.random.default_rng(0)
        return [tf.Variable((rng.standard_normal(s) * 0.05).astype(np.float32)) for s in shapes]

    def trained(loss, weights, *data):
        def step(*data):
            with tf.GradientTape() as tape:
                value = loss(*data)
            for w, g in zip(weights, tape.gradient(value, weights), strict=True):
                w.assign_sub(0.01 * g)
            return value

        return ready(compiled(step), *data)

    def normal(*shape):
        return tf.constant(np.random.default_rng(0).standard_normal(shape).astype(np.float32))

    def digits(count):
        return tf.constant(np.random.default_rng(0).integers(0, 10, count))

    def cross_entropy(labels, logits):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    def mlp():
        w1, b1, w2, b2, w3, b3 = weights = variables((784, 256), 256, (256, 256), 256, (256, 10), 10)

        def loss(x, labels):
            h = tf.nn.relu(tf.matmul(x, w1) + b1)
            h = tf.nn.relu(tf.matmul(h, w2) + b2)
            return cross_entropy(labels, tf.matmul(h, w3) + b3)

        return trained(loss, weights, normal(64, 784), digits(64))

    def cnn():
        k1, c1, k2, c2, w, b = weights = variables((3, 3, 1, 32), 32, (3, 3, 32, 64), 64, (3136, 10), 10)

        def loss(x, labels):
            h = tf.nn.relu(tf.nn.conv2d(x, k1, 1, "SAME") + c1)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.nn.relu(tf.nn.conv2d(h, k2, 1, "SAME") + c2)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            return cross_entropy(labels, tf.matmul(tf.reshape(h, (32, -1)), w) + b)

        return trained(loss, weights, normal(32, 28, 28, 1), digits(32))

    def lstm():
        zero = tf.zeros((32, 128))
        wx, wh, b = weights = variables((128, 512), (128, 512), 512)

        def loss(xs):
            h = c = zero
            for x in xs:  # over a tensor's first axis, `function` makes a loop of its own of this
                i, f, o, z = tf.split(tf.matmul(x, wx) + tf.matmul(h, wh) + b, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(z)
                h = tf.sigmoid(o) * tf.tanh(c)
            return tf.reduce_mean(h * h)

        xs = normal(50, 32, 128)
        return trained(loss, weights, tf.unstack(xs) if eager else xs)

    def transformer():
        layer = ((128, 384), (128, 128), (128, 512), 512, (512, 128), 128)
        weights = variables(*layer, *layer)
        # Scales and shifts of the normalisations, which begin as ones and zeros.
        scales = [tf.Variable(tf.fill((128,), start)) for start in (1.0, 0.0) * 4]

        def normalised(x, scale, shift):
            mean, variance = tf.nn.moments(x, -1, keepdims=True)
            return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

        def heads(x):
            return tf.transpose(tf.reshape(x, (16, 64, 4, 32)), (0, 2, 1, 3))

        def block(x, weights, scales):
            qkv, out, up, up_bias, down, down_bias = weights
            q, k, v = (heads(part) for part in tf.split(tf.matmul(normalised(x, *scales[:2]), qkv), 3, axis=-1))
            mixed = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 32**-0.5), v)
            x = x + tf.matmul(tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (16, 64, 128)), out)
            h = tf.nn.gelu(tf.matmul(normalised(x, *scales[2:]), up) + up_bias, approximate=True)
            return x + tf.matmul(h, down) + down_bias

        def loss(x, target):
            x = block(x, weights[:6], scales[:4])
            x = block(x, weights[6:], scales[4:])
            return tf.reduce_mean((x - target) ** 2)

        return trained(loss, weights + scales, normal(16, 64, 128), normal(16, 64, 128)[::-1])

    def small_jacobian():
        x, w1, w2 = normal(1, 10), normal(10, 10), normal(10, 10)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)
            return tape.jacobian(y, x)

        return step

    def dense_jacobian():
        x, w = normal(1, 512), normal(512, 512)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(tf.matmul(x, w))
            return tape.jacobian(y, x)

        return step

    def elementwise():
        def formula(x):
            return tf.tanh(x) * tf.exp(x) + tf.sigmoid(x)

        return ready(gradient_of(formula), normal(10**6))

    found = {
        "add": add, "chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp, "cnn": cnn,
        "lstm": lstm, "transformer": transformer, "elementwise": elementwise,
    }  # fmt: skip
    return {**found, "small_jacobian": small_jacobian, "dense_jacobian": dense_jacobian} if eager else found


def deep_mlp(tf):
    """One step of a 50-layer MLP, for its peak memory."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.standard_normal((2048, 256)).astype(np.float32))
    weights = [tf.Variable((rng.standard_normal((256, 256)) * 0.1).astype(np.float32)) for _ in range(50)]

    def step(x=x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(tf.matmul(h, w))
            value = tf.reduce_mean(h)
            del h
        return tape.gradient(value, weights)

    return step, x[:8]
