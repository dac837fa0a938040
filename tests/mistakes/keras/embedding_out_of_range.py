import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Embedding(100, 8), tf.keras.layers.GlobalAveragePooling1D()])
print(model(tf.constant([[1, 5, 100]])))
