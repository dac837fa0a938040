import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], verbose=0)
