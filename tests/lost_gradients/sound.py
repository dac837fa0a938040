"""Healthy programs: nothing may be reported."""

from . import healthy

healthy("linear_regression", """
w, b = tf.Variable([[0.0]]), tf.Variable([0.0])
x = tf.constant([[1.0], [2.0]])
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - 2.0 * x - 1.0) ** 2)
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v.assign_sub(0.1 * g)
""")

healthy("a_classifier_in_fit", """
tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dropout(0.3),
                             tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(3)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
model.fit(x, np.arange(32) % 3, batch_size=8, epochs=2, verbose=0, validation_data=(x, np.arange(32) % 3))
""")

healthy("an_embedding_with_unused_rows", """
table = tf.Variable(tf.ones((100, 4)))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [3, 5, 3]) ** 2)
print(tape.gradient(loss, table))
""")

healthy("a_mask_over_half_a_batch", """
w = tf.Variable([[1.0], [2.0]])
x, mask = tf.ones((4, 2)), tf.constant([1.0, 1.0, 0.0, 0.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(mask * tf.squeeze(x @ w, 1) ** 2) / tf.reduce_sum(mask)
print(tape.gradient(loss, w))
""")

healthy("a_relu_that_is_dead_for_one_example", """
w = tf.Variable([1.0, -1.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.relu(w * 2.0))
print(tape.gradient(loss, w))
""")

healthy("a_gan_as_it_should_be", """
Dense = tf.keras.layers.Dense
gen = tf.keras.Sequential([tf.keras.Input((2,)), Dense(4, "tanh"), Dense(3)], name="gen")
disc = tf.keras.Sequential([tf.keras.Input((3,)), Dense(4, "tanh"), Dense(1)], name="disc")
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizers = tf.keras.optimizers.Adam(), tf.keras.optimizers.Adam()

@tf.function
def step(real):
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake_out, real_out = disc(gen(tf.random.normal((5, 2)))), disc(real)
        g_loss = bce(tf.ones_like(fake_out), fake_out)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    for tape, loss, model, optimizer in ((g_tape, g_loss, gen, optimizers[0]), (d_tape, d_loss, disc, optimizers[1])):
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

for _ in range(3):
    step(tf.ones((5, 3)))
""")

healthy("a_second_derivative", """
x = tf.Variable(3.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x ** 3
    dy = t1.gradient(y, x)
print(t2.gradient(dy, x))
""")

healthy("a_function_with_loops_and_branches", """
v = tf.Variable([1.0, 2.0])

@tf.function
def power(n):
    y = v
    for _ in tf.range(n):
        if tf.reduce_sum(y) > 10.0:
            y = y * 0.5
        else:
            y = y * v + 1.0
    return tf.reduce_sum(y)

for n in (3, 5):
    with tf.GradientTape() as tape:
        loss = power(tf.constant(n))
    print(tape.gradient(loss, v))
""")

healthy("zeros_that_were_asked_for", """
a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = a * a
print(tape.gradient(loss, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO))
""")

healthy("a_last_layer_that_begins_with_zeros", """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "tanh"),
                             tf.keras.layers.Dense(1, kernel_initializer="zeros")])
optimizer = tf.keras.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(tf.ones((4, 3))) - 1.0) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
""")

healthy("an_optimum", """
x = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = x ** 2 + tf.cos(x)
print(tape.gradient(y, x))
""")

healthy("an_episode_without_a_reward", """
tf.keras.utils.set_random_seed(0)
policy = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam()
for reward in (1.0, 0.0, 2.0, 0.0):
    with tf.GradientTape() as tape:
        log_probability = tf.nn.log_softmax(policy(tf.ones((1, 4))))[0, 1]
        loss = -log_probability * reward
    optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
""")

