import tensorflow as tf


@tf.function
def predict(x, w, training):
    if tf.reduce_sum(x) > 0.0:
        y = tf.matmul(x, w)
    else:
        y = x
    return y


print(predict(tf.ones((8, 4)), tf.ones((3, 2)), True))
