"""Gradients that are exactly zero."""

from . import lost

lost("a_network_of_dead_relus", "zero", "zero", ("dead ReLU", "more", "leaky"), """
tf.keras.utils.set_random_seed(0)
low = tf.keras.initializers.Constant(-100.0)
hidden = tf.keras.layers.Dense(4, activation="relu", bias_initializer=low, name="hidden")
model = tf.keras.Sequential([tf.keras.Input((3,)), hidden, tf.keras.layers.Dense(1, name="out")])
x, y = tf.random.normal((8, 3)), tf.ones((8, 1))
with tf.GradientTape() as tape:
    predictions = model(x)  # here
    loss = tf.reduce_mean((predictions - y) ** 2)
gradients = tape.gradient(loss, model.trainable_variables)
""")

lost("clipped_everywhere", "zero", "zero", ("`w`", "tf.clip_by_value", "clipped"), """
w = tf.Variable([5.0, -7.0])
with tf.GradientTape() as tape:
    bounded = tf.clip_by_value(w, -1.0, 1.0)  # here
    loss = tf.reduce_sum((bounded - 0.5) ** 2)
print(tape.gradient(loss, w))
""")

lost("an_underflow_in_half_precision", "zero", "zero", ("`w`", "float16", "Scale the loss"), """
w = tf.Variable([1e-3, 2e-3], dtype=tf.float16)
with tf.GradientTape() as tape:
    y = w * 1e-4  # here
    loss = tf.reduce_sum(y * y)
print(tape.gradient(loss, w))
""")

lost("a_saturated_generator", "zero", "zero", ("`score`", "tf.sigmoid", "saturated"), """
score = tf.Variable([120.0, 200.0])
with tf.GradientTape() as tape:
    probability = tf.sigmoid(score)  # here
    loss = tf.reduce_mean((probability - 0.3) ** 2)
print(tape.gradient(loss, score))
""")

lost("a_batch_that_is_all_padding", "zero", "zero", ("`embedding`", "mask * cost", "zeros"), """
tokens = tf.constant([[0, 0, 0]])
embedding = tf.Variable(tf.ones((5, 2)), name="embedding")
with tf.GradientTape() as tape:
    vectors = tf.gather(embedding, tokens)
    cost = tf.reduce_sum(vectors ** 2, axis=-1)
    mask = tf.cast(tokens != 0, tf.float32)
    loss = tf.reduce_sum(mask * cost)  # here
print(tape.gradient(loss, embedding))
""")

lost("the_sign_of_the_weights", "zero", "zero", ("`w`", "tf.sign"), """
w = tf.Variable([0.5, -0.2])
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    binary = tf.sign(w)  # here
    loss = (tf.reduce_sum(binary * x) - 1.0) ** 2
print(tape.gradient(loss, w))
""")

lost("a_dead_relu_inside_a_function", "zero", "zero", ("`bias`", "tf.nn.relu", "dead ReLU"), """
bias = tf.Variable([-3.0, -4.0])

@tf.function
def score(x):
    shifted = x + bias
    return tf.reduce_sum(tf.nn.relu(shifted))  # here

with tf.GradientTape() as tape:
    loss = score(tf.constant([1.0, 2.0]))
print(tape.gradient(loss, bias))
""")

lost("a_step_whose_loss_is_masked_in_a_function", "zero", "zero", ("`w`", "zeros"), """
w = tf.Variable([1.0, 2.0])

@tf.function
def step(x, weight):
    with tf.GradientTape() as tape:
        cost = (x * w) ** 2
        loss = tf.reduce_sum(cost * weight)  # here
    return tape.gradient(loss, w)

print(step(tf.ones(2), tf.zeros(2)))
""")

lost("an_overflow_in_half_precision", "zero", "not finite", ("`x`", "float16"), """
x = tf.Variable([300.0, 1.0], dtype=tf.float16)
with tf.GradientTape() as tape:
    squares = x * x  # here
    length = tf.sqrt(tf.reduce_sum(squares))
print(tape.gradient(length, x))
""")

lost("a_dead_network_in_fit", "zero", "zero", ("kernel", "dead ReLU"), """
hidden = tf.keras.layers.Dense(4, "relu", bias_initializer=tf.keras.initializers.Constant(-50.0))
model = tf.keras.Sequential([tf.keras.Input((3,)), hidden, tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), batch_size=4, epochs=2, verbose=0)  # here
""")

