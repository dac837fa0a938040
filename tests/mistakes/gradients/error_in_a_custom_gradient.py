import tensorflow as tf


@tf.custom_gradient
def clip(x):
    def grad(upstream):
        return tf.matmul(upstream, tf.ones((3, 3)))

    return tf.clip_by_value(x, -1.0, 1.0), grad


x = tf.Variable(tf.ones((2, 4)))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(clip(x))
print(tape.gradient(y, x))
