"""More programs that lose a gradient, as people write them around their models; see `lost_gradients`."""

from lost_gradients import healthy, lost

# None

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

lost("adapted_weights_by_set_weights", "None", "assign", ("meta/", "more", "'fast/", "track_assign"), """
def build(name):
    return tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)], name=name)

meta, fast = build("meta"), build("fast")
x = tf.constant([[1.0], [2.0]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = tf.reduce_mean((meta(x) - 2.0 * x) ** 2)
    gradients = inner.gradient(loss, meta.trainable_variables)
    fast.set_weights([w - 0.1 * g for w, g in zip(meta.trainable_variables, gradients)])  # here
    adapted = tf.reduce_mean((fast(x) - 2.0 * x) ** 2)
print(outer.gradient(adapted, meta.trainable_variables))
""")

lost("the_teacher_instead_of_the_student", "None", "no path", ("student/", "depends on `teacher/"), """
class Distiller(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.student = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)], name="student")
        self.teacher = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)], name="teacher")

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            prediction = self.teacher(x, training=True)
            loss = tf.reduce_mean((prediction - y) ** 2)  # here
        gradients = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.student.trainable_variables))
        return {"loss": loss}

model = Distiller()
model.compile(optimizer="sgd")
model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), batch_size=4, verbose=0)
""", raises=True)

lost("a_cell_that_keeps_its_state_in_a_variable", "None", "assign", ("`w` and `b`", "'state'", "track_assign"), """
class Cell(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones((3, 3)) * 0.1, name="w")
        self.b = tf.Variable(tf.zeros(3), name="b")
        self.state = tf.Variable(tf.zeros((1, 3)), trainable=False, name="state")

    def __call__(self, x):
        self.state.assign(tf.tanh(x + self.state @ self.w + self.b))  # here
        return self.state

cell = Cell()
with tf.GradientTape() as tape:
    for x in np.ones((5, 1, 3), "float32"):
        output = cell(x)
    loss = tf.reduce_sum(output.read_value() ** 2)
print(tape.gradient(loss, [cell.w, cell.b]))
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

lost("a_list_of_the_variables_of_before", "None", "no path", ("`w`", "depends on another variable `w`"), """
w = tf.Variable([[1.0], [2.0]], name="w")
b = tf.Variable([0.0], name="b")
params = [w, b]
x, y = tf.constant([[1.0, 1.0]]), tf.constant([[1.0]])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)  # here
    gradients = tape.gradient(loss, params)
    if gradients[0] is None:
        break
    w = tf.Variable(params[0] - 0.1 * gradients[0], name="w")
    b.assign_sub(0.1 * gradients[1])
""")

lost("a_gradient_penalty_at_points_nobody_watches", "None", "never watched", ("`mixed`", "watch(mixed)"), """
critic = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])

@tf.function
def penalty(real, fake):
    alpha = tf.random.uniform((real.shape[0], 1))
    mixed = alpha * real + (1.0 - alpha) * fake
    with tf.GradientTape() as tape:
        score = critic(mixed, training=True)  # here
    slopes = tape.gradient(score, mixed)
    if slopes is None:
        return 0.0
    return tf.reduce_mean((tf.norm(slopes, axis=1) - 1.0) ** 2)

print(penalty(tf.ones((5, 4)), tf.zeros((5, 4))))
""")

lost("an_encoder_while_recording_is_stopped", "None", "while recording was stopped", ("encoder/", "`encoder(x)`"), """
encoder = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, "tanh")], name="encoder")
head = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)], name="head")
x, y = tf.ones((6, 4)), tf.zeros((6,), tf.int32)
with tf.GradientTape() as tape:
    with tape.stop_recording():
        features = encoder(x)  # here
    logits = head(features)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
gradients = tape.gradient(loss, encoder.trainable_variables + head.trainable_variables)
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

lost("a_loss_that_adds_up_in_a_variable", "None", "assign", ("`w`", "'total'", "track_assign"), """
w = tf.Variable([1.0, 2.0], name="w")
total = tf.Variable(0.0, trainable=False, name="total")

@tf.function
def step(batch):
    total.assign(0.0)
    with tf.GradientTape() as tape:
        for x in batch:
            total.assign_add(tf.reduce_sum((w * x - 1.0) ** 2))  # here
        loss = total / 3.0
    return tape.gradient(loss, w)

print(step(tf.ones((3, 2))))
""")

lost("a_histogram_to_be_matched", "None", "not differentiable", ("`pixels`", "tf.histogram_fixed_width"), """
pixels = tf.Variable(np.linspace(0.0, 1.0, 50).astype("float32"))
wanted = tf.constant([10.0, 10.0, 10.0, 10.0, 10.0])
with tf.GradientTape() as tape:
    counts = tf.histogram_fixed_width(pixels, [0.0, 1.0], nbins=5)  # here
    loss = tf.reduce_sum((tf.cast(counts, tf.float32) - wanted) ** 2)
print(tape.gradient(loss, pixels))
""")

# zero

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

# not finite

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

lost("a_padded_sentence_of_nothing", "zero", "not finite", ("query/", "tf.nn.softmax(scores)", "all is masked"), """
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

lost("the_eigenvectors_of_equal_eigenvalues", "zero", "zero", ("`a`", "tf.linalg.eigh", "its rule hands on"), """
a = tf.Variable(np.eye(3, dtype="float32"))
with tf.GradientTape() as tape:
    values, vectors = tf.linalg.eigh(a)  # here
    loss = tf.reduce_sum(vectors[:, 0] * [1.0, 2.0, 3.0])
print(tape.gradient(loss, a))
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

lost("all_variables_of_a_batch_norm", "None", "not trainable", ("moving_mean", "moving_var"), """
layers = [tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(name="bn")]
model = tf.keras.Sequential([tf.keras.Input((3,)), *layers])
x = tf.constant(np.random.default_rng(0).normal(size=(8, 3)).astype("float32"))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x, training=False) ** 2)  # here
gradients = tape.gradient(loss, model.variables)
""")

lost("the_loss_of_another_tape", "None", "another tape", ("gen/", "`gen_loss`", "Ask that one"), """
gen = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)], name="gen")
disc = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)], name="disc")
real, noise = tf.ones((4, 3)), tf.ones((4, 2))
with tf.GradientTape() as disc_tape:
    disc_loss = tf.reduce_mean(disc(gen(noise))) - tf.reduce_mean(disc(real))
with tf.GradientTape() as gen_tape:
    gen_loss = -tf.reduce_mean(disc(gen(noise)))  # here
gen_gradients = disc_tape.gradient(gen_loss, gen.trainable_variables)
""")

lost("a_copy_is_watched_and_not_the_image", "None", "never watched", ("`image`", "watch"), """
image = tf.constant([[0.1, 0.9]])
weights = tf.Variable([[1.0], [2.0]])
with tf.GradientTape() as tape:
    tape.watch(tf.identity(image))
    score = tf.reduce_sum(tf.sigmoid(image @ weights))  # here
print(tape.gradient(score, image))
""")

# Nothing is to be said of these.

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
