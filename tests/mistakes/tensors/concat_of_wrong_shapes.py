import tensorflow as tf

a = tf.zeros((2, 3))
b = tf.zeros((2, 4))
print(tf.concat([a, b], axis=0))
