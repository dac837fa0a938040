import tensorflow as tf


@tf.function
def f(x):
    if tf.reduce_sum(x) > 0.0:
        return x


print(f(tf.constant([1.0, 2.0])))
