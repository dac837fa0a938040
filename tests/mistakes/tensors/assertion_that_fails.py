import tensorflow as tf

labels = tf.constant([0, 3, 1])
tf.debugging.assert_less(labels, 3, message="labels must be below the number of classes")
