import tensorflow as tf

labels = tf.constant([0.0, 1.0, 2.0])
logits = tf.constant([[3.0, 0.5], [0.2, 1.5], [0.1, 0.4]])
print(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
