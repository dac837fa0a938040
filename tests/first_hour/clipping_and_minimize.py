import tensorflow as tf

x = tf.Variable([10.0, -4.0], name="x")
optimizer = tf.keras.optimizers.SGD(
    learning_rate=tf.keras.optimizers.schedules.ExponentialDecay(0.5, decay_steps=5, decay_rate=0.5), momentum=0.5
)

for step in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x**4)
    grads = tape.gradient(loss, [x])
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, [x]))
    if step % 3 == 0:
        print("step", step, "norm", norm.numpy(), "x", x.numpy(), "lr", float(optimizer.learning_rate))

print(tf.clip_by_value([-2.0, 0.5, 7.0], -1, 1), tf.clip_by_norm([3.0, 4.0], 1.0))

rosenbrock = lambda: (1 - a) ** 2 + 100 * (b - a**2) ** 2
a, b = tf.Variable(-1.0), tf.Variable(1.0)
adam = tf.compat.v1.train.AdamOptimizer(0.05)
for _ in range(200):
    adam.minimize(rosenbrock, var_list=[a, b])
print("minimum at", float(a), float(b), "with", rosenbrock().numpy())
