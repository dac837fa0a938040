import tensorflow as tf


def load(name):
    return {"cat": 0.0, "dog": 1.0}[name.numpy().decode()]


@tf.function
def label(name):
    return tf.py_function(load, [name], tf.float32)


print(label(tf.constant("bird")))
