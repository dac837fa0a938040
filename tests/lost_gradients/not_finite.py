"""Gradients that are NaN or infinite."""

from . import lost

lost("cross_entropy_by_hand", "not finite", "not finite", ("`logits`", "tf.math.log", "cross_entropy"), """
labels = tf.constant([[0.0, 1.0]])
logits = tf.Variable([[200.0, -200.0]])
with tf.GradientTape() as tape:
    probabilities = tf.nn.softmax(logits)
    loss = -tf.reduce_sum(labels * tf.math.log(probabilities))  # here
print(tape.gradient(loss, logits))
""")

lost("the_distance_of_equal_points_in_a_function", "not finite", "not finite", ("`a`", "norm", "1e-12"), """
a = tf.Variable([1.0, 2.0])

@tf.function
def distance(b):
    squares = (a - b) ** 2
    return tf.sqrt(tf.reduce_sum(squares))  # here

with tf.GradientTape() as tape:
    loss = distance(tf.constant([1.0, 2.0]))
print(tape.gradient(loss, a))
""")

lost("the_where_trap", "not finite", "not finite", ("`x`", "where", "tf.math.log"), """
x = tf.Variable([0.0, 4.0])
with tf.GradientTape() as tape:
    logs = tf.math.log(x)  # here
    y = tf.where(x > 0.0, logs, 0.0)
    loss = tf.reduce_sum(y)
print(tape.gradient(loss, x))
""")

lost("softmax_by_hand_in_a_step", "not finite", "not finite", ("`w`", "tf.exp", "tf.nn.softmax"), """
w = tf.Variable([[50.0, 1.0]])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        logits = x @ w
        e = tf.exp(logits)  # here
        p = e / tf.reduce_sum(e, axis=1, keepdims=True)
        loss = tf.reduce_mean(p[:, 0])
    return tape.gradient(loss, w)

print(step(tf.constant([[3.0]])))
""")

lost("the_mean_over_an_empty_mask", "not finite", "not finite", ("`w`", "divide_no_nan"), """
w = tf.Variable([1.0, 2.0, 3.0])
mask = tf.constant([0.0, 0.0, 0.0])
with tf.GradientTape() as tape:
    total = tf.reduce_sum(w * mask)
    mean = total / tf.reduce_sum(mask)  # here
print(tape.gradient(mean, w))
""")

lost("a_learning_rate_that_is_too_high_in_fit", "not finite", "not finite", ("kernel", "learning rate"), """
tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(1e6), "mse")
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
model.fit(x, x[:, :1], batch_size=8, epochs=3, verbose=0)  # here
""")