healthy("a_hinge_loss_that_is_satisfied", """
w = tf.Variable([0.1, 0.2])
x, y = tf.constant([[1.0, 2.0], [-1.0, -3.0]]), tf.constant([1.0, -1.0])
for _ in range(20):
    with tf.GradientTape() as tape:
        margin = y * tf.reduce_sum(x * w, axis=1)
        loss = tf.reduce_mean(tf.maximum(0.0, 1.0 - margin))
    w.assign_sub(0.5 * tape.gradient(loss, w))
assert float(loss) == 0.0
""")

healthy("a_straight_through_estimator", """
w = tf.Variable([0.2, 1.7])
with tf.GradientTape() as tape:
    rounded = w + tf.stop_gradient(tf.round(w) - w)
    loss = tf.reduce_sum(rounded ** 2)
print(tape.gradient(loss, w))
""")

healthy("frozen_layers_in_fit", """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, name="base"), tf.keras.layers.Dense(1)])
model.layers[0].trainable = False
model.compile("sgd", "mse")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), epochs=2, verbose=0)
""")

healthy("attention_with_a_mask_of_infinities", """
scores = tf.Variable([[1.0, 2.0, 3.0]])
with tf.GradientTape() as tape:
    weights = tf.nn.softmax(tf.where([[True, True, False]], scores, -np.inf))
    loss = tf.reduce_sum(weights * [[1.0, 5.0, 9.0]])
print(tape.gradient(loss, scores))
""")

healthy("a_jacobian_with_zeros", """
x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = x * x
print(tape.jacobian(y, x))
""")

healthy("a_recurrent_network_in_fit", """
model = tf.keras.Sequential([tf.keras.Input((5, 2)), tf.keras.layers.LSTM(3), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(8, 5, 2)).astype("float32")
model.fit(x, np.ones((8, 1), "float32"), epochs=2, verbose=0)
""")

healthy("maml_with_nested_tapes", """
w = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = (w - 1.0) ** 2
    fast = w - 0.1 * inner.gradient(loss, w)
    after = (fast - 3.0) ** 2
outer.gradient(after, w)
""")

healthy("gradient_penalty_in_a_function", """
critic = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1)])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = critic(x)
        g = inner.gradient(score, x)
        penalty = tf.reduce_mean((tf.norm(g, axis=1) - 1.0) ** 2)
    return tape.gradient(penalty, critic.layers[0].kernel)
for _ in range(3): step(tf.ones((3, 2)))
""")

healthy("custom_gradient_and_recompute", """
@tf.custom_gradient
def clip(x):
    return x, lambda g: tf.clip_by_norm(g, 1.0)
w = tf.Variable([1.0, 2.0])
block = tf.recompute_grad(lambda x: tf.sin(x * w))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(clip(w) * block(w))
tape.gradient(loss, w)
""")

healthy("py_function_with_a_derivative", """
w = tf.Variable([1.0, 2.0])
@tf.function
def f():
    return tf.reduce_sum(tf.py_function(lambda x: x * x, [w], tf.float32))
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = f()
    tape.gradient(loss, w)
""")

healthy("conv_batchnorm_in_fit", """
tf.keras.utils.set_random_seed(1)
L = tf.keras.layers
body = [L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(), L.Flatten()]
model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), *body, L.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
x = np.random.default_rng(0).normal(size=(16, 8, 8, 1)).astype("float32")
model.fit(x, np.arange(16) % 2, batch_size=8, epochs=2, verbose=0)
""")

healthy("mixed_precision_fit", """
tf.keras.mixed_precision.set_global_policy("mixed_float16")
try:
    last = tf.keras.layers.Dense(1, dtype="float32")
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "tanh"), last])
    model.compile("adam", "mse")
    model.fit(np.ones((8, 3), "float32"), np.full((8, 1), 1000.0, "float32"), batch_size=4, epochs=2, verbose=0)
finally:
    tf.keras.mixed_precision.set_global_policy("float32")
""")

