import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
labels = tf.constant([1, 2, 3, 1, 3, 2, 1, 3])
model.fit(tf.random.normal((8, 4)), labels, verbose=0)
