import numpy as np
import tensorflow as tf

x = tf.random.normal((3,))
noise = tf.constant(np.random.normal(size=3))
print(x + noise)
