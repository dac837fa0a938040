import tensorflow as tf


@tf.function
def mean(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)


print(mean(tf.constant([1.0, 2.0, 3.0])))
