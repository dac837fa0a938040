import tensorflow as tf


@tf.function(autograph=False)
def absolute(x):
    if x > 0:
        return x
    return -x


print(absolute(tf.constant(-2.0)))