lost("a_nan_in_the_data_of_fit", "not finite", "not finite", ("kernel", "NaN", "data"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
x[3, 1] = np.nan
model.fit(x, y, batch_size=8, epochs=1, verbose=0)  # here
""")

lost("a_nan_late_in_a_long_fit", "not finite", "not finite", ("kernel", "1 NaN among 3 entries", "Clean the data"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.ones((40, 3), "float32"), np.ones((40, 1), "float32")
x[37, 1] = np.nan
model.fit(x, y, batch_size=1, shuffle=False, verbose=0)  # here
""")

lost("a_root_in_bfloat16", "not finite", "not finite", ("`w`", "tf.sqrt", "1e-12"), """
w = tf.Variable([0.0, 1.0], dtype=tf.bfloat16)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sqrt(w))  # here
tape.gradient(loss, w)
""")

lost("a_custom_layer_that_divides_by_the_norm", "not finite", "not finite", ("kernel", "norm"), """
class UnitNorm(tf.keras.layers.Layer):
    def call(self, x):
        return x / tf.norm(x, axis=-1, keepdims=True)  # here

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, use_bias=False), UnitNorm()])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.zeros((2, 3))) ** 2)
print(tape.gradient(loss, model.trainable_variables))
""")

lost("the_angle_of_equal_vectors", "not finite", "not finite", ("`u`", "tf.acos", "clip"), """
u, v = tf.Variable([1.0, 0.0]), tf.constant([1.0, 0.0])
with tf.GradientTape() as tape:
    cosine = tf.reduce_sum(u * v)
    angle = tf.acos(cosine)  # here
print(tape.gradient(angle, u))
""")

lost("a_loop_that_overflows_in_a_function", "not finite", "not finite", ("`v`", "tf.exp"), """
v = tf.Variable(1.0)

@tf.function
def tower(n):
    y = v * 1.0
    for _ in tf.range(n):
        y = tf.exp(y)  # here
    return y

with tf.GradientTape() as tape:
    loss = tower(tf.constant(6))
print(tape.gradient(loss, v))
""")

lost("a_later_step_of_a_function", "not finite", "not finite", ("`w`", "tf.math.log"), """
w = tf.Variable(1.0)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.math.log(x * w)  # here
    return tape.gradient(loss, w)

for x in (2.0, 1.0, 0.0):
    print(step(tf.constant(x)))
""")

lost("train_step_of_a_model_with_a_nan", "not finite", "not finite", ("kernel", "tf.math.log"), """
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="zeros")

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            prediction = self(x, training=True)
            loss = -tf.reduce_mean(y * tf.math.log(prediction))  # here
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}

model = Net()
model.compile("sgd")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), batch_size=4, verbose=0)
""")

lost("a_division_in_a_while_loop", "not finite", "not finite", ("`v`", "divi"), """
v = tf.Variable(2.0)

@tf.function
def f(n):
    y = v * 1.0
    i = tf.constant(2.0)
    while i >= 0.0:
        y = y / i  # here
        i -= 1.0
    return y

with tf.GradientTape() as tape:
    loss = f(1)
tape.gradient(loss, v)
""")

lost("the_norm_of_a_zero_variable", "not finite", "not finite", ("`w`", "norm"), """
w = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    penalty = tf.sqrt(tf.reduce_sum(w * w))  # here
    loss = 0.1 * penalty
tape.gradient(loss, w)
""")

lost("advantages_of_a_single_step", "not finite", "not finite", ("policy/", "tf.math.reduce_std(returns)"), """
policy = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)], name="policy")

def normalised(returns):
    centred = returns - tf.reduce_mean(returns)
    return centred / tf.math.reduce_std(returns)  # here

def update(states, actions, returns):
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(policy(states))
        taken = tf.gather(log_probs, actions, batch_dims=1)
        loss = -tf.reduce_mean(taken * normalised(returns))
    return tape.gradient(loss, policy.trainable_variables)

update(tf.ones((3, 4)), tf.constant([0, 1, 0]), tf.constant([1.0, 2.0, 0.5]))
update(tf.ones((1, 4)), tf.constant([1]), tf.constant([2.0]))
""")

lost("a_focal_loss_of_a_certain_mistake", "not finite", "not finite", ("`logit`", "tf.math.log"), """
logit = tf.Variable([[-120.0], [2.0]])
labels = tf.constant([[1.0], [1.0]])

def focal_loss(y_true, y_pred, gamma=2.0):
    p_t = tf.where(y_true == 1.0, y_pred, 1.0 - y_pred)
    return -tf.reduce_mean((1.0 - p_t) ** gamma * tf.math.log(p_t))  # here

with tf.GradientTape() as tape:
    loss = focal_loss(labels, tf.sigmoid(logit))
print(tape.gradient(loss, logit))
""")

lost("the_deviation_of_a_batch_that_is_constant", "not finite", "not finite", ("`gain`", "reduce_std"), """
gain = tf.Variable(2.0)
x = tf.ones((16, 4)) * 3.0

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = x * gain
        spread = tf.math.reduce_std(h, axis=0)  # here
        loss = tf.reduce_sum((spread - 1.0) ** 2)
    return tape.gradient(loss, gain)

step(x)
""")

lost("attention_in_which_all_is_masked", "not finite", "not finite", ("`query`", "A division by zero"), """
query = tf.Variable(np.ones((2, 4), "float32"))
keys = tf.constant(np.ones((2, 3, 4), "float32"))
mask = tf.constant([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])

@tf.function
def attend():
    with tf.GradientTape() as tape:
        weights = tf.exp(tf.einsum("bd,bkd->bk", query, keys)) * mask
        weights = weights / tf.reduce_sum(weights, axis=1, keepdims=True)  # here
        context = tf.einsum("bk,bkd->bd", weights, keys)
        loss = tf.reduce_sum(context ** 2)
    return tape.gradient(loss, query)

attend()
""")

lost("a_recurrence_that_explodes", "not finite", "not finite", ("`w`", "grew"), """
w = tf.Variable(np.eye(4, dtype="float32") * 3.0)
inputs = tf.ones((1, 100, 4))
with tf.GradientTape() as tape:
    h = tf.zeros((1, 4))
    for t in range(inputs.shape[1]):
        h = tf.nn.relu(h @ w + inputs[:, t])  # here
    loss = tf.reduce_mean(h)
print(tape.gradient(loss, w))
""")

lost("a_gamma_correction_of_a_negative_pixel", "not finite", "not finite", ("`image` and `gamma`", "negative base"), """
image = tf.Variable([[0.5, 0.2], [-0.01, 0.9]])
gamma = tf.Variable(0.45)
with tf.GradientTape() as tape:
    corrected = image ** gamma  # here
    loss = tf.reduce_mean((corrected - 0.5) ** 2)
print(tape.gradient(loss, [image, gamma]))
""")

lost("certain_probabilities_in_a_compiled_step", "not finite", "not finite", ("`w`", "tf.math.log"), """
w = tf.Variable([[1.0], [2.0]])

@tf.function(jit_compile=True)
def step(x, y):
    with tf.GradientTape() as tape:
        p = tf.sigmoid(x @ w)
        loss = -tf.reduce_mean(y * tf.math.log(p) + (1.0 - y) * tf.math.log(1.0 - p))  # here
    gradient = tape.gradient(loss, w)
    w.assign_sub(0.1 * gradient)
    return loss

for scale in (1.0, 2.0, 30.0):
    step(scale * tf.ones((4, 2)), tf.constant([[1.0], [0.0], [1.0], [1.0]]))
""")

lost("gumbel_noise_of_a_zero", "not finite", "not finite", ("`logits`", "1 inf among 3"), """
logits = tf.Variable([[1.0, 2.0, 0.5]])
uniform = tf.constant([[0.3, 0.0, 0.9]])

def gumbel_softmax(logits, temperature):
    noise = -tf.math.log(-tf.math.log(uniform))  # here
    return tf.nn.softmax((logits - noise) / temperature)

with tf.GradientTape() as tape:
    sample = gumbel_softmax(logits, 0.5)
    loss = tf.reduce_sum(sample * [[1.0, 2.0, 3.0]])
print(tape.gradient(loss, logits))
""")

lost("embeddings_of_an_empty_image", "not finite", "not finite", ("kernel", "A division by zero"), """
class Contrastive(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.layers.Dense(4, use_bias=False)

    def train_step(self, data):
        a, b = data
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a), self.encoder(b)
            za = za / tf.norm(za, axis=1, keepdims=True)  # here
            zb = zb / tf.norm(zb, axis=1, keepdims=True)
            loss = -tf.reduce_mean(tf.reduce_sum(za * zb, axis=1))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}

images = np.ones((8, 6), "float32")
views = images.copy()
images[3] = 0.0
model = Contrastive()
model.compile(optimizer="sgd")
model.fit(images, views, batch_size=4, verbose=0)
""")

lost("a_planet_at_the_origin", "not finite", "not finite", ("`velocity`", "sqrt"), """
velocity = tf.Variable([1.0, 0.5])

@tf.function
def simulate(steps):
    with tf.GradientTape() as tape:
        position, total = tf.zeros(2), tf.zeros([])
        for i in tf.range(steps):
            radius = tf.sqrt(tf.reduce_sum(position ** 2))  # here
            total += radius
            position = position + 0.1 * velocity * tf.cast(i, tf.float32)
        loss = total ** 2
    return tape.gradient(loss, velocity)

simulate(tf.constant(4))
""")

lost("the_heading_of_a_robot_that_stands", "not finite", "not finite", ("`speed`", "atan2"), """
speed = tf.Variable([0.0, 0.0])

@tf.function
def step():
    with tf.GradientTape() as tape:
        heading = tf.math.atan2(speed[1], speed[0])  # here
        loss = (heading - 1.0) ** 2
    return tape.gradient(loss, speed)

step()
""")

lost("a_nan_in_a_target_that_is_linear", "finite", "not finite", ("`w`", "the target is not", "NaN", "Clean"), """
w = tf.Variable([1.0, 2.0])
y = tf.constant([1.0, float("nan")])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * 2.0 - y)  # here
print(tape.gradient(loss, w))
""")

lost("a_nan_that_is_only_added", "finite", "not finite", ("`w`", "the target is not", "tf.math.log(alpha)"), """
w, alpha = tf.Variable([1.0, 2.0]), tf.constant(-1.0)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w ** 2) + tf.math.log(alpha)  # here
print(tape.gradient(loss, w))
""")

lost("an_infinite_loss_of_a_later_step", "finite", "not finite", ("`w`", "the target is not", "tf.math.log"), """
w = tf.Variable([1.0, 2.0])

@tf.function
def step(p):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w ** 2) + tf.reduce_sum(tf.math.log(p))  # here
    return tape.gradient(loss, w)

step(tf.constant([0.5, 0.1]))
step(tf.constant([0.5, 0.0]))
""")

lost("an_epsilon_under_a_root_in_half_precision", "not finite", "not finite", ("`x`", "1e-8 is 0 in float16"), """
x = tf.Variable([0.0, 0.0], dtype=tf.float16)
with tf.GradientTape() as tape:
    length = tf.sqrt(tf.reduce_sum(x * x) + 1e-8)  # here
print(tape.gradient(length, x))
""")

lost("an_epsilon_in_a_quotient_in_half_precision", "not finite", "not finite", ("`x`", "1e-8 is 0 in float16"), """
x, s = tf.Variable([0.0, 0.0], dtype=tf.float16), tf.constant([0.0, 1.0], tf.float16)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum((x + 1.0) / (s + 1e-8))  # here
print(tape.gradient(loss, x))
""")

lost("an_epsilon_in_a_logarithm_in_half_precision", "not finite", "not finite", ("`p`", "1e-10 is 0 in float16"), """
p = tf.Variable([0.0, 1.0], dtype=tf.float16)
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(tf.math.log(tf.maximum(p, 1e-10)))  # here
print(tape.gradient(loss, p))
""")

lost("a_kernel_matrix_that_is_not_positive", "not finite", "not finite", ("`scale`", "jitter", "tf.eye"), """
scale = tf.Variable(1.0)
x = tf.constant([[0.0], [0.0], [1.0]])
with tf.GradientTape() as tape:
    k = tf.exp(-0.5 * (x - tf.transpose(x)) ** 2 / scale ** 2) - 0.001 * tf.eye(3)
    factor = tf.linalg.cholesky(k)  # here
    loss = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
print(tape.gradient(loss, scale))
""")

lost("features_divided_by_their_deviation", "not finite", "not finite", ("reg/",), """
reg = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)], name="reg")
x = tf.constant([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
x = (x - tf.reduce_mean(x, 0)) / tf.math.reduce_std(x, 0)  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(reg(x) ** 2)
gradients = tape.gradient(loss, reg.trainable_variables)
""")

lost("dead_units_before_a_logarithm", "not finite", "not finite", ("kernel", "tf.math.log(0) is -inf"), """
low = tf.keras.initializers.Constant(-20.0)
x = tf.keras.Input((3,))
h = tf.keras.layers.Dense(4, activation="relu", bias_initializer=low)(x)
logs = tf.keras.layers.Lambda(lambda t: tf.math.log(t))(h)  # here
model = tf.keras.Model(x, tf.keras.layers.Dense(1)(logs))
model.compile("sgd", "mse")
model.fit(np.ones((4, 3), "float32"), np.ones((4, 1), "float32"), verbose=0)
""")

lost("an_overflow_that_a_quotient_hides", "not finite", "not finite", ("`x`", "tf.exp", "tf.nn.softmax"), """
x = tf.Variable([10.0, 95.0], name="x")
with tf.GradientTape() as tape:
    e = tf.exp(x)  # here
    p = e / tf.reduce_sum(e)
    loss = -tf.math.log(p[0])
tape.gradient(loss, x)
""")

lost("an_overflow_of_the_loss_and_then_of_the_gradient", "finite", "not finite", ("`w`", "learning rate"), """
w = tf.Variable(1.0, name="w")
for _ in range(60):
    with tf.GradientTape() as tape:
        loss = (w * 10.0 - 3.0) ** 2  # here
    w.assign_sub(tape.gradient(loss, w))
""")

lost("a_variable_that_begins_as_nan", "not finite", "not finite", ("`w`", "w contains 1 NaN", "Unless that was"), """
w = tf.Variable([1.0, np.nan], name="w")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w ** 2)  # here
tape.gradient(loss, w)
""")

lost("an_infinity_that_only_a_later_rule_meets", "not finite", "not finite", ("`w`", "tf.math.log"), """
w = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    h = -tf.math.log(w - w)  # here
    h = tf.tanh(tf.exp(0.2 * h))
    loss = tf.reduce_sum(h * w)
tape.gradient(loss, w)
""")

lost("a_function_that_hands_on_what_it_is_given", "not finite", "not finite", ("`w`", "tf.sqrt"), """
w = tf.Variable([0.0, 2.0], name="w")
count = tf.Variable(0, trainable=False)
@tf.function
def counted(h):
    count.assign_add(1)
    return h, h
with tf.GradientTape() as tape:
    h = tf.sqrt(w)  # here
    h, again = counted(h)
    loss = tf.reduce_sum(h + again)
tape.gradient(loss, w)
""")
