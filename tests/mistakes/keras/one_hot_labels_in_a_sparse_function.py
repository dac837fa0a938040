import tensorflow as tf

labels = tf.one_hot([0, 1, 2], 3)
outputs = tf.constant([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
print(tf.keras.losses.sparse_categorical_crossentropy(labels, outputs))
