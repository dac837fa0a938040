"""The work, written once for the two libraries that have a GradientTape: gradtape and TensorFlow."""

import numpy as np


def works(tf):
    """Each work's name and a function that prepares it and returns the step to time."""

    def chain(x):
        y = x
        for _ in range(25):
            y = tf.tanh(y * 1.01) + x * 0.5
        return y

    def chain_forward():
        x = tf.constant(0.5)
        return lambda: chain(x)

    def chain_gradient():
        x = tf.constant(0.5)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = chain(x)
            return tape.gradient(y, x)

        return step

    def variables(*shapes):
        rng = np.random.default_rng(0)
        return [tf.Variable((rng.standard_normal(s) * 0.05).astype(np.float32)) for s in shapes]

    def trained(loss, weights):
        def step():
            with tf.GradientTape() as tape:
                value = loss()
            for w, g in zip(weights, tape.gradient(value, weights), strict=True):
                w.assign_sub(0.01 * g)

        return step

    def cross_entropy(labels, logits):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    def mlp():
        rng = np.random.default_rng(0)
        x = tf.constant(rng.standard_normal((64, 784)).astype(np.float32))
        labels = tf.constant(rng.integers(0, 10, 64))
        w1, b1, w2, b2, w3, b3 = weights = variables((784, 256), 256, (256, 256), 256, (256, 10), 10)

        def loss():
            h = tf.nn.relu(tf.matmul(x, w1) + b1)
            h = tf.nn.relu(tf.matmul(h, w2) + b2)
            return cross_entropy(labels, tf.matmul(h, w3) + b3)

        return trained(loss, weights)

    def cnn():
        rng = np.random.default_rng(0)
        x = tf.constant(rng.standard_normal((32, 28, 28, 1)).astype(np.float32))
        labels = tf.constant(rng.integers(0, 10, 32))
        k1, c1, k2, c2, w, b = weights = variables((3, 3, 1, 32), 32, (3, 3, 32, 64), 64, (3136, 10), 10)

        def loss():
            h = tf.nn.relu(tf.nn.conv2d(x, k1, 1, "SAME") + c1)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.nn.relu(tf.nn.conv2d(h, k2, 1, "SAME") + c2)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            return cross_entropy(labels, tf.matmul(tf.reshape(h, (32, -1)), w) + b)

        return trained(loss, weights)

    def lstm():
        rng = np.random.default_rng(0)
        xs = [tf.constant(rng.standard_normal((32, 128)).astype(np.float32)) for _ in range(50)]
        zero = tf.zeros((32, 128))
        wx, wh, b = weights = variables((128, 512), (128, 512), 512)

        def loss():
            h = c = zero
            for x in xs:
                i, f, o, z = tf.split(tf.matmul(x, wx) + tf.matmul(h, wh) + b, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(z)
                h = tf.sigmoid(o) * tf.tanh(c)
            return tf.reduce_mean(h * h)

        return trained(loss, weights)

    def small_jacobian():
        rng = np.random.default_rng(0)
        x = tf.constant(rng.standard_normal((1, 10)).astype(np.float32))
        w1, w2 = (tf.constant(rng.standard_normal((10, 10)).astype(np.float32)) for _ in range(2))

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)
            return tape.jacobian(y, x)

        return step

    def dense_jacobian():
        rng = np.random.default_rng(0)
        x = tf.constant(rng.standard_normal((1, 512)).astype(np.float32))
        w = tf.constant(rng.standard_normal((512, 512)).astype(np.float32))

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(tf.matmul(x, w))
            return tape.jacobian(y, x)

        return step

    def elementwise():
        rng = np.random.default_rng(0)
        x = tf.constant(rng.standard_normal(10**6).astype(np.float32))

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(x) * tf.exp(x) + tf.sigmoid(x)
            return tape.gradient(y, x)

        return step

    return {
        "chain_forward": chain_forward, "chain_gradient": chain_gradient, "mlp": mlp, "cnn": cnn, "lstm": lstm,
        "small_jacobian": small_jacobian, "dense_jacobian": dense_jacobian, "elementwise": elementwise,
    }  # fmt: skip


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
