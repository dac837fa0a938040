import tensorflow as tf

prices = tf.constant(["3.5", "4.25"])
print(tf.cast(prices, tf.float32))