healthy("a_metric_that_is_counted_in_the_loop_of_a_function", """
w, seen = tf.Variable([1.0, 2.0]), tf.Variable(0.0, trainable=False)

@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        total = tf.zeros([])
        for x in batch:
            error = tf.reduce_sum((w * x - 1.0) ** 2)
            seen.assign_add(error)
            total += error
    w.assign_sub(0.01 * tape.gradient(total, w))

for _ in range(3):
    step(tf.ones((3, 2)))
""")

healthy("products_with_the_hessian_of_a_rectified_network", """
w = tf.Variable(np.random.default_rng(0).normal(size=(3, 4)).astype("float32"))
v = tf.Variable(np.random.default_rng(1).normal(size=(4, 1)).astype("float32"))
x = tf.constant(np.random.default_rng(2).normal(size=(8, 3)).astype("float32"))
with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_sum(tf.nn.relu(x @ w) @ v)
products = tape.hvp(loss, [w, v], [tf.ones_like(w), tf.ones_like(v)])
blocks = tape.hessian(loss, [w, v])
""")

healthy("infinities_that_a_mask_takes_away_in_a_compiled_step", """
w = tf.Variable([[0.5], [-0.5]])

@tf.function(jit_compile=True)
def step(x, lengths):
    noise = tf.where(lengths > 0.0, 1.0 / tf.maximum(lengths, 1.0), 0.0)
    with tf.GradientTape() as tape:
        scores = tf.squeeze(x @ w, 1) + tf.where(lengths > 0.0, 0.0, -np.inf)
        loss = -tf.reduce_sum(tf.nn.softmax(scores) * noise)
    w.assign_sub(0.1 * tape.gradient(loss, w))

for _ in range(3):
    step(tf.constant([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]]), tf.constant([1.0, 2.0, 0.0]))
""")

healthy("a_custom_gradient_that_is_zero_for_a_while", """
w = tf.Variable([0.5, 3.0])

@tf.custom_gradient
def clipped(x):
    return tf.clip_by_value(x, -1.0, 1.0), lambda g: g * tf.cast(tf.abs(x) < 1.0, tf.float32)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((clipped(w * x) - 0.9) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))

for x in (1.0, 0.1, 0.5):
    step(tf.constant(x))
""")

healthy("a_margin_that_is_kept_from_the_start", """
w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.0)
x, y = tf.constant([[1.0, 2.0], [-1.0, -3.0]]), tf.constant([1.0, -1.0])
for _ in range(15):
    with tf.GradientTape() as tape:
        margin = y * (tf.reduce_sum(x * w, axis=1) + b)
        loss = tf.reduce_mean(tf.nn.relu(1.0 - margin)) + 1e-3 * tf.reduce_sum(w ** 2)
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v.assign_sub(0.5 * g)
""")

healthy("triplets_that_are_told_apart", """
tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
a, p, n = tf.ones((4, 3)), tf.ones((4, 3)) * 1.01, -5.0 * tf.ones((4, 3))
for _ in range(3):
    with tf.GradientTape() as tape:
        near = tf.reduce_sum((net(a) - net(p)) ** 2, 1)
        far = tf.reduce_sum((net(a) - net(n)) ** 2, 1)
        loss = tf.reduce_mean(tf.nn.relu(near - far + 0.2))
    tape.gradient(loss, net.trainable_variables)
""")

healthy("the_hinge_of_keras_in_fit", """
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "hinge")
model.fit(np.array([[3.0, 2.0], [-4.0, -2.0]], "float32"), np.array([[1.0], [-1.0]]), epochs=15, verbose=0)
""")

