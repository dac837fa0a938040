import tensorflow as tf

x = tf.constant([1.0, 2.0, 3.0])
print(tf.reduce_mean(x, axis=1))
