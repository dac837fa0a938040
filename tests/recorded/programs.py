"""Whole programs with a tape: a few steps each, from TensorFlow's own random numbers."""

import math


def descend(variables, gradients, rate):
    for variable, gradient in zip(variables, gradients, strict=True):
        variable.assign_sub(rate * gradient)


def classifier_with_adam(tf):
    tf.random.set_seed(42)

    class Dense(tf.Module):
        def __init__(self, inputs, outputs, activation=tf.identity, name=None):
            super().__init__(name=name)
            limit = tf.sqrt(6.0 / (inputs + outputs))
            self.w = tf.Variable(tf.random.uniform([inputs, outputs], -limit, limit), name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")
            self.activation = activation

        def __call__(self, x):
            return self.activation(x @ self.w + self.b)

    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Dense(8, 16, tf.nn.gelu), Dense(16, 16, tf.nn.silu), Dense(16, 3)]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    network = Network()
    x, labels = tf.random.normal([32, 8]), tf.random.uniform([32], maxval=3, dtype=tf.int32)
    weights = network.trainable_variables
    first, second = ([tf.Variable(tf.zeros_like(w)) for w in weights] for _ in range(2))
    losses = []
    for step in range(1, 6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(x)))
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, weights), 0.5)
        for w, g, m, v in zip(weights, gradients, first, second, strict=True):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * tf.square(g))
            w.assign_sub(0.01 * (m / (1 - 0.9**step)) / (tf.sqrt(v / (1 - 0.999**step)) + 1e-7))
        losses += [loss, norm]
    return losses, [w.name for w in weights]


def convolutional_network(tf):
    tf.random.set_seed(3)
    x, y = tf.random.normal([4, 10, 10, 2]), tf.one_hot([0, 1, 2, 1], 3)
    weights = [
        tf.Variable(tf.random.truncated_normal([3, 3, 2, 4], stddev=0.3)),
        tf.Variable(tf.random.normal([3, 3, 4, 2], stddev=0.3)),
        tf.Variable(tf.ones([8])),
        tf.Variable(tf.random.normal([8 * 2 * 2, 3], stddev=0.3)),
    ]
    losses = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, weights[0], 1, "SAME")), 2, 2, "VALID")
            h = tf.nn.depthwise_conv2d(h, weights[1], [1, 2, 2, 1], "SAME")
            mean, variance = tf.nn.moments(h, axes=[0, 1, 2])
            h = tf.nn.batch_normalization(h, mean, variance, None, weights[2], 1e-3)
            h = tf.nn.avg_pool2d(tf.nn.dropout(tf.nn.leaky_relu(h), 0.2, seed=5), 2, 1, "VALID")
            logits = tf.reshape(h, [tf.shape(h)[0], -1]) @ weights[3]
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, logits))
        gradients = tape.gradient(loss, weights)
        descend(weights, gradients, 0.1)
        losses.append(loss)
    return losses, gradients


