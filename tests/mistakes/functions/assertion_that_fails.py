import tensorflow as tf


@tf.function
def check(x):
    tf.debugging.assert_positive(tf.reduce_sum(x), message="the sum must be positive")
    return tf.sqrt(x)


print(check(tf.constant([1.0, -2.0])))
