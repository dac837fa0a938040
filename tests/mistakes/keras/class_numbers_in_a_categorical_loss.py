import tensorflow as tf

loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)
logits = tf.constant([[3.0, 0.5, 0.1], [0.2, 1.5, 0.3], [0.1, 0.1, 2.8]])
print(loss(tf.constant([0, 1, 2]), logits))
