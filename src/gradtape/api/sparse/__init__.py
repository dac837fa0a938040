"""`tf.sparse`."""
