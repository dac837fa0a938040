import tensorflow as tf

x = tf.random.normal((8, 4))
w = tf.Variable(tf.random.normal((3, 2)))
print(tf.matmul(x, w))
