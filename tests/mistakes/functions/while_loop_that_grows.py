import tensorflow as tf


def body(i, xs):
    return i + 1, tf.concat([xs, [i]], axis=0)


i, xs = tf.function(lambda: tf.while_loop(lambda i, xs: i < 5, body, (tf.constant(0), tf.constant([0]))))()
print(xs)
