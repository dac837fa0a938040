"""`tf.config`: devices, threads, and how functions are executed."""
