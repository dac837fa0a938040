import tensorflow as tf


@tf.function
def squares(n):
    found = tf.constant([0])
    for i in tf.range(n):
        found = tf.concat([found, [i * i]], axis=0)
    return found


print(squares(tf.constant(5)))
