"""Gradients that are None because a function, or a tape inside of it, has no path from the target to the source."""

from . import lost

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

lost("an_assignment_before_a_saturated_op", "None", "assign", ("`w`", "track_assign"), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable([1.0, 2.0], name="v")
total = tf.Variable(0.0, trainable=False, name="total")

@tf.function
def squashed(h):
    total.assign(tf.reduce_sum(h))  # here
    return tf.tanh(total)  # whose derivative is 0

@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(squashed(100.0 * w) * v)
    return tape.gradient(loss, [w, v])

step()
""")

lost("a_curvature_in_a_function", "None", "linear", ("`x`", "`3.0 * x`"), """
@tf.function
def curvature(x):
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t1:
            t1.watch(x)
            y = 3.0 * x + 1.0  # here
        dy = t1.gradient(y, x)
    return t2.gradient(dy, x)

print(curvature(tf.constant(2.0)))
""")

lost("a_loss_after_the_block_in_a_function", "None", "after the block", ("net/", "`loss_fn(y, prediction)`"), """
net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)], name="net")
loss_fn = tf.keras.losses.MeanSquaredError()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prediction = net(x, training=True)
    loss = loss_fn(y, prediction)  # here
    return tape.gradient(loss, net.trainable_variables)

train_step(tf.ones((4, 2)), tf.zeros((4, 1)))
""")

lost("a_forward_pass_before_the_block_in_a_function", "None", "before the tape", ("`w`", "`x * w`"), """
w = tf.Variable([1.0, 2.0])

@tf.function
def step(x):
    hidden = x * w  # here
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(hidden ** 2)
    return tape.gradient(loss, w)

step(tf.ones(2))
""")

lost("a_forward_pass_in_a_function_before_the_block", "None", "before the tape", ("`w`", "forward(x)"), """
w, head = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="head")
x = tf.constant(3.0)
@tf.function
def forward(x):
    return tf.tanh(w * x)
features = forward(x)  # here
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(features * head)
tape.gradient(loss, [w, head])
""")

lost("a_loss_in_a_function_after_the_block", "None", "after the block", ("`w`", "loss_of(h)"), """
w = tf.Variable([1.0, 2.0], name="w")
@tf.function
def loss_of(h):
    return tf.reduce_sum(h**2)
with tf.GradientTape() as tape:
    h = w * 2.0
loss = loss_of(h)  # here
tape.gradient(loss, w)
""")

lost("a_compiled_function_of_a_tensor_watched_late", "None", "watched after use", ("`x`", "f(x)"), """
x = tf.constant([1.0, 2.0])
@tf.function(jit_compile=True)
def f(a):
    return tf.sin(a) * a
with tf.GradientTape() as tape:
    y = f(x)  # here
    tape.watch(x)
    z = tf.reduce_sum(y)
tape.gradient(z, x)
""")

lost("an_update_in_a_function", "None", "rebound", ("`w`", "update(w, g)", "assign"), """
w = tf.Variable([1.0, 2.0], name="w")
@tf.function
def update(p, g):
    return p - 0.1 * g
for _ in range(2):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w**2)
    if (g := tape.gradient(y, w)) is not None:
        w = update(w, g)  # here
""")

lost("a_reset_before_a_function_is_called", "None", "tape.reset", ("`w`",), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
f = tf.function(lambda h: tf.tanh(h))
with tf.GradientTape() as tape:
    h = w * 2.0
    tape.reset()  # here
    loss = tf.reduce_sum(f(h) * v)
tape.gradient(loss, w)
""")

lost("recording_is_stopped_in_a_function", "None", "while recording was stopped", ("`w`", "2.0 * h"), """
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
@tf.function
def step():
    with tf.GradientTape() as tape:
        h = tf.sin(w)
        with tape.stop_recording():
            h = 2.0 * h  # here
        loss = tf.reduce_sum(h * v)
    return tape.gradient(loss, [w, v])
step()
""")

for _decoy in ("print(float(tf.reduce_sum(h)))", "words = tf.strings.as_string(h)", "best = tf.argmax(h)",
               "kept.assign(tf.reduce_sum(h))", "base = tf.stop_gradient(h)"):
    lost(f"a_loss_of_something_else_beside_{_decoy.partition('(')[0].replace(' ', '_')}", "None", "no path",
         ("`w`", "depends on `v`"), f"""
w, v = tf.Variable([1.0, 2.0], name="w"), tf.Variable(2.0, name="v")
kept = tf.Variable(0.0, trainable=False, name="kept")
with tf.GradientTape() as tape:
    h = tf.sin(w)
    {_decoy}
    loss = 0.5 * v * v  # here
tape.gradient(loss, w)
""")

lost("a_residual_of_a_network_that_is_linear_in_pieces", "None", "linear", ("`b`", "where", "second derivative"), """
w, b = tf.Variable([[0.4, -0.8]], name="w"), tf.Variable([0.1, 0.2], name="b")
x = tf.reshape(tf.linspace(-1.0, 1.0, 9), [9, 1])
@tf.function
def step():
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            h = x @ w + b
            u = tf.where(h > 0.0, h, 0.1 * h)  # here
        slope = inner.gradient(u, x)
        loss = tf.reduce_mean((slope - 1.0) ** 2)
    return tape.gradient(loss, [w, b])
step()
""")
