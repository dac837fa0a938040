"""Programs as people write them whose gradients are lost, and healthy ones, for `gradtape run --trace`.

Of each lost gradient: its kind, the cause, what the sentence must say, and the program, in which the line that did it
is marked with `# here`.
"""

from __future__ import annotations

from typing import NamedTuple


class Lost(NamedTuple):
    """A program and what is to be said about it."""

    kind: str  # None, zero or not finite
    cause: str
    says: tuple[str, ...]
    program: str
    raises: bool = False  # whether it ends in Keras' "No gradients provided"


LOST: dict[str, Lost] = {}
HEALTHY: dict[str, str] = {}

TF = "import numpy as np\nimport tensorflow as tf\n"


def lost(name: str, kind: str, cause: str, says: tuple[str, ...], program: str, raises: bool = False) -> None:
    """Adds a program."""
    LOST[name] = Lost(kind, cause, says, TF + program.strip("\n") + "\n", raises)


def healthy(name: str, program: str) -> None:
    """Adds a program of which nothing may be said."""
    HEALTHY[name] = TF + program.strip("\n") + "\n"


# None

lost("gan_with_the_loss_of_the_real_images", "None", "no path", ("gen/", "depends on `disc/", "more"), """
gen = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)], name="gen")
disc = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)], name="disc")
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
real, noise = tf.ones((5, 3)), tf.ones((5, 2))
with tf.GradientTape() as tape:
    fake = gen(noise)
    real_out = disc(real)
    gen_loss = bce(tf.ones_like(real_out), real_out)  # here
gradients = tape.gradient(gen_loss, gen.trainable_variables)
""")

lost("second_derivative_outside_the_outer_block", "None", "gradient outside the block", ("`x`", "nest"), """
x = tf.Variable(3.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x ** 3
dy = t1.gradient(y, x)  # here
d2y = t2.gradient(dy, x)
print(d2y)
""")

lost("the_indices_of_top_k", "None", "integer", ("`scores`", "tf.math.top_k", "indices", "values"), """
scores = tf.Variable([0.3, 0.9, 0.1])
prices = tf.constant([5.0, 7.0, 9.0])
with tf.GradientTape() as tape:
    values, best = tf.math.top_k(scores, k=2)  # here
    cost = tf.reduce_sum(tf.gather(prices, best))
print(tape.gradient(cost, scores))
""")

lost("a_tape_that_was_reset", "None", "tape.reset", ("`w`", "tape.reset()"), """
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    penalty = tf.reduce_sum(w ** 2)
    tape.reset()  # here
    loss = penalty * 0.1 + 1.0
print(tape.gradient(loss, w))
""")

lost("a_variable_inside_dataset_map", "None", "dataset.map", ("`scale`", "map"), """
scale = tf.Variable(2.0, name="scale")
data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda x: x * scale).batch(3)  # here
for batch in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(batch ** 2)
    print(tape.gradient(loss, scale))
""")

lost("quantised_weights", "None", "not differentiable", ("`kernel`", "tf.round", "stop_gradient"), """
kernel = tf.Variable([[0.2, 1.7]], name="kernel")
x = tf.constant([[1.0], [2.0]])
with tf.GradientTape() as tape:
    quantised = tf.round(kernel * 8.0) / 8.0  # here
    loss = tf.reduce_mean((x @ quantised) ** 2)
print(tape.gradient(loss, kernel))
""")

lost("the_action_of_an_agent", "None", "not differentiable", ("`logits`", "tf.argmax", "softmax"), """
logits = tf.Variable([[0.1, 2.0, 0.3]])
q_values = tf.constant([[1.0, 5.0, 2.0]])
with tf.GradientTape() as tape:
    action = tf.argmax(logits, axis=-1)  # here
    chosen = tf.one_hot(action, 3)
    loss = -tf.reduce_sum(chosen * q_values)
print(tape.gradient(loss, logits))
""")

lost("a_loss_in_numpy_in_fit", "None", "left for NumPy or Python", ("net/", "NumPy", "more"), """
def my_loss(y_true, y_pred):
    error = np.mean((np.array(y_true) - np.array(y_pred)) ** 2)  # here
    return tf.constant(error, tf.float32)

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)], name="net")
model.compile("sgd", my_loss, run_eagerly=True)
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), verbose=0)
""", raises=True)

lost("a_new_variable_of_the_result", "None", "assign", ("`w`", "tf.Variable"), """
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    hidden = tf.Variable(w * 3.0)  # here
    loss = tf.reduce_sum(hidden ** 2)
print(tape.gradient(loss, w))
""")

lost("a_step_by_hand_that_rebinds_the_variable", "None", "rebound", ("`w`", "assign_sub"), """
w = tf.Variable(5.0)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = (w - 1.0) ** 2
    gradient = tape.gradient(loss, w)
    if gradient is None:
        break
    w = w - 0.1 * gradient  # here
""")

