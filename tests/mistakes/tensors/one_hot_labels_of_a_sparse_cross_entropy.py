import tensorflow as tf

labels = tf.one_hot([0, 1], 2)
logits = tf.constant([[3.0, 0.5], [0.2, 1.5]])
print(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
