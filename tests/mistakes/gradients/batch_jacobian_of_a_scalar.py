import tensorflow as tf

x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(x**2)
print(tape.batch_jacobian(y, x))
