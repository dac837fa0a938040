import numpy as np
import tensorflow as tf


@tf.function
def f(x):
    return np.sin(x)


print(f(tf.constant([1.0, 2.0])))
