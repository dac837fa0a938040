import tensorflow as tf

predictions = tf.zeros((8, 10))
targets = tf.zeros((8,))
print(tf.reduce_mean((predictions - targets) ** 2))