def lstm_by_scan(tf):
    tf.random.set_seed(7)
    x, w = tf.random.normal([5, 2, 3]), tf.Variable(tf.random.normal([7, 16]) * 0.3)

    def cell(state, x):
        h, c = state
        i, f, g, o = tf.split(tf.concat([x, h], axis=1) @ w, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    with tf.GradientTape() as tape:
        tape.watch(x)
        h, c = tf.scan(cell, x, initializer=(tf.zeros([2, 4]), tf.zeros([2, 4])))
        loss = tf.reduce_mean(h[-1] ** 2) + 0.01 * tf.reduce_sum(c)
    return loss, tape.gradient(loss, [w, x])


def masked_gru_by_while_loop(tf):
    tf.random.set_seed(8)
    x, mask = tf.random.normal([2, 4, 3]), tf.sequence_mask([4, 2], 4, dtype=tf.float32)
    update, reset, candidate = (tf.Variable(tf.random.normal([7, 4]) * 0.5) for _ in range(3))

    def step(t, h, states):
        xh = tf.concat([x[:, t], h], -1)
        z, r = tf.sigmoid(xh @ update), tf.sigmoid(xh @ reset)
        n = tf.tanh(tf.concat([x[:, t], r * h], -1) @ candidate)
        keep = mask[:, t, tf.newaxis]
        h = keep * ((1 - z) * n + z * h) + (1 - keep) * h
        return t + 1, h, states.write(t, h)

    with tf.GradientTape() as tape:
        start = (tf.constant(0), tf.zeros([2, 4]), tf.TensorArray(tf.float32, size=4))
        _, h, states = tf.while_loop(lambda t, *_: t < 4, step, start)
        loss = tf.reduce_sum(tf.transpose(states.stack(), [1, 0, 2]) * mask[..., tf.newaxis])
    return h, loss, tape.gradient(loss, [update, reset, candidate])


def causal_attention(tf):
    tf.random.set_seed(9)
    x = tf.random.normal([2, 5, 8])
    weights = {name: tf.Variable(tf.random.normal([8, 2, 4]) * 0.3) for name in "qkvo"}
    angle = tf.cast(tf.range(5)[:, None], tf.float32) / tf.pow(100.0, tf.cast(tf.range(8)[None] // 2, tf.float32) / 4)
    with tf.GradientTape() as tape:
        h = x + tf.where(tf.range(8)[None] % 2 == 0, tf.sin(angle), tf.cos(angle))
        q, k, v = (tf.einsum("btd,dhk->bhtk", h, weights[name]) for name in "qkv")
        scores = tf.einsum("bhtk,bhsk->bhts", q, k) / 2.0
        scores += (1.0 - tf.linalg.band_part(tf.ones([5, 5]), -1, 0)) * -1e9
        h += tf.einsum("bhts,bhsk,dhk->btd", tf.nn.softmax(scores), v, weights["o"])
        h = (h - tf.reduce_mean(h, -1, keepdims=True)) / (tf.math.reduce_std(h, -1, keepdims=True) + 1e-6)
        loss = tf.reduce_mean(tf.nn.log_softmax(h)[..., 0])
    return loss, tape.gradient(loss, weights)


def variational_autoencoder(tf):
    tf.random.set_seed(10)
    x = tf.cast(tf.random.uniform([8, 6]) > 0.5, tf.float32)
    weights = [tf.Variable(tf.random.normal(shape) * 0.3) for shape in ([6, 4], [2, 6])]

    def log_normal(z, mean, log_variance):
        square = (z - mean) ** 2.0 * tf.exp(-log_variance)
        return tf.reduce_sum(-0.5 * (square + log_variance + tf.math.log(2.0 * math.pi)), axis=1)

    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(x @ weights[0], num_or_size_splits=2, axis=1)
            z = tf.random.normal(mean.shape) * tf.exp(log_variance * 0.5) + mean
            entropy = tf.nn.sigmoid_cross_entropy_with_logits(logits=z @ weights[1], labels=x)
            likelihood = -tf.reduce_sum(entropy, axis=[1]) + log_normal(z, 0.0, 0.0)
            loss = -tf.reduce_mean(likelihood - log_normal(z, mean, log_variance))
        descend(weights, tape.gradient(loss, weights), 0.05)
        losses.append(loss)
    return losses, [w.value() for w in weights]


def two_players_with_gradient_penalty(tf):
    tf.random.set_seed(12)
    generator = [tf.Variable(tf.random.normal(shape)) for shape in ([2, 4], [4, 2])]
    critic = [tf.Variable(tf.random.normal(shape)) for shape in ([2, 4], [4, 1])]
    real, noise = tf.random.normal([6, 2]) + 3.0, tf.random.normal([6, 2])

    def judged(x):
        return tf.tanh(x @ critic[0]) @ critic[1]

    with tf.GradientTape() as generator_tape, tf.GradientTape() as critic_tape:
        fake = tf.nn.relu(noise @ generator[0]) @ generator[1]
        between = real + tf.random.uniform([6, 1]) * (fake - real)
        with tf.GradientTape() as penalty_tape:
            penalty_tape.watch(between)
            score = judged(between)
        norm = tf.sqrt(tf.reduce_sum(tf.square(penalty_tape.gradient(score, between)), axis=1))
        generator_loss = -tf.reduce_mean(judged(fake))
        critic_loss = -generator_loss - tf.reduce_mean(judged(real)) + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
    gradients = generator_tape.gradient(generator_loss, generator), critic_tape.gradient(critic_loss, critic)
    return generator_loss, critic_loss, gradients


def learning_to_learn(tf):
    tf.random.set_seed(13)
    weights = [tf.Variable(tf.random.normal([1, 5])), tf.Variable(tf.zeros([5])), tf.Variable(tf.random.normal([5, 1]))]

    def loss_of(x, y, weights):
        return tf.reduce_mean(tf.math.squared_difference(tf.nn.softplus(x @ weights[0] + weights[1]) @ weights[2], y))

    with tf.GradientTape() as outer:
        total = 0.0
        for task in range(2):
            x, adapted = tf.random.uniform([6, 1], -3.0, 3.0), weights
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch(adapted)
                    loss = loss_of(x, tf.sin(x + task), adapted)
                adapted = [w - 0.05 * g for w, g in zip(adapted, inner.gradient(loss, adapted), strict=True)]
            total += loss_of(x, tf.sin(x + task), adapted)
    return total, outer.gradient(total, weights)


def neural_differential_equation(tf):
    tf.random.set_seed(14)
    w, start = tf.Variable(tf.random.normal([2, 2]) * 0.5), tf.constant([[1.0, 0.0]])

    def runge_kutta(i, x, dt=0.1):
        k1 = tf.tanh(x @ w)
        k2 = tf.tanh((x + dt / 2 * k1) @ w)
        k3 = tf.tanh((x + dt / 2 * k2) @ w)
        k4 = tf.tanh((x + dt * k3) @ w)
        return i + 1, x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    with tf.GradientTape() as tape:
        tape.watch(start)
        _, x = tf.while_loop(lambda i, x: tf.less(i, 10), runge_kutta, (0, start), maximum_iterations=100)
        loss = tf.norm(x - [[0.5, 0.5]])
    return x, tape.gradient(loss, [w, start])


def burgers_equation(tf):
    tf.random.set_seed(15)
    w, v = (tf.Variable(tf.random.normal(shape, dtype=tf.float64)) for shape in ([2, 6], [6, 1]))
    x = tf.random.uniform([5, 1], -1, 1, dtype=tf.float64)
    t = tf.random.uniform([5, 1], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape(persistent=True) as first:
                first.watch([x, t])
                u = tf.tanh(tf.concat([x, t], 1) @ w) @ v
            u_x, u_t = first.gradient(u, x), first.gradient(u, t)
        u_xx = second.gradient(u_x, x)
        loss = tf.reduce_mean(tf.square(u_t + u * u_x - 0.01 / math.pi * u_xx))
    return u_xx, loss, outer.gradient(loss, [w, v])


def policy_gradient(tf):
    tf.random.set_seed(1)
    w = tf.Variable(tf.random.normal([4, 3]) * 0.2)
    losses = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            chances, rewards = (tf.TensorArray(kind, size=0, dynamic_size=True) for kind in (tf.float32, tf.int64))
            state = tf.constant([[0.1, 0.2, -0.1, 0.3]])
            for t in tf.range(5):
                logits = state @ w
                action = tf.random.categorical(logits, 1)[0, 0]
                chances = chances.write(t, tf.nn.softmax(logits)[0, action])
                rewards = rewards.write(t, action)
                state = tf.roll(state, 1, axis=1) + 0.1 * tf.cast(action, tf.float32)
            gains = tf.cumsum(tf.cast(rewards.stack(), tf.float32), reverse=True)
            gains = (gains - tf.reduce_mean(gains)) / (tf.math.reduce_std(gains) + 1e-6)
            loss = -tf.reduce_sum(tf.math.log(chances.stack()) * tf.stop_gradient(gains))
        descend([w], tape.gradient(loss, [w]), 0.1)
        losses += [loss, gains]
    return losses, w.value()


def newton_and_products_with_the_hessian(tf):
    x = tf.Variable(tf.constant([-1.2, 1.0, 0.8], tf.float64))

    def rosenbrock():
        return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    path = []
    for _ in range(3):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = rosenbrock()
            gradient = inner.gradient(y, x)
        hessian = outer.jacobian(gradient, x)
        along = tf.constant([1.0, 2.0, 3.0], tf.float64)
        with tf.autodiff.ForwardAccumulator(x, along) as accumulator:
            with tf.GradientTape() as tape:
                y = rosenbrock()
            gradient = tape.gradient(y, x)
        path += [y, hessian, accumulator.jvp(gradient)]
        x.assign_sub(tf.linalg.solve(hessian, gradient[:, tf.newaxis])[:, 0])
    return path


def gaussian_process(tf):
    tf.random.set_seed(3)
    x = tf.random.uniform([8, 1], dtype=tf.float64) * 5
    y = tf.sin(x) + 0.1 * tf.random.normal([8, 1], dtype=tf.float64)
    length, scale, noise = logs = tuple(tf.Variable(value, dtype=tf.float64) for value in (0.0, 0.0, -2.0))
    found = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            distance = tf.reduce_sum((x[:, None] - x[None]) ** 2, -1)
            covariance = tf.exp(scale) * tf.exp(-0.5 * distance / tf.exp(2 * length))
            covariance = tf.linalg.set_diag(covariance, tf.linalg.diag_part(covariance) + tf.exp(noise))
            root = tf.linalg.cholesky(covariance)
            fit = tf.squeeze(tf.matmul(y, tf.linalg.cholesky_solve(root, y), transpose_a=True))
            loss = 0.5 * fit + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)))
        gradients = tape.gradient(loss, logs)
        descend(logs, gradients, 0.02)
        found += [loss, *gradients]
    return found


def diffusion_with_embedded_times(tf):
    tf.random.set_seed(4)
    signal = tf.math.cumprod(1.0 - tf.linspace(1e-4, 0.02, 20))
    weights = [tf.Variable(tf.random.normal(shape) * 0.3) for shape in ([6, 8], [8, 2])]
    times = tf.Variable(tf.random.normal([20, 4]))
    found = []
    for _ in range(2):
        x, t = tf.random.normal([6, 2]), tf.random.uniform([6], 0, 20, dtype=tf.int32)
        noise, kept = tf.random.normal(tf.shape(x)), tf.gather(signal, t)[:, None]
        with tf.GradientTape() as tape:
            mixed = tf.sqrt(kept) * x + tf.sqrt(1 - kept) * noise
            h = tf.concat([mixed, tf.nn.embedding_lookup(times, t)], axis=-1)
            loss = tf.reduce_mean((tf.nn.swish(h @ weights[0]) @ weights[1] - noise) ** 2)
        *gradients, rows = tape.gradient(loss, [*weights, times])
        descend(weights, gradients, 0.1)
        times.scatter_sub(tf.IndexedSlices(0.1 * rows.values, rows.indices))
        found += [loss, rows]
    return found, times.value()


def kalman_filter(tf):
    tf.random.set_seed(5)
    seen, q, r = tf.random.normal([6]), tf.Variable(0.1), tf.Variable(0.5)
    move, look = tf.constant([[1.0, 1.0], [0.0, 1.0]]), tf.constant([[1.0, 0.0]])

    def step(state, z):
        x, p, _ = state
        x, p = move @ x, move @ p @ tf.transpose(move) + q * tf.eye(2)
        s = look @ p @ tf.transpose(look) + r
        gain, error = p @ tf.transpose(look) @ tf.linalg.inv(s), tf.reshape(z, [1, 1]) - look @ x
        score = tf.math.log(tf.linalg.det(s)) + tf.squeeze(error @ tf.linalg.inv(s) @ error)
        return x + gain @ error, (tf.eye(2) - gain @ look) @ p, score

    with tf.GradientTape(persistent=True) as tape:
        x, p, scores = tf.scan(step, seen, initializer=(tf.zeros([2, 1]), tf.eye(2), tf.constant(0.0)))
        loss = tf.reduce_sum(scores)
    return x, p[-1], tape.gradient(loss, q), tape.gradient(loss, r)


def optimal_transport(tf):
    tf.random.set_seed(7)
    x, y = tf.Variable(tf.random.normal([4, 2])), tf.random.normal([3, 2]) + 1.0
    with tf.GradientTape() as tape:
        cost = tf.reduce_sum(tf.math.squared_difference(x[:, None], y[None]), axis=-1)
        f, g = tf.zeros([4]), tf.zeros([3])
        for _ in range(10):
            f = -0.5 * (math.log(4.0) + tf.reduce_logsumexp((g[None] - cost) / 0.5, 1))
            g = -0.5 * (math.log(3.0) + tf.reduce_logsumexp((f[:, None] - cost) / 0.5, 0))
        plan = tf.exp((f[:, None] + g[None] - cost) / 0.5)
        loss = tf.reduce_sum(plan * cost)
    return plan, tape.gradient(loss, x)


def rendering_by_gather(tf):
    tf.random.set_seed(8)
    image, pose = tf.random.uniform([2, 6, 6, 3]), tf.Variable([[0.9, 0.1, 0.2], [-0.1, 1.1, -0.3]])
    with tf.GradientTape() as tape:
        tape.watch(image)
        rows, columns = tf.meshgrid(tf.linspace(-1.0, 1.0, 4), tf.linspace(-1.0, 1.0, 4), indexing="ij")
        place = pose @ tf.stack([tf.reshape(columns, [-1]), tf.reshape(rows, [-1]), tf.ones([16])])
        x, y = (place[0] + 1) * 2.5, (place[1] + 1) * 2.5
        left, top = tf.floor(x), tf.floor(y)

        def at(row, column):
            index = tf.stack([tf.clip_by_value(tf.cast(i, tf.int32), 0, 5) for i in (row, column)], -1)
            return tf.gather_nd(image, tf.tile(index[None], [2, 1, 1]), batch_dims=1)

        a, b = (x - left)[None, :, None], (y - top)[None, :, None]
        above = (1 - a) * at(top, left) + a * at(top, left + 1)
        below = (1 - a) * at(top + 1, left) + a * at(top + 1, left + 1)
        seen = tf.image.resize(tf.reshape((1 - b) * above + b * below, [2, 4, 4, 3]), [3, 3])
        alpha = tf.sigmoid(seen[..., :1])
        loss = tf.reduce_mean(tf.math.cumprod(1 - alpha, axis=1, exclusive=True) * alpha * seen)
    return seen, tape.gradient(loss, [pose, image])


def phase_retrieval(tf):
    tf.random.set_seed(9)
    target = tf.abs(tf.signal.fft(tf.complex(tf.random.normal([8]), tf.random.normal([8]))))
    z = tf.Variable(tf.complex(tf.random.normal([8]), tf.random.normal([8])))
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.abs(tf.signal.fft(z)) - target) ** 2)
        z.assign_sub(0.1 * tape.gradient(loss, z))
        losses.append(loss)
    return losses, z.value()


