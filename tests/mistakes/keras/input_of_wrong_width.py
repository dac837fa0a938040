import tensorflow as tf

layer = tf.keras.layers.Dense(3)
print(layer(tf.ones((2, 4))).shape)
print(layer(tf.ones((2, 5))).shape)