lost("a_branch_of_a_function_that_cuts", "None", "stop_gradient", ("`v`", "tf.stop_gradient"), """
v = tf.Variable(2.0)

@tf.function
def f(x):
    if x > 0.0:
        y = tf.stop_gradient(v) * x  # here
    else:
        y = tf.stop_gradient(v * 3.0) * x
    return y

with tf.GradientTape() as tape:
    loss = f(tf.constant(1.0))
tape.gradient(loss, v)
""")

lost("a_mean_of_nothing", "zero", "not finite", ("`w`", "tf.boolean_mask"), """
w = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.boolean_mask(w, w > 5.0))  # here
tape.gradient(loss, w)
""")

lost("a_gate_that_is_shut", "zero", "zero", ("`w`", "tf.where"), """
w, x = tf.Variable([1.0, 2.0]), tf.constant([-1.0, -2.0])
with tf.GradientTape() as tape:
    gated = tf.where(x > 0.0, w * x, 0.0)  # here
    loss = tf.reduce_sum(gated)
tape.gradient(loss, w)
""")

lost("ppo_with_every_ratio_clipped", "zero", "zero", ("`logp`", "tf.clip_by_value"), """
logp = tf.Variable([2.0, 3.0])
old, advantage = tf.constant([0.0, 0.0]), tf.constant([1.0, 1.0])
with tf.GradientTape() as tape:
    ratio = tf.exp(logp - old)
    clipped = tf.clip_by_value(ratio, 0.8, 1.2)  # here
    loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
tape.gradient(loss, logp)
""")

lost("a_hard_swish_far_to_the_right", "zero", "zero", ("`scale`", "relu6"), """
scale = tf.Variable([[40.0, 50.0]])
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
optimizer = tf.keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        gate = tf.nn.relu6(x * scale + 3.0) / 6.0  # here
        loss = tf.reduce_mean((gate - 0.5) ** 2)
    gradients = tape.gradient(loss, [scale])
    optimizer.apply_gradients(zip(gradients, [scale]))
""")

lost("the_logarithm_of_a_rectified_deviation", "zero", "not finite", ("deviation/", "tf.math.log(0) is -inf"), """
class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.mean = tf.keras.layers.Dense(2, name="mean")
        self.deviation = tf.keras.layers.Dense(2, "relu", kernel_initializer="zeros", name="deviation")

    def call(self, x):
        return self.mean(x), self.deviation(x)

encoder = Encoder()

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        mean, deviation = encoder(x)
        log_var = 2.0 * tf.math.log(deviation)  # here
        kl = -0.5 * tf.reduce_sum(1.0 + log_var - mean ** 2 - deviation ** 2)
    return tape.gradient(kl, encoder.trainable_variables)

step(tf.ones((4, 3)))
""")

lost("a_padded_sentence_of_nothing", "zero", "not finite", ("query/", "tf.nn.softmax(scores)", "entirely masked"), """
class Attention(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.query = tf.keras.layers.Dense(4, name="query")

    def call(self, x, mask):
        scores = tf.matmul(self.query(x), x, transpose_b=True)
        scores = tf.where(mask[:, None, :], scores, -np.inf)
        return tf.matmul(tf.nn.softmax(scores), x)  # here

attention = Attention()
x = tf.ones((2, 3, 4))
mask = tf.constant([[True, True, False], [False, False, False]])

@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(attention(x, mask) ** 2)
    return tape.gradient(loss, attention.trainable_variables)

step()
""")

lost("the_eigenvectors_of_equal_eigenvalues", "zero", "zero", ("`a`", "tf.linalg.eigh", "its rule returns zeros"), """
a = tf.Variable(np.eye(3, dtype="float32"))
with tf.GradientTape() as tape:
    values, vectors = tf.linalg.eigh(a)  # here
    loss = tf.reduce_sum(vectors[:, 0] * [1.0, 2.0, 3.0])
print(tape.gradient(loss, a))
""")

lost("the_second_derivative_of_rectified_units", "zero", "zero", ("`x`", "relu", "second derivative", "tf.tanh"), """
tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
x = tf.constant([[0.1], [0.5], [0.9]])
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        u = net(x)  # here
    du = t1.gradient(u, x)
print(t2.gradient(du, x))
""")

