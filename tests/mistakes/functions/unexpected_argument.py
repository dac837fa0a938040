import tensorflow as tf


@tf.function
def scale(x, factor=2.0):
    return x * factor


print(scale(tf.constant(1.0), scale=3.0))
