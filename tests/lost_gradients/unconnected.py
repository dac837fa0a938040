"""Gradients that are None because the tape has no path from the target to the source."""

from . import lost

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

lost("overwritten_under_track_assign", "None", "overwritten", ("`w`", "w.assign"), """
import gradtape
w = tf.Variable(2.0)
with gradtape.GradientTape(track_assign=True) as tape:
    before = w * w
    w.assign(1.0)  # here
    loss = w ** 3
print(tape.gradient(loss, w))
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

lost("a_list_of_the_variables_of_before", "None", "no path", ("`w`", "depends on a different variable named `w`"), """
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

lost("all_variables_of_a_batch_norm", "None", "not trainable", ("moving_mean", "moving_var"), """
layers = [tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(name="bn")]
model = tf.keras.Sequential([tf.keras.Input((3,)), *layers])
x = tf.constant(np.random.default_rng(0).normal(size=(8, 3)).astype("float32"))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x, training=False) ** 2)  # here
gradients = tape.gradient(loss, model.variables)
""")

lost("the_loss_of_another_tape", "None", "another tape", ("gen/", "`gen_loss`", "Use that tape"), """
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

lost("what_is_linear_twice_differentiated", "None", "linear", ("`x`", "`x * 3.0` is linear"), """
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = tf.reduce_sum(x * 3.0)  # here
    dy = t1.gradient(y, x)
print(t2.gradient(dy, x))
""")

lost("the_bias_in_a_gradient_penalty", "None", "linear", ("bias", "`inner.gradient(score, x)`", "only adds it"), """
critic = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
x = tf.ones((3, 2))
with tf.GradientTape() as tape:
    with tf.GradientTape() as inner:
        inner.watch(x)
        score = critic(x)  # here
    slopes = inner.gradient(score, x)
    penalty = tf.reduce_mean((tf.norm(slopes, axis=1) - 1.0) ** 2)
print(tape.gradient(penalty, critic.trainable_variables))
""")

lost("a_loop_of_no_rounds", "None", "no path", ("`w`", "`range(steps)`", "zero times", "a_loop_of_no_rounds.py:9"), """
w = tf.Variable(2.0)
steps = 0
with tf.GradientTape() as tape:
    y = tf.constant(1.0)
    for _ in range(steps):  # here
        y = y * w
    loss = y * 3.0
print(tape.gradient(loss, w))
""")

lost("a_while_loop_of_no_rounds", "None", "no path", ("`w`", "tf.while_loop", "zero times"), """
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    _, y = tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * w), [0, tf.constant(1.0)])  # here
    loss = y * 2.0
print(tape.gradient(loss, w))
""")

lost("a_regulariser_that_is_switched_off", "None", "no path", ("`alpha`", "`use_reg`", "not taken"), """
alpha, w, use_reg = tf.Variable(0.5), tf.Variable([1.0, 2.0]), False
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w ** 2)
    if use_reg:  # here
        loss += alpha * tf.reduce_sum(tf.abs(w))
print(tape.gradient(loss, [w, alpha]))
""")

lost("the_weights_of_a_normalisation", "None", "not trainable", ("mean", "2 more", "adapt()", "trainable_var"), """
norm = tf.keras.layers.Normalization()
data = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
norm.adapt(data)
model = tf.keras.Sequential([tf.keras.Input((3,)), norm, tf.keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(data) ** 2)  # here
gradients = tape.gradient(loss, model.weights)
""")

lost("a_tape_that_recorded_nothing_of_it", "None", "another tape", ("`loss`", "Use that tape"), """
w = tf.Variable(2.0)
with tf.GradientTape() as tape1:
    loss = w * w  # here
with tf.GradientTape() as tape2:
    pass
print(tape2.gradient(loss, w))
""")

lost("features_that_are_kept_from_the_first_step", "None", "before the tape", ("`w`", "`x * w`", "earlier tape"), """
w = tf.Variable([1.0, 2.0])
kept = {}

def features(x):
    if "f" not in kept:
        kept["f"] = x * w  # here
    return kept["f"]

for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(features(tf.constant([1.0, 1.0])) ** 2)
    gradient = tape.gradient(loss, w)
    if gradient is not None:
        w.assign_sub(0.1 * gradient)
""")

lost("a_clone_is_trained", "None", "no path", ("student/", "a different variable", "copy"), """
student = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)], name="student")
clone = tf.keras.models.clone_model(student)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(clone(tf.ones((3, 2))) ** 2)  # here
gradients = tape.gradient(loss, student.trainable_variables)
""")

lost("variables_of_a_model_that_is_not_built", "empty", "no sources", ("`params`", "dense", "model.build"), """
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

net = Net()
params = net.trainable_variables  # here
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(tf.ones((4, 2))) ** 2)
    gradients = tape.gradient(loss, params)
""")

lost("the_slope_of_an_earlier_tape", "None", "gradient outside the block", ("`x`", "first.gradient(y, x)", "nest"), """
x = tf.constant(1.5)
with tf.GradientTape() as first:
    first.watch(x)
    y = tf.sin(x)
slope = first.gradient(y, x)  # here
with tf.GradientTape() as second:
    second.watch(x)
    z = slope * 2.0
second.gradient(z, x)
""")

lost("the_loss_of_the_other_network_with_two_tapes", "None", "no path", ("`g`", "depends on `d`"), """
g, d = tf.Variable([0.3], name="g"), tf.Variable([0.5], name="d")
with tf.GradientTape() as of_generator, tf.GradientTape() as of_critic:
    fake = g * 2.0
    real_score = tf.reduce_mean(d * 3.0)
    g_loss = -real_score  # here
    d_loss = tf.reduce_mean(fake * d) - real_score
of_generator.gradient(g_loss, g)
of_critic.gradient(d_loss, d)
""")

lost("a_second_tensor_of_one_array", "None", "no path", ("`t`", "`y` does not depend on it"), """
image = np.ones([1, 4], np.float32)
t = tf.convert_to_tensor(image)
with tf.GradientTape() as tape:
    tape.watch(t)
    y = tf.reduce_sum(tf.convert_to_tensor(image) ** 2)  # here
tape.gradient(y, t)
""")

lost("all_parameters_of_a_list_are_rebound", "None", "rebound", ("`params[0]` and `params[1]`", "assign_sub"), """
params = [tf.Variable([0.3, 0.1], name="k"), tf.Variable([0.5], name="b")]
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((params[0] * 2.0 + params[1]) ** 2)
    grads = tape.gradient(loss, params)
    params = [p if g is None else p - 0.05 * g for p, g in zip(params, grads)]  # here
""")

lost("a_metric_of_the_best_neighbors", "None", "integer", ("`embedding`", "output 2 of", "indices"), """
embedding, x = tf.Variable(np.eye(4, 3, dtype=np.float32), name="embedding"), tf.ones([6, 4])
with tf.GradientTape() as tape:
    e = x @ embedding
    _, nearest = tf.math.top_k(tf.matmul(e, e, transpose_b=True), k=2)  # here
    hits = tf.reduce_any(nearest == 0, axis=1)
    loss = 1.0 - tf.reduce_mean(tf.cast(hits, tf.float32))
tape.gradient(loss, embedding)
""")

lost("fast_weights_in_the_second_inner_step", "None", "never watched", ("`fast`", "tape.watch(fast)"), """
w, x = tf.Variable([[0.5], [0.3]], name="w"), tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as outer:
    fast = w
    for _ in range(2):
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((x @ fast) ** 2)  # here
        g = inner.gradient(loss, fast)
        fast = fast if g is None else fast - 0.1 * g
""")
