import numpy as np
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.Adam()
with tf.GradientTape() as tape:
    predictions = w * 3.0
    loss = tf.reduce_mean(np.square(predictions.numpy()))
grads = tape.gradient(loss, [w])
optimizer.apply_gradients(zip(grads, [w]))
