import tensorflow as tf

v = tf.Variable(shape=(3,), dtype=tf.float32)
