"""Training steps with `tf.function`: regression, recurrent and generative networks, metrics and schedules."""

import itertools
import math

import numpy as np
from recorded_programs import SeededPrograms, normal

program = SeededPrograms()


@program
def linear_regression(tf):
    x, y = normal(64, 3), normal(64, 1, seed=1)
    w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)

    @tf.function
    def step(x, y, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(rate * g)
        return loss

    return [step(tf.constant(x), tf.constant(y), tf.constant(0.1)) for _ in range(5)] + [w, b]


@program
def classifier_with_adam_and_clipping(tf):
    class Dense(tf.Module):
        def __init__(self, units, activation=None):
            super().__init__()
            self.units, self.activation, self.w = units, activation, None

        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.random.normal([x.shape[-1], self.units], stddev=0.3), name="w")
                self.b = tf.Variable(tf.zeros([self.units]), name="b")
            y = x @ self.w + self.b
            return self.activation(y) if self.activation else y

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Dense(16, tf.nn.relu), Dense(8, tf.nn.tanh), Dense(3)]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    class Adam:
        def __init__(self):
            self.step, self.moments = tf.Variable(0.0), None

        def apply(self, variables, gradients):
            if self.moments is None:
                self.moments = [[tf.Variable(tf.zeros_like(v)) for v in variables] for _ in range(2)]
            self.step.assign_add(1.0)
            for v, g, m, s in zip(variables, gradients, *self.moments, strict=True):
                m.assign(0.9 * m + 0.1 * g)
                s.assign(0.99 * s + 0.01 * g * g)
                scaled = m / (1 - 0.9**self.step)
                v.assign_sub(0.05 * scaled / (tf.sqrt(s / (1 - 0.99**self.step)) + 1e-6))

    model, optimizer = Model(), Adam()
    x, labels = tf.constant(normal(32, 5)), tf.constant(np.arange(32) % 3)

    @tf.function
    def step(x, labels):
        with tf.GradientTape() as tape:
            logits = model(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        variables = model.trainable_variables
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 0.5)
        optimizer.apply(variables, gradients)
        accuracy = tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == labels, tf.float32))
        return loss, norm, accuracy

    return [step(x, labels) for _ in range(4)]


@program
def lstm_with_a_for_loop(tf):
    w, u = tf.Variable(normal(3, 16, scale=0.3)), tf.Variable(normal(4, 16, seed=1, scale=0.3))
    b, out = tf.Variable(tf.zeros([16])), tf.Variable(normal(4, 1, seed=2))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            batch = tf.shape(x)[0]
            h, c = tf.zeros([batch, 4]), tf.zeros([batch, 4])
            states = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
            for t in tf.range(tf.shape(x)[1]):
                i, f, g, o = tf.split(x[:, t] @ w + h @ u + b, 4, axis=1)
                c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
                states = states.write(t, h)
            hs = tf.transpose(states.stack(), [1, 0, 2])
            loss = tf.reduce_mean((tf.squeeze(hs @ out, 2) - y) ** 2)
        variables = [w, u, b, out]
        gradients = tape.gradient(loss, variables)
        for v, g in zip(variables, gradients, strict=True):
            v.assign_sub(0.1 * g)
        return loss, [tf.norm(g) for g in gradients]

    x, y = tf.constant(normal(5, 6, 3)), tf.constant(normal(5, 6, seed=3))
    return [step(x, y) for _ in range(3)]


@program
def recurrent_with_lengths(tf):
    w = tf.Variable(normal(4, 4, scale=0.5))

    @tf.function
    def final_states(x, lengths):
        def body(t, h):
            new = tf.tanh(x[:, t] + h @ w)
            return t + 1, tf.where((t < lengths)[:, None], new, h)

        return tf.while_loop(lambda t, h: t < tf.reduce_max(lengths), body, (0, tf.zeros([3, 4])))[1]

    x = tf.constant(normal(3, 5, 4))
    out = []
    for lengths in ([1, 3, 2], [5, 5, 1]):
        with tf.GradientTape() as tape:
            h = final_states(x, tf.constant(lengths))
            loss = tf.reduce_sum(h**2)
        out += [h, tape.gradient(loss, w)]
    return out


