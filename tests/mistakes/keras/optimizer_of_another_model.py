import tensorflow as tf

optimizer = tf.keras.optimizers.Adam()
for _ in range(2):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
