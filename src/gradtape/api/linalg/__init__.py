"""`tf.linalg`: matrices, and stacks of them along any leading axes."""
