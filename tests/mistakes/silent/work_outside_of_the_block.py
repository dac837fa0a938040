import tensorflow as tf

x = tf.Variable(3.0)
y = x * x
with tf.GradientTape() as tape:
    loss = y + 1.0
print(tape.gradient(loss, x))
