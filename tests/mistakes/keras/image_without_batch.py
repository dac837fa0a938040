import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])  # fmt: skip
model.predict(tf.zeros((28, 28, 1)), verbose=0)
