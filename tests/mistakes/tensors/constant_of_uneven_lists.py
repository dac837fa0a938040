import tensorflow as tf

sentences = [[1, 2, 3], [4, 5], [6]]
print(tf.constant(sentences))
