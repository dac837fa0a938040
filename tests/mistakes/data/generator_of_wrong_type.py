import tensorflow as tf


def rows():
    yield [1.0, 2.0]
    yield ["a", "b"]


dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((2,), tf.float32))
for row in dataset:
    print(row)
