import tensorflow as tf


@tf.function
def step(x):
    counter = tf.Variable(0.0)
    counter.assign_add(1.0)
    return x + counter


print(step(tf.constant(1.0)))
