import tensorflow as tf

dataset = tf.data.Dataset.range(10).batch(2)
print(dataset[0])