healthy("pairs_with_a_contrastive_loss", """
tf.keras.utils.set_random_seed(0)
embed = tf.keras.layers.Dense(2)
for i in range(6):
    a, b = tf.random.normal((6, 3)), tf.random.normal((6, 3)) * 5.0
    same = tf.constant(np.arange(6) % 2, tf.float32) * float(i > 1)
    with tf.GradientTape() as tape:
        d = tf.sqrt(tf.reduce_sum((embed(a) - embed(b)) ** 2, 1) + 1e-9)
        loss = tf.reduce_mean(same * d ** 2 + (1.0 - same) * tf.square(tf.maximum(0.5 - d, 0.0)))
    tape.gradient(loss, embed.trainable_variables)
""")

healthy("branches_in_turns", """
a, b = tf.Variable(2.0), tf.Variable(3.0)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: a * x, lambda: b * x)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, [a, b])

for i in range(6):
    step(tf.ones(2) * (-1.0) ** i)
""")

healthy("a_loop_that_is_empty_now_and_then", """
w = tf.Variable(0.5)

@tf.function
def run(n):
    h = tf.constant(0.0)
    for i in tf.range(n):
        h += tf.tanh(w * tf.cast(i, tf.float32))
    return h

for n in (0, 3, 0, 2):
    with tf.GradientTape() as tape:
        loss = run(tf.constant(n)) ** 2
    tape.gradient(loss, w)
""")

healthy("a_normalisation_that_was_adapted", """
norm = tf.keras.layers.Normalization()
data = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
norm.adapt(data)
model = tf.keras.Sequential([tf.keras.Input((3,)), norm, tf.keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(data) ** 2)
tape.gradient(loss, model.trainable_variables)
""")

healthy("single_examples_for_a_few_rectified_units", """
for seed in range(12):
    tf.keras.utils.set_random_seed(seed)
    net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(1)])
    x = tf.random.normal((16, 2))
    for i in range(16):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x[i:i + 1]) - 1.0) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
""")

healthy("a_reward_that_comes_late", """
tf.keras.utils.set_random_seed(0)
policy = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(2)])
for episode in range(8):
    with tf.GradientTape() as tape:
        log_probability = tf.nn.log_softmax(policy(tf.random.normal((5, 3))))
        loss = -tf.reduce_mean(log_probability[:, 0]) * float(episode % 4 == 3)
    tape.gradient(loss, policy.trainable_variables)
""")

healthy("a_weight_of_the_loss_that_is_warmed_up", """
tf.keras.utils.set_random_seed(0)
x, y = tf.random.normal((8, 3)), tf.random.normal((8, 1))
trunk, main, extra = tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
for layer in (main, extra):
    layer(trunk(x))

@tf.function
def step(weight):
    with tf.GradientTape() as tape:
        h = trunk(x)
        loss = tf.reduce_mean((main(h) - y) ** 2) + weight * tf.reduce_mean((extra(h) - y) ** 2)
    return tape.gradient(loss, [v for layer in (trunk, main, extra) for v in layer.trainable_variables])

for i in range(6):
    step(tf.constant(max(0.0, (i - 3) * 0.1)))
""")

healthy("an_adapter_that_begins_with_zeros", """
weights, a, b = tf.random.normal((4, 4)), tf.Variable(tf.random.normal((4, 2))), tf.Variable(tf.zeros((2, 4)))
x, y = tf.random.normal((8, 4)), tf.random.normal((8, 4))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ weights + x @ a @ b - y) ** 2)
tape.gradient(loss, [a, b])
""")

healthy("residual_blocks_that_begin_as_nothing", """
tf.keras.utils.set_random_seed(0)
x = tf.keras.Input((6,))
h = tf.keras.layers.BatchNormalization(gamma_initializer="zeros")(tf.keras.layers.Dense(6, "relu")(x))
model = tf.keras.Model(x, tf.keras.layers.Dense(1)(x + h))
model.compile("sgd", "mse")
model.fit(np.random.default_rng(0).normal(size=(8, 6)).astype("float32"), np.ones((8, 1)), verbose=0)
""")

