"""`tf.function`: calls, signatures, trace caches and concrete functions. The top layer of `graph`."""
