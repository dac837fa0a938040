"""`tf.raw_ops`: TensorFlow's ops under their own names, generated from one table."""
