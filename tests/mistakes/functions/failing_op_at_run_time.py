import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec((None, None)), tf.TensorSpec((None, None))])
def product(a, b):
    return tf.matmul(a, b)


print(product(tf.ones((8, 4)), tf.ones((3, 2))))
