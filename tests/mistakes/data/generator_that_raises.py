import tensorflow as tf


def rows():
    yield 1.0
    yield 1.0 / 0


dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.float32))
for row in dataset:
    print(row)
