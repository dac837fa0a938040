import tensorflow as tf

params = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
print(tf.gather(params, [0, 3]))
