"""`tf.linalg`: matrices, and batches of matrices along any leading axes."""
