import tensorflow as tf

batch = tf.zeros((10, 4))
print(tf.split(batch, 3))
