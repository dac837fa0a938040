import tensorflow as tf

x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = x**2
print(tape.gradient(y, x, output_gradients=tf.ones((2,))))
