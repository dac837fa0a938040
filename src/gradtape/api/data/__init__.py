"""`tf.data` and `tf.train`: datasets and checkpoints."""
