import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
labels = tf.one_hot([0, 1, 2, 1, 0, 2, 1, 0], 3)
model.fit(tf.random.normal((8, 4)), labels, verbose=0)
