import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
labels = tf.constant([0, 1, 2, 1, 0, 2, 1, 0])
model.fit(tf.random.normal((8, 4)), labels, verbose=0)
