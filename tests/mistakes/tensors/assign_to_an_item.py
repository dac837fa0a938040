import tensorflow as tf

x = tf.zeros((3,))
x[0] = 1.0