@program
def policy_gradient_rollout(tf):
    w = tf.Variable(normal(4, 2, scale=0.1))

    def environment(state, action):
        push = tf.where(action == 1, 1.0, -1.0)
        x, v, a, s = tf.unstack(state)
        new = tf.stack([x + 0.1 * v, v + 0.1 * push, a + 0.1 * s, s + 0.1 * (tf.sin(a) - push)])
        return new, 1.0, tf.abs(new[2]) > 0.3

    @tf.function
    def episode(state, limit):
        rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        logs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for t in tf.range(limit):
            logits = tf.linalg.matvec(w, state, transpose_a=True)
            action = tf.argmax(logits, output_type=tf.int32)
            state, reward, done = environment(state, action)
            rewards = rewards.write(t, reward)
            logs = logs.write(t, tf.nn.log_softmax(logits)[action])
            if done:
                break
        return rewards.stack(), logs.stack()

    def returns(rewards):
        return tf.scan(lambda total, r: r + 0.9 * total, rewards, initializer=0.0, reverse=True)

    @tf.function
    def step(state):
        with tf.GradientTape() as tape:
            rewards, logs = episode(state, tf.constant(12))
            loss = -tf.reduce_sum(logs * returns(rewards))
        g = tape.gradient(loss, w)
        w.assign_sub(0.01 * g)
        return loss, g, tf.shape(rewards)[0]

    starts = (0.1, 0.25, -0.28)
    return [step(tf.constant([0.0, 0.1, a, 0.2], tf.float32)) for a in starts]


@program
def per_example_gradients(tf):
    w = tf.Variable(normal(3, 2))

    @tf.function
    def f(xs, ys):
        def one(pair):
            x, y = pair
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.linalg.matvec(w, x, transpose_a=True) - y) ** 2)
            return tape.gradient(loss, w)

        gradients = tf.vectorized_map(one, (xs, ys))
        norms = tf.sqrt(tf.reduce_sum(gradients**2, axis=[1, 2], keepdims=True))
        return tf.reduce_mean(gradients / tf.maximum(norms, 1.0), axis=0), norms

    return f(tf.constant(normal(5, 3, seed=1)), tf.constant(normal(5, 2, seed=2)))


@program
def gradient_accumulation(tf):
    w = tf.Variable(normal(4, 1))
    total, count = tf.Variable(tf.zeros([4, 1])), tf.Variable(0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        total.assign_add(tape.gradient(loss, w))
        count.assign_add(1)
        if count == 3:
            w.assign_sub(0.1 * total / 3.0)
            total.assign(tf.zeros_like(total))
            count.assign(0)
        return loss

    data = [(tf.constant(normal(5, 4, seed=i)), tf.constant(normal(5, 1, seed=10 + i))) for i in range(7)]
    return [step(x, y) for x, y in data] + [w, total, count]


@program
def metrics_in_variables(tf):
    class Mean(tf.Module):
        def __init__(self):
            super().__init__()
            self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

        def update(self, values):
            self.total.assign_add(tf.reduce_sum(values))
            self.count.assign_add(tf.cast(tf.size(values), tf.float32))

        def result(self):
            return tf.math.divide_no_nan(self.total, self.count)

        def reset(self):
            for v in self.variables:
                v.assign(tf.zeros_like(v))

    mean = Mean()

    @tf.function
    def observe(values):
        mean.update(values)
        if mean.result() > 2.0:
            mean.reset()
        return mean.result()

    return [observe(tf.constant(x)) for x in ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0], [1.0])] + [mean.count]


