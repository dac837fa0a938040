import tensorflow as tf

x = 3.0
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.sin(x)
print(tape.gradient(y, x))
