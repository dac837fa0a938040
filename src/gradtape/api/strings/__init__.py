"""`tf.strings`, and the edit distance."""
