"""Gradients that are None because an op, an integer, Python or `stop_gradient` breaks the path."""

from . import lost

lost("the_indices_of_top_k", "None", "integer", ("`scores`", "tf.math.top_k", "indices", "values"), """
scores = tf.Variable([0.3, 0.9, 0.1])
prices = tf.constant([5.0, 7.0, 9.0])
with tf.GradientTape() as tape:
    values, best = tf.math.top_k(scores, k=2)  # here
    cost = tf.reduce_sum(tf.gather(prices, best))
print(tape.gradient(cost, scores))
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

lost("a_position_to_gather_at", "None", "integer", ("`position`", "tf.cast(position, tf.int32)"), """
table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
position = tf.Variable(1.4)
with tf.GradientTape() as tape:
    row = tf.gather(table, tf.cast(position, tf.int32))  # here
    loss = tf.reduce_sum(row)
print(tape.gradient(loss, position))
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

lost("lambda_layer_that_rounds_in_fit", "None", "not differentiable", ("kernel", "tf.round"), """
whole = tf.keras.layers.Lambda(lambda x: tf.round(x))  # here
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2), whole])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3), "float32"), np.ones((4, 2), "float32"), verbose=0)
""", raises=True)

lost("minimize_with_a_lambda", "None", "not differentiable", ("`w`", "tf.floor"), """
w = tf.Variable(2.5, name="w")
optimizer = tf.keras.optimizers.SGD()
optimizer.minimize(lambda: (tf.floor(w) - 1.0) ** 2, [w])  # here
""", raises=True)

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

lost("a_latent_code_drawn_by_numpy", "None", "left for NumPy or Python", ("encoder/", "NumPy"), """
encoder = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(4)], name="encoder")
decoder = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(6)], name="decoder")
x = tf.ones((8, 6))
with tf.GradientTape() as tape:
    mean, log_var = tf.split(encoder(x), 2, axis=1)
    z = np.random.normal(mean, np.exp(0.5 * log_var)).astype("float32")  # here
    reconstruction = decoder(z)
    loss = tf.reduce_mean((reconstruction - x) ** 2)
weights = encoder.trainable_variables + decoder.trainable_variables
gradients = tape.gradient(loss, weights)
""")

lost("images_of_a_generator_as_bytes", "None", "integer", ("gen/", "tf.cast(x * 255.0, tf.uint8)"), """
gen = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(12, activation="sigmoid")], name="gen")
critic = tf.keras.Sequential([tf.keras.Input((12,)), tf.keras.layers.Dense(1)], name="critic")

def to_image(x):
    return tf.cast(x * 255.0, tf.uint8)  # here

@tf.function
def step(noise):
    with tf.GradientTape() as tape:
        image = to_image(gen(noise))
        score = critic(tf.cast(image, tf.float32) / 255.0)
        loss = -tf.reduce_mean(score)
    return tape.gradient(loss, gen.trainable_variables)

step(tf.ones((3, 2)))
""")

lost("the_logarithm_of_pythons_math", "None", "left for NumPy or Python", ("`theta`", "float()", "TensorFlow"), """
import math

theta = tf.Variable([[0.1, -0.2, 0.3]])
rewards, actions = [1.0, 0.0, 2.0], [2, 0, 1]
with tf.GradientTape() as tape:
    policy = tf.nn.softmax(theta)
    loss = tf.constant(0.0)
    for reward, action in zip(rewards, actions):
        loss -= reward * math.log(policy[0, action])  # here
print(tape.gradient(loss, theta))
""")

lost("predictions_cast_to_integers", "None", "integer", ("kernel", "tf.cast(y_pred, tf.int32)"), """
def my_loss(y_true, y_pred):
    y_true = tf.cast(y_true, tf.int32)
    y_pred = tf.cast(y_pred, tf.int32)  # here
    return tf.reduce_mean(tf.cast(tf.abs(y_true - y_pred), tf.float32), axis=-1)

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss=my_loss)
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "int64"), verbose=0)
""", raises=True)

lost("a_total_of_python_numbers", "None", "left for NumPy or Python", ("`w`", ".numpy()"), """
w = tf.Variable([0.5, -0.5])
batches = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]
with tf.GradientTape() as tape:
    total = 0.0
    for x in batches:
        error = tf.reduce_sum(w * x) - 1.0
        total += (error ** 2).numpy()  # here
    loss = tf.convert_to_tensor(total / len(batches))
print(tape.gradient(loss, w))
""")

lost("hard_attention_by_sampling", "None", "not differentiable", ("`scores`", "tf.random.categorical"), """
scores = tf.Variable([[0.2, 0.5, 0.3]])
values = tf.Variable([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
target = tf.constant([[1.0, 0.0]])
with tf.GradientTape() as tape:
    choice = tf.random.categorical(scores, 1)  # here
    glimpse = tf.gather(values, choice[:, 0])
    loss = tf.reduce_sum((glimpse - target) ** 2)
print(tape.gradient(loss, [scores, values])[0])
""")

lost("a_histogram_to_be_matched", "None", "not differentiable", ("`pixels`", "tf.histogram_fixed_width"), """
pixels = tf.Variable(np.linspace(0.0, 1.0, 50).astype("float32"))
wanted = tf.constant([10.0, 10.0, 10.0, 10.0, 10.0])
with tf.GradientTape() as tape:
    counts = tf.histogram_fixed_width(pixels, [0.0, 1.0], nbins=5)  # here
    loss = tf.reduce_sum((tf.cast(counts, tf.float32) - wanted) ** 2)
print(tape.gradient(loss, pixels))
""")

lost("words_chosen_by_a_network", "None", "integer", ("chooser/", "tf.cast"), """
chooser = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, "sigmoid")], name="chooser")
table = tf.keras.layers.Embedding(10, 4, name="table")
x, y = tf.ones((5, 3)), tf.zeros((5, 4))
with tf.GradientTape() as tape:
    ids = tf.cast(chooser(x) * 9.0, tf.int32)  # here
    vectors = table(tf.squeeze(ids, axis=1))
    loss = tf.reduce_mean((vectors - y) ** 2)
gradients = tape.gradient(loss, chooser.trainable_variables + table.trainable_variables)
""")

lost("integers_that_were_watched", "None", "integer", ("`x`", "int32", "tape.watch(x) has no effect"), """
x = tf.constant([1, 2, 3])
with tf.GradientTape() as tape:
    tape.watch(x)  # here
    y = tf.reduce_sum(tf.cast(x, tf.float32) ** 2)
print(tape.gradient(y, x))
""")

lost("watched_tokens_in_a_function", "None", "integer", ("`tokens`", "tape.watch(tokens) has no effect"), """
embedding = tf.Variable(tf.ones((10, 4)))

@tf.function
def saliency(tokens):
    with tf.GradientTape() as tape:
        tape.watch(tokens)  # here
        score = tf.reduce_sum(tf.gather(embedding, tokens))
    return tape.gradient(score, tokens) is None

saliency(tf.constant([1, 2, 3]))
""")

lost("a_dataset_of_features_inside_the_block", "None", "dataset.map", ("net/", "went into a dataset"), """
net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)], name="net")
x = np.ones((8, 2), "float32")
with tf.GradientTape() as tape:
    features = net(x)
    loss = 0.0
    for batch in tf.data.Dataset.from_tensor_slices(features).batch(4):  # here
        loss += tf.reduce_mean(batch ** 2)
gradients = tape.gradient(loss, net.trainable_variables)
""")

lost("a_constant_of_a_variable", "None", "stop_gradient", ("`w`", "`tf.constant(w)` turns its value"), """
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    p = tf.constant(w)  # here
    loss = tf.reduce_sum(p ** 2)
print(tape.gradient(loss, w))
""")

lost("a_numpy_function_without_a_function", "None", "not differentiable", ("`w`", "tf.numpy_function(np.sin"), """
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.numpy_function(np.sin, [w], tf.float32)  # here
    loss = tf.reduce_sum(y)
print(tape.gradient(loss, w))
""")

lost("the_codes_of_a_quantised_autoencoder", "None", "not differentiable", ("encoder/", "tf.argmin"), """
encoder = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)], name="encoder")
decoder = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)], name="decoder")
codebook = tf.random.normal((4, 2))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        z = encoder(x)
        distance = tf.reduce_sum((z[:, None] - codebook[None]) ** 2, -1)
        nearest = tf.argmin(distance, axis=1)  # here
        loss = tf.reduce_mean((decoder(tf.gather(codebook, nearest)) - x) ** 2)
    return tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)

step(tf.random.normal((6, 3)))
""")

lost("a_latent_sample_of_numpy", "None", "left for NumPy or Python", ("enc/", "NumPy"), """
enc = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4)], name="enc")
dec = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(4)], name="dec")
x = tf.random.normal((8, 4))
with tf.GradientTape() as tape:
    mean, log_variance = tf.split(enc(x), 2, axis=1)
    z = np.random.normal(mean, np.exp(0.5 * log_variance)).astype("float32")  # here
    loss = tf.reduce_mean((dec(z) - x) ** 2)
gradients = tape.gradient(loss, enc.trainable_variables + dec.trainable_variables)
""")

lost("a_metric_for_a_loss", "None", "assign", ("net/",), """
net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)], name="net")
average = tf.keras.metrics.Mean()
x, y = tf.ones((4, 2)), tf.ones((4, 1))
with tf.GradientTape() as tape:
    for i in range(2):
        average(tf.reduce_mean((net(x) - y) ** 2))  # here
    loss = average.result()
gradients = tape.gradient(loss, net.trainable_variables)
""")

lost("the_labels_that_a_function_gives", "None", "not differentiable", ("`points`", "tf.argmin(distance, 1)"), """
points, centers = tf.Variable(tf.ones((10, 2))), tf.constant([[0.0, 1.0], [2.0, 3.0]])

@tf.function
def labels(p):
    distance = tf.reduce_sum((p[:, None] - centers) ** 2, -1)
    return tf.argmin(distance, 1)  # here

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.gather(centers, labels(points)) ** 2)
print(tape.gradient(loss, points))
""")

lost("a_python_number_in_a_py_function", "zero", "left for NumPy or Python", ("`w`", "tf.py_function"), """
w = tf.Variable(2.0)

@tf.function
def square():
    return tf.py_function(lambda x: float(x) ** 2, [w], tf.float32) * 3.0  # here

with tf.GradientTape() as tape:
    loss = square()
print(tape.gradient(loss, w))
""")

lost("the_indices_of_top_k_as_numbers", "None", "integer", ("`scores`", "tf.math.top_k", "indices"), """
scores = tf.Variable([0.3, 0.9, 0.5], name="scores")
with tf.GradientTape() as tape:
    values, best = tf.math.top_k(scores, k=2)  # here
    loss = tf.reduce_mean(tf.cast(best, tf.float32))
tape.gradient(loss, scores)
""")

lost("an_assignment_in_a_function", "None", "assign", ("`w`", "gradients stop at assignments"), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
total = tf.Variable(0.0, trainable=False, name="total")
@tf.function
def part(h):
    h = tf.sin(h)
    total.assign(tf.reduce_sum(h))  # here
    return 2.0 * total
with tf.GradientTape() as tape:
    loss = part(w) * v
tape.gradient(loss, w)
""")

lost("the_indices_of_top_k_in_a_function", "None", "integer", ("`w`", "tf.math.top_k"), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
@tf.function
def part(h):
    return tf.cast(tf.math.top_k(h, 2)[1], tf.float32)  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(part(w) * v)
tape.gradient(loss, w)
""")

lost("a_custom_gradient_of_nothing_before_a_comparison", "None", "the rule gives none", ("`w`", "cut_off"), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
@tf.custom_gradient
def cut_off(a):
    return 2.0 * a, lambda g: None
@tf.function
def part(h):
    h = cut_off(h)  # here
    return tf.where(tf.abs(h) > 1e-3, h, 2.0 * h)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(part(w) * v)
tape.gradient(loss, w)
""")

lost("stop_gradient_in_a_function_under_two_tapes", "None", "stop_gradient", ("`w`",), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
@tf.function
def part(h):
    h = tf.stop_gradient(2.0 * h)  # here
    return tf.reduce_sum(h * v)
with tf.GradientTape() as first, tf.GradientTape() as second:
    loss = part(w)
first.gradient(loss, w)
""")

for _where, _decorator in ("eagerly", ""), ("in_a_function", "@tf.function"):
    lost(f"a_round_behind_a_choice_{_where}", "None", "not differentiable", ("`w`", "tf.round"), f"""
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
{_decorator}
def part(h):
    h = tf.where(h > 0.0, tf.sin(tf.tanh(h)), -tf.sin(tf.abs(h)))
    h = tf.round(4.0 * h)  # here
    return tf.reduce_sum(tf.tanh(h) * v)
with tf.GradientTape() as tape:
    loss = part(w)
tape.gradient(loss, [w, v])
""")

lost("an_integer_in_a_loop_of_a_function", "None", "integer", ("`a`", "tf.cast(a * 3.0, tf.int32)"), """
a, b = tf.Variable(2.5, name="a"), tf.Variable(1.5, name="b")
@tf.function
def f(n):
    best = tf.constant(0)
    for _ in tf.range(n):
        best = tf.maximum(best, tf.cast(a * 3.0, tf.int32))  # here
    return b * tf.cast(best, tf.float32)
with tf.GradientTape() as tape:
    y = f(tf.constant(3))
tape.gradient(y, [a, b])
""")