@program
def physics_informed_network(tf):
    w1, b1 = tf.Variable(normal(1, 8)), tf.Variable(normal(8, seed=1))
    w2 = tf.Variable(normal(8, 1, seed=2, scale=0.3))
    variables = [w1, b1, w2]

    def u(x):
        return tf.tanh(x @ w1 + b1) @ w2

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = u(x)
                slope = first.gradient(y, x)
            curvature = second.gradient(slope, x)
            residual = curvature + math.pi**2 * tf.sin(math.pi * x)
            ends = u(tf.constant([[0.0], [1.0]]))
            loss = tf.reduce_mean(residual**2) + 10.0 * tf.reduce_mean(ends**2)
        gradients = tape.gradient(loss, variables)
        for v, g in zip(variables, gradients, strict=True):
            v.assign_sub(1e-4 * g)
        return loss, [tf.norm(g) for g in gradients]

    x = tf.reshape(tf.linspace(0.0, 1.0, 11), [-1, 1])
    return [step(x) for _ in range(4)]


@program
def adversarial_pair(tf):
    def network(sizes, seed):
        pairs = enumerate(itertools.pairwise(sizes), seed)
        return [tf.Variable(normal(a, b, seed=i, scale=0.5)) for i, (a, b) in pairs]

    def run(weights, x):
        for w in weights[:-1]:
            x = tf.nn.leaky_relu(x @ w)
        return x @ weights[-1]

    generator, critic = network([2, 8, 1], 0), network([1, 8, 1], 10)
    bce = tf.nn.sigmoid_cross_entropy_with_logits

    @tf.function
    def step(real):
        noise = tf.random.normal([tf.shape(real)[0], 2])
        with tf.GradientTape() as g_tape, tf.GradientTape() as c_tape:
            fake = run(generator, noise)
            on_real, on_fake = run(critic, real), run(critic, fake)
            g_loss = tf.reduce_mean(bce(tf.ones_like(on_fake), on_fake))
            c_loss = tf.reduce_mean(bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake))
        for weights, gradients in (
            (generator, g_tape.gradient(g_loss, generator)), (critic, c_tape.gradient(c_loss, critic))
        ):  # fmt: skip
            for v, g in zip(weights, gradients, strict=True):
                v.assign_sub(0.1 * g)
        return g_loss, c_loss

    real = tf.constant(normal(6, 1, seed=20) + 2.0)
    return [step(real) for _ in range(4)]


@program
def variational_autoencoder(tf):
    encoder, decoder = tf.Variable(normal(6, 4, scale=0.3)), tf.Variable(normal(2, 6, seed=1, scale=0.3))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(x @ encoder, 2, axis=1)
            z = mean + tf.random.normal(tf.shape(mean)) * tf.exp(0.5 * log_variance)
            logits = z @ decoder
            likelihood = -tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
            kl = -0.5 * tf.reduce_sum(1.0 + log_variance - mean**2 - tf.exp(log_variance), 1)
            loss = tf.reduce_mean(kl - likelihood)
        gradients = tape.gradient(loss, [encoder, decoder])
        encoder.assign_sub(0.1 * gradients[0])
        decoder.assign_sub(0.1 * gradients[1])
        return loss

    x = tf.constant((normal(8, 6, seed=2) > 0).astype(np.float32))
    return [step(x) for _ in range(4)] + [encoder]


@program
def dropout_and_running_averages(tf):
    w = tf.Variable(normal(4, 3))
    mean, variance = tf.Variable(tf.zeros([3])), tf.Variable(tf.ones([3]))

    @tf.function
    def run(x, training):
        y = x @ w
        if training:
            m, v = tf.nn.moments(y, [0])
            mean.assign(0.9 * mean + 0.1 * m)
            variance.assign(0.9 * variance + 0.1 * v)
            y = tf.nn.dropout((y - m) * tf.math.rsqrt(v + 1e-3), 0.3)
        else:
            y = (y - mean) * tf.math.rsqrt(variance + 1e-3)
        return y

    x = tf.constant(normal(5, 4, seed=1))
    python = [run(x, True), run(x, False)]
    return [*python, run(x, tf.constant(True)), run(x, tf.constant(False)), mean, variance]


