import gradtape as tf

x = tf.constant([1.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y))
del tape

x = tf.Variable(2.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print(dy_dx.numpy(), d2y_dx2.numpy())

model = [tf.Variable(tf.ones([3, 2]), name="kernel"), tf.Variable(tf.zeros(2), name="bias")]
inputs = tf.random.stateless_normal([5, 3], seed=[0, 1])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(inputs)
        out = tf.nn.softplus(inputs @ model[0] + model[1])
    g = inner.gradient(out, inputs)
    penalty = tf.reduce_mean((tf.norm(g, axis=1) - 1.0) ** 2)
print(penalty, outer.gradient(penalty, {"k": model[0], "b": model[1]}))

x0, x1 = tf.Variable(3.0), tf.Variable(3.0, trainable=False)
x2 = tf.Variable(2.0) + 1.0
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(x0)
    y = x0**2 + x1**2 + x2**2
    with tape.stop_recording():
        z = x0 * 5
print([v.name for v in tape.watched_variables()], tape.gradient(y, [x0, x1, x2]))
with tf.GradientTape() as tape:
    y = tf.sin(x0)
print(tape.gradient(y, x1, unconnected_gradients=tf.UnconnectedGradients.ZERO))


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)

    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))
try:
    t.gradient(output, v)
except RuntimeError as e:
    print("RuntimeError:", str(e)[:56])