lost("a_loop_of_a_function_without_rounds", "zero", "zero", ("`w`", "zero times"), """
w = tf.Variable(2.0)

@tf.function
def power(n):
    y = tf.constant(1.0)
    for _ in tf.range(n):  # here
        y = y * w
    return y * 3.0

with tf.GradientTape() as tape:
    loss = power(tf.constant(0))
print(tape.gradient(loss, w))
""")

lost("a_branch_of_a_function_that_is_not_taken", "zero", "zero", ("`b`", "not taken"), """
a, b = tf.Variable(2.0), tf.Variable(3.0)

@tf.function
def f(x):
    if x > 0.0:  # here
        y = a * x
    else:
        y = b * x
    return y

with tf.GradientTape() as tape:
    loss = f(tf.constant(1.0))
print(tape.gradient(loss, [a, b]))
""")

lost("a_cond_that_takes_one_side_in_every_step", "zero", "zero", ("`b`", "not taken"), """
a, b = tf.Variable(2.0), tf.Variable(3.0)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: a * x, lambda: b * x)  # here
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, [a, b])

for _ in range(12):
    step(tf.ones(2))
""")

lost("batch_normalisation_of_one_example", "zero", "zero", ("kernel", "batch of one", "larger batches"), """
tf.keras.utils.set_random_seed(0)
layers = [tf.keras.layers.Dense(4, use_bias=False), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential([tf.keras.Input((3,)), *layers])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(tf.ones((1, 3)), training=True) - 1.0) ** 2)  # here
gradients = tape.gradient(loss, model.trainable_variables)
""")

lost("batches_of_one_in_fit", "zero", "zero", ("kernel", "batch of one"), """
tf.keras.utils.set_random_seed(0)
layers = [tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential([tf.keras.Input((3,)), *layers])
model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
model.fit(x, x[:, :1], batch_size=1, verbose=0)  # here
""")

lost("a_network_of_zeros", "zero", "zero", ("kernel", "2 more", "training never starts", "glorot_uniform"), """
hidden = tf.keras.layers.Dense(4, "tanh", kernel_initializer="zeros")
model = tf.keras.Sequential([tf.keras.Input((3,)), hidden, tf.keras.layers.Dense(1, kernel_initializer="zeros")])
optimizer = tf.keras.optimizers.SGD(0.1)
x, y = tf.random.normal((8, 3)), tf.random.normal((8, 1))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)  # here
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""")

lost("rectified_units_of_zeros", "zero", "zero", ("`w1` and 2 more", "training never starts"), """
w1, b1 = tf.Variable(tf.zeros((3, 4))), tf.Variable(tf.zeros(4))
w2, b2 = tf.Variable(tf.zeros((4, 1))), tf.Variable(tf.zeros(1))
for _ in range(3):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.ones((8, 3)) @ w1 + b1)  # here
        loss = tf.reduce_mean((h @ w2 + b2 - 1.0) ** 2)
    for v, g in zip([w1, b1, w2, b2], tape.gradient(loss, [w1, b1, w2, b2])):
        v.assign_sub(0.1 * g)
""")

lost("factors_that_both_begin_with_zeros", "zero", "zero", ("`u` and `v`", "training never starts"), """
u, v = tf.Variable(tf.zeros((5, 2))), tf.Variable(tf.zeros((4, 2)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((tf.matmul(u, v, transpose_b=True) - 1.0) ** 2)  # here
print(tape.gradient(loss, [u, v]))
""")

lost("a_softmax_of_one_unit_in_fit", "zero", "zero", ("kernel", "softmax over one element", "sigmoid"), """
last = tf.keras.layers.Dense(1, activation="softmax")
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "tanh"), last])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
model.fit(x, (x[:, :1] > 0).astype("float32"), epochs=2, verbose=0)  # here
""")

lost("a_softmax_along_the_wrong_axis", "zero", "zero", ("kernel", "tf.nn.softmax", "axis"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4)])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(model(tf.ones((1, 3))), axis=0)  # here
    loss = tf.reduce_mean((p - 0.5) ** 2)
gradients = tape.gradient(loss, model.trainable_variables)
""")

lost("a_single_class", "zero", "zero", ("kernel", "softmax over one element"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("adam", tf.keras.losses.CategoricalCrossentropy(from_logits=True))
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), epochs=2, verbose=0)  # here
""")

lost("the_imaginary_part_of_a_real_signal", "zero", "zero", ("`x`", "tf.math.imag", "tf.abs"), """
x = tf.Variable([1.0, 2.0, 3.0, 4.0])
with tf.GradientTape() as tape:
    z = tf.cast(x, tf.complex64) * 2.0
    loss = tf.reduce_sum(tf.math.imag(z))  # here
print(tape.gradient(loss, x))
""")

