import numpy as np
import tensorflow as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(np.square(x))
print(tape.gradient(y, x))
