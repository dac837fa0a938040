import tensorflow as tf

x = tf.constant([1.0, -1.0])
if x > 0:
    print("positive")
