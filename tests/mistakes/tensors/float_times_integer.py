import tensorflow as tf

weights = tf.constant([0.5, 0.25])
counts = tf.constant([3, 4])
print(weights * counts)