lost("an_integer_variable", "None", "integer", ("`x`", "int32", "3.0"), """
x = tf.Variable(3)
with tf.GradientTape() as tape:
    y = x * x  # here
print(tape.gradient(y, x))
""")

lost("a_numpy_function_in_a_function", "None", "not differentiable", ("`x`", "tf.numpy_function"), """
@tf.function
def f(x):
    y = tf.numpy_function(np.sin, [x], tf.float32)  # here
    return tf.reduce_sum(y)

x = tf.Variable([0.5, 1.5])
with tf.GradientTape() as tape:
    loss = f(x)
print(tape.gradient(loss, x))
""")

lost("a_threshold_for_a_mask", "None", "not differentiable", ("`threshold`", "x > threshold", "sigmoid"), """
threshold = tf.Variable(0.5)
x = tf.constant([0.1, 0.7, 0.9])
with tf.GradientTape() as tape:
    keep = tf.cast(x > threshold, tf.float32)  # here
    loss = tf.reduce_sum(keep * x)
print(tape.gradient(loss, threshold))
""")

lost("overwritten_under_track_assign", "None", "overwritten", ("`w`", "w.assign"), """
import gradtape
w = tf.Variable(2.0)
with gradtape.GradientTape(track_assign=True) as tape:
    before = w * w
    w.assign(1.0)  # here
    loss = w ** 3
print(tape.gradient(loss, w))
""")

lost("accuracy_as_the_loss_of_a_step", "None", "not differentiable", ("net/", "`probability > 0.5`", "sigmoid"), """
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, activation="sigmoid")], name="net")
optimizer = tf.keras.optimizers.Adam()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        probability = model(x, training=True)
        predicted = tf.cast(probability > 0.5, tf.int32)  # here
        wrong = tf.cast(tf.not_equal(predicted, y), tf.float32)
        loss = tf.reduce_mean(wrong)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

train_step(tf.ones((4, 2)), tf.ones((4, 1), tf.int32))
""", raises=True)

lost("the_online_network_is_stopped_too", "None", "stop_gradient", ("online/", "tf.stop_gradient", "more"), """
layers = [tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)]
online = tf.keras.Sequential(layers, name="online")
target = tf.keras.models.clone_model(online)
state, next_state, reward = tf.ones((6, 4)), tf.ones((6, 4)), tf.ones((6,))
with tf.GradientTape() as tape:
    goal = reward + 0.9 * tf.reduce_max(target(next_state), axis=1)
    q = tf.stop_gradient(tf.reduce_max(online(state), axis=1))  # here
    loss = tf.reduce_mean((goal - q) ** 2)
print(tape.gradient(loss, online.trainable_variables))
""")

lost("maml_with_an_assignment", "None", "assign", ("`rate`", "'w'", "track_assign"), """
w, rate = tf.Variable(2.0, name="w"), tf.Variable(0.1, name="rate")
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = (w - 1.0) ** 2
    w.assign_sub(rate * inner.gradient(loss, w))  # here
    after = (w - 3.0) ** 2
print(outer.gradient(after, rate))
""")

lost("a_position_to_gather_at", "None", "integer", ("`position`", "tf.cast(position, tf.int32)"), """
table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
position = tf.Variable(1.4)
with tf.GradientTape() as tape:
    row = tf.gather(table, tf.cast(position, tf.int32))  # here
    loss = tf.reduce_sum(row)
print(tape.gradient(loss, position))
""")

lost("saliency_without_watch", "None", "never watched", ("`image`", "tape.watch(image)"), """
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
image = tf.constant(np.random.rand(1, 4).astype("float32"))
with tf.GradientTape() as tape:
    scores = model(image)  # here
    top = tf.reduce_max(scores)
saliency = tape.gradient(top, image)
""")

lost("a_weight_that_call_does_not_use_in_fit", "None", "no path", ("scale", "depends on"), """
class Scaled(tf.keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 1), name="kernel")
        self.scale = self.add_weight(shape=(1,), name="scale")

    def call(self, x):
        return x @ self.kernel

model = tf.keras.Sequential([tf.keras.Input((3,)), Scaled()])
model.compile("sgd", "mse")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), epochs=2, verbose=0)  # here
""")

