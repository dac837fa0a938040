import tensorflow as tf

w = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w**2)
grads = tape.gradient(loss, [w])
optimizer.apply_gradients(grads)
