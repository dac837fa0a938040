import tensorflow as tf

inputs = tf.keras.Input((4,))
outputs = tf.nn.relu(tf.matmul(inputs, tf.ones((4, 2))))
model = tf.keras.Model(inputs, outputs)
