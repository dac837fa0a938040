import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile("adam", "mse")
model.fit(tf.random.normal((8, 4)), tf.zeros((8, 2)), verbose=0)
