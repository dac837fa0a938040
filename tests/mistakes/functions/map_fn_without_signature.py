import tensorflow as tf

words = tf.constant(["a", "bb", "ccc"])
print(tf.map_fn(tf.strings.length, words))
