import tensorflow as tf

model = tf.saved_model.load("no_such_model")
