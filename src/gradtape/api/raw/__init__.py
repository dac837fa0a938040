"""`tf.raw_ops`: TensorFlow's ops under their own names, made from one table."""