def quantised_weights(tf):
    @tf.custom_gradient
    def rounded(x):
        return tf.round(x * 4.0) / 4.0, lambda dy: dy

    @tf.custom_gradient
    def clipped(x):
        return tf.clip_by_value(x, -1.0, 1.0), lambda dy: dy * tf.cast(tf.abs(x) <= 1, dy.dtype)

    x = tf.Variable([-1.7, -0.3, 0.12, 0.9, 2.0])
    with tf.GradientTape() as tape:
        y = rounded(clipped(x))
        signed = x + tf.stop_gradient(tf.sign(x) - x)
        loss = tf.reduce_sum(y**3) + tf.reduce_sum(signed * x) + tf.reduce_sum(tf.grad_pass_through(tf.round)(x) ** 2)
    return y, tape.gradient(loss, x)


def gradients_of_each_example(tf):
    tf.random.set_seed(11)
    w, x, labels = tf.Variable(tf.random.normal([4, 3])), tf.random.normal([5, 4]), tf.constant([0, 1, 2, 0, 1])

    def of_one(example):
        x, label = example
        with tf.GradientTape() as tape:
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(label[None], x[None] @ w)
        return tape.gradient(loss, w)

    each = tf.vectorized_map(of_one, (x, labels))
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w)
    norms = tf.norm(tf.reshape(each, [5, -1]), axis=1)
    clipped = tf.reduce_mean(each * tf.minimum(1.0, 0.5 / norms)[:, None, None], 0)
    return each, tape.jacobian(losses, w), clipped


