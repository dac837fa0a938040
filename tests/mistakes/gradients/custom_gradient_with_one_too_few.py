import tensorflow as tf


@tf.custom_gradient
def scale(x, factor):
    def grad(upstream):
        return upstream * factor

    return x * factor, grad


x, factor = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = scale(x, factor)
print(tape.gradient(y, [x, factor]))
