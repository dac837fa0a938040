import tensorflow as tf

a = tf.constant([[1.0, 2.0], [2.0, 4.0]])
print(tf.linalg.inv(a))
