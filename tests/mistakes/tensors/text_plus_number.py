import tensorflow as tf

price = tf.constant("3.5")
print(price + 1.0)