@program
def attention(tf):
    q, k, v = (tf.Variable(normal(8, 8, seed=i, scale=0.3)) for i in range(3))

    def heads(x):
        batch, length = tf.shape(x)[0], tf.shape(x)[1]
        return tf.transpose(tf.reshape(x, [batch, length, 2, 4]), [0, 2, 1, 3])

    @tf.function(input_signature=[tf.TensorSpec([None, None, 8], tf.float32)])
    def attend(x):
        scores = tf.matmul(heads(x @ q), heads(x @ k), transpose_b=True) / 2.0
        length = tf.shape(x)[1]
        mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
        weights = tf.nn.softmax(tf.where(mask > 0, scores, -1e9))
        return tf.reshape(tf.transpose(weights @ heads(x @ v), [0, 2, 1, 3]), tf.shape(x))

    out = []
    for length in (3, 5):
        with tf.GradientTape() as tape:
            y = attend(tf.constant(normal(2, length, 8, seed=length)))
            loss = tf.reduce_mean(y**2)
        out += [y, tape.gradient(loss, [q, k, v])]
    return out


@program
def embeddings_with_sparse_gradients(tf):
    table = tf.Variable(normal(6, 3))
    momentum = tf.Variable(tf.zeros([6, 3]))

    @tf.function
    def step(words, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1) - targets) ** 2)
        g = tape.gradient(loss, table)
        momentum.scatter_add(g)
        table.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices, g.dense_shape))
        return loss

    words, targets = tf.constant([[0, 2, 2], [5, 1, 0]]), tf.constant(normal(2, 3, seed=1))
    return [step(words, targets) for _ in range(3)] + [table, momentum]


@program
def learning_rate_schedule_and_early_stop(tf):
    w, step = tf.Variable(5.0), tf.Variable(0)
    best, patience = tf.Variable(math.inf), tf.Variable(0)

    def rate():
        warm = tf.cast(step, tf.float32) / 3.0
        return tf.cond(step < 3, lambda: 0.3 * warm, lambda: 0.3 * 0.5 ** (tf.cast(step, tf.float32) / 4.0))

    @tf.function
    def train(limit):
        loss = tf.constant(0.0)
        while step < limit and patience < 2:
            with tf.GradientTape() as tape:
                loss = (w - 1.0) ** 2 + tf.sin(4.0 * w)
            w.assign_sub(rate() * tape.gradient(loss, w))
            step.assign_add(1)
            if loss < best - 1e-3:
                best.assign(loss)
                patience.assign(0)
            else:
                patience.assign_add(1)
        return loss

    return [train(tf.constant(4)), train(tf.constant(30)), w, step, best, patience]


@program
def convolutional_step_with_augmentation(tf):
    kernel, dense = tf.Variable(normal(3, 3, 1, 4, scale=0.4)), tf.Variable(normal(4 * 4 * 4, 3, seed=1, scale=0.2))

    @tf.function
    def step(images, labels):
        flipped = tf.where(tf.random.uniform([tf.shape(images)[0], 1, 1, 1]) < 0.5, images[:, :, ::-1], images)
        noisy = flipped + tf.random.normal(tf.shape(images), stddev=0.1)
        with tf.GradientTape() as tape:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(noisy, kernel, 1, "SAME")), 2, 2, "SAME")
            logits = tf.reshape(h, [tf.shape(h)[0], -1]) @ dense
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 3), logits))
            loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in (kernel, dense)])
        for v, g in zip([kernel, dense], tape.gradient(loss, [kernel, dense]), strict=True):
            v.assign_sub(0.1 * tf.clip_by_norm(g, 1.0))
        return loss

    images, labels = tf.constant(normal(6, 8, 8, 1, seed=2)), tf.constant([0, 1, 2, 0, 1, 2])
    return [step(images, labels) for _ in range(4)]


CASES = program
