"""`tf.strings`, and the distance between sequences."""