lost("the_model_is_called_before_the_tape", "None", "before the tape", ("model(x)", "more"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
x, y = tf.ones((4, 3)), tf.zeros((4, 1))
predictions = model(x)  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((predictions - y) ** 2)
print(tape.gradient(loss, model.trainable_variables))
""")

lost("a_loss_after_the_block", "None", "after the block", ("`w`", "`predictions - y`", "with"), """
w = tf.Variable([[1.0], [2.0]])
x, y = tf.ones((4, 2)), tf.ones((4, 1))
with tf.GradientTape() as tape:
    predictions = tf.matmul(x, w)
loss = tf.reduce_mean(tf.abs(predictions - y))  # here
print(tape.gradient(loss, w))
""")

lost("a_python_number_in_a_physics_loss", "None", "left for NumPy or Python", ("`mass`", "float("), """
mass = tf.Variable(2.0)
velocity = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    m = float(mass)  # here
    energy = tf.reduce_sum(0.5 * m * velocity ** 2)
print(tape.gradient(energy, mass))
""")

lost("buckets_by_floor_division", "None", "not differentiable", ("`x`", "tf.floor"), """
x = tf.Variable([0.4, 1.6])

def bucket(value):
    return tf.floor(value * 2.0) / 2.0  # here

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(bucket(x) ** 2)
print(tape.gradient(loss, [x]))
""")

# Zero

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

# Not finite

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

lost("an_overflow_in_half_precision", "zero", "not finite", ("`x`", "float16"), """
x = tf.Variable([300.0, 1.0], dtype=tf.float16)
with tf.GradientTape() as tape:
    squares = x * x  # here
    length = tf.sqrt(tf.reduce_sum(squares))
print(tape.gradient(length, x))
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

# Of all kinds, written when the ones above were explained

lost("lambda_layer_that_rounds_in_fit", "None", "not differentiable", ("kernel", "tf.round"), """
whole = tf.keras.layers.Lambda(lambda x: tf.round(x))  # here
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2), whole])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3), "float32"), np.ones((4, 2), "float32"), verbose=0)
""", raises=True)

lost("a_dead_network_in_fit", "zero", "zero", ("kernel", "dead ReLU"), """
hidden = tf.keras.layers.Dense(4, "relu", bias_initializer=tf.keras.initializers.Constant(-50.0))
model = tf.keras.Sequential([tf.keras.Input((3,)), hidden, tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), batch_size=4, epochs=2, verbose=0)  # here
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

lost("minimize_with_a_lambda", "None", "not differentiable", ("`w`", "tf.floor"), """
w = tf.Variable(2.5, name="w")
optimizer = tf.keras.optimizers.SGD()
optimizer.minimize(lambda: (tf.floor(w) - 1.0) ** 2, [w])  # here
""", raises=True)

lost("an_attribute_of_a_class", "None", "no path", ("`self.scale`", "depends on `self.weight`"), """
class Model:
    def __init__(self):
        self.weight = tf.Variable([1.0, 2.0])
        self.scale = tf.Variable(3.0)

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.weight * x)  # here
        return tape.gradient(loss, [self.weight, self.scale])

Model().step(tf.constant([1.0, 1.0]))
""")

lost("parameters_in_a_dict", "None", "not differentiable", ("`params['b']`", "tf.math.ceil"), """
params = {"a": tf.Variable(1.0), "b": tf.Variable(2.0)}
with tf.GradientTape() as tape:
    loss = params["a"] * 2.0 + tf.math.ceil(params["b"])  # here
gradients = tape.gradient(loss, [params["a"], params["b"]])
""")

lost("graph_gradients_of_a_round", "None", "not differentiable", ("`x`", "tf.round"), """
@tf.function
def slope(x):
    y = tf.round(x) * 2.0  # here
    return tf.constant(0.0) if tf.gradients(y, x)[0] is None else tf.constant(1.0)

slope(tf.constant(1.5))
""")

lost("a_jacobian_of_a_threshold", "None", "not differentiable", ("`x`", "x >= 1.0"), """
x = tf.Variable([0.5, 2.0])
with tf.GradientTape() as tape:
    y = tf.cast(x >= 1.0, tf.float32) * 3.0  # here
tape.jacobian(y, x)
""")

lost("argsort_in_a_ranking_loss", "None", "not differentiable", ("`scores`", "tf.argsort"), """
scores = tf.Variable([3.0, 1.0, 2.0])
with tf.GradientTape() as tape:
    order = tf.argsort(scores)  # here
    loss = tf.reduce_sum(tf.cast(order, tf.float32) * [1.0, 2.0, 3.0])
tape.gradient(loss, scores)
""")

lost("a_branch_of_a_function_that_cuts", "zero", "stop_gradient", ("`v`", "tf.stop_gradient"), """
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
    penalty = tf.norm(w)  # here
    loss = 0.1 * penalty
tape.gradient(loss, w)
""")

lost("a_mean_of_nothing", "zero", "not finite", ("`w`", "tf.boolean_mask"), """
w = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.boolean_mask(w, w > 5.0))  # here
tape.gradient(loss, w)
""")

lost("a_value_read_in_another_thread", "None", "another thread", ("`v`", "v * v"), """
import threading
v, out = tf.Variable(3.0), []
with tf.GradientTape() as tape:
    worker = threading.Thread(target=lambda: out.append(v * v))  # here
    worker.start()
    worker.join()
tape.gradient(out[0], v)
""")

lost("a_model_whose_output_is_predicted", "None", "predict", ("kernel", "model(x)"), """
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
x = np.ones((4, 3), "float32")
with tf.GradientTape() as tape:
    predictions = model.predict(x, verbose=0)  # here
    loss = tf.reduce_mean(tf.square(predictions - 2.0))
tape.gradient(loss, model.trainable_variables)
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

# Nothing to say

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