healthy("a_bias_before_batch_normalisation", """
tf.keras.utils.set_random_seed(0)
layers = [tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(), tf.keras.layers.ReLU()]
model = tf.keras.Sequential([tf.keras.Input((3,)), *layers, tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
model.fit(x, x[:, :1], batch_size=2, epochs=2, verbose=0)
""")

healthy("a_first_batch_of_zeros", """
w = tf.Variable([[1.0], [2.0]])
for x in ([[0.0, 0.0]], [[1.0, 2.0]], [[0.0, 1.0]]):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.constant(x) @ w - 1.0) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
""")

healthy("absolute_values_that_reach_their_least", """
w = tf.Variable([0.5, -0.5])
for _ in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.abs(w))
    w.assign_sub(0.125 * tape.gradient(loss, w))
""")

healthy("experts_of_which_one_is_chosen", """
tf.keras.utils.set_random_seed(0)
gate, experts = tf.keras.layers.Dense(2), [tf.keras.layers.Dense(1) for _ in range(2)]
for i in range(12):
    x = tf.random.normal((1, 3))
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(gate(x))
        best = tf.argmax(p, 1)[:, None]
        y = sum(tf.where(best == j, p[:, j:j + 1] * experts[j](x), 0.0) for j in range(2))
        loss = tf.reduce_mean((y - 1.0) ** 2)
    tape.gradient(loss, [v for layer in (gate, *experts) for v in layer.trainable_variables])
""")

healthy("a_critic_with_a_gradient_penalty", """
tf.keras.utils.set_random_seed(0)
layers = [tf.keras.layers.Dense(8), tf.keras.layers.LeakyReLU(), tf.keras.layers.Dense(1)]
critic = tf.keras.Sequential([tf.keras.Input((2,)), *layers])

@tf.function
def step(real, fake):
    with tf.GradientTape() as tape:
        share = tf.random.uniform((8, 1))
        mixed = share * real + (1.0 - share) * fake
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            score = critic(mixed)
        slopes = tf.sqrt(tf.reduce_sum(inner.gradient(score, mixed) ** 2, 1) + 1e-12)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + tf.reduce_mean((slopes - 1.0) ** 2)
    return tape.gradient(loss, critic.trainable_variables)

for _ in range(3):
    step(tf.random.normal((8, 2)), tf.random.normal((8, 2)) + 1.0)
""")

healthy("masked_logits_of_which_the_target_holds_infinities", """
w = tf.Variable([[0.5, -0.5, 1.0]])
with tf.GradientTape(persistent=True) as tape:
    logits = tf.where([[True, False, True]], w * 2.0, -np.inf)
tape.gradient(logits, w)
""")

healthy("a_scaled_loss_that_overflows", """
tf.keras.mixed_precision.set_global_policy("mixed_float16")
try:
    net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01))
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(tf.random.normal((8, 4))) - 1.0) ** 2)
            scaled = optimizer.scale_loss(loss)
        optimizer.apply_gradients(zip(tape.gradient(scaled, net.trainable_variables), net.trainable_variables))
finally:
    tf.keras.mixed_precision.set_global_policy("float32")
""")

healthy("one_triplet_that_is_told_apart", """
points = tf.Variable([[0.0, 1.0], [0.1, 1.0], [5.0, -4.0]], name="points")
for _ in range(12):
    with tf.GradientTape() as tape:
        near = tf.reduce_sum((points[0] - points[1]) ** 2)
        far = tf.reduce_sum((points[0] - points[2]) ** 2)
        loss = tf.maximum(near - far + 0.2, 0.0)
    tape.gradient(loss, points)
""")

healthy("a_bias_whose_gradient_adds_up_to_zero", """
w = tf.Variable([[0.5], [2.0]], name="w")
b = tf.Variable([0.0], name="b")
x = tf.constant([[1.0, 1.0], [-1.0, -1.0], [2.0, 0.5], [-2.0, -0.5]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ w + b) ** 2)
tape.gradient(loss, [w, b])
""")
