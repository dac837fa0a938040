import tensorflow as tf

x = tf.linspace(-1.0, 1.0, 4)
delta = tf.Variable(0.5)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
print(tape.jacobian(y, delta))

tf.random.set_seed(5)
x = tf.random.stateless_normal([7, 5], seed=[1, 2])
w1 = tf.Variable(tf.random.stateless_normal([5, 10], seed=[1, 3]))
w2 = tf.Variable(tf.random.stateless_normal([10, 3], seed=[1, 4]))
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.nn.elu(x @ w1) @ w2
print(tape.jacobian(y, w2).shape, tape.batch_jacobian(y, x).shape)
jb = tape.batch_jacobian(y, x)
j = tape.jacobian(y, x)
print(tf.reduce_max(tf.abs(jb - tf.einsum("bxby->bxy", j))).numpy() < 1e-5)

with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        loss = tf.reduce_mean(tf.nn.elu(x @ w1) ** 2)
    g = t1.gradient(loss, w1)
h = t2.jacobian(g, w1)
print("hessian", h.shape)
h_mat = tf.reshape(h, [50, 50])
print("symmetric:", bool(tf.reduce_max(tf.abs(h_mat - tf.transpose(h_mat))) < 1e-5))
update = tf.linalg.solve(h_mat + tf.eye(50) * 0.1, tf.reshape(g, [-1, 1]))
print("newton step", tf.norm(update).numpy())


@tf.function
def jac(v):
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = tf.stack([v[0] * v[1], tf.sin(v[0]), tf.exp(v[1])])
    return tape.jacobian(y, v)


print(jac(tf.constant([1.0, 2.0])))