def attention_on_a_graph(tf):
    tf.random.set_seed(14)
    sources, targets = tf.constant([0, 1, 2, 3, 0, 2, 1]), tf.constant([1, 2, 3, 0, 2, 0, 3])
    h, w, a = tf.random.normal([4, 3]), tf.Variable(tf.random.normal([3, 3])), tf.Variable(tf.random.normal([6, 1]))
    with tf.GradientTape() as tape:
        tape.watch(h)
        message = tf.gather(h, sources) @ w
        score = tf.nn.leaky_relu(tf.concat([message, tf.gather(h, targets)], -1) @ a)[:, 0]
        share = tf.exp(score - tf.gather(tf.math.unsorted_segment_max(score, targets, 4), targets))
        share /= tf.gather(tf.math.unsorted_segment_sum(share, targets, 4), targets)
        out = tf.nn.elu(tf.math.unsorted_segment_sum(share[:, None] * message, targets, 4))
        loss = tf.reduce_sum(tf.reduce_max(tf.math.segment_mean(out, [0, 0, 1, 1]), 0))
    *gradients, rows = tape.gradient(loss, [w, a, h])
    return out, gradients, tf.convert_to_tensor(rows)


def conditional_random_field(tf):
    tf.random.set_seed(5)
    scores, moves = tf.Variable(tf.random.normal([2, 4, 3])), tf.Variable(tf.random.normal([3, 3]))
    tags, mask = tf.constant([[0, 1, 2, 1], [2, 2, 1, 0]]), tf.sequence_mask([4, 2], 4)
    with tf.GradientTape() as tape:
        inside = tf.cast(mask, tf.float32)
        taken = tf.reduce_sum(tf.gather(scores, tags, axis=2, batch_dims=2) * inside, 1)
        taken += tf.reduce_sum(tf.gather_nd(moves, tf.stack([tags[:, :-1], tags[:, 1:]], -1)) * inside[:, 1:], 1)
        alpha = scores[:, 0]
        for t in range(1, 4):
            ahead = tf.reduce_logsumexp(alpha[:, :, None] + moves[None], axis=1) + scores[:, t]
            alpha = tf.where(mask[:, t, None], ahead, alpha)
        loss = tf.reduce_mean(tf.reduce_logsumexp(alpha, -1) - taken)
    return loss, tape.gradient(loss, [scores, moves])


def reparameterised_gamma(tf):
    tf.random.set_seed(13)
    alpha, beta = tf.Variable([0.7, 2.0, 5.0]), tf.Variable([1.0, 2.0, 0.5])
    with tf.GradientTape() as tape:
        z = tf.random.gamma([4], alpha, beta, seed=3)
        loss = tf.reduce_mean(2 * tf.math.log(z) - z - tf.math.lgamma(alpha))
    return z, tape.gradient(loss, [alpha, beta])


CASES = [
    (program.__name__, program)
    for program in (
        classifier_with_adam, convolutional_network, lstm_by_scan, masked_gru_by_while_loop, causal_attention,
        variational_autoencoder, two_players_with_gradient_penalty, learning_to_learn, neural_differential_equation,
        burgers_equation, policy_gradient, newton_and_products_with_the_hessian, gaussian_process,
        diffusion_with_embedded_times, kalman_filter, optimal_transport, rendering_by_gather, phase_retrieval,
        quantised_weights, gradients_of_each_example, attention_on_a_graph, conditional_random_field,
        reparameterised_gamma,
    )
]  # fmt: skip
