import tensorflow as tf

x = tf.constant([10.0, 20.0, 30.0])
print(x[[0, 1]])