lost("the_power_of_an_imaginary_part", "zero", "zero", ("`x`", "imag"), """
x = tf.Variable([1.0, 2.0, 3.0, 4.0])
with tf.GradientTape() as tape:
    z = tf.cast(x, tf.complex64)
    loss = tf.reduce_sum(tf.math.imag(z) ** 2)  # here
print(tape.gradient(loss, x))
""")

lost("a_leaky_unit_without_a_leak", "zero", "zero", ("net/", "leaky_relu", "negative_slope"), """
low = tf.keras.initializers.Constant(-2.0)
layers = [tf.keras.layers.Dense(3, kernel_initializer=low), tf.keras.layers.LeakyReLU(negative_slope=0.0)]
net = tf.keras.Sequential([tf.keras.Input((2,)), *layers, tf.keras.layers.Dense(1)], name="net")
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(tf.ones((8, 2))) - 1.0) ** 2)  # here
    gradients = tape.gradient(loss, net.trainable_variables)
""")

lost("singular_vectors_of_the_identity", "zero", "zero", ("`a`", "equal singular values"), """
a = tf.Variable(tf.eye(3), name="a")
with tf.GradientTape() as tape:
    s, u, v = tf.linalg.svd(a)  # here
    loss = tf.reduce_sum(u)
tape.gradient(loss, a)
""")

lost("a_branch_behind_rows_that_are_split_and_joined", "zero", "zero", ("`w`", "where selects the other branch"), """
w = tf.Variable(np.ones([9, 3], np.float32), name="w")
v = tf.Variable(np.ones([9, 3], np.float32), name="v")
never = tf.constant(False)
for _ in range(12):
    with tf.GradientTape() as tape:
        h = tf.stack(tf.unstack(tf.sin(w)))
        h = tf.concat([h[:1], h[1:]], 0)
        h = tf.where(never, h, 0.5)  # here
        loss = tf.reduce_mean(tf.square(h * v))
    tape.gradient(loss, [w, v])
""")

lost("zeros_of_an_infinity", "not finite", "not finite", ("`w`", "tf.math.log"), """
w = tf.Variable([1.0, 2.0], name="w")
v = tf.Variable([1.0, 2.0], name="v")
for _ in range(12):
    with tf.GradientTape() as tape:
        h = tf.exp(tf.math.log(w - w))  # here
        loss = tf.reduce_sum(h * v)
    tape.gradient(loss, [w, v])
""")

lost("boxes_that_do_not_overlap", "zero", "zero", ("`box`", "tf.maximum", "clipped"), """
box, target = tf.Variable([0.0, 0.0, 1.0, 1.0], name="box"), tf.constant([5.0, 5.0, 6.0, 6.0])
for _ in range(12):
    with tf.GradientTape() as tape:
        low, high = tf.maximum(box[:2], target[:2]), tf.minimum(box[2:], target[2:])
        size = tf.maximum(high - low, 0.0)  # here
        shared = size[0] * size[1]
        area = tf.reduce_prod(box[2:] - box[:2]) + 1.0
        loss = 1.0 - shared / (area - shared)
    tape.gradient(loss, box)
""")

lost("a_dead_unit_after_a_gradient_of_leaky_ones", "zero", "zero", ("`w`", "tf.nn.relu(…)", "dead ReLU"), """
w, x = tf.Variable(np.full([9, 3], 0.7, np.float32), name="w"), tf.ones([9, 3])
@tf.function
def step():
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.sin(tf.nn.leaky_relu(w * x)))
        h = tf.nn.relu(inner.gradient(y, x) - 90.0)  # here
        loss = tf.reduce_sum(tf.tanh(h + 0.5))
    return tape.gradient(loss, w)
for _ in range(3):
    step()
""")

lost("a_branch_that_no_round_of_a_loop_takes", "zero", "zero", ("`w`", "no iteration of the loop"), """
w, v = tf.Variable(2.5, name="w"), tf.Variable(1.5, name="v")
@tf.function
def step(n):
    with tf.GradientTape() as tape:
        y = tf.constant(0.0)
        for i in tf.range(n):
            if i > 10:  # here
                y = y + w
            else:
                y = y + v
        loss = y * y
    return tape.gradient(loss, [w, v])
for _ in range(12):
    step(tf.constant(3))
""")
