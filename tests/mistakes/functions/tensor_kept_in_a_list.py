import tensorflow as tf

losses = []


@tf.function
def step(x):
    loss = tf.reduce_mean(x**2)
    losses.append(loss)
    return x


step(tf.constant([1.0, 2.0]))
print(tf.reduce_mean(losses))
